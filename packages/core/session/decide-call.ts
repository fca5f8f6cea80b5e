// The rules or the hub decide it, then the gates.

import type { Decision, JsonObject } from '@subluminal/contracts';
import { rewritten } from '../json/patch-text.ts';
import { decide } from '../policy/decide/decide.ts';
import { overruled } from '../policy/decide/stricter.ts';
import { carryState, withoutMarks as dropMarks, spared } from '../policy/decide/verdict.ts';
import type { Call, Outcome, PolicyState } from '../policy/index.ts';
import { outcomeAtHub } from './ask-hub.ts';
import { isGranted, refusedAs, takeGrants } from './ask-people.ts';
import { JUDGEMENT_GATE, judgedDecision } from './call-brief.ts';
import type { Context, MessageStep } from './context.ts';
import { mergeNotes } from './gate-notes.ts';
import type {
  ContentNote,
  Envelope,
  GateVerdict,
  Guard,
  GuardedCall,
  LimitVerdict,
  RefusedMessage,
} from './guard.ts';
import { decideWithLeases } from './leases.ts';
import { type Onward, requestOnward } from './pass-message.ts';
import { peek } from './peek/peek.ts';
import type { MessageId } from './peek/types.ts';
import type { ReadCall } from './read-call.ts';
import type { TakenGrant } from './types.ts';

export interface DecidedCall {
  readonly read: ReadCall;
  /** Absent when nobody waits for an answer. */
  readonly id: MessageId | undefined;
  readonly outcome: Judgement;
  /** The grants that it has used. */
  readonly taken?: readonly TakenGrant[];
}

type UndecidedCall = Pick<DecidedCall, 'read' | 'id'>;

/** Decides a call, and uses up the grants that let it pass. */
export function concludeCall(step: MessageStep, undecided: UndecidedCall): DecidedCall {
  const { read, id } = undecided;
  if (read.fault === undefined && !read.shared) return decideHere(step, undecided, NONE);
  return decideByGates(step, { read, id, outcome: outcomeOf(step, read) }, NONE);
}

export function outcomeOf(step: MessageStep, read: ReadCall): Judgement {
  const { state, enforcing } = step.context;
  if (read.shared) return outcomeAtHub(step, read.ref.call_id);
  if (read.fault === undefined) return rulesOn(step, read.call);
  const refused: Decision = {
    action: 'BLOCK',
    rule_id: null,
    severity: 'warn',
    reason_code: 'INVALID_CALL',
    summary: read.fault,
  };
  return { decision: enforcing ? refused : spared(refused), state, trace: [], risk_class: [] };
}

/** The decision of the rules on a call that this session counts, by itself or by what it was leased. */
function rulesOn(step: MessageStep, call: Call): Judgement {
  const { config, snapshot, state } = step.context;
  return config.leases === true
    ? decideWithLeases(step, call)
    : decide(snapshot, call, state, step.nowMs);
}

/** Decides a call in this session; a person has approved it for these rules, besides its grants. */
export function decideHere(
  step: MessageStep,
  { read, id }: UndecidedCall,
  approvedRules: readonly string[],
): DecidedCall {
  const { context } = step;
  const { call } = read;
  const approved =
    approvedRules.length === 0
      ? call
      : withApproved(call, [...(call.approved ?? []), ...approvedRules]);
  const rules = rulesOn(step, approved);
  const outcome = throughGates(step, { read, rules, approvedRules, ignoresGrants: false });
  if (!mayUseGrants(outcome)) return { read, id, outcome };
  const taken = takeGrants(context, { read, id, outcome }, approvedRules);
  if (taken !== undefined) return { read, id, outcome, taken };
  // Another call has just used up one of the grants.
  const alone = rulesOn(step, withApproved(call, approvedRules));
  const input = { read, rules: alone, approvedRules, ignoresGrants: true };
  return { read, id, outcome: throughGates(step, input) };
}

const USED_UP = {
  reason_code: 'APPROVAL_UNAVAILABLE',
  summary: 'The grant for this call is no longer there. Try again to ask for another one.',
};

/** Whether a grant may have let a call pass; most calls need none. */
function mayUseGrants({ trace, gated }: Judgement): boolean {
  if (gated !== undefined && gated.granted.length > 0) return true;
  return trace.some(({ outcome }) => outcome === 'approved');
}

/** Adds the decision of the gates to one that this session cannot make again, such as the hub's. */
export function decideByGates(
  step: MessageStep,
  { read, id, outcome: rules }: DecidedCall,
  approvedRules: readonly string[],
): DecidedCall {
  const outcome = throughGates(step, { read, rules, approvedRules, ignoresGrants: false });
  const taken = takeGrants(step.context, { read, id, outcome }, approvedRules);
  if (taken !== undefined) return { read, id, outcome, taken };
  return refusedAs({ read, id, outcome }, USED_UP);
}

