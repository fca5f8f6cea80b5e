// Step 2 of a call: what the rules, or the hub, and then the gates say about it.

import type { Decision, JsonObject } from '@subluminal/contracts';
import { rewritten } from '../json/patch-text.ts';
import { decide } from '../policy/decide/decide.ts';
import { carryState, withoutMarks as dropMarks } from '../policy/decide/verdict.ts';
import type { Call, Outcome, PolicyState, TraceStep } from '../policy/index.ts';
import { outcomeAtHub } from './ask-hub.ts';
import { isGranted, takeGrants } from './ask-people.ts';
import type { Context, MessageStep } from './context.ts';
import { mergeNotes } from './gate-notes.ts';
import type { ContentNote, Envelope, GateVerdict, GuardedCall, LimitVerdict } from './guard.ts';
import type { MessageId } from './peek/types.ts';
import type { ReadCall } from './read-call.ts';
import type { TakenGrant } from './types.ts';

export interface DecidedCall {
  readonly read: ReadCall;
  readonly outcome: Judgement;
  /** Absent when nobody waits for an answer. */
  readonly id: MessageId | undefined;
  /** The grants that it has used. */
  readonly taken?: readonly TakenGrant[];
}

/** The decision on a call, with the grants that it uses up. */
export function concludeCall(context: Context, step: MessageStep, read: ReadCall): DecidedCall {
  if (read.fault === undefined && !read.shared) {
    return { read, id: undefined, ...decideWith(context, step, { read, said: NONE }) };
  }
  const rules = outcomeOf(context, step, read);
  const outcome = throughGates(context, step, { read, rules, said: NONE, bare: false });
  return grantsTaken(context, { read, id: undefined, outcome }, NONE);
}

export function outcomeOf(context: Context, step: MessageStep, read: ReadCall): Judgement {
  const { snapshot, state } = context;
  if (read.shared) return outcomeAtHub(context, step, read.ref.call_id);
  if (read.fault === undefined) return decide(snapshot, read.call, state, step.nowMs);
  const refused = { rule_id: null, reason_code: 'INVALID_CALL', summary: read.fault } as const;
  const base = { rule_id: null, severity: 'warn' } as const;
  const decision: Decision = context.enforcing
    ? { ...base, ...refused, action: 'BLOCK' }
    : {
        ...base,
        action: 'ALLOW',
        reason_code: 'WOULD_BLOCK',
        summary: `Would be refused: ${read.fault}`,
        would: { action: 'BLOCK', ...refused },
      };
  return { decision, state: context.state, trace: [], risk_class: [] };
}

interface Concluded {
  readonly outcome: Judgement;
  readonly taken: readonly TakenGrant[];
}

interface ApprovedCall {
  readonly read: ReadCall;
  readonly said: readonly string[];
}

