// What a process that moves secrets is about to bind, on disk for as long as it works: a killed one
// must leave no binding that wins over its config from then on.

import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, isObject } from '@subluminal/contracts';
import { isProcessAlive, type ProcessIdentity, writePrivateFile } from '../../../os/index.ts';
import { CLIENTS } from '../index.ts';
import { clientPlace, type SecretPlace, storeAt, withCode } from '../inspect/adoption-place.ts';
import { findConfigs, recordedConfigs } from '../inspect/find-configs.ts';
import {
  type ChangeStore,
  ensureFolder,
  readOwn,
  systemFailure,
  thisProcess,
} from '../store/change-store.ts';
import { isOwner } from '../store/record-text.ts';
import { type FoundRecord, listRecords } from '../store/records.ts';
import { type BindingName, bindingName, boundServers, removeBindings } from './bindings.ts';
import { fitsBinding, serverOf, wordsOf } from './plain-secrets.ts';

interface PendingMove {
  readonly path: string;
  readonly owner: ProcessIdentity;
  readonly bindings: readonly BindingName[];
}

const NAME = /^moving-[0-9a-f-]{36}\.json$/;
const BYTES_MAX = 4_194_304;
const FILES_MAX = 256;

/** Gives what ends it: the config has its record by then, or nothing was bound. */
export function beginMove(
  bindings: readonly BindingName[],
  store: ChangeStore,
): (() => void) | Failure {
  const { paths } = store;
  const owner = thisProcess(store);
  // Without the identity of this process, nothing could be cleaned up after it.
  if (owner === undefined) return () => undefined;
  const unsafe = ensureFolder(paths.backups);
  if (unsafe !== undefined) return withCode('SUB_HOME_UNSAFE', unsafe);
  const path = join(paths.backups, `moving-${randomUUID()}.json`);
  try {
    writePrivateFile(path, Buffer.from(JSON.stringify({ owner, bindings })));
  } catch (cause) {
    return withCode('SUB_FILE_WRITE', systemFailure(path, 'written', cause));
  }
  return () => rmSync(path, { force: true });
}

function pendingIn({ paths }: ChangeStore): readonly PendingMove[] {
  let names: readonly string[] = [];
  try {
    names = readdirSync(paths.backups).filter((name) => NAME.test(name));
  } catch {
    // There is no such folder: nothing was ever moved.
  }
  return names.slice(0, FILES_MAX).flatMap((name) => {
    const path = join(paths.backups, name);
    const data = readJson(path);
    // A file that cannot be read names nothing that could be taken out.
    if (!isObject(data) || !isOwner(data['owner'])) return [];
    return [{ path, owner: data['owner'], bindings: bindingNames(data['bindings']) }];
  });
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readOwn(path, BYTES_MAX)?.toString('utf8') ?? 'null');
  } catch {
    return undefined;
  }
}

function bindingNames(value: unknown): readonly BindingName[] {
  return Array.isArray(value) ? value.filter(isBindingName) : [];
}

function isBindingName(value: unknown): value is BindingName {
  return (
    isObject(value) &&
    ['server', 'variable', 'secret'].every((name) => typeof value[name] === 'string')
  );
}

/** Takes out what killed processes have bound and no config needs; one line for each, for people. */
export async function repairBindings({
  paths,
}: Pick<SecretPlace, 'paths'>): Promise<readonly string[]> {
  const store = storeAt(paths);
  const all = pendingIn(store);
  const dead = all.filter(({ owner }) => !isProcessAlive(owner, store.system));
  if (dead.length === 0) return [];
  const needed = new Set([
    ...movedIn(store).map(nameKey),
    ...all.flatMap((one) => (dead.includes(one) ? [] : one.bindings.map(nameKey))),
  ]);
  const lines: string[] = [];
  for (const { path, bindings } of dead) {
    const gone = bindings.filter((one) => !needed.has(nameKey(one)));
    const failed = await removeBindings(gone, { paths, store });
    if (failed === undefined) rmSync(path, { force: true });
    lines.push(...repairLines(gone, failed));
  }
  return lines;
}

function repairLines(gone: readonly BindingName[], failed: Failure | undefined) {
  if (failed !== undefined) return [`${failed.message} ${failed.fix} [${failed.code}]`];
  if (gone.length === 0) return [];
  const names = [...new Set(gone.map(({ server }) => server))].join(', ');
  return [
    `a \`sub import\` that was killed had bound secrets of ${names} in config.toml, and left the config as it was: the bindings were taken out.`,
  ];
}

