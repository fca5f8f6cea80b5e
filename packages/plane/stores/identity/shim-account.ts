// What the shims of a run without a host did: each that leaves writes it beside the file of the run, and
// the last one records all of it as the end of the run.
import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, NO_CALLS, SHIM_COUNTERS, type ShimSummary } from '@subluminal/contracts';
import { attempt, parseJson } from '../../os/index.ts';
import { readAgentFile } from './agent-files.ts';

export interface ShimAccount {
  /** When the first of these shims started, by the wall clock. */
  readonly startedMs: number;
  /** Whether each of them ended because its server failed: a run with one good server has not. */
  readonly hasFailed: boolean;
  /** Whether a policy ended one of them. */
  readonly isTerminated: boolean;
  readonly summary: ShimSummary;
}

function addAccounts(one: ShimAccount, other: ShimAccount): ShimAccount {
  const summary = { ...one.summary };
  for (const name of SHIM_COUNTERS) {
    summary[name] = (one.summary[name] ?? 0) + (other.summary[name] ?? 0);
  }
  return {
    startedMs: Math.min(one.startedMs, other.startedMs),
    hasFailed: one.hasFailed && other.hasFailed,
    isTerminated: one.isTerminated || other.isTerminated,
    summary,
  };
}

interface LeftAccounts {
  readonly runDir: string;
  /** What the names of all files of the run begin with. */
  readonly prefix: string;
  readonly runId: string;
}

/** The account with those that shims of the run have left; they are removed. */
export function takeAccounts(account: ShimAccount, left: LeftAccounts): ShimAccount {
  const { runDir, prefix, runId } = left;
  const names = readdirSync(runDir).filter((name) => isAccount(name, prefix));
  return names.reduce((sum, name) => {
    const path = join(runDir, name);
    const theirs = attempt(() => readAccount(readAgentFile(path) ?? '', runId));
    if (theirs === undefined) return sum;
    // Of two that take it at once, one cannot remove it: the other counts it.
    const isTaken = attempt(() => (unlinkSync(path), true));
    return isTaken === true ? addAccounts(sum, theirs) : sum;
  }, account);
}

/** Not a draft of one, which its writer has not put in place yet. */
function isAccount(name: string, prefix: string): boolean {
  return name.startsWith(`${prefix}left-`) && name.endsWith('.json');
}

function readAccount(text: string, runId: string): ShimAccount | undefined {
  const value = parseJson(text);
  const account = isObject(value) && value['run_id'] === runId ? value['account'] : undefined;
  if (!isObject(account) || !isObject(account['summary'])) return undefined;
  const { startedMs, hasFailed, isTerminated, summary: counts } = account;
  if (!isCount(startedMs)) return undefined;
  const summary = { ...NO_CALLS };
  for (const name of SHIM_COUNTERS) {
    const count = counts[name];
    if (isCount(count)) summary[name] = count;
  }
  return { startedMs, hasFailed: hasFailed === true, isTerminated: isTerminated === true, summary };
}

/** Of no shim. */
export const NO_ACCOUNT: ShimAccount = {
  startedMs: Number.POSITIVE_INFINITY,
  hasFailed: true,
  isTerminated: false,
  summary: NO_CALLS,
};

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