export function withApproved(call: Call, approved: readonly string[]): Call {
  const { identity, server_name, tool_name, subject, args_hash, bytes_in, args, round } = call;
  const same = { identity, server_name, tool_name, subject, args_hash, bytes_in, round };
  return { ...same, approved, ...(args !== undefined && { args }) };
}

/** An outcome, with what the gates have added to it. */
export interface Judgement extends Outcome<PolicyState> {
  readonly content?: ContentNote | undefined;
  /** Absent where no gate was asked. */
  readonly gated?: Gated | undefined;
  /** Of a request for a resource or a prompt that passes: what becomes of its message. */
  readonly onward?: Exclude<Onward, { kind: 'refused' }> | undefined;
  /** The hub's verdict on the limits of the manifest. */
  readonly limit?: LimitVerdict | undefined;
}

interface Gated {
  readonly call: GuardedCall;
  /** The outcome of the rules, or of the hub, before the gates. */
  readonly rules: Judgement;
  /** The approvals that gates asked for and grants have satisfied. */
  readonly granted: readonly string[];
  /** The JSON of the arguments that go to the server instead. */
  readonly argsText: string | undefined;
}

interface GateInput {
  readonly read: ReadCall;
  readonly rules: Judgement;
  /** The rules that a person has approved this call for. */
  readonly approvedRules: readonly string[];
  /** Set once one of the grants turned out to be gone. */
  readonly ignoresGrants: boolean;
}

const NONE: readonly string[] = [];

/** A call as the gates see it; nothing is parsed or looked up before they ask. */
class GatedCall implements GuardedCall {
  readonly callId: string;
  readonly tool: string;
  granted: readonly string[] = NONE;
  readonly context: Context;
  readonly input: GateInput;
  /** Earlier answers hold, even if the grant is used up meanwhile. */
  private answers: Map<string, boolean> | undefined;

  constructor(context: Context, input: GateInput) {
    this.callId = input.read.ref.call_id;
    this.tool = input.read.call.tool_name;
    this.context = context;
    this.input = input;
  }

  get args(): JsonObject | undefined {
    const { fault, call } = this.input.read;
    return fault === undefined ? call.args : undefined;
  }

  get argsText(): string | undefined {
    const { fault, argsText } = this.input.read;
    return fault === undefined ? argsText?.() : undefined;
  }

  get argsBytes(): Uint8Array | undefined {
    const { fault, argsBytes } = this.input.read;
    return fault === undefined ? argsBytes?.() : undefined;
  }

  get envelope(): Envelope | undefined {
    return this.input.read.envelope;
  }

  get limit(): LimitVerdict | undefined {
    return this.input.rules.limit;
  }

  isApproved(ruleId: string): boolean {
    const known = this.answers?.get(ruleId);
    if (known !== undefined) return known;
    const { read, approvedRules, ignoresGrants } = this.input;
    const isByPerson = approvedRules.includes(ruleId);
    const { ref, envelope } = read;
    const query = { ref, envelope, tool: this.tool, args: () => this.args };
    const isByGrant = !isByPerson && !ignoresGrants && isGranted(this.context, query, ruleId);
    if (isByGrant) this.granted = [...this.granted, ruleId];
    this.answers ??= new Map();
    this.answers.set(ruleId, isByPerson || isByGrant);
    return isByPerson || isByGrant;
  }
}

const NO_GATES: Pick<Guard, 'surface' | 'content'> = {
  surface: () => ({ kind: 'pass' }),
  content: () => ({ kind: 'pass' }),
};

/**
 * A refusal counts before a question to a person; within each, the order is surface, rules, judgements,
 * content, but the rules ask first. The rules have decided in any case, so that they count the call.
 */
export function throughGates(step: MessageStep, input: GateInput): Judgement {
  const { context, nowMs } = step;
  const { rules, read } = input;
  const guard = context.guard ?? (read.brief && NO_GATES);
  if (read.call.subject !== undefined) return subjectThroughGates(step, rules);
  if (guard === undefined) return rules;
  const call = new GatedCall(context, input);
  // A malformed call is refused as such, whatever a gate would say.
  if (read.fault !== undefined && rules.decision.action === 'BLOCK') return withNotes(call, []);
  const surface = guard.surface(call, nowMs);
  if (surface.kind === 'stop' && isFinal(surface)) return stopped(call, surface, [surface.note]);
  if (rules.decision.action !== 'ALLOW' && rules.decision.approval === undefined) {
    return withNotes(call, [surface.note]);
  }
  const judged = judgedStop(call);
  if (judged !== undefined && isFinal(judged)) return stopped(call, judged, [surface.note]);
  let content = guard.content(call, nowMs);
  const isJudged = judged !== undefined;
  if (!isJudged && rules.content === undefined && isSilent(surface) && isSilent(content))
    return passing(call);
  let argsText: string | undefined;
  if (content.kind === 'pass' && content.args !== undefined) {
    argsText = read.argsText && rewritten(read.argsText(), content.args);
    // Arguments that must be replaced and cannot be must not pass as they are.
    if (argsText === undefined) {
      content = { kind: 'stop', decision: NOT_REPLACED, note: content.note };
    }
  }
  const notes = [surface.note, content.note];
  if (content.kind === 'stop' && isFinal(content)) return stopped(call, content, notes);
  if (rules.decision.approval !== undefined) return withNotes(call, notes, argsText);
  if (surface.kind === 'stop') return stopped(call, surface, notes);
  if (judged !== undefined) return stopped(call, judged, notes);
  if (content.kind === 'stop') return stopped(call, content, notes);
  const decision = sparedBy(rules.decision, surface.would ?? content.would);
  return { ...withNotes(call, notes, argsText), decision };
}

