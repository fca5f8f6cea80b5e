// What /proc says of the processes of a test, looked at with eyes of our own.
import { readdirSync, readFileSync } from 'node:fs';
import { PATIENCE_MS } from './lines.ts';

export interface ProcessState {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  readonly sid: number;
  /** `Z` for a zombie. */
  readonly state: string;
}

const POLL_MS = 10;

/** Looks again and again until there is something. For what gives no sign by itself. */
export async function until<T>(look: () => T | undefined, what: string): Promise<T> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) throw new Error(`waited too long for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // Gone, or another user's.
    return '';
  }
}

/** Undefined when there is no such process, not even a zombie. */
export function stateOf(pid: number): ProcessState | undefined {
  const text = textOf(pid, 'stat');
  if (text === '') return undefined;
  const [state = '', ppid, pgid, sid] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { pid, state, ppid: Number(ppid), pgid: Number(pgid), sid: Number(sid) };
}

function allPids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Everything that runs with one of these words in its environment or on its command line. */
export function bearing(words: readonly string[]): readonly number[] {
  return allPids().filter((pid) => {
    if (pid === process.pid) return false;
    const text = textOf(pid, 'environ') + textOf(pid, 'cmdline');
    return words.some((word) => text.includes(word)) && isRunning(pid);
  });
}

/**
 * Resolves when nothing bears one of these words any more. To look through all processes costs much of
 * a machine: between two looks, only those that were found are watched.
 */
export async function noneBearing(words: readonly string[], what = 'the last process to end') {
  for (let left = bearing(words); left.length > 0; left = bearing(words)) {
    const seen = left;
    await until(() => (seen.some(isRunning) ? undefined : true), what);
  }
}

/** Ends everything that bears one of these words. */
export function endBearing(words: readonly string[]): void {
  const killed = new Set<number>();
  const left = () => bearing(words).filter((pid) => !killed.has(pid));
  // Looks again: one that is killed may have started another since the look.
  for (let found = left(); found.length > 0; found = left()) {
    for (const pid of found) {
      killed.add(pid);
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone in the meantime.
      }
    }
  }
}

export function isRunning(pid: number): boolean {
  const state = stateOf(pid)?.state ?? 'Z';
  return state !== 'Z' && state !== 'X';
}

export function zombiesOf(ppid: number): readonly number[] {
  return allPids().filter((pid) => {
    const seen = stateOf(pid);
    return seen?.ppid === ppid && seen.state === 'Z';
  });
}

/** A figure of /proc/PID/status in bytes, such as `VmRSS` and `VmHWM`. */
export function memoryOf(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(textOf(pid, 'status'))?.[1];
  if (kilobytes === undefined) throw new Error(`/proc tells no ${name} of ${pid}`);
  return Number(kilobytes) * 1024;
}

/** Bytes that a process has read or written so far. */
function trafficOf(pid: number, name: 'rchar' | 'wchar'): number {
  return Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(textOf(pid, 'io'))?.[1] ?? Number.NaN);
}

/** Resolves when a process sleeps and its traffic has come to a halt: whatever it waits for is full. */
export async function stalled(pid: number, name: 'rchar' | 'wchar'): Promise<number> {
  const LOOKS = 20;
  let before = -1;
  let same = 0;
  return until(() => {
    const now = trafficOf(pid, name);
    same = now === before && stateOf(pid)?.state === 'S' ? same + 1 : 0;
    before = now;
    return same >= LOOKS ? now : undefined;
  }, `process ${pid} to stand still`);
}
