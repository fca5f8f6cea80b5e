// What a process that moves secrets is about to bind, on disk for as long as it works: a killed one
// must leave no binding that wins over its config from then on.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import type { MovedSecret } from '../../index.ts';
import { ensureFolder, readOwn, writeOwn } from '../../store/files.ts';
import { isAlive, type Owner, type Store, thisProcess } from '../../store/ports.ts';
import { systemProblem } from '../../store/problem.ts';
import { listRecords } from '../../store/record.ts';
import { type AdoptProblem, withCode } from '../problem.ts';
import { type BindingFile, type BindingName, removeBindings } from './bindings.ts';

interface Pending {
  readonly path: string;
  readonly owner: Owner;
  readonly bindings: readonly BindingName[];
}

const NAME = /^moving-[0-9a-f-]{36}\.json$/;
const BYTES_MAX = 4_194_304;
const FILES_MAX = 256;

/** Gives what ends it: the config has its record by then, or nothing was bound. */
export function beginMove(
  bindings: readonly BindingName[],
  { ports, paths }: Store,
): (() => void) | AdoptProblem {
  const owner = thisProcess(ports);
  // Where nobody can tell whether a process lives, nothing could be cleaned up after it.
  if (owner === undefined) return () => undefined;
  const unsafe = ensureFolder(paths.backups);
  if (unsafe !== undefined) return withCode('SUB_HOME_UNSAFE', unsafe);
  const path = join(paths.backups, `moving-${ports.uuid()}.json`);
  const names = bindings.map(({ server, variable, secret }) => ({ server, variable, secret }));
  try {
    writeOwn(path, Buffer.from(JSON.stringify({ owner, bindings: names })));
  } catch (cause) {
    return withCode('SUB_FILE_WRITE', systemProblem(path, 'written', cause));
  }
  return () => rmSync(path, { force: true });
}

function pendingIn({ paths }: Store): readonly Pending[] {
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
function readPending(path: string): Omit<Pending, 'path'> | undefined {
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

function isOwner(value: unknown): value is Owner {
  if (!isObject(value) || !Number.isSafeInteger(value['pid'])) return false;
  const { start, space } = value;
  return typeof start === 'string' && (space === undefined || typeof space === 'string');
}

export function isName(value: unknown): value is BindingName {
  if (!isObject(value)) return false;
  return [value['server'], value['variable'], value['secret']].every(
    (one) => typeof one === 'string',
  );
}

/** Takes out what killed processes have bound and no config needs; one line for each, for people. */
export async function repairBindings(file: BindingFile): Promise<readonly string[]> {
  const { store } = file;
  const all = pendingIn(store);
  const dead = all.filter(({ owner }) => !isAlive(owner, store.ports));
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

function toldOf(gone: readonly BindingName[], failed: AdoptProblem | undefined) {
  if (failed !== undefined) return [`${failed.message} ${failed.fix} [${failed.code}]`];
  if (gone.length === 0) return [];
  const names = [...new Set(gone.map(({ server }) => server))].join(', ');
  return [
    `a \`sub import\` that was killed had bound secrets of ${names} in config.toml, and left the config as it was: the bindings were taken out.`,
  ];
}

/** One line where `repairBindings` would do something; nothing is changed. */
export function unrepairedBindings(store: Store): readonly string[] {
  const isLeft = pendingIn(store).some(({ owner }) => !isAlive(owner, store.ports));
  if (!isLeft) return [];
  return ['a `sub import` that moved secrets was killed; `sub restore` puts config.toml right.'];
}

function movedIn({ paths }: Store): readonly MovedSecret[] {
  return listRecords(paths).flatMap((one) =>
    one.kind === 'record' ? (one.record.moved ?? []) : [],
  );
}

export function boundKey({ server, path, secret }: MovedSecret): string {
  return nameKey({ server, variable: String(path.at(-1)), secret });
}

export function nameKey({ server, variable, secret }: BindingName): string {
  return JSON.stringify([server, variable.toUpperCase(), secret]);
}
