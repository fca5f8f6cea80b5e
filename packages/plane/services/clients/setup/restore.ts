// `sub restore`: which configs have shims in them because of us, and how they come out again.

import { isAbsolute, relative } from 'node:path';
import { definedFields, type Failure, failure, isFailure, isObject } from '@subluminal/contracts';
import {
  CLIENTS,
  type Client,
  type ConfigFailure,
  clientOf,
  type MovedSecret,
  type ReadConfig,
  type RemoteKeys,
  type ServerEntry,
} from '../index.ts';
import {
  clientPlace,
  loadDiffRedactor,
  type SecretPlace,
  storeAt,
  withCode,
} from '../inspect/adoption-place.ts';
import { type FoundConfig, findConfigs } from '../inspect/find-configs.ts';
import { hooksDiff } from '../inspect/hooks-diff.ts';
import { livingWrap } from '../inspect/loose-entries.ts';
import { redactedDiff } from '../inspect/redacted-diff.ts';
import { withoutShim } from '../remote-entries.ts';
import { type BindingName, bindingName } from '../secrets/bindings.ts';
import { readVaultHome } from '../secrets/move-secrets.ts';
import { unbindMoved } from '../secrets/pending-bindings.ts';
import { configDocument } from '../secrets/plain-secrets.ts';
import { type PutBack, type Returning, returning } from '../secrets/return-secrets.ts';
import { heldByOwner } from '../store/apply-change.ts';
import { type ChangeStore, configKey } from '../store/change-store.ts';
import { type OnChangeStep, readConfigFile } from '../store/config-file.ts';
import { type FoundRecord, listRecords, readBackup } from '../store/records.ts';
import { type RestoreResult, releaseConfig, restoreRecord } from '../store/restore-config.ts';
import { type EntryPlace, removeShims, undoChanges } from '../store/undo-changes.ts';
import type { FreedEntry } from '../store/undo-entry.ts';
import { editedPaths } from '../text/change-settings.ts';
import { missingEntriesText } from './repair.ts';
import { strayHooks } from './restore-hooks.ts';

export interface RestoreOptions extends SecretPlace {
  /** Every client without one. */
  readonly client?: Client | undefined;
  readonly configPath?: string | undefined;
  /** Only configs inside of the project. */
  readonly isProjectOnly: boolean;
  readonly redactPatterns: readonly string[];
  readonly onStep?: OnChangeStep;
}

export interface RestoreFile {
  readonly client: Client;
  readonly path: string;
  /**
   * `same`: the bytes that were there before. `merged`: others have changed the file since.
   * `unrecorded`: there is no record of the change, but the entries tell what they were.
   */
  readonly how: 'same' | 'merged' | 'unrecorded';
  /** The servers that are set free. */
  readonly taken: readonly string[];
  /** The servers that others have changed so that they are not ours any more. */
  readonly left: readonly string[];
  /** The servers that others have removed: they cannot come back. */
  readonly missing: readonly string[];
  readonly diff: string;
  /** Hooks of ours come out of it. */
  readonly hasHooks: boolean;
  /** The servers that have another name now, and are set free under it. */
  readonly renamed: ReadonlySet<string>;
  /** The names of the secrets that come back out of the store. */
  readonly secrets: readonly string[];
  /** Those whose server is gone: they are in the store alone. */
  readonly stored: readonly string[];
  /** Those that stay in the store, because their entry starts something else than it did. */
  readonly withheld: readonly BindingName[];
  /** Those of `secrets` that have another value than when they were moved. */
  readonly rotated: readonly string[];
  readonly apply: () => RestoreResult;
  /** Once it is back, its servers need no bindings any more; a whole sentence where one has to stay. */
  readonly unbind: () => Promise<string | undefined>;
}

export interface RestorePlan {
  readonly kind: 'plan';
  readonly files: readonly RestoreFile[];
  readonly problems: readonly Failure[];
}

export async function planRestore(options: RestoreOptions): Promise<RestorePlan | Failure> {
  const redact = await loadDiffRedactor(options.redactPatterns);
  if (isFailure(redact)) return redact;
  const store = storeAt(options.paths);
  const place = clientPlace(options);
  const clients = options.client === undefined ? CLIENTS : [options.client];
  const { found, problems } = findConfigs({ place, clients, configPath: options.configPath });
  const records = recordsFor(options, found, store);
  const known = new Set(records.flatMap((one) => (one.kind === 'record' ? [one.key] : [])));
  const context = { store, redact, options, texts: new Map<string, string>() };
  const planned: (RestoreFile | Failure)[] = [];
  for (const one of records) {
    const isDamaged = one.kind === 'failure';
    planned.push(isDamaged ? withCode('SUB_CLIENT_RESTORE', one) : await fromRecord(one, context));
  }
  for (const one of found) {
    if (known.has(configKey(one.target)) || !isWanted(one.file.path, options)) continue;
    planned.push(...fromEntries(one, context));
  }
  if (options.configPath === undefined && !options.isProjectOnly) {
    planned.push(...strayHooks({ clients, place, store, known, redact }));
  }
  // Of a file that cannot be read nothing is known, unless there is a record of it.
  const unread = problems.filter(
    ({ path }) => !records.some((one) => one.kind === 'record' && one.record.path === path),
  );
  return {
    kind: 'plan',
    files: planned.flatMap((one) => (isFailure(one) ? [] : [one])),
    problems: [
      ...unread.map((one) => withCode('SUB_CLIENT_CONFIG', one)),
      ...planned.filter(isFailure),
    ],
  };
}