/** One line where `repairBindings` would do something; nothing is changed. */
export function unrepairedBindings({ paths }: Pick<SecretPlace, 'paths'>): readonly string[] {
  const store = storeAt(paths);
  const isLeft = pendingIn(store).some(({ owner }) => !isProcessAlive(owner, store.system));
  if (!isLeft) return [];
  return ['a `sub import` that moved secrets was killed; `sub restore` puts config.toml right.'];
}

/** What the records of all configs need, but for one of them. */
function movedIn({ paths }: ChangeStore, exceptKey?: string): readonly BindingName[] {
  return listRecords(paths).flatMap((one) =>
    one.kind === 'record' && one.key !== exceptKey ? (one.record.moved ?? []).map(bindingName) : [],
  );
}

function nameKey({ server, variable, secret }: BindingName): string {
  return JSON.stringify([server, variable.toUpperCase(), secret]);
}

// Bindings that a restore had to leave, because another config still needed them: they are written
// down, so that they go with that one.

function keptPath({ backups }: ChangeStore['paths']): string {
  return join(backups, 'kept-bindings.json');
}

/** In place of what was written down before. */
function keepBindings(bindings: readonly BindingName[], { paths }: ChangeStore): void {
  const path = keptPath(paths);
  try {
    if (bindings.length === 0) rmSync(path, { force: true });
    else if (ensureFolder(paths.backups) === undefined) {
      writePrivateFile(path, Buffer.from(JSON.stringify(bindings)));
    }
  } catch {
    // Then they stay until a person takes them out, as the warning says.
  }
}

// Bindings that are not needed any more: their secrets are back in the config.

/**
 * A whole sentence where one has to stay; it goes with the last config that needs it, at a later
 * restore. Only what stands there as we wrote it goes. Undefined is a config without a record.
 */
export async function unbindMoved(
  found: FoundRecord | undefined,
  { store, options }: { readonly store: ChangeStore; readonly options: SecretPlace },
): Promise<string | undefined> {
  const needed = new Set(movedIn(store, found?.key).map(nameKey));
  const moved = (found?.record.moved ?? []).map(bindingName);
  const kept = bindingNames(readJson(keptPath(store.paths)));
  const all = new Map([...kept, ...moved].map((one) => [nameKey(one), one]));
  if (all.size === 0) return undefined;
  const unneeded = [...all].flatMap(([key, one]) => (needed.has(key) ? [] : [one]));
  const used = await usersOf(unneeded, options, store);
  const gone = unneeded.filter((one) => !used.has(one));
  const failed = await removeBindings(gone, { paths: options.paths, store });
  keepBindings(failed === undefined ? [...used.keys()] : unneeded, store);
  if (failed !== undefined) {
    return `the bindings stay in config.toml: ${failed.message} ${failed.fix}`;
  }
  const mine = new Set(moved.map(nameKey));
  const users = [...used].flatMap(([one, user]) => (mine.has(nameKey(one)) ? [user] : []));
  if (users.length === 0) return undefined;
  return `the bindings of ${[...new Set(users)].join(', ')} stay in config.toml: a server still starts behind a shim of that name.`;
}

/** The bindings by which a server behind a shim still gets its secret, and that server in words. */
async function usersOf(
  bindings: readonly BindingName[],
  place: SecretPlace,
  store: ChangeStore,
): Promise<ReadonlyMap<BindingName, string>> {
  if (bindings.length === 0) return new Map();
  const bound = await boundServers(place);
  const { found } = findConfigs({ place: clientPlace(place), clients: CLIENTS });
  const recorded = recordedConfigs(store, new Set()).filter((one) => one.kind === 'found');
  const running = [...found, ...recorded].flatMap(({ file, config }) =>
    config.entries
      .filter(({ governed }) => governed !== undefined)
      .map((entry) => ({ server: serverOf(entry), path: file.path, words: wordsOf(entry) })),
  );
  const used = bindings.flatMap((one) => {
    const { server, variable, secret } = one;
    const ways = (bound.get(server)?.secretBindings ?? []).filter(
      ({ injectAs, secretRef }) => injectAs === variable && secretRef === secret,
    );
    const user = running.find(
      (entry) => entry.server === server && ways.some((way) => fitsBinding(way, entry.words)),
    );
    return user === undefined ? [] : [[one, `${server} (${user.path})`] as const];
  });
  return new Map(used);
}
