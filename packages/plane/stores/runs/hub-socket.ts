// Where the hub of a run listens, and what hubs that were killed have left behind.
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256 } from '../../os/crypto/index.ts';
import { attempt, isAnswered } from '../../os/index.ts';

export interface HubSocket {
  readonly path: string;
  /** Removes the folder that was made for it. */
  release(): void;
}

/** The shortest that a system allows for a Unix socket, its closing zero left out. */
const PATH_BYTES_MAX = 103;
const NAME = /^hub-[0-9a-f]{16}\.sock$/;
const FOLDER = 'sub-hub-';
const SOCKET = 'hub.sock';
/** A socket that is being made is not yet listening. */
const YOUNG_MS = 10_000;
const ENTRIES_MAX = 500;
const ASKED_MAX = 8;

/** The same for every host of a run, so that a second one finds the first. */
export function socketPathOf(runDir: string, runId: string): string {
  return join(runDir, `hub-${sha256(runId).slice(0, 16)}.sock`);
}

/**
 * The same for sockets that are found by their names alone: where the path in the home is too long, in a folder
 * that must be made for the user, or be shown to be theirs, before anybody listens or asks there.
 */
export function foundSocketPath(runDir: string, name: string): string {
  const path = socketPathOf(runDir, name);
  return fits(path) ? path : socketPathOf(ownShortFolder(), `${runDir} ${name}`);
}

/** Not where TMPDIR says: all who look must agree. */
function ownShortFolder(): string {
  return `/tmp/sub-sockets-${process.getuid?.() ?? 'user'}`;
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= PATH_BYTES_MAX;
}

/** The events of a run that are only handed on; removed with the socket. */
export function transitPathOf(runDir: string, runId: string): string {
  return besides(socketPathOf(runDir, runId));
}

/** What an agent reads whose hooks come to this socket; removed with it. */
export function launchFolderOf(socketPath: string): string {
  return socketPath.replace(/\.sock$/, '.plugin');
}

function besides(socketPath: string): string {
  return socketPath.replace(/\.sock$/, '.jsonl');
}

/** In the home, or in a private folder of the system's when the path there is too long. */
export function hubSocket(runDir: string, runId: string): HubSocket {
  const path = socketPathOf(runDir, runId);
  // The hub itself makes the socket and removes it.
  if (fits(path)) return { path, release: () => {} };
  const folder = mkdtempSync(join(shortTmpdir(), FOLDER));
  const release = (): void => rmSync(folder, { recursive: true, force: true });
  return { path: join(folder, SOCKET), release };
}

function shortTmpdir(): string {
  const folder = tmpdir();
  return fits(join(folder, `${FOLDER}XXXXXX`, SOCKET)) ? folder : '/tmp';
}

/** Removes the sockets of hosts that are gone; of many, some. */
export async function dropStaleSockets(runDir: string, nowMs: number): Promise<void> {
  for (const dir of [runDir, ownShortFolder()]) {
    const names = namesIn(dir).filter((one) => NAME.test(one) && isOld(join(dir, one), nowMs));
    for (const path of someOf(names).map((name) => join(dir, name))) {
      if (await isAnswered(path)) continue;
      rmSync(path, { force: true });
      rmSync(besides(path), { force: true });
      rmSync(launchFolderOf(path), { recursive: true, force: true });
    }
  }
  const folder = shortTmpdir();
  const paths = namesIn(folder).flatMap((name) => {
    const path = join(folder, name, SOCKET);
    return name.startsWith(FOLDER) && isOld(path, nowMs) ? [path] : [];
  });
  for (const path of someOf(paths)) {
    if (!(await isAnswered(path))) rmSync(dirname(path), { recursive: true, force: true });
  }
}

/** Whether it is a socket of this user that has been there for a while. */
function isOld(path: string, nowMs: number): boolean {
  const stats = attempt(() => lstatSync(path));
  if (stats?.isSocket() !== true || stats.uid !== process.getuid?.()) return false;
  return nowMs - stats.mtimeMs >= YOUNG_MS;
}

/** Each run that starts asks a few: a hundred that start together must not all ask each other. */
function someOf(all: readonly string[]): readonly string[] {
  const from = Math.floor(Math.random() * all.length);
  return [...all.slice(from), ...all.slice(0, from)].slice(0, ASKED_MAX);
}

function namesIn(folder: string): readonly string[] {
  return (attempt(() => readdirSync(folder)) ?? []).slice(0, ENTRIES_MAX);
}
