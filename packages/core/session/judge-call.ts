// Rules and gates on a call that nobody made, as a session would judge it: for explanations.
import type { Call, Outcome, PolicyState } from '../policy/index.ts';
import { createContext, stepFor } from './context.ts';
import { type Judgement, throughGates } from './decide-call.ts';
import { readSubject } from './govern-subject.ts';
import type { GateVerdict, Guard, GuardedCall } from './guard.ts';
import { peek } from './peek/peek.ts';
import { readCall } from './read-call.ts';
import type { SessionConfig } from './types.ts';

interface CallToJudge {
  /** The request that would bring the call: `tools/call`, or that for its subject. */
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
  const isTool = call.subject === undefined;
  const read = { ...(isTool ? readCall : readSubject)(step, seen), call, shared: false };
  const input = { read, rules, approvedRules: call.approved ?? [], ignoresGrants: true };
  const outcome = throughGates(step, input);
  const { surface, content } = isTool ? verdicts : subjectVerdicts(outcome, rules);
  return { outcome, surface, content, guarded: outcome.gated?.call };
}

const SURFACE_GATES: ReadonlySet<string> = new Set(['gate:self-protection', 'gate:manifest']);
const PASS: GateVerdict = { kind: 'pass' };

/** The verdict of each stage on a request for a resource or a prompt, which they judge after the rules. */
function subjectVerdicts(
  { decision, content: note, onward }: Judgement,
  rules: Outcome<PolicyState>,
): { surface?: GateVerdict; content?: GateVerdict } {
  if (onward !== undefined) return { surface: PASS, content: { kind: 'pass', note } };
  if (decision === rules.decision) return {};
  const stop: GateVerdict = { kind: 'stop', decision, note };
  return SURFACE_GATES.has(decision.rule_id ?? '')
    ? { surface: stop }
    : { surface: PASS, content: stop };
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
