// The rule of two: of untrusted input, private data, and egress or change, a run has at most two.
import type { TaintPolicy, ToolName } from './compile-policy.ts';
import { withOwnPaths } from './own-paths.ts';
import { withSent } from './sent.ts';
import { RUN_FLAGS, type RunFlag, type TaintSource, type TaintState } from './types.ts';

export type RuleOfTwoVerdict =
  | { readonly verdict: 'within'; readonly flags: readonly RunFlag[] }
  | {
      readonly verdict: 'third';
      /** What the call itself brings. */
      readonly adds: readonly RunFlag[];
      /** What the run has already, and what brought it. */
      readonly held: readonly { readonly flag: RunFlag; readonly source: TaintSource }[];
    };

/**
 * Whether the run would have all three with this call. Once it has, each further egress or change
 * is the third again: a call that was allowed does not allow the next.
 */
export function ruleOfTwo(
  state: TaintState,
  call: ToolName,
  policy: TaintPolicy,
): RuleOfTwoVerdict {
  const brings = flagsOfCall(call, policy);
  const union = RUN_FLAGS.filter((flag) => brings.has(flag) || state.flags.has(flag));
  const isNew = [...brings].some((flag) => !state.flags.has(flag));
  if (union.length < RUN_FLAGS.length || (!isNew && !brings.has('egress_or_change'))) {
    return { verdict: 'within', flags: union };
  }
  return {
    verdict: 'third',
    adds: RUN_FLAGS.filter((flag) => brings.has(flag)),
    held: [...state.flags].map(([flag, source]) => ({ flag, source })),
  };
}

interface PassedCall extends TaintSource {
  /** Absent when the message was too large to inspect. */
  readonly args?: unknown;
  /** What stands in the message beside them, such as answers to what the server has asked. */
  readonly beside?: unknown;
}

/** The run after the call was allowed. */
export function recordCall(state: TaintState, call: PassedCall, policy: TaintPolicy): TaintState {
  const { args, beside, ...source } = call;
  const values = beside === undefined ? args : [args, beside];
  const sent = withOwnPaths(withSent(state, source, values), source, { args, policy });
  const added = [...flagsOfCall(source, policy)].filter((flag) => !state.flags.has(flag));
  if (added.length === 0) return sent;
  return {
    ...sent,
    flags: new Map([...state.flags, ...added.map((flag) => [flag, source] as const)]),
  };
}

/** By the section's classes; a tool whose answers are untrusted brings untrusted input. */
function flagsOfCall(call: ToolName, policy: TaintPolicy): ReadonlySet<RunFlag> {
  const flags = new Set(policy.flagsOf(call));
  if (policy.trustOf(call) === 'untrusted') flags.add('untrusted_input');
  return flags;
}
