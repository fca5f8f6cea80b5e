// Identifies processes. The system reuses pids, so a process is known by its pid, its start time and
// its pid namespace.
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type System, thisSystem } from './system.ts';

export interface ProcessIdentity {
  readonly pid: number;
  /** Differs between two processes that had the same pid; `unknown` where the system hides it. */
  readonly start: string;
  /** `BOOT-NAMESPACE`; absent where the system has no pid namespaces. */
  readonly space?: string;
}

export interface ProcessInfo {
  readonly pid: number;
  readonly ppid: number;
  readonly name: string;
  /** Its command line, as far as it is known. */
  readonly args: readonly string[];
  /** Differs between two processes that had the same id at different times. */
  readonly start: string;
}

export type ProcessEnvironment = { readonly [name: string]: string | undefined };

/** What `/proc/PID/stat` says. */
export interface ProcessStat {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** The session; a process can leave it for a new one, and never comes back. */
  readonly session: number;
  readonly name: string;
  /** False for a zombie: it has ended and only waits for its parent to take note. */
  readonly running: boolean;
  /** Clock ticks since boot, which with the pid tell a process from a later one of the same pid. */
  readonly startTicks: number;
}

/** Enough for `node --flag --flag sub.mjs run`. */
const ARGS_MAX = 6;
export const ANCESTORS_MAX = 64;
const BOOT_LENGTH = 8;
const POLL_MS = 20;

export function processInfo(pid: number, system: System = thisSystem()): ProcessInfo | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return system.platform === 'linux' ? infoFromProc(pid, system) : infoFromPs(pid, system);
}

/** The process with this id, then its parents up to the topmost one that can be seen. */
export function* withAncestors(pid: number, system: System): Generator<ProcessInfo> {
  let info = processInfo(pid, system);
  for (let level = 0; info !== undefined && level < ANCESTORS_MAX; level++) {
    yield info;
    info = info.ppid > 0 ? processInfo(info.ppid, system) : undefined;
  }
}

/** The environment that a process was started with. Only Linux shows it, for the same user alone. */
export function processEnvironment(pid: number, system: System): ProcessEnvironment {
  const text = system.platform === 'linux' ? system.readFile(`/proc/${pid}/environ`) : undefined;
  const pairs = (text ?? '').split('\0').flatMap((word) => {
    const at = word.indexOf('=');
    return at > 0 ? [[word.slice(0, at), word.slice(at + 1)] as const] : [];
  });
  return Object.fromEntries(pairs);
}

/** By its name alone: any program may be called `sub`. */
export function isSubName(path: string): boolean {
  return /^sub(?:\.[cm]?js)?$/.test(basename(path));
}

/** The command that a process runs of this product: `shim` for `node …/sub.mjs shim …`. */
export function subCommand(args: readonly string[]): string | undefined {
  const at = args.slice(0, ARGS_MAX).findIndex(isSubName);
  return at < 0 ? undefined : args[at + 1];
}

function infoFromProc(pid: number, system: System): ProcessInfo | undefined {
  const stat = processStat(pid, (path) => system.readFile(path));
  if (stat === undefined) return undefined;
  // Ticks count from the start of the machine, and a home outlives that.
  const boot = system.readFile('/proc/sys/kernel/random/boot_id')?.slice(0, BOOT_LENGTH) ?? '';
  const args = system.readFile(`/proc/${pid}/cmdline`)?.split('\0').slice(0, ARGS_MAX) ?? [];
  const { ppid, name, startTicks } = stat;
  return { pid, ppid, name, args, start: fileNameText(`${startTicks}-${boot}`) };
}

/** Reads `/proc/PID/stat`; undefined when the process is gone or there is no /proc. */
export function processStat(
  pid: number,
  readFile: (path: string) => string | undefined,
): ProcessStat | undefined {
  const text = readFile(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name stands in parentheses and may itself hold any, and spaces.
  const [open, close] = [text.indexOf('('), text.lastIndexOf(')')];
  const fields = text.slice(close + 2).split(' ');
  // Fields 4, 5, 6 and 22 of proc(5), counted behind the name, which is the second.
  const [ppid, pgid, session] = [Number(fields[1]), Number(fields[2]), Number(fields[3])];
  const startTicks = Number(fields[19]);
  if (open < 0 || close < open || !Number.isSafeInteger(ppid) || !Number.isFinite(startTicks)) {
    return undefined;
  }
  const running = !'ZXx'.includes(fields[0] ?? 'X');
  return { pid, ppid, pgid, session, name: text.slice(open + 1, close), running, startTicks };
}

function infoFromPs(pid: number, system: System): ProcessInfo | undefined {
  const line = system.ps(['-o', 'ppid=', '-o', 'lstart=', '-o', 'command=', '-p', String(pid)]);
  // `  501 Sat Nov 15 23:45:01 2026 /usr/local/bin/claude --flag`
  const match = /^\s*(\d+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/m.exec(line ?? '');
  if (match === null) return undefined;
  const [, ppid = '', start = '', command = ''] = match;
  const args = command.split(' ').slice(0, ARGS_MAX);
  const name = args[0]?.split('/').at(-1) ?? '';
  return { pid, ppid: Number(ppid), name, args, start: fileNameText(start) };
}

/** Keeps only letters, digits and dashes, for the name of a file. */
function fileNameText(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
}

/** This process. */
export function ownIdentity(system: System = thisSystem()): ProcessIdentity {
  const start = processInfo(system.pid, system)?.start ?? 'unknown';
  const space = system.space?.();
  return { pid: system.pid, start, ...(space !== undefined && { space }) };
}

/** False only when the process has certainly ended: one that cannot be seen counts as alive. */
export function isProcessAlive(identity: ProcessIdentity, system: System = thisSystem()): boolean {
  const { pid, start } = identity;
  if (isElsewhere(identity, system)) return true;
  const isSignalable = system.hasProcess?.(pid);
  if (isSignalable === false) return false;
  const info = processInfo(pid, system);
  if (info === undefined) return isSignalable === true;
  // A zombie has no command line.
  if (info.args.join('') === '') return false;
  return start === 'unknown' || info.start === start;
}

/** Waits for a process to end. False when the time is up before that. */
export async function processEnded(pid: number, timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (isProcessAlive({ pid, start: 'unknown' })) {
    if (performance.now() > deadlineMs) return false;
    await pause(POLL_MS);
  }
  return true;
}

/** Whether the process is in another container of this boot, where its pid means another process. */
export function isElsewhere(
  { space }: ProcessIdentity,
  system: Pick<System, 'space'> = thisSystem(),
): boolean {
  const here = system.space?.();
  if (space === undefined || here === undefined || space === here) return false;
  return bootOf(space) === bootOf(here);
}

/** The boot of a `BOOT-NAMESPACE`. */
export function bootOf(space: string): string {
  return space.slice(0, BOOT_LENGTH);
}
