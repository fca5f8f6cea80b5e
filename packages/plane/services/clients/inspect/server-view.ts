// What becomes of the calls to one server of a config.
import { definedFields } from '@subluminal/contracts';
import { flagIn, type ReadConfig, type ServerEntry } from '../index.ts';
import { type AskingSub, startsThisSub } from './own-program.ts';

/**
 * `governed`: by this very `sub`. `loose`: by this very `sub`, with options that weaken it and that no
 * `sub import` wrote. `foreign`: by something else that is called `sub`, which may do anything.
 * `unknown`: neither a command nor an address that a shim can stand before.
 */
export type ServerState = 'governed' | 'loose' | 'foreign' | 'open' | 'unknown';

export interface ServerView {
  readonly name: string;
  /** It counts in this project alone. */
  readonly project?: string;
  readonly state: ServerState;
  readonly isDisabled: boolean;
  /** It has an address, and no shim. */
  readonly isRemote?: true;
  /** Why no shim can stand before it. */
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
  /** The origin of a server that is reached by an address. */
  readonly origin?: string;
  /** Its shim sends a header that says who calls: it needs no login. */
  readonly hasCredential?: true;
  /** How the entry starts `sub`; only where it starts a shim. */
  readonly program?: readonly string[];
}

interface ViewOptions extends AskingSub {
  /** By `entryKey`: the options that loosen an entry. */
  readonly loose: ReadonlyMap<string, readonly string[]>;
}

function stateOf(entry: ServerEntry, viewing: ViewOptions): ServerState {
  const { governed } = entry;
  if (governed === undefined) return isUngoverned(entry) ? 'open' : 'unknown';
  if (!startsThisSub(entry, viewing)) return 'foreign';
  return viewing.loose.has(entryKey(entry)) ? 'loose' : 'governed';
}

function viewOf(entry: ServerEntry, viewing: ViewOptions): ServerView {
  const { name, project, isDisabled, governed, obstacle } = entry;
  const state = stateOf(entry, viewing);
  const flag = (option: string) => governed && flagIn(governed.flags, option);
  return {
    name,
    state,
    isDisabled,
    ...(entry.transport === 'remote' && { isRemote: true as const }),
    ...(hasCredential(governed?.remote?.flags ?? []) && { hasCredential: true as const }),
    ...definedFields({
      project,
      loose: state === 'loose' ? viewing.loose.get(entryKey(entry)) : undefined,
      obstacle,
      serverName: governed && (governed.serverName ?? name),
      policy: flag('policy'),
      profile: flag('profile'),
      events: flag('events'),
      program: governed?.program,
      wrapId: governed?.wrapId,
      origin: originOf(governed?.remote?.url ?? entry.remote?.url),
    }),
  };
}

export function viewsOf({ entries }: ReadConfig, viewing: ViewOptions): readonly ServerView[] {
  return entries.map((entry) => viewOf(entry, viewing));
}

function hasCredential(flags: readonly string[]): boolean {
  return flags.some((word, at) => {
    if (word.startsWith('--bearer-env')) return true;
    const header = /^--header(?:-env)?$/.test(flags[at - 1] ?? '') ? word : undefined;
    return /^[^=:]*(?:auth|key|token|secret|cookie)/i.test(header ?? '');
  });
}

/** What may be shown of an address: a path may hold a secret. */
function originOf(url: string | undefined): string | undefined {
  return /^https?:\/\/[^/?#@\s]+(?=[/?#]|$)/i.exec(url ?? '')?.[0];
}

/** Whether a shim can stand before the entry, and does not yet. */
export function isUngoverned({ governed, transport, remote }: ServerEntry): boolean {
  return governed === undefined && (transport === 'stdio' || remote !== undefined);
}

/** Two entries with the same text start the same command, or reach the same address. */
export function startedCommand({ command, args, remote }: ServerEntry): string {
  return JSON.stringify([command, args ?? null, remote?.url ?? null]);
}

/** Tells the entries of one file apart. */
export function entryKey({ name, project }: Pick<ServerEntry, 'name' | 'project'>): string {
  return JSON.stringify([project ?? null, name]);
}
