// What a process takes, as the kernel counts it.
import { readdirSync, readFileSync } from 'node:fs';

/** The server is a process of its own; whatever else a way starts belongs to the way. */
const SERVER = 'echo-server.mjs';

function field(file: string, name: string): number {
  const value = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(file, 'utf8'))?.[1];
  if (value === undefined) throw new Error(`${file} has no ${name}`);
  return Number(value);
}

export function peakKb(pid: number): number {
  return field(`/proc/${pid}/status`, 'VmHWM');
}

/** The share of a process and its helpers; memory that n processes share counts 1/n. */
export function pssKb(pid: number): number {
  const own = [pid, ...childrenOf(pid).filter((child) => !isServer(child))];
  return own.reduce((sum, one) => sum + field(`/proc/${one}/smaps_rollup`, 'Pss'), 0);
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      .split(' ')
      .filter((child) => child !== '')
      .map(Number),
  );
}

function isServer(pid: number): boolean {
  const [, script = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  return script.endsWith(SERVER);
}