/**
 * Damaged records are always included: nobody knows which config they are for. Of several changes of one
 * file the last is taken back first, so that each finds the file as it has left it.
 */
function recordsFor(options: RestoreOptions, found: readonly FoundConfig[], store: ChangeStore) {
  const { client, configPath } = options;
  const targets = new Set(found.map(({ target }) => configKey(target)));
  const records = listRecords(store.paths).filter((one) => {
    if (one.kind === 'failure') return true;
    const { record, key } = one;
    if (configPath !== undefined) return targets.has(key) || record.path === configPath;
    return (client === undefined || record.client === client.id) && isWanted(record.path, options);
  });
  return records.toSorted((one, other) => (madeAt(one) < madeAt(other) ? 1 : -1));
}

function madeAt(found: FoundRecord | ConfigFailure): string {
  return found.kind === 'record' ? found.record.created_at : '';
}

function isWanted(path: string, { isProjectOnly, project }: RestoreOptions): boolean {
  if (!isProjectOnly) return true;
  const inside = relative(project, path);
  return !inside.startsWith('..') && !isAbsolute(inside);
}

interface RestoreContext {
  readonly store: ChangeStore;
  readonly redact: (text: string) => string;
  readonly options: RestoreOptions;
  /** By its real path: what a file holds when the changes that are planned so far are taken back. */
  readonly texts: Map<string, string>;
}

async function fromRecord(
  found: FoundRecord,
  { store, redact, options, texts }: RestoreContext,
): Promise<RestoreFile | Failure> {
  const { path, target, format, client: id, settings } = found.record;
  const held = heldByOwner(found.record, store);
  if (held !== undefined) return withCode('SUB_CLIENT_RESTORE', held);
  const client = clientOf(id);
  const backup = readBackup(found, store);
  const base = backup.kind === 'failure' ? '' : backup.bytes.toString('utf8');
  const back = await secretsFor(found, base, options);
  if (back.kind === 'failure') return back;
  const putBack: PutBack = (text, record) => {
    const one = back.fill(text, record);
    return one.kind === 'filled' ? one.text : one;
  };
  const steps = definedFields({ onStep: options.onStep });
  const apply = (): RestoreResult => restoreRecord(found, { ...store, ...steps, putBack });
  const config = readConfigFile(target);
  // The attempt itself reports what keeps the config from being restored, and what to do by hand.
  if (config.kind !== 'read') return tried(path, apply);
  if (backup.kind === 'failure') return withCode('SUB_CLIENT_RESTORE', backup);
  const now = texts.get(target) ?? config.text;
  const undone = undoChanges({ text: now, record: found.record, backup });
  if (undone.kind === 'failure') return withCode('SUB_CLIENT_RESTORE', undone);
  const filled = back.fill(undone.text, found.record);
  if (filled.kind === 'failure') return withCode('SUB_CLIENT_RESTORE', filled);
  const { text, renamed } = filled;
  texts.set(target, text);
  const file = { client: id, scope: 'user', path, format } as const;
  return {
    client,
    path,
    how: undone.kind,
    taken: [...undone.taken.map(({ name }) => name), ...[...renamed.values()].flat()],
    left: undone.left.map(({ name }) => name),
    missing: undone.missing.map(({ name }) => name).filter((name) => !renamed.has(name)),
    renamed: new Set(renamed.keys()),
    hasHooks: found.record.hooks !== undefined,
    diff:
      found.record.hooks === undefined || found.record.changes.length > 0
        ? diffOf([client.read(file, now), client.read(file, text)], {
            redact,
            ...(settings !== undefined && { shown: editedPaths(settings) }),
          })
        : hooksDiff({ file, before: now, after: text, change: found.record.hooks, redact }),
    secrets: namesOf(filled.put),
    stored: namesOf(filled.lost),
    withheld: filled.withheld.map(bindingName),
    rotated: back.rotated.filter((name) => filled.put.some(({ secret }) => secret === name)),
    apply,
    unbind: () => unbindMoved(found, { store, options }),
  };
}

