// How a replayed decision compares with the recorded one.
import type { Action, Decision, EventOf } from '@subluminal/contracts';
import type { Outcome, TraceStep } from '../types.ts';
import type { ArgsKnowledge, ReplayedCall, ReplayOptions, Verdict } from './types.ts';

/** From the mildest to the strictest. */
const ACTIONS: readonly Action[] = [
  'ALLOW',
  'THROTTLE',
  'REJECT_WITH_HINT',
  'BLOCK',
  'TERMINATE_RUN',
];

type Compare = NonNullable<ReplayOptions['compare']>;

export function recordedOf(
  decision: EventOf<'tool_call_decision'>['decision'],
  compare: Compare,
): NonNullable<ReplayedCall['recorded']> {
  const { action, rule_id } = compare === 'would' ? (decision.would ?? decision) : decision;
  return { action, rule_id };
}

export function replayedOf(
  decision: Decision,
  compare: Compare,
): NonNullable<ReplayedCall['replayed']> {
  const chosen = compare === 'would' ? (decision.would ?? decision) : decision;
  const { action, rule_id, reason_code } = chosen;
  return { action, rule_id, reason_code };
}

/**
 * Whether the outcome hangs on arguments that the recording does not hold: some rule needed them
 * before any rule had decided.
 */
export function isUndetermined(
  outcome: Outcome<unknown>,
  args: ArgsKnowledge,
  needsArgs: ReadonlySet<string>,
): boolean {
  if (args !== 'unknown') return false;
  const missed = (step: TraceStep) => step.outcome === 'failed' && needsArgs.has(step.rule_id);
  const settled = (step: TraceStep) =>
    step.outcome === 'decided' || step.outcome === 'would_decide';
  const first = outcome.trace.find((step) => settled(step) || missed(step));
  return first !== undefined && missed(first);
}

/** Gates and Cedar decide beside the rules, by what a recording does not hold. */
const BESIDE = /^(?:gate|cedar):/;

export function isBeside({ rule_id }: NonNullable<ReplayedCall['recorded']>): boolean {
  return rule_id !== null && BESIDE.test(rule_id);
}

export function verdictOf({
  recorded,
  replayed,
}: Pick<ReplayedCall, 'recorded' | 'replayed'>): Verdict {
  if (replayed === null) return 'undetermined';
  if (recorded === null) return 'unrecorded';
  const [was, is] = [ACTIONS.indexOf(recorded.action), ACTIONS.indexOf(replayed.action)];
  if (is < was) return isBeside(recorded) ? 'undetermined' : 'looser';
  if (is > was) return 'stricter';
  return recorded.rule_id === replayed.rule_id ? 'same' : 'different_rule';
}
