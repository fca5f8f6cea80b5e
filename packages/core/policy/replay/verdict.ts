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

function recordedOf(
  decision: EventOf<'tool_call_decision'>['decision'],
  compare: Compare,
): NonNullable<ReplayedCall['recorded']> {
  const { action, rule_id } = compare === 'would' ? (decision.would ?? decision) : decision;
  return { action, rule_id };
}

function replayedOf(decision: Decision, compare: Compare): NonNullable<ReplayedCall['replayed']> {
  const chosen = compare === 'would' ? (decision.would ?? decision) : decision;
  const { action, rule_id, reason_code } = chosen;
  return { action, rule_id, reason_code };
}

/**
 * Whether the outcome hangs on arguments that the recording does not hold: some rule needed them
 * before any rule had decided.
 */
function isUndetermined(
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

function verdictOf({ recorded, replayed }: Pick<ReplayedCall, 'recorded' | 'replayed'>): Verdict {
  if (replayed === null) return 'undetermined';
  if (recorded === null) return 'unrecorded';
  const [was, is] = [ACTIONS.indexOf(recorded.action), ACTIONS.indexOf(replayed.action)];
  if (is !== was) return is > was ? 'stricter' : 'looser';
  return recorded.rule_id === replayed.rule_id ? 'same' : 'different_rule';
}

export { isUndetermined, recordedOf, replayedOf, verdictOf };
