// Entries that start a shim with options that weaken it, and that no `sub import` or `sub wrap` of this
// home has written: a repository that brings its config could free its server that way.

import { type Failure, failure } from '@subluminal/contracts';
import { realFile } from '../../../os/index.ts';
import { fallbackRunDir } from '../../../stores/runs/agent-file.ts';
import { isWrapId, readWrapFile } from '../../../stores/runs/wrap-file.ts';
import {
  type Client,
  clientOf,
  type EntryChange,
  looseFlags,
  mayExpandTo,
  type ReadConfig,
  type ServerEntry,
} from '../index.ts';
import { configKey } from '../store/change-store.ts';
import { listRecords, readRecord } from '../store/records.ts';
import { sameData } from '../text/plain-data.ts';
import type { AdoptionPlace } from './adoption-place.ts';
import type { FoundConfig } from './find-configs.ts';
import { entryKey } from './server-view.ts';

export interface LooseOptions extends Pick<AdoptionPlace, 'env' | 'paths'> {
  /** The profile that config.toml gives the user's shims; `production` unless given. */
  readonly userProfile?: string | undefined;
}

/** By `entryKey`: the options that loosen an entry. */
export type LooseEntries = ReadonlyMap<string, readonly string[]>;

export function looseIn({ target, config }: FoundConfig, options: LooseOptions): LooseEntries {
  if (config.entries.every(({ governed }) => governed === undefined)) return new Map();
  // A record that is damaged says nothing.
  const found = readRecord(configKey(target), options.paths);
  return looseBeside(config, found.kind === 'record' ? found.record.changes : [], options);
}

/** The same for a config whose changes are known. */
export function looseBeside(
  { entries }: ReadConfig,
  written: readonly EntryChange[],
  options: LooseOptions,
): LooseEntries {
  const found = entries.flatMap((entry) => {
    if (written.some((change) => isWritten(entry, change))) return [];
    const flags = flagsOf(entry, options);
    return flags.length === 0 ? [] : [[entryKey(entry), flags] as const];
  });
  return new Map(found);
}

function isWritten({ at, command, args }: ServerEntry, { at: place, after }: EntryChange): boolean {
  return (
    sameData(at.command, place.command) &&
    command === after.command.value &&
    sameData(args, after.args?.value)
  );
}

/** How a shim was started, which does not know by which config. */
export interface ShimStart {
  /** The runtime and the script. */
  readonly program: readonly string[];
  /** All words behind `shim`. */
  readonly words: readonly string[];
}

/** Whether `sub import` or `sub wrap` of this home wrote exactly this start into some config. */
export function isWrittenStart(
  start: ShimStart,
  { env, paths }: Pick<LooseOptions, 'env' | 'paths'>,
): boolean {
  const program = start.program.map((word) => realFile(word) ?? word);
  const words = [...program, 'shim', ...start.words];
  return listRecords(paths).some(
    (one) =>
      one.kind === 'record' &&
      one.record.changes.some((change) =>
        mayHaveStarted(change, words, { ...clientOf(one.record.client), env }),
      ),
  );
}

/**
 * Our own words are exactly these; in those of the server, and in its address, the client has expanded
 * its variables.
 */
function mayHaveStarted(
  { after }: EntryChange,
  words: readonly string[],
  client: Pick<Client, 'expands'> & { readonly env: LooseOptions['env'] },
): boolean {
  const written = [after.command.value, after.args?.value ?? []].flat();
  const end = written.indexOf('--');
  const isOfServer = (at: number) => (end === -1 ? written[at - 1] === '--url' : at > end);
  return (
    written.length === words.length &&
    written.every((word, at) => {
      const started = words[at] ?? '';
      return isOfServer(at) ? mayExpandTo(word, started, client) : word === started;
    })
  );
}

/** A shim without a command and an address refuses to start, so its options loosen nothing. */
function flagsOf(
  { governed, serverOnly = [] }: ServerEntry,
  { env, paths, userProfile = 'production' }: LooseOptions,
): readonly string[] {
  if (governed === undefined) return [];
  if (governed.command.length === 0 && governed.remote === undefined) return [];
  const { wrapId } = governed;
  const isInSession = wrapId !== undefined && isLiveSession(wrapId, { env, paths });
  return looseFlags(governed, { profile: userProfile, serverOnly, isInSession });
}

// Shims of a `sub wrap` in a config that this home has no record of: the session may live all the
// same, with another SUB_HOME.

type HomeOptions = Pick<AdoptionPlace, 'env' | 'paths'>;

/** Undefined when the sessions of all its entries are over. */
export function livingWrap(
  { file, entries }: ReadConfig,
  { env, paths }: HomeOptions,
): Failure | undefined {
  // A session writes only valid ids.
  const ids = new Set(entries.flatMap(({ governed }) => governed?.wrapId ?? []).filter(isWrapId));
  for (const runDir of new Set([paths.run, fallbackRunDir(env)])) {
    for (const id of ids) {
      const session = readWrapFile(runDir, id);
      if (session.kind === 'over') continue;
      if (session.kind === 'live') {
        const message = `${file.path} is in use by a \`sub wrap\` with another SUB_HOME (process ${session.owner.pid}).`;
        const fix = 'Try again when that one has ended: it puts the config back itself.';
        return failure('SUB_CLIENT_LOCKED', message, fix);
      }
      const message = `whether ${file.path} is in use by a \`sub wrap\` cannot be told: ${session.message}.`;
      return failure('SUB_CLIENT_LOCKED', message, 'If none runs, remove that file.');
    }
  }
  return undefined;
}

/** Whether an entry names a session of `sub wrap` that still runs. */
function isLiveSession(id: string, { env, paths }: HomeOptions): boolean {
  if (!isWrapId(id)) return false;
  return [paths.run, fallbackRunDir(env)].some((dir) => readWrapFile(dir, id).kind === 'live');
}
