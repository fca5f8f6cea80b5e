// Which processes of a server are still running. Linux tells by group and by the mark in their
// environment; elsewhere `ps` tells by group only, so what left the group there is out of reach.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Names the shim that a process descends from. Whoever starts a lasting service must remove it. */
const SHIM_MARK = 'SUB_SHIM_ID';

const PS_TIMEOUT_MS = 2_000;
const PS_BYTES_MAX = 8 * 1024 * 1024;

interface ProcessFacts {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** False for a zombie: it has ended and only waits for its parent to take note. */
  readonly running: boolean;
  /** Clock ticks since boot, which with the pid tell a process from a later one of the same pid. */
  readonly startTicks: number;
}

/** The server's processes: a group, and whatever carries the mark. */
interface Family {
  readonly pgid: number;
  readonly shimId: string;
  /** Undefined where the system does not tell. */
  readonly startTicks: number | undefined;
}

/** What /proc says about a process; undefined when it is gone or there is no /proc. */
function readProcess(pid: number): ProcessFacts | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name stands in parentheses and may hold anything, so the fields count from the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields[0] ?? 'X';
  return {
    pid,
    ppid: Number(fields[1]),
    pgid: Number(fields[2]),
    running: !'ZXx'.includes(state),
    startTicks: Number(fields[19]),
  };
}

/** The pids of the family that still run, this process never among them. */
function survivorsOf(family: Family): readonly number[] {
  const pids = process.platform === 'linux' ? marked(family) : grouped(family);
  return pids.filter((pid) => pid !== process.pid);
}

function marked(family: Family): readonly number[] {
  const found: number[] = [];
  for (const name of listProcesses()) {
    const facts = readProcess(Number(name));
    if (facts === undefined || !facts.running) continue;
    if (facts.pgid === family.pgid || carriesMark(facts, family)) found.push(facts.pid);
  }
  return found;
}

function carriesMark(facts: ProcessFacts, family: Family): boolean {
  // A descendant is never older than the server: this spares most of the machine a look.
  if (facts.startTicks < (family.startTicks ?? 0)) return false;
  const environment = readText(`/proc/${facts.pid}/environ`);
  return `\0${environment ?? ''}\0`.includes(`\0${SHIM_MARK}=${family.shimId}\0`);
}

function grouped(family: Pick<Family, 'pgid'>): readonly number[] {
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

/** Signals the group, then those that left it. A process that is gone meanwhile is no failure. */
function strike(family: Family, signal: 'SIGTERM' | 'SIGKILL'): void {
  const survivors = survivorsOf(family);
  // An empty group's number may be another's by now.
  if (survivors.length === 0) return;
  if (survivors.some((pid) => isMember(pid, family.pgid))) signalOne(-family.pgid, signal);
  for (const pid of survivors) {
    if (!isMember(pid, family.pgid)) signalOne(pid, signal);
  }
}

function isMember(pid: number, pgid: number): boolean {
  // Without /proc, survivors are known by their group alone.
  return process.platform !== 'linux' || readProcess(pid)?.pgid === pgid;
}

function signalOne(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // Gone, or not ours to signal: the next look tells which.
  }
}

function listProcesses(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

export type { Family, ProcessFacts };
export { grouped, listProcesses, readProcess, readText, SHIM_MARK, signalOne, strike, survivorsOf };
