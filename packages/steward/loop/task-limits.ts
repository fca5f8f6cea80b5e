// When a task has had enough: steps, money and time, of its own and of the day.
import { isDeepStrictEqual } from 'node:util';
import type { Journal, JournalStep, JournalTask } from '../journal/index.ts';
import type { LoopLimits } from './types.ts';

interface LimitQuestion {
  readonly task: JournalTask;
  readonly workMs: number;
  readonly nowMs: number;
}

/** Why the task may not go on, in words for the user; undefined when it may. */
export function limitReached(
  journal: Journal,
  limits: LoopLimits,
  { task, workMs, nowMs }: LimitQuestion,
): string | undefined {
  const day = journal.spendingOn(nowMs);
  const sum = (key: 'costMicros' | 'workMs' | 'steps') =>
    day.reduce((total, spent) => total + spent[key], 0);
  const background = day.find(({ purpose }) => purpose === 'background')?.costMicros ?? 0;
  if (task.steps >= limits.taskStepsMax)
    return `it took ${task.steps} steps, as many as a task may`;
  const costMicros = journal.costWithSubAgents(task);
  if (costMicros >= limits.taskCostMicrosMax) {
    return `it cost ${dollars(costMicros)}, as much as a task may with its sub-agents`;
  }
  // A sub-agent has a time of its own.
  if (task.parentId === null && workMs >= limits.taskWorkMsMax)
    return 'it took as long as a task may';
  if (sum('steps') >= limits.dayStepsMax) return 'the steps of this day are used up';
  if (sum('costMicros') >= limits.dayCostMicrosMax) {
    return `the money of this day is used up (${dollars(limits.dayCostMicrosMax)})`;
  }
  if (sum('workMs') >= limits.dayWorkMsMax) return 'the time of this day is used up';
  if (task.purpose === 'background' && background >= limits.backgroundCostMicrosMax) {
    return `the money of this day for background work is used up (${dollars(background)})`;
  }
  return undefined;
}

function dollars(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(2)}`;
}

type Named = Pick<JournalStep, 'server' | 'tool' | 'args'>;

/** How often this was proposed already in the task; the order of its arguments does not matter. */
export function timesProposed(steps: readonly Named[], wanted: Named): number {
  const named = ({ server, tool, args }: Named) => ({ server, tool, args });
  return steps.filter((step) => isDeepStrictEqual(named(step), named(wanted))).length;
}
