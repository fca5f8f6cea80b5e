// What a process that moves secrets is about to bind, on disk for as long as it works: a killed one
// must leave no binding that wins over its config from then on.

import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, isObject } from '@subluminal/contracts';
import { isProcessAlive, type ProcessIdentity, writePrivateFile } from '../../../os/index.ts';
import type { Servers } from '../../../stores/config/index.ts';
import { fitsCommand } from '../../../stores/vault/index.ts';
import { CLIENTS, type MovedSecret } from '../index.ts';
import { clientPlace, type SecretPlace, withCode } from '../inspect/adoption-place.ts';
import { findConfigs, recordedConfigs } from '../inspect/find-configs.ts';
import {
  type ChangeStore,
  ensureFolder,
  readOwn,
  systemFailure,
  thisProcess,
} from '../store/change-store.ts';

import { type FoundRecord, listRecords } from '../store/records.ts';
import { type BindingFile, type BindingName, boundServers, removeBindings } from './bindings.ts';

import { serverOf, wordsOf } from './plain-secrets.ts';

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
  // Where nobody can tell whether a process lives, nothing could be cleaned up after it.
  if (owner === undefined) return () => undefined;
  const unsafe = ensureFolder(paths.backups);
  if (unsafe !== undefined) return withCode('SUB_HOME_UNSAFE', unsafe);
  const path = join(paths.backups, `moving-${randomUUID()}.json`);
  const names = bindings.map(({ server, variable, secret }) => ({ server, variable, secret }));
  try {
    writePrivateFile(path, Buffer.from(JSON.stringify({ owner, bindings: names })));
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
    const read = readPending(path);
    return read === undefined ? [] : [{ path, ...read }];
  });
}

/** One that cannot be read names nothing that could be taken out. */
function readPending(path: string): Omit<PendingMove, 'path'> | undefined {
  try {
    const data: unknown = JSON.parse(readOwn(path, BYTES_MAX)?.toString('utf8') ?? 'null');
    if (!isObject(data) || !isOwner(data['owner']) || !Array.isArray(data['bindings'])) {
      return undefined;
    }
    return { owner: data['owner'], bindings: data['bindings'].filter(isName) };
  } catch {
    return undefined;
  }
}

function isOwner(value: unknown): value is ProcessIdentity {
  if (!isObject(value) || !Number.isSafeInteger(value['pid'])) return false;
  const { start, space } = value;
  return typeof start === 'string' && (space === undefined || typeof space === 'string');
}

function isName(value: unknown): value is BindingName {
  if (!isObject(value)) return false;
  return [value['server'], value['variable'], value['secret']].every(
    (one) => typeof one === 'string',
  );
}

/** Takes out what killed processes have bound and no config needs; one line for each, for people. */
export async function repairBindings(file: BindingFile): Promise<readonly string[]> {
  const { store } = file;
  const all = pendingIn(store);
  const dead = all.filter(({ owner }) => !isProcessAlive(owner, store.system));
  if (dead.length === 0) return [];
  const needed = new Set([
    ...movedIn(store).map(boundKey),
    ...all.filter((one) => !dead.includes(one)).flatMap(({ bindings }) => bindings.map(nameKey)),
  ]);
  const lines: string[] = [];
  for (const { path, bindings } of dead) {
    const gone = bindings.filter((one) => !needed.has(nameKey(one)));
    const failed = gone.length === 0 ? undefined : await removeBindings(gone, file);
    if (failed === undefined) rmSync(path, { force: true });
    lines.push(...toldOf(gone, failed));
  }
  return lines;
}

function toldOf(gone: readonly BindingName[], failed: Failure | undefined) {
  if (failed !== undefined) return [`${failed.message} ${failed.fix} [${failed.code}]`];
  if (gone.length === 0) return [];
  const names = [...new Set(gone.map(({ server }) => server))].join(', ');
  return [
    `a \`sub import\` that was killed had bound secrets of ${names} in config.toml, and left the config as it was: the bindings were taken out.`,
  ];
}

/** One line where `repairBindings` would do something; nothing is changed. */
export function unrepairedBindings(store: ChangeStore): readonly string[] {
  const isLeft = pendingIn(store).some(({ owner }) => !isProcessAlive(owner, store.system));
  if (!isLeft) return [];
  return ['a `sub import` that moved secrets was killed; `sub restore` puts config.toml right.'];
}

function movedIn({ paths }: ChangeStore): readonly MovedSecret[] {
  return listRecords(paths).flatMap((one) =>
    one.kind === 'record' ? (one.record.moved ?? []) : [],
  );
}

function boundKey({ server, path, secret }: MovedSecret): string {
  return nameKey({ server, variable: String(path.at(-1)), secret });
}

