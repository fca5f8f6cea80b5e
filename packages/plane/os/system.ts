// What is read of the machine: files, processes, and who runs this one. Passed in, so that tests
// see nothing of the machine they run on.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { uuidv7 } from 'uuidv7';
import { hasSystemCode } from './system-error.ts';

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
   * Within which the numbers of processes mean something: a container has its own. Of this boot, so
   * that what is left from an earlier one is known as such; undefined where nobody tells.
   */
  space?(): string | undefined;
  /** The processes that can be seen; Linux only. */
  pids?(): readonly number[];
  /** Where a symbolic link points to. */
  link?(path: string): string | undefined;
  /** The same for every name of a file or folder; undefined when it cannot be looked at. */
  fileId?(path: string): string | undefined;
  /** Whether there is a process with this pid, also another user's. */
  hasProcess?(pid: number): boolean;
  /** The user id that a file or a process (`/proc/PID`) belongs to. */
  owner?(path: string): number | undefined;
}

/** More than an environment can hold. */
const FILE_BYTES_MAX = 8_388_608;
const CHUNK_BYTES = 65_536;
const PS_TIMEOUT_MS = 2_000;

export function thisSystem(): System {
  return {
    platform: process.platform,
    pid: process.pid,
    ppid: process.ppid,
    readFile: readStart,
    exists: existsSync,
    ps: runPs,
    userName: readUserName,
    hostName: hostname,
    uuid: randomUUID,
    uuidByTime: uuidv7,
    space: readSpace,
    pids: readPids,
    link: readLink,
    fileId: readFileId,
    owner: readOwner,
    hasProcess,
  };
}

function readSpace(): string | undefined {
  const boot = readStart('/proc/sys/kernel/random/boot_id')?.slice(0, 8) ?? '';
  try {
    const number = /\d{1,20}/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
    return number === undefined || !/^[0-9a-f]{8}$/.test(boot) ? undefined : `${boot}-${number}`;
  } catch {
    return undefined;
  }
}

function readPids(): readonly number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d{1,10}$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function readFileId(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function readOwner(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

/** Files of /proc have no size: they are read to their end, or to a bound. */
function readStart(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    const chunks: Buffer[] = [];
    for (let total = 0; total < FILE_BYTES_MAX; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const count = readSync(fd, chunk);
      if (count === 0) break;
      chunks.push(chunk.subarray(0, count));
      total += count;
    }
    return Buffer.concat(chunks).toString('utf8');
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function runPs(args: readonly string[]): string | undefined {
  try {
    const options = { encoding: 'utf8', timeout: PS_TIMEOUT_MS, stdio: 'pipe' } as const;
    return execFileSync('ps', args, { ...options, env: { ...process.env, LC_ALL: 'C' } });
  } catch {
    return undefined;
  }
}

/** In a container the user id may have no name. */
function readUserName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return !hasSystemCode(cause, 'ESRCH');
  }
}