/** A person who has agreed to this very call has seen its judgements, whichever rule asked; a grant covers its own rule. */
function judgedStop(call: GatedCall): Stopped | undefined {
  const { read, approvedRules } = call.input;
  const decision = read.brief && judgedDecision(read.brief);
  if (decision === undefined) return undefined;
  const stop = { kind: 'stop', decision } as const;
  if (isFinal(stop)) return stop;
  return approvedRules.length > 0 || call.isApproved(JUDGEMENT_GATE) ? undefined : stop;
}

/** A request for a resource or a prompt: the gates judge its message, unless the rules refuse it. */
function subjectThroughGates(step: MessageStep, rules: Judgement): Judgement {
  const { action, approval } = rules.decision;
  if (action !== 'ALLOW' && approval === undefined) return rules;
  const seen = peek(step.bytes);
  if (seen.kind !== 'request' && seen.kind !== 'notification') {
    throw new Error('a request is decided that is none');
  }
  const onward = requestOnward(step, seen);
  const content = mergeNotes([rules.content, onward.note]);
  if (onward.kind !== 'refused') return { ...rules, content, onward };
  return {
    ...rules,
    content,
    decision: decisionOn(onward.why),
    state: withoutMarks(step.context, rules),
    trace: overruled(rules.trace),
  };
}

/** The decision on a request that a gate refuses. */
export function decisionOn(refused: RefusedMessage): Decision {
  const { rule_id = null, severity = 'warn', reason_code, summary, hint } = refused;
  const words = hint === undefined ? summary : `${summary} ${hint}`;
  return { action: 'BLOCK', rule_id, severity, reason_code, summary: words };
}

/** Whether a gate neither objects, nor changes anything, nor reports anything. */
function isSilent(verdict: GateVerdict): boolean {
  if (verdict.kind !== 'pass' || verdict.note !== undefined) return false;
  return verdict.would === undefined && verdict.args === undefined;
}

/** The result for most calls: spelled out, because an object made by spreading is slower. */
function passing(call: GatedCall): Judgement {
  const { rules } = call.input;
  const { decision, state, trace, risk_class } = rules;
  const gated = { call, rules, granted: call.granted, argsText: undefined };
  return { decision, state, trace, risk_class, content: undefined, gated };
}

/** The outcome of the rules, with the notes of the gates. */
function withNotes(
  call: GatedCall,
  notes: readonly (ContentNote | undefined)[],
  argsText?: string,
): Judgement {
  const { rules } = call.input;
  const content = mergeNotes([rules.content, ...notes]);
  return { ...rules, content, gated: { call, rules, granted: call.granted, argsText } };
}

type Stopped = Extract<GateVerdict, { kind: 'stop' }>;

/** A stop that no person can lift. */
function isFinal({ decision }: Stopped): boolean {
  return decision.approval === undefined;
}

/** A gate overrules the rules, which let the call pass; what they have counted stays counted. */
function stopped(
  call: GatedCall,
  { decision }: Stopped,
  notes: readonly (ContentNote | undefined)[],
): Judgement {
  const { rules } = call.input;
  return {
    ...withNotes(call, notes),
    // A gate that stops a call with `ALLOW` is wrong: the call does not pass.
    decision: decision.action === 'ALLOW' ? { ...decision, action: 'BLOCK' } : decision,
    state: withoutMarks(call.context, rules),
    trace: overruled(rules.trace),
  };
}

/** The state after a call that the rules let pass and that did not pass: its retry is no duplicate. */
export function withoutMarks(
  { state, snapshot }: Context,
  outcome: Outcome<PolicyState>,
): PolicyState {
  if (outcome.decision.action !== 'ALLOW' || outcome.state === state) return outcome.state;
  return dropMarks(snapshot, carryState(state, snapshot), outcome.state);
}

const NOT_REPLACED: Decision = {
  action: 'BLOCK',
  rule_id: 'gate:content',
  severity: 'warn',
  reason_code: 'CONTENT_BLOCKED',
  summary: 'Something in the arguments may not travel, and could not be replaced.',
};

/** Records what a gate would have decided if it were enforced, unless the rules already have such a record. */
export function sparedBy(decision: Decision, would: Decision['would']): Decision {
  if (would === undefined || decision.would !== undefined) return decision;
  return spared({ ...would, severity: 'warn' });
}
