// The processes that a run has started. Linux tells by the mark in their environment and by their
// parents; elsewhere `ps` tells by parents only, so a process that has lost its parent is out of reach.
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { processEnvironment, processStat, subCommand, thisSystem } from '../../os/index.ts';
import type { RunningHub } from '../hub/index.ts';
import { SHIM_MARK } from '../transports/stdio/index.ts';
import { listProcesses, readProcess, readText, signalOne } from '../transports/stdio/processes.ts';

export interface RunFamily {
  /** Where the hub listens: only processes of this very `sub run` have it in their environment. */
  readonly endpoint: string;
  readonly agentPid: number;
}

interface SeenProcess {
  readonly pid: number;
  readonly ppid: number;
  /** Its environment names the hub of this run. */
  readonly isOurs: boolean;
  /** Read only of the processes that may be of the run: beside many other runs, those are few. */
  readonly facts: () => ProcessFacts;
}

interface ProcessFacts {
  /** A shim ends its server itself; it is asked to, never struck down with the rest. */
  readonly isShim: boolean;
  /** A server and what it has started is the business of its shim. */
  readonly isServer: boolean;
  /** Whose hub its environment names; some clients pass no environment to their servers. */
  readonly mark: 'ours' | 'other' | 'none';
}

const HAS_PROC = process.platform === 'linux';
const RUN_MARK = 'SUB_GOVERNANCE_ENDPOINT';
const PS_TIMEOUT_MS = 2_000;
const PS_BYTES_MAX = 8 * 1024 * 1024;

/** The agent's own processes, and the shims among them. Servers belong to their shims. */
export function processesOf(family: RunFamily): {
  readonly agents: readonly number[];
  readonly shims: readonly number[];
} {
  const all = HAS_PROC ? fromProc(family) : fromPs();
  const children = new Map<number, SeenProcess[]>();
  for (const one of all) {
    const known = children.get(one.ppid);
    if (known === undefined) children.set(one.ppid, [one]);
    else known.push(one);
  }
  const agents = new Set<number>();
  const shims = new Set<number>();
  const roots = all.filter(({ pid, isOurs }) => isOurs || pid === family.agentPid);
  const queue = roots.map((one) => ({ one, isOther: false }));
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { one } = next;
    if (one.pid === process.pid || agents.has(one.pid) || shims.has(one.pid)) continue;
    const { mark, isShim, isServer } = one.facts();
    if (isServer && one.pid !== family.agentPid) continue;
    // Those of a run inside of this one are that one's business.
    const isOther = mark === 'other' || (mark === 'none' && next.isOther);
    if (isShim) {
      if (!isOther) shims.add(one.pid);
      continue;
    }
    agents.add(one.pid);
    for (const child of children.get(one.pid) ?? []) queue.push({ one: child, isOther });
  }
  return { agents: [...agents], shims: [...shims] };
}

function fromProc({ endpoint }: RunFamily): readonly SeenProcess[] {
  const found: SeenProcess[] = [];
  // A descendant is never older than this process: that spares most of the machine a look.
  const since = readProcess(process.pid)?.startTicks ?? 0;
  const system = thisSystem();
  const readFile = (path: string): string | undefined => system.readFile(path);
  for (const name of listProcesses()) {
    const facts = processStat(Number(name), readFile);
    if (facts === undefined || !facts.running || facts.startTicks < since) continue;
    const { pid, ppid } = facts;
    const environ = readFile(`/proc/${pid}/environ`);
    // Only a text that holds the name can be that of the run: the rest is not taken apart.
    const isOurs = environ?.includes(endpoint) === true && factsOf(pid, endpoint).mark === 'ours';
    found.push({ pid, ppid, isOurs, facts: () => factsOf(pid, endpoint) });
  }
  return found;
}

function factsOf(pid: number, endpoint: string): ProcessFacts {
  const { [RUN_MARK]: hub, [SHIM_MARK]: shim } = processEnvironment(pid, thisSystem());
  const mark = hub === undefined ? 'none' : hub === endpoint ? 'ours' : 'other';
  const args = readText(`/proc/${pid}/cmdline`)?.split('\0') ?? [];
  // This run itself may have been started by a server.
  const isServer = shim !== undefined && shim !== process.env[SHIM_MARK];
  return { mark, isShim: subCommand(args) === 'shim', isServer };
}

function fromPs(): readonly SeenProcess[] {
  const columns = ['-o', 'pid=', '-o', 'ppid=', '-o', 'stat=', '-o', 'command='];
  const { stdout } = spawnSync('ps', ['-A', ...columns], {
    encoding: 'utf8',
    timeout: PS_TIMEOUT_MS,
    maxBuffer: PS_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [pid = '', ppid = '', state = 'Z', ...args] = line.trim().split(/\s+/);
    if (pid === '' || state.startsWith('Z')) return [];
    const isShim = subCommand(args) === 'shim';
    const facts = { isShim, isServer: false, mark: 'none' } as const;
    return [{ pid: Number(pid), ppid: Number(ppid), isOurs: false, facts: () => facts }];
  });
}

export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) signalOne(pid, signal);
}

interface LeaveOptions {
  readonly hub: RunningHub;
  readonly family: RunFamily;
  /** How long a shim takes to end its server, at most. */
  readonly leaveMs: number;
}

const POLL_MS = 50;
/** One process is looked at, and it has said goodbye. */
const LEAVING_POLL_MS = 10;
/** A shim that was killed never says goodbye; one that is not visible may still do. */
const UNSEEN_MS = 2_000;
const KILL_MS = 2_000;

/** False when a shim had to be made to leave. */
export async function shimsLeave({ hub, family, leaveMs }: LeaveOptions): Promise<boolean> {
  const haveLeft = await leaveByThemselves({ hub, family, leaveMs });
  hub.shutdown();
  if (haveLeft) return true;
  const shims = () => processesOf(family).shims;
  if (shims().length === 0) return true;
  signalAll(shims(), 'SIGTERM');
  if (await areGone(shims, leaveMs)) return false;
  // The guard of a server ends it, when its shim is gone all at once.
  signalAll(shims(), 'SIGKILL');
  await areGone(shims, KILL_MS);
  return false;
}

/**
 * A shim says goodbye before it has ended, and one that found no hub says nothing. False when there may
 * be shims left. All processes of the machine are looked at only when that can tell that there are none:
 * where hundreds of runs end together, looking costs more than all else.
 */
async function leaveByThemselves({ hub, family, leaveMs }: LeaveOptions): Promise<boolean> {
  const deadlineMs = performance.now() + leaveMs;
  await hub.shims.whenLeft(Math.min(UNSEEN_MS, leaveMs));
  for (;;) {
    const { shims } = processesOf(family);
    if (shims.length === 0) return true;
    const leftMs = deadlineMs - performance.now();
    const living = HAS_PROC
      ? () => shims.filter((pid) => readProcess(pid)?.running === true)
      : () => processesOf(family).shims;
    if (leftMs <= 0 || !(await areGone(living, leftMs, LEAVING_POLL_MS))) return false;
  }
}

/** Waits until no process is left; false when time is up. */
export async function areGone(
  left: () => readonly number[],
  timeoutMs: number,
  pollMs = POLL_MS,
): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (left().length > 0) {
    if (performance.now() >= deadlineMs) return false;
    await delay(pollMs);
  }
  return true;
}
