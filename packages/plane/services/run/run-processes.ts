// The processes that a run has started. Linux tells by the mark in their environment and by their
// parents; elsewhere `ps` tells by parents only, so a process that has lost its parent is out of reach.
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { processEnvironment, subCommand, thisSystem } from '../../os/index.ts';
import type { RunningHub } from '../hub/index.ts';
import { SHIM_MARK } from '../transports/stdio/index.ts';
import { listProcesses, readProcess, readText, signalOne } from '../transports/stdio/processes.ts';

export interface RunFamily {
  /** Where the hub listens: only processes of this very `sub run` have it in their environment. */
  readonly endpoint: string;
  readonly agentPid: number;
}

interface RunProcess {
  readonly pid: number;
  readonly ppid: number;
  /** A shim ends its server itself; it is asked to, never struck down with the rest. */
  readonly isShim: boolean;
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
  const children = new Map<number, RunProcess[]>();
  for (const one of all) children.set(one.ppid, [...(children.get(one.ppid) ?? []), one]);
  const agents = new Set<number>();
  const shims = new Set<number>();
  const roots = all.filter(({ pid, mark }) => mark === 'ours' || pid === family.agentPid);
  const queue = roots.map((one) => ({ one, isOther: false }));
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { one } = next;
    if (one.pid === process.pid || agents.has(one.pid) || shims.has(one.pid)) continue;
    // Those of a run inside of this one are that one's business.
    const isOther = one.mark === 'other' || (one.mark === 'none' && next.isOther);
    if (one.isShim) {
      if (!isOther) shims.add(one.pid);
      continue;
    }
    agents.add(one.pid);
    for (const child of children.get(one.pid) ?? []) queue.push({ one: child, isOther });
  }
  return { agents: [...agents], shims: [...shims] };
}

function fromProc({ endpoint, agentPid }: RunFamily): readonly RunProcess[] {
  const found: RunProcess[] = [];
  // A descendant is never older than this process: that spares most of the machine a look.
  const since = readProcess(process.pid)?.startTicks ?? 0;
  for (const name of listProcesses()) {
    const facts = readProcess(Number(name));
    if (facts === undefined || !facts.running || facts.startTicks < since) continue;
    const { pid, ppid } = facts;
    const marks = marksOf(pid, endpoint);
    if (marks.isServer && pid !== agentPid) continue;
    const args = readText(`/proc/${pid}/cmdline`)?.split('\0') ?? [];
    found.push({ pid, ppid, isShim: subCommand(args) === 'shim', mark: marks.mark });
  }
  return found;
}

function marksOf(
  pid: number,
  endpoint: string,
): { readonly mark: RunProcess['mark']; readonly isServer: boolean } {
  const { [RUN_MARK]: hub, [SHIM_MARK]: shim } = processEnvironment(pid, thisSystem());
  const mark = hub === undefined ? 'none' : hub === endpoint ? 'ours' : 'other';
  // This run itself may have been started by a server.
  return { mark, isServer: shim !== undefined && shim !== process.env[SHIM_MARK] };
}

function fromPs(): readonly RunProcess[] {
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
    return [
      { pid: Number(pid), ppid: Number(ppid), isShim: subCommand(args) === 'shim', mark: 'none' },
    ];
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
/** A shim that was killed never says goodbye; one that is not visible may still do. */
const UNSEEN_MS = 2_000;
const KILL_MS = 2_000;

/** False when a shim had to be made to leave. */
export async function shimsLeave({ hub, family, leaveMs }: LeaveOptions): Promise<boolean> {
  await leaveByThemselves({ hub, family, leaveMs });
  hub.shutdown();
  const shims = () => processesOf(family).shims;
  if (shims().length === 0) return true;
  signalAll(shims(), 'SIGTERM');
  if (await areGone(shims, leaveMs)) return false;
  // The guard of a server ends it, when its shim is gone all at once.
  signalAll(shims(), 'SIGKILL');
  await areGone(shims, KILL_MS);
  return false;
}

/** A shim says goodbye before it has ended, and one that found no hub says nothing. */
async function leaveByThemselves({ hub, family, leaveMs }: LeaveOptions): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const hasLeft = await hub.shims.whenLeft(POLL_MS);
    const isSeen = processesOf(family).shims.length > 0;
    const waitedMs = performance.now() - startMs;
    if (!isSeen && (hasLeft || waitedMs >= UNSEEN_MS)) return;
    if (waitedMs >= leaveMs) return;
    if (hasLeft) await delay(POLL_MS);
  }
}

/** Waits until no process is left; false when time is up. */
export async function areGone(left: () => readonly number[], timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (left().length > 0) {
    if (performance.now() >= deadlineMs) return false;
    await delay(POLL_MS);
  }
  return true;
}
