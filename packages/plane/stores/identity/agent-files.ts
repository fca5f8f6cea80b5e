// The files of a run folder that are named after the process of an agent, by pid and start time.
// `sub run` and the shims of an agent find each other by them.
import { existsSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import {
  attempt,
  createPrivateFile,
  isProcessAlive,
  makeFolders,
  type ProcessInfo,
  parseJson,
  processInfo,
  readRegularFile,
  type System,
} from '../../os/index.ts';

type ProcessName = Pick<ProcessInfo, 'pid' | 'start'>;

interface StaleOptions {
  readonly runDir: string;
  readonly system: System;
  readonly nowMs: number;
}

/** What a file of an agent may hold. Writers refuse to write more, readers to read more. */
export const AGENT_FILE_BYTES_MAX = 1_048_576;
const FILE = /^agent-(\d{1,10})-([A-Za-z0-9-]{1,64})\.[A-Za-z0-9.-]{1,200}$/;
const PLACE = /^shim-(\d{1,10})-([A-Za-z0-9-]{1,64})\.json$/;
const FILES_MAX = 500;
/** A pid namespace is written as its boot, a dash, and a number. */
const BOOT_LENGTH = 9;
const KEPT_MS = 60 * 60_000;
/** For files of a container with the same home, whose processes cannot be seen from here. */
const KEPT_ELSEWHERE_MS = 30 * 24 * KEPT_MS;

export function agentFileName({ pid, start }: ProcessName): string {
  return `${filePrefix({ pid, start })}json`;
}

/** What the names of all files of a process begin with. */
export function filePrefix({ pid, start }: ProcessName): string {
  return `agent-${pid}-${start}.`;
}

/** `shim` is its place in the run, `left` what it leaves for the end, `last` is that of the one that ends it. */
export type ShimFileKind = 'shim' | 'left' | 'last';

export function shimFileName(prefix: string, kind: ShimFileKind, shim: ProcessName): string {
  return `${prefix}${kind}-${shim.pid}-${shim.start}.json`;
}

/** Whether a living shim has a place in the run. Removes the places of dead shims. */
export function hasShims(runDir: string, prefix: string, system: System): boolean {
  let isOneAlive = false;
  for (const name of readdirSync(runDir).filter((one) => one.startsWith(prefix))) {
    const [, pid, start] = PLACE.exec(name.slice(prefix.length)) ?? [];
    if (pid === undefined || start === undefined) continue;
    if (isProcessAlive({ pid: Number(pid), start }, system)) isOneAlive = true;
    else drop(join(runDir, name));
  }
  return isOneAlive;
}

/** The whole text, undefined when there is no such file. Throws when it cannot be read. */
export function readAgentFile(path: string): string | undefined {
  const read = readRegularFile(path, { bytesMax: AGENT_FILE_BYTES_MAX });
  if (read.kind === 'missing' && read.code === 'ENOENT') return undefined;
  if (read.kind === 'read') return read.bytes.toString('utf8');
  throw new Error(read.kind === 'missing' ? `it is not there (${read.code})` : `it ${read.why}`);
}

export interface OnceCreated {
  readonly text: string;
  /** Whether this process was first, so that the text is its own. */
  readonly isOurs: boolean;
}

/** Makes a file that the first process writes and all others read. Throws the system's error. */
export function createOnce(path: string, text: string): OnceCreated {
  const there = readAgentFile(path);
  if (there !== undefined) return { text: there, isOurs: false };
  try {
    makeFolders(dirname(path));
    if (createPrivateFile(path, text, { isLasting: false }) === 'created') {
      return { text, isOurs: true };
    }
    throw new Error('it was removed just now');
  } catch (cause) {
    const winner = readAgentFile(path);
    if (winner === undefined) throw cause;
    return { text: winner, isOurs: false };
  }
}

/** Removes the files of agents that are gone. */
export function dropStaleFiles({ runDir, system, nowMs }: StaleOptions): void {
  for (const name of readdirSync(runDir).slice(0, FILES_MAX)) {
    const [, pid, start] = FILE.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = join(runDir, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || nowMs - stats.mtimeMs < KEPT_MS) continue;
    if (processInfo(Number(pid), system)?.start === start) continue;
    if (nowMs - stats.mtimeMs < KEPT_ELSEWHERE_MS && isElsewhere(path, system)) continue;
    drop(path);
  }
}

/** Whether an agent of this boot is on record whose pid namespace is another one. */
export function hasFilesOfElsewhere(runDir: string, system: System): boolean {
  const boot = system.space?.()?.slice(0, BOOT_LENGTH);
  if (boot === undefined || !existsSync(runDir)) return false;
  const names = readdirSync(runDir).filter((name) => FILE.test(name));
  return names.some((name) => {
    const space = spaceOf(join(runDir, name));
    return space?.startsWith(boot) === true && space !== system.space?.();
  });
}

/** Whether a process of another pid namespace wrote the file. */
function isElsewhere(path: string, system: System): boolean {
  const space = spaceOf(path);
  return space !== undefined && space !== system.space?.();
}

/** The pid namespace of the process that wrote the file. */
function spaceOf(path: string): string | undefined {
  const value = attempt(() => parseJson(readAgentFile(path) ?? ''));
  return isObject(value) && typeof value['space'] === 'string' ? value['space'] : undefined;
}

/** Removes a file that another process may have removed first. */
export function drop(path: string): void {
  attempt(() => unlinkSync(path));
}