/** Decides a call that a person has approved for these rules, besides what grants satisfy. */
export function decideWith(
  context: Context,
  step: MessageStep,
  { read, said }: ApprovedCall,
): Concluded {
  const { call } = read;
  const approved =
    said.length === 0 ? call : withApproved(call, [...(call.approved ?? []), ...said]);
  const rules = decide(context.snapshot, approved, context.state, step.nowMs);
  const outcome = throughGates(context, step, { read, rules, said, bare: false });
  if (!mayUseGrants(outcome)) return { outcome, taken: [] };
  const taken = takeGrants(context, { read, outcome, said });
  if (taken !== undefined) return { outcome, taken };
  // Another call has used it up in this very moment.
  const alone = decide(context.snapshot, withApproved(call, said), context.state, step.nowMs);
  const bare = throughGates(context, step, { read, rules: alone, said, bare: true });
  return { outcome: bare, taken: [] };
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

/** Uses up grants for what the hub has decided: it can't be decided again without asking the hub. */
export function grantsTaken(
  context: Context,
  decided: DecidedCall,
  said: readonly string[],
): DecidedCall {
  const { read, outcome } = decided;
  const taken = takeGrants(context, { read, outcome, said });
  if (taken !== undefined) return { ...decided, taken };
  const { rule_id, severity } = outcome.decision;
  const decision: Decision = { action: 'BLOCK', rule_id, severity, ...USED_UP };
  return { ...decided, outcome: { ...outcome, decision } };
}

export function withApproved(call: Call, approved: readonly string[]): Call {
  const { identity, server_name, tool_name, args_hash, bytes_in, args, round } = call;
  const same = { identity, server_name, tool_name, args_hash, bytes_in, round };
  return { ...same, approved, ...(args !== undefined && { args }) };
}

/** An outcome, with what the gates have added to it. */
export interface Judgement extends Outcome<PolicyState> {
  readonly content?: ContentNote | undefined;
  /** Absent where no gate was asked. */
  readonly gated?: Gated | undefined;
  /** What the hub said of the limits of the manifest. */
  readonly limit?: LimitVerdict | undefined;
}

interface Gated {
  readonly call: GuardedCall;
  /** What the rules, or the hub, said before. */
  readonly rules: Judgement;
  /** What gates asked for and grants have satisfied. */
  readonly granted: readonly string[];
  /** The JSON of the arguments that go to the server instead. */
  readonly argsText: string | undefined;
}

interface GateInput {
  readonly read: ReadCall;
  readonly rules: Judgement;
  /** The rules that a person has approved this call for. */
  readonly said: readonly string[];
  /** Grants do not count: one of them turned out to be gone. */
  readonly bare: boolean;
}

type Passed = Extract<GateVerdict, { kind: 'pass' }>;
type Stopped = Extract<GateVerdict, { kind: 'stop' }>;

const NONE: readonly string[] = [];

/** A call as the gates see it; nothing is parsed or looked up before they ask. */
class GatedCall implements GuardedCall {
  readonly callId: string;
  readonly tool: string;
  granted: readonly string[] = NONE;
  private readonly context: Context;
  private readonly asked: GateInput;
  /** What was answered once holds, though its grant may be used up meanwhile. */
  private answers: Map<string, boolean> | undefined;

  constructor(context: Context, asked: GateInput) {
    this.callId = asked.read.ref.call_id;
    this.tool = asked.read.call.tool_name;
    this.context = context;
    this.asked = asked;
  }

  get args(): JsonObject | undefined {
    const { fault, call } = this.asked.read;
    return fault === undefined ? call.args : undefined;
  }

  get argsText(): string | undefined {
    const { fault, argsText } = this.asked.read;
    return fault === undefined ? argsText?.() : undefined;
  }

  get argsBytes(): Uint8Array | undefined {
    const { fault, argsBytes } = this.asked.read;
    return fault === undefined ? argsBytes?.() : undefined;
  }

  get envelope(): Envelope | undefined {
    return this.asked.read.envelope;
  }

  get limit(): LimitVerdict | undefined {
    return this.asked.rules.limit;
  }

  isApproved(ruleId: string): boolean {
    const known = this.answers?.get(ruleId);
    if (known !== undefined) return known;
    const { read, said, bare } = this.asked;
    const isSaid = said.includes(ruleId);
    const { ref, envelope } = read;
    const query = { ref, envelope, tool: this.tool, args: () => this.args };
    const isByGrant = !isSaid && !bare && isGranted(this.context, query, ruleId);
    if (isByGrant) this.granted = [...this.granted, ruleId];
    this.answers ??= new Map();
    this.answers.set(ruleId, isSaid || isByGrant);
    return isSaid || isByGrant;
  }
}

/**
 * Who refuses comes first, then who asks for a person: the surface, the rules, the content; of those
 * who ask, the rules come first. The rules have been asked in any case, so that they count.
 */
export function throughGates(context: Context, step: MessageStep, asked: GateInput): Judgement {
  const { guard } = context;
  const { rules, read } = asked;
  if (guard === undefined) return rules;
  const call = new GatedCall(context, asked);
  // What is wrong with a call is told before what a gate makes of it.
  if (read.fault !== undefined && rules.decision.action === 'BLOCK') {
    return { ...rules, ...gatedBy({ context, call, rules }, []) };
  }
  const surface = guard.surface(call, step.nowMs);
  const bound = { context, call, rules };
  const barred = finalOf(surface);
  if (barred !== undefined) return stopped(bound, barred, [surface.note]);
  if (rules.decision.action !== 'ALLOW' && rules.decision.approval === undefined) {
    return { ...rules, ...gatedBy(bound, [surface.note]) };
  }
  const said = guard.content(call, step.nowMs);
  if (rules.content === undefined && isSilent(surface) && isSilent(said)) return passing(bound);
  const argsText = argsTextOf(said, read);
  const content = replaceable(said, argsText);
  const notes = [surface.note, content.note];
  const kept = finalOf(content);
  if (kept !== undefined) return stopped(bound, kept, notes);
  if (rules.decision.approval !== undefined) return { ...rules, ...gatedBy(bound, notes) };
  if (surface.kind === 'stop') return stopped(bound, surface, notes);
  if (content.kind === 'stop') return stopped(bound, content, notes);
  const decision = sparedBy(rules.decision, surface, content);
  return { ...rules, decision, ...gatedBy({ ...bound, argsText }, notes) };
}

/** Whether a gate has nothing against it, nothing to change and nothing to tell. */
function isSilent(verdict: GateVerdict): boolean {
  if (verdict.kind !== 'pass' || verdict.note !== undefined) return false;
  return verdict.would === undefined && verdict.args === undefined;
}

/** What most calls get: spelled out, because an object made by spreading is slow to make and read. */
function passing({ call, rules }: GateStep): Judgement {
  const { decision, state, trace, risk_class } = rules;
  const gated = { call, rules, granted: call.granted, argsText: undefined };
  return { decision, state, trace, risk_class, content: undefined, gated };
}

interface GateStep {
  readonly context: Context;
  readonly call: GatedCall;
  readonly rules: Judgement;
  readonly argsText?: string | undefined;
}

function gatedBy(
  { call, rules, argsText }: GateStep,
  notes: readonly (ContentNote | undefined)[],
): Pick<Judgement, 'content' | 'gated'> {
  const content = mergeNotes([rules.content, ...notes]);
  return { content, gated: { call, rules, granted: call.granted, argsText } };
}

/** A stop that no person can lift. */
function finalOf(verdict: GateVerdict): Stopped | undefined {
  return verdict.kind === 'stop' && verdict.decision.approval === undefined ? verdict : undefined;
}

/** A gate overrules what the rules let pass; what they have counted stays counted. */
function stopped(
  bound: GateStep,
  { decision }: Stopped,
  notes: readonly (ContentNote | undefined)[],
): Judgement {
  const { rules, context } = bound;
  return {
    ...rules,
    // Whatever a gate calls it: what it stops does not pass.
    decision: decision.action === 'ALLOW' ? { ...decision, action: 'BLOCK' } : decision,
    state: withoutMarks(context, rules),
    trace: rules.trace.map(overruled),
    ...gatedBy(bound, notes),
  };
}

function overruled(step: TraceStep): TraceStep {
  return step.outcome === 'decided' ? { ...step, outcome: 'would_decide' } : step;
}

/** A call that the rules let pass and that did not pass all the same: its retry is no duplicate. */
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

/** The JSON of what goes instead of the arguments; undefined without it, and where it has none. */
function argsTextOf(verdict: GateVerdict, { argsText }: ReadCall): string | undefined {
  if (argsText === undefined || verdict.kind === 'stop' || verdict.args === undefined)
    return undefined;
  return rewritten(argsText(), verdict.args);
}

/** Arguments that should be replaced and cannot be must not pass as they are. */
function replaceable(verdict: GateVerdict, argsText: string | undefined): GateVerdict {
  if (verdict.kind === 'stop' || verdict.args === undefined) return verdict;
  if (argsText !== undefined) return verdict;
  return { kind: 'stop', decision: NOT_REPLACED, note: verdict.note };
}

/** What is not enforced is told, and never hides what the rules have to tell. */
function sparedBy(decision: Decision, surface: Passed, content: Passed): Decision {
  const would = surface.would ?? content.would;
  if (would === undefined || decision.would !== undefined) return decision;
  const summary = `Would be refused: ${would.summary}`;
  const { rule_id } = would;
  return {
    action: 'ALLOW',
    rule_id,
    severity: 'warn',
    reason_code: 'WOULD_BLOCK',
    summary,
    would,
  };
}
