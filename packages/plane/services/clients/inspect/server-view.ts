// What becomes of the calls to one server of a config.
import type { ReadConfig, ServerEntry } from '../index.ts';
import { type AskingSub, startsThisSub } from './own-program.ts';

/**
 * `governed`: by this very `sub`. `loose`: by this very `sub`, with options that weaken it and that no
 * `sub import` wrote. `foreign`: by something else that is called `sub`, which may do anything.
 * `unknown`: neither a command nor an address that we know how to read.
 */
export type ServerState = 'governed' | 'loose' | 'foreign' | 'open' | 'remote' | 'unknown';

export interface ServerView {
  readonly name: string;
  /** It counts in this project alone. */
  readonly project?: string;
  readonly state: ServerState;
  readonly isDisabled: boolean;
  /** Why no shim can stand before its command. */
  readonly obstacle?: string;
  /** The options of its shim that weaken it; only where the state is `loose`. */
  readonly loose?: readonly string[];
  /** The name that policies and the ledger know it by; only where it starts a shim. */
  readonly serverName?: string;
  /** What the entry itself tells its shim. */
  readonly policy?: string;
  readonly profile?: string;
  /** Where it sends its events, if the entry says so. */
  readonly events?: string;
  readonly wrapId?: string;
  /** How the entry starts `sub`; only where it starts a shim. */
  readonly program?: readonly string[];
}

interface ViewOptions extends AskingSub {
  /** By `entryKey`: the options that loosen an entry. */
  readonly loose: ReadonlyMap<string, readonly string[]>;
}

function stateOf(entry: ServerEntry, viewing: ViewOptions): ServerState {
  const { governed, transport } = entry;
  if (governed === undefined) return transport === 'stdio' ? 'open' : transport;
  if (!startsThisSub(entry, viewing)) return 'foreign';
  return viewing.loose.has(entryKey(entry)) ? 'loose' : 'governed';
}

function viewOf(entry: ServerEntry, viewing: ViewOptions): ServerView {
  const { name, project, isDisabled, governed, obstacle } = entry;
  const policy = governed && flagIn(governed.flags, 'policy');
  const profile = governed && flagIn(governed.flags, 'profile');
  const events = governed && flagIn(governed.flags, 'events');
  const state = stateOf(entry, viewing);
  const loose = viewing.loose.get(entryKey(entry));
  return {
    name,
    ...(project !== undefined && { project }),
    state,
    ...(state === 'loose' && loose !== undefined && { loose }),
    isDisabled,
    ...(obstacle !== undefined && { obstacle }),
    ...(governed !== undefined && { serverName: governed.serverName ?? name }),
    ...(policy !== undefined && { policy }),
    ...(profile !== undefined && { profile }),
    ...(events !== undefined && { events }),
    ...(governed !== undefined && { program: governed.program }),
    ...(governed?.wrapId !== undefined && { wrapId: governed.wrapId }),
  };
}

export function viewsOf({ entries }: ReadConfig, viewing: ViewOptions): readonly ServerView[] {
  return entries.map((entry) => viewOf(entry, viewing));
}

/** The last one counts, as it does for the shim. */
export function flagIn(flags: readonly string[], name: string): string | undefined {
  const at = flags.findLastIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  const word = flags[at];
  return word === `--${name}` ? flags[at + 1] : word?.slice(name.length + 3);
}

/** Whether the entry starts a command without a shim. */
export function isUngoverned({ governed, transport }: ServerEntry): boolean {
  return governed === undefined && transport === 'stdio';
}

/** Two entries with the same text start the same command. */
export function startedCommand({ command, args }: ServerEntry): string {
  return JSON.stringify([command, args ?? null]);
}

/** Tells the entries of one file apart. */
export function entryKey({ name, project }: Pick<ServerEntry, 'name' | 'project'>): string {
  return JSON.stringify([project ?? null, name]);
}