function nameKey({ server, variable, secret }: BindingName): string {
  return JSON.stringify([server, variable.toUpperCase(), secret]);
}

// Bindings that a restore had to leave, because another config still needed them: they are written
// down, so that they go with that one.

const KEPT_BYTES_MAX = 4_194_304;

function keptBindings({ paths }: ChangeStore): readonly BindingName[] {
  try {
    const text = readOwn(pathOf(paths), KEPT_BYTES_MAX)?.toString('utf8') ?? '[]';
    const data: unknown = JSON.parse(text);
    return Array.isArray(data) ? data.filter(isName) : [];
  } catch {
    // Nothing that could be taken out is named there.
    return [];
  }
}

/** In place of what was written down before. */
function keepBindings(bindings: readonly BindingName[], { paths }: ChangeStore): void {
  const path = pathOf(paths);
  try {
    if (bindings.length === 0) {
      rmSync(path, { force: true });
      return;
    }
    const names = bindings.map(({ server, variable, secret }) => ({ server, variable, secret }));
    if (ensureFolder(paths.backups) === undefined)
      writePrivateFile(path, Buffer.from(JSON.stringify(names)));
  } catch {
    // Then they stay until a person takes them out, as they were told.
  }
}

function pathOf({ backups }: ChangeStore['paths']): string {
  return join(backups, 'kept-bindings.json');
}

// Bindings that nobody needs any more: the secrets they were for are back in their config.

/**
 * A whole sentence where one has to stay; it goes with the last config that needs it, at a later
 * restore. Only what stands there as we wrote it goes. Undefined is a config without a record.
 */
export async function unbindMoved(
  found: FoundRecord | undefined,
  { store, options }: { readonly store: ChangeStore; readonly options: SecretPlace },
): Promise<string | undefined> {
  const needed = new Set(
    listRecords(store.paths).flatMap((one) =>
      one.kind === 'record' && one.key !== found?.key ? (one.record.moved ?? []).map(boundKey) : [],
    ),
  );
  const moved = (found?.record.moved ?? []).map(nameOf);
  const old = keptBindings(store);
  const all = new Map([...old, ...moved].map((one) => [nameKey(one), one]));
  const unneeded = [...all].flatMap(([key, one]) => (needed.has(key) ? [] : [one]));
  if (all.size === 0) return undefined;
  const running = unneeded.length === 0 ? [] : runningIn(options, store);
  const bound = unneeded.length === 0 ? new Map<string, never>() : await boundServers(options);
  const usedBy = (one: BindingName) => running.find((entry) => isFor(one, entry, bound));
  const bindings = unneeded.filter((one) => usedBy(one) === undefined);
  const failed =
    bindings.length === 0
      ? undefined
      : await removeBindings(bindings, { paths: options.paths, store });
  keepBindings(
    failed === undefined ? unneeded.filter((one) => !bindings.includes(one)) : unneeded,
    store,
  );
  if (failed !== undefined) {
    return `the bindings stay in config.toml: ${failed.message} ${failed.fix}`;
  }
  const mine = new Set(moved.map(nameKey));
  const kept = unneeded.filter((one) => mine.has(nameKey(one))).flatMap((one) => usedBy(one) ?? []);
  if (kept.length === 0) return undefined;
  const words = kept.map(({ server, path }) => `${server} (${path})`);
  return `the bindings of ${[...new Set(words)].join(', ')} stay in config.toml: a server still starts behind a shim of that name.`;
}

function nameOf({ server, path, secret }: MovedSecret): BindingName {
  return { server, variable: String(path.at(-1)), secret };
}

interface ShimmedServer {
  readonly server: string;
  readonly path: string;
  readonly words: readonly string[];
}

/** What starts behind a shim, by whichever config. */
function runningIn(place: SecretPlace, store: ChangeStore): readonly ShimmedServer[] {
  const { found } = findConfigs({ place: clientPlace(place), clients: CLIENTS });
  const recorded = recordedConfigs(store, new Set()).filter((one) => one.kind === 'found');
  return [...found, ...recorded].flatMap(({ file, config }) =>
    config.entries
      .filter(({ governed }) => governed !== undefined)
      .map((entry) => ({ server: serverOf(entry), path: file.path, words: wordsOf(entry) })),
  );
}

/** Whether it gets the secret by the binding that is to go. */
function isFor(
  { server, variable, secret }: BindingName,
  entry: ShimmedServer,
  bound: Servers,
): boolean {
  const bindings = bound.get(server)?.secretBindings ?? [];
  return (
    entry.server === server &&
    bindings.some(
      ({ injectAs, secretRef, command }) =>
        injectAs === variable &&
        secretRef === secret &&
        (command === undefined || fitsCommand(command, entry.words)),
    )
  );
}
