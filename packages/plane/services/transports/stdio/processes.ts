// Which processes of a server are still running. Linux shows their group and the mark in their environment;
// elsewhere `ps` shows only the group, so a process that left its group is out of reach there.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { type ProcessStat, processStat, thisSystem } from '../../../os/index.ts';

/** Names the shim that a process descends from. A program that starts a lasting service must remove it. */
export const SHIM_MARK = 'SUB_SHIM_ID';

const PS_TIMEOUT_MS = 2_000;
const PS_BYTES_MAX = 8 * 1024 * 1024;

/** The server's processes: a group, and whatever carries the mark. */
export interface Family {
  readonly pgid: number;
  readonly shimId: string;
  /** Undefined where the system does not show it. */
  readonly startTicks: number | undefined;
}

/** Of a process that was just started, detached and with the mark in its environment. */
export function familyOf({ pid }: { readonly pid?: number | undefined }, shimId: string): Family {
  if (pid === undefined) throw new Error('a spawned process has a pid');
  // Until its exit is taken note of, the pid is its own: this start time is never another's.
  return { pgid: pid, shimId, startTicks: readProcess(pid)?.startTicks };
}

/** What /proc says about a process; undefined when it is gone or there is no /proc. */
export function readProcess(pid: number): ProcessStat | undefined {
  return processStat(pid, readText);
}

/** The pids of the family that still run, this process never among them. */
export function survivorsOf(family: Family): readonly number[] {
  const pids = process.platform === 'linux' ? marked(family) : grouped(family);
  return pids.filter((pid) => pid !== process.pid);
}

/**
 * Whether none of the family runs. Looks twice: a process that is forked during the first look may be missed.
 * Beside many other processes, looking costs more than all else at the end of a shim.
 */
export function isFamilyGone(family: Family): boolean {
  const strangers = new Set<string>();
  const isAnyLeft = (): boolean =>
    process.platform === 'linux'
      ? membersOf(family, strangers).next().done === false
      : grouped(family).length > 0;
  return !isAnyLeft() && !isAnyLeft();
}

function marked(family: Family): readonly number[] {
  return [...membersOf(family)].map(({ pid }) => pid);
}

/**
 * Those of the family that run, one by one as they are found, the youngest first. `strangers` are not looked at,
 * and those that are found are added.
 */
function* membersOf(family: Family, strangers?: Set<string>): Generator<ProcessStat> {
  for (const name of listProcesses().toReversed()) {
    if (strangers?.has(name) === true) continue;
    const facts = readProcess(Number(name));
    if (facts === undefined || !facts.running) continue;
    const kinship = facts.pgid === family.pgid ? 'ours' : kinshipOf(facts, family);
    if (kinship === 'ours') yield facts;
    else if (kinship === 'none') strangers?.add(name);
  }
}

function kinshipOf(facts: ProcessStat, family: Family): 'ours' | 'none' | 'unknown' {
  // A descendant is never older than the server: this spares most of the machine a look.
  if (facts.startTicks < (family.startTicks ?? 0)) return 'none';
  const environment = readText(`/proc/${facts.pid}/environ`) ?? '';
  if (`\0${environment}\0`.includes(`\0${SHIM_MARK}=${family.shimId}\0`)) return 'ours';
  // One that is about to execute a program shows none.
  return environment === '' ? 'unknown' : 'none';
}

export function grouped(family: Pick<Family, 'pgid'>): readonly number[] {
  const result = spawnSync('ps', ['-A', '-o', 'pid=', '-o', 'pgid=', '-o', 'stat='], {
    encoding: 'utf8',
    timeout: PS_TIMEOUT_MS,
    maxBuffer: PS_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const found: number[] = [];
  for (const line of (result.stdout ?? '').split('\n')) {
    const [pid, pgid, state = 'Z'] = line.trim().split(/\s+/);
    if (Number(pgid) === family.pgid && !state.startsWith('Z')) found.push(Number(pid));
  }
  return found;
}

/**
 * Signals the group and those that left it, each when it is found: one that forks all the time is gone
 * a moment later. False when there was none. A process that is gone meanwhile is no failure.
 */
export function strike(family: Family, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  if (process.platform !== 'linux') {
    // An empty group's number may be another's by now.
    const isThere = survivorsOf(family).length > 0;
    if (isThere) signalOne(-family.pgid, signal);
    return isThere;
  }
  let isFound = false;
  let isGroupSignalled = false;
  for (const { pid, pgid } of membersOf(family)) {
    if (pid === process.pid) continue;
    isFound = true;
    if (pgid !== family.pgid) signalOne(pid, signal);
    else if (!isGroupSignalled) signalOne(-family.pgid, signal);
    isGroupSignalled ||= pgid === family.pgid;
  }
  return isFound;
}

export function signalOne(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // Gone, or not ours to signal: the next look shows which.
  }
}

export function listProcesses(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

const system = thisSystem();

export function readText(path: string): string | undefined {
  return system.readFile(path);
}
