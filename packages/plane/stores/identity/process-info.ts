// What the system tells about another process.
import type { System } from './system.ts';

export interface ProcessInfo {
  readonly pid: number;
  readonly ppid: number;
  readonly name: string;
  /** Its command line, as far as it is known. */
  readonly args: readonly string[];
  /** Differs between two processes that had the same id at different times. */
  readonly start: string;
}

/** Enough for `node --flag --flag sub.mjs run`. */
const ARGS_MAX = 6;

export function processInfo(pid: number, system: System): ProcessInfo | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return system.platform === 'linux' ? fromProc(pid, system) : fromPs(pid, system);
}

function fromProc(pid: number, system: System): ProcessInfo | undefined {
  const stat = system.readFile(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name stands in parentheses and may itself hold any, and spaces.
  const [open, close] = [stat.indexOf('('), stat.lastIndexOf(')')];
  const fields = stat.slice(close + 2).split(' ');
  // Fields 4 and 22 of proc(5), counted behind the name, which is the second.
  const [ppid, ticks] = [Number(fields[1]), fields[19]];
  if (open < 0 || close < open || ticks === undefined || !Number.isSafeInteger(ppid)) {
    return undefined;
  }
  // Ticks count from the start of the machine, and a home outlives that.
  const boot = system.readFile('/proc/sys/kernel/random/boot_id')?.slice(0, 8) ?? '';
  const args = system.readFile(`/proc/${pid}/cmdline`)?.split('\0').slice(0, ARGS_MAX) ?? [];
  return { pid, ppid, name: stat.slice(open + 1, close), args, start: clean(`${ticks}-${boot}`) };
}

function fromPs(pid: number, system: System): ProcessInfo | undefined {
  const line = system.ps(['-o', 'ppid=', '-o', 'lstart=', '-o', 'command=', '-p', String(pid)]);
  // `  501 Sat Nov 15 23:45:01 2026 /usr/local/bin/claude --flag`
  const match = /^\s*(\d+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/m.exec(line ?? '');
  if (match === null) return undefined;
  const [, ppid = '', start = '', command = ''] = match;
  const args = command.split(' ').slice(0, ARGS_MAX);
  const name = args[0]?.split('/').at(-1) ?? '';
  return { pid, ppid: Number(ppid), name, args, start: clean(start) };
}

/** What may stand in a file name. */
function clean(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
}
