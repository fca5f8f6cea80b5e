// What is read from the machine: files, processes, and the user. It is passed in, so that tests do
// not depend on the machine that they run on.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { callIds } from './hash.ts';
import { attempt, hasSystemCode } from './system-error.ts';

export interface System {
  readonly platform: string;
  readonly pid: number;
  readonly ppid: number;
  /** The start of a small file, or undefined when it cannot be read. */
  readFile(path: string): string | undefined;
  exists(path: string): boolean;
  /** What `ps` prints, or undefined when there is no such process. */
  ps(args: readonly string[]): string | undefined;
  userName(): string | undefined;
  hostName(): string;
  /** Random, for what only has to be unique. */
  uuid(): string;
  /** Sorts by time. */
  uuidByTime(): string;
  /**
   * The pid namespace, `BOOT-NAMESPACE`: a container has its own pids, and pids of an earlier boot
   * mean nothing. Undefined where the system has no such namespaces.
   */
  space?(): string | undefined;
  /** The names in a folder; undefined when it cannot be read. */
  names?(path: string): readonly string[] | undefined;
  /** The processes that can be seen; Linux only. */
  pids?(): readonly number[];
  /** Where a symbolic link points to. */
  link?(path: string): string | undefined;
  /** The same for every name of a file or folder; undefined when it cannot be looked at. */
  fileId?(path: string): string | undefined;
  /** Whether a process can give itself a name here; Linux only. */
  takesNames?(): boolean;
  /** Whether there is a process with this pid, also another user's. */
  hasProcess?(pid: number): boolean;
  /** The user id that a file or a process (`/proc/PID`) belongs to. */
  owner?(path: string): number | undefined;
}

/** More than an environment can hold. */
const FILE_BYTES_MAX = 8_388_608;
const CHUNK_BYTES = 65_536;
const PS_TIMEOUT_MS = 2_000;

/** One for all, so that ids ascend. */
const idByTime = callIds();

export function thisSystem(): System {
  return {
    platform: process.platform,
    pid: process.pid,
    ppid: process.ppid,
    readFile: (path) => attempt(() => readStart(path)),
    exists: existsSync,
    ps: (args) => attempt(() => runPs(args)),
    // In a container the user id may have no name.
    userName: () => attempt(() => userInfo().username),
    hostName: hostname,
    uuid: randomUUID,
    uuidByTime: idByTime,
    space: readSpace,
    names: (path) => attempt(() => readdirSync(path)),
    pids: () => attempt(() => readdirSync('/proc').flatMap(pidIn)) ?? [],
    link: (path) => attempt(() => readlinkSync(path)),
    fileId: (path) => attempt(() => fileId(statSync(path, { bigint: true }))),
    owner: (path) => attempt(() => statSync(path).uid),
    takesNames: () => attempt(takeOwnName) ?? false,
    hasProcess,
  };
}

function readSpace(): string | undefined {
  const boot = attempt(() => readStart('/proc/sys/kernel/random/boot_id'))?.slice(0, 8) ?? '';
  const link = attempt(() => readlinkSync('/proc/self/ns/pid')) ?? '';
  const number = /\d{1,20}/.exec(link)?.[0];
  return number === undefined || !/^[0-9a-f]{8}$/.test(boot) ? undefined : `${boot}-${number}`;
}

/** Some containers have a /proc that cannot be written to. */
function takeOwnName(): boolean {
  const own = '/proc/self/comm';
  writeFileSync(own, readStart(own).trim());
  return true;
}

function pidIn(name: string): readonly number[] {
  return /^\d{1,10}$/.test(name) ? [Number(name)] : [];
}

function fileId({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** One for all reads: hundreds of small files of /proc are read in a row. */
let scratch: Buffer | undefined;

/** Files of /proc have no size: they are read to their end, or to a bound. */
function readStart(path: string): string {
  let bytes = (scratch ??= Buffer.allocUnsafeSlow(CHUNK_BYTES));
  const fd = openSync(path, 'r');
  try {
    let length = 0;
    for (let count = -1; count !== 0 && length < FILE_BYTES_MAX; length += count) {
      if (length === bytes.length) bytes = Buffer.concat([bytes], 2 * length);
      count = readSync(fd, bytes, length, bytes.length - length, null);
    }
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(fd);
  }
}

function runPs(args: readonly string[]): string {
  const options = { encoding: 'utf8', timeout: PS_TIMEOUT_MS, stdio: 'pipe' } as const;
  return execFileSync('ps', args, { ...options, env: { ...process.env, LC_ALL: 'C' } });
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return !hasSystemCode(cause, 'ESRCH');
  }
}