/** The store is opened only for a config that lacks something. */
async function secretsFor(
  { record }: FoundRecord,
  baseText: string,
  options: RestoreOptions,
): Promise<Returning | Failure> {
  if (record.moved === undefined) {
    const none = { put: [], lost: [], withheld: [], renamed: new Map() };
    return { kind: 'returning', fill: (text) => ({ kind: 'filled', text, ...none }), rotated: [] };
  }
  const home = await readVaultHome(options);
  return home.kind === 'failure' ? home : returning(record, home.vault, baseText);
}

function namesOf(secrets: readonly MovedSecret[]): readonly string[] {
  return [...new Set(secrets.map(({ secret }) => secret))];
}

/** A config that is gone or cannot be read: trying changes nothing. */
function tried(path: string, apply: () => RestoreResult): Failure {
  const result = apply();
  if (result.kind === 'failure') return withCode('SUB_CLIENT_RESTORE', result);
  return failure('SUB_CLIENT_RESTORE', `${path} has just changed.`, 'Try again.');
}

/** Empty for a config that cannot be read. */
function diffOf(
  [before, after]: readonly [ReturnType<Client['read']>, ReturnType<Client['read']>],
  options: Pick<Parameters<typeof redactedDiff>[0], 'redact' | 'shown'>,
): string {
  if (before.kind === 'failure' || after.kind === 'failure') return '';
  return redactedDiff({ before, after, ...options });
}

/** The command of the server stands behind the shim in the entry itself. */
function fromEntries(
  { client, file, config }: FoundConfig,
  { store, redact, options }: RestoreContext,
): readonly (RestoreFile | Failure)[] {
  const living = livingWrap(config, options);
  if (living !== undefined) return [living];
  const ways = governedEntries(config, client).map((place) => ({ ...place, pairs: [] }));
  if (ways.length === 0) return [];
  const out = removeShims({ text: config.text, format: file.format, ways });
  if (out.kind === 'refused') {
    const message = `the shims cannot be taken out of ${file.path}: ${out.why}`;
    return [failure('SUB_CLIENT_RESTORE', message, out.fix)];
  }
  const entries = (text: string) => {
    const read = client.read(file, text);
    if (read.kind === 'failure') return read;
    // A session may have begun while the person was asked.
    const begun = livingWrap(read, options);
    return begun === undefined ? governedEntries(read, client) : { ...begun, path: file.path };
  };
  return [
    {
      client,
      path: file.path,
      how: 'unrecorded',
      taken: out.taken.map(({ name }) => name),
      left: out.left.map(({ name }) => name),
      missing: out.missing.map(({ name }) => name),
      renamed: new Set(),
      hasHooks: false,
      diff: diffOf([config, client.read(file, out.text)], { redact }),
      ...{ secrets: [], stored: [], withheld: [], rotated: [] },
      unbind: () => unbindMoved(undefined, { store, options }),
      apply: () => releaseConfig({ ...store, file, entries }),
    },
  ];
}

function governedEntries(
  config: ReadConfig,
  { remoteKeys }: Pick<Client, 'remoteKeys'>,
): readonly EntryPlace[] {
  return config.entries.flatMap((entry) => {
    if (entry.governed === undefined) return [];
    const freed = freedRemote(config, entry, remoteKeys);
    return [{ ...entry, ...definedFields({ freed }) }];
  });
}

/** An entry with an address, as its client would write it without a shim. */
function freedRemote(
  config: ReadConfig,
  { governed, path }: ServerEntry,
  keys: RemoteKeys,
): FreedEntry | undefined {
  const remote = governed?.remote;
  if (remote === undefined) return undefined;
  const env = configDocument(config)?.valueAt([...path, 'env']);
  const { beside, url, ...freed } = withoutShim(remote.flags, isObject(env) ? env : {}, keys);
  return { ...freed, path, beside: () => beside, url: () => url };
}

export type RestoreOutcome =
  | {
      readonly kind: 'restored';
      readonly replaced?: string;
      /** Which entries are missing, and where the config is kept as it was; a whole sentence. */
      readonly lost?: string;
      /** Bindings that could not be taken out; a whole sentence. */
      readonly stays?: string;
      /** False when nothing came back. */
      readonly isBack: boolean;
    }
  | Failure;

export async function applyRestore(file: RestoreFile): Promise<RestoreOutcome> {
  const { apply, unbind, renamed } = file;
  const result = apply();
  if (result.kind === 'failure') return withCode('SUB_CLIENT_RESTORE', result);
  if (result.kind === 'none') return { kind: 'restored', isBack: true };
  // Last: until the config has them, the bindings are where the servers get their secrets from.
  const stays = await unbind();
  const missing = result.missing.filter(({ name }) => !renamed.has(name));
  const lost = missingEntriesText({ ...result, missing });
  const isBack = result.kind === 'restored' || lost === undefined;
  const replaced = result.kind === 'restored' ? result.replaced : undefined;
  return { kind: 'restored', isBack, ...definedFields({ replaced, lost, stays }) };
}
