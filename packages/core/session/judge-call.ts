// Rules and gates on a call that nobody made, as a session would judge it: for explanations.
import type { Call, Outcome, PolicyState } from '../policy/index.ts';
import { createContext, stepFor } from './context.ts';
import { type Judgement, throughGates } from './decide-call.ts';
import type { GateVerdict, Guard, GuardedCall } from './guard.ts';
import { peek } from './peek/peek.ts';
import { readCall } from './read-call.ts';
import type { SessionConfig } from './types.ts';

interface CallToJudge {
  /** The request `tools/call` that would bring the call. */
  readonly message: Uint8Array;
  /** The call, with its risk classes and approvals. */
  readonly call: Call;
  /** The outcome of the rules. */
  readonly rules: Outcome<PolicyState>;
  readonly nowMs: number;
}

export interface GateJudgement {
  readonly outcome: Judgement;
  /** The verdict of each stage; undefined where it was not asked. */
  readonly surface: GateVerdict | undefined;
  readonly content: GateVerdict | undefined;
  /** The call as the gates see it; undefined where none was asked. */
  readonly guarded: GuardedCall | undefined;
}

/** The configuration has the guard, and the state before the rules. */
export function judgeCall(config: SessionConfig, asked: CallToJudge): GateJudgement {
  const { message, call, rules, nowMs } = asked;
  const verdicts: { surface?: GateVerdict; content?: GateVerdict } = {};
  const context = createContext(config);
  context.guard = config.guard && recording(config.guard, verdicts);
  const step = stepFor(context, { from: 'agent', bytes: message }, nowMs);
  const seen = peek(message);
  if (seen.kind !== 'request') throw new Error('a call to judge is no request');
  const read = { ...readCall(step, seen), call, shared: false };
  const input = { read, rules, approvedRules: call.approved ?? [], ignoresGrants: true };
  const outcome = throughGates(step, input);
  const { surface, content } = verdicts;
  return { outcome, surface, content, guarded: outcome.gated?.call };
}

/** A guard that notes its verdicts. */
function recording(
  guard: Guard,
  verdicts: { surface?: GateVerdict; content?: GateVerdict },
): Guard {
  return {
    ...guard,
    surface: (call, nowMs) => (verdicts.surface = guard.surface(call, nowMs)),
    content: (call, nowMs) => (verdicts.content = guard.content(call, nowMs)),
  };
}
