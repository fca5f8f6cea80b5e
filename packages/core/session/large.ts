// Messages that are too large to inspect. What they are is read as they go by; a call is decided
// on its head, and everything about it is told at its end, when its hash is known.
import type { CallRef } from '@subluminal/contracts';
import type { Call } from '../policy/index.ts';
import { admits, passRequest } from './agent.ts';
import { errorLine, INTERNAL_ERROR, INVALID_REQUEST } from './answers.ts';
import { askForRetry } from './asking.ts';
import { concluded, nameOf, nextSeq, shownName } from './calls.ts';
import {
  carryOut,
  type DecidedCall,
  type ReadCall,
  recordDecision,
  recordStart,
} from './carry-out.ts';
import { type Context, other, type Step } from './context.ts';
import { exitWords } from './exit-words.ts';
import { grantedRules } from './grants.ts';
import { judgedByTexts } from './large-texts.ts';
import { malformed, reject } from './malformed.ts';
import { answerOnward, handOn, type Refused, requestOnward } from './passing.ts';
import { Outline, type OutlineSoFar } from './peek/outline.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import type { MessageId, Seen, SeenRequest } from './peek/types.ts';
import { NOT_INSPECTED } from './preview.ts';
import { hashOf, recordEnded, recordRefused } from './refused.ts';
import { fromServer, settleAnswer } from './server.ts';
import { answerFor, asksHub, placeOf } from './shared.ts';
import type { Command, LargeEnd, Question, Side } from './types.ts';
import { refusedAtHead } from './unseen.ts';

interface LargeMessage {
  readonly outline: Outline;
  /** Its parts are passed on; false once it was broken off. */
  streamed: boolean;
  /** A carriage return that must turn out to stand before the newline. */
  returned: boolean;
  /** What some servers take for the end of a line stands in the middle of it. */
  hidden: boolean;
  /** It was broken off because it did not go on. */
  stalled: boolean;
  /** The call that its head has shown it to be. */
  readonly call: DecidedHead | undefined;
  /** Its head did not show what it is, so it could not pass. */
  readonly opaque: boolean;
  /** Why no gate lets it pass unseen, if its head has told. */
  readonly refused: Refused | undefined;
}

type DecidedHead = Omit<DecidedCall, 'id'>;

/** The first part of a large message: says whether its parts are passed on. */
function openLarge(context: Context, step: Step): void {
  const outline = new Outline(step.from === 'agent' && context.guard?.gathered !== undefined);
  outline.feed(step.bytes);
  const soFar = outline.soFar();
  const call = isCall(step, soFar) ? decideHead(context, step, soFar) : undefined;
  const refused = call === undefined ? refusedAtHead(context, step, soFar) : undefined;
  const opaque = isOpaque(step.from, soFar);
  const allowed =
    call === undefined ? refused === undefined : call.outcome.decision.action === 'ALLOW';
  const gone = step.from === 'agent' && context.exit !== undefined;
  const { hidden, returned } = findReturn(step.bytes, false);
  const streamed = !gone && allowed && !((opaque || hidden) && context.enforcing);
  const stalled = false;
  const large = { outline, streamed, call, opaque, hidden, returned, stalled };
  context.large[step.from] = { ...large, refused };
  step.out.push(streamed ? { do: 'stream', to: other(step.from) } : { do: 'swallow' });
}

function isCall({ from }: Step, { method, name }: OutlineSoFar): boolean {
  return from === 'agent' && method === TOOLS_CALL && name !== undefined;
}

const RETURN = 0x0d;

/**
 * Some servers end a line at a carriage return. Behind it could stand a message of its own, which
 * would be with the server before the end of this one is known: JSON needs none there.
 */
function findReturn(
  bytes: Uint8Array,
  returned: boolean,
): { readonly hidden: boolean; readonly returned: boolean } {
  const at = bytes.indexOf(RETURN);
  const last = bytes.length - 1;
  if (bytes.length === 0) return { hidden: false, returned };
  return { hidden: returned || (at !== -1 && at < last), returned: at === last };
}

/** What must not pass before it is known what it is. */
function isOpaque(from: Side, soFar: OutlineSoFar): boolean {
  const { batch, method, name, answers, faulty } = soFar;
  if (batch || faulty) return true;
  if (from === 'server' || answers) return false;
  return method === undefined || (method === TOOLS_CALL && name === undefined);
}

/** What the head tells of a call. Nothing is counted by looking. */
function lookAtHead(
  context: Context,
  step: Step,
  soFar: OutlineSoFar,
): { call: Call; ref: CallRef; fault: string | undefined } {
  const { config } = context;
  const { tool_name, fault } = nameOf(soFar.name);
  const { serverName: server_name, identity } = config;
  const args_hash = headHash(context, step.bytes, soFar.argsStart);
  const call_id = answerFor(step)?.callId ?? config.callId();
  const ref = { call_id, server_name, tool_name: shownName(context, tool_name), args_hash };
  const bytes_in = step.bytes.length;
  const args = () => undefined;
  const approved = grantedRules(context, { ref, envelope: undefined, tool: tool_name, args });
  const call: Call = { identity, server_name, tool_name, args_hash, bytes_in, approved };
  return { call, ref, fault };
}

/** The call that the head of a large message shows, if it does and the hub must decide it. */
function headQuestion(context: Context, step: Step): Question | undefined {
  const outline = new Outline();
  outline.feed(step.bytes);
  const soFar = outline.soFar();
  if (!isCall(step, soFar) || context.config.hub !== true) return undefined;
  const { call, ref, fault } = lookAtHead(context, step, soFar);
  if (fault !== undefined || !asksHub(context, call)) return undefined;
  return { at: placeOf(step), ref, call };
}

function decideHead(context: Context, step: Step, soFar: OutlineSoFar): DecidedHead {
  const { call, ref, fault } = lookAtHead(context, step, soFar);
  const read: ReadCall = {
    call,
    ref,
    seq: nextSeq(context),
    preview: NOT_INSPECTED,
    fault,
    progressToken: undefined,
    version: soFar.metaVersion ?? context.version,
    shared: fault === undefined && asksHub(context, call),
  };
  const decided = concluded(context, step, read);
  // Counted now: further calls may come before this one has ended.
  context.state = decided.outcome.state;
  return decided;
}

/**
 * What stands for the hash of the arguments while a call is decided. The true hash comes with the
 * last byte, and that of the message never repeats, since it covers the id.
 */
function headHash(context: Context, head: Uint8Array, argsStart: number): string {
  const start = argsStart === -1 ? head.length : argsStart;
  return hashOf(context, head.subarray(start));
}

/** A large message is over: now it is told of, and its last byte may pass or not. */
function closeLarge(context: Context, step: Step, end: LargeEnd): void {
  const large = context.large[step.from];
  context.large[step.from] = undefined;
  if (large === undefined) return;
  const to = other(step.from);
  const passed: Command = large.streamed ? { do: 'finish', to } : { do: 'swallow' };
  const out: Command[] = [];
  const unseen = { refused: large.refused };
  const inner = { ...step, out, forward: passed, bytesTotal: end.bytesTotal, unseen };
  settleLarge(context, inner, { large, end });
  // To drop what has been streamed already is to break it off, before a word of ours may follow.
  if (large.streamed && !out.includes(passed)) step.out.push({ do: 'break', to });
  for (const command of out) {
    if (command !== passed || large.streamed) step.out.push(command);
  }
}

interface Ended {
  readonly large: LargeMessage;
  readonly end: LargeEnd;
}

function settleLarge(context: Context, step: Step, { large, end }: Ended): void {
  const seen = large.outline.finish();
  const recorded = large.call !== undefined;
  if (large.hidden) {
    if (large.call !== undefined) recordLost(context, step, { head: large.call, end });
    const fault = { kind: 'invalid', reason: 'smuggled', offset: 0 } as const;
    return malformed(context, step, { ...fault, ...knownOf(seen), recorded });
  }
  if (end.outcome !== 'complete' || large.stalled) {
    if (large.call !== undefined) recordLost(context, step, { head: large.call, end });
    return refuseLarge(context, step, { seen, end, recorded });
  }
  if (large.call !== undefined && seen.kind !== 'invalid') {
    const head = judgedByTexts(context, large.call, large.outline.gathered());
    return settleCall(context, step, { head, seen, end });
  }
  if (seen.kind === 'invalid') {
    if (large.call !== undefined) recordLost(context, step, { head: large.call, end });
    return malformed(context, step, { ...seen, recorded });
  }
  if (seen.kind === 'batch' || (large.opaque && context.enforcing)) {
    return refuseOpaque(context, step, seen);
  }
  if (step.from === 'server') return settleFromServer(context, step, { seen, end });
  settleFromAgent(context, step, seen);
}

/** The decision on the head becomes the decision on the call. */
function settleCall(
  context: Context,
  step: Step,
  { head, seen, end }: { head: DecidedHead; seen: Seen; end: LargeEnd },
): void {
  const id = seen.kind === 'request' ? seen.id : undefined;
  const decided = { ...withHash(context, head, end), id };
  if (seen.kind === 'request' && !admits(context, step, seen)) return;
  recordStart(context, step, decided);
  const { approval } = decided.outcome.decision;
  const told = approval === undefined ? decided : askForRetry(context, step, decided);
  recordDecision(context, step, told);
  carryOut(context, step, told);
}

function withHash(context: Context, head: DecidedHead, end: LargeEnd): DecidedHead {
  const { streamHash, bytesTotal } = end;
  const call = { ...head.read.call, bytes_in: bytesTotal };
  const ref = { ...head.read.ref, args_hash: streamHash };
  // What has been counted since must not be forgotten.
  const outcome = { ...head.outcome, state: context.state };
  return { ...head, read: { ...head.read, call, ref, streamHash }, outcome };
}

/** A call that was decided, and whose message then turned out to be none. */
function recordLost(
  context: Context,
  step: Step,
  { head, end }: { readonly head: DecidedHead; readonly end: LargeEnd },
): void {
  const message =
    end.outcome === 'complete'
      ? 'Invalid call: the message is not valid.'
      : 'Invalid call: the message is too large, or its end is missing.';
  recordEnded(context, step, {
    ...withHash(context, head, end).read,
    fault: message,
    shared: false,
  });
}

function refuseLarge(
  context: Context,
  step: Step,
  refused: { readonly seen: Seen; readonly end: LargeEnd; readonly recorded: boolean },
): void {
  const { seen, end, recorded } = refused;
  const cut = end.outcome !== 'too_large';
  const detail = cut
    ? 'A message ended in the middle, or did not go on.'
    : `A message is larger than the limit; ${end.bytesTotal} bytes of it were read.`;
  const reason = cut ? 'partial' : 'too_large';
  const told = { reason, detail, code: INVALID_REQUEST, recorded, ...knownOf(seen) } as const;
  // No profile forwards what was not read to its end.
  reject(context, step, { ...told, always: true });
}

interface Known {
  readonly id: MessageId | undefined;
  readonly asks: boolean;
  readonly method: string | undefined;
}

function knownOf(seen: Seen): Known {
  switch (seen.kind) {
    case 'invalid':
    case 'request':
      return { id: seen.id, asks: seen.kind === 'request' || seen.asks, method: seen.method };
    case 'response':
      return { id: seen.id, asks: false, method: undefined };
    case 'notification':
      return { id: undefined, asks: true, method: seen.method };
    case 'batch':
      return { id: undefined, asks: true, method: undefined };
  }
}

const OPAQUE = 'A message is too large to inspect, and its beginning does not show what it is.';

function refuseOpaque(context: Context, step: Step, seen: Seen): void {
  const detail = OPAQUE;
  const reason = seen.kind === 'batch' ? 'batch' : 'not_inspectable';
  reject(context, step, { reason, detail, code: INVALID_REQUEST, ...knownOf(seen) });
}

function settleFromServer(
  context: Context,
  step: Step,
  { seen, end }: { readonly seen: Seen; readonly end: LargeEnd },
): void {
  if (seen.kind !== 'response') return fromServer(context, step, seen);
  const { bytesTotal, streamHash } = end;
  const uninspected = { bytesTotal, streamHash };
  // Its bytes are gone, so nothing can be read from them again.
  const answer = { ...seen, result: undefined, message: undefined };
  if (!settleAnswer(context, step, { seen: answer, uninspected })) fromServer(context, step, seen);
}

function settleFromAgent(context: Context, step: Step, seen: Seen): void {
  if (seen.kind === 'request') return settleRequest(context, step, seen);
  if (seen.kind === 'notification') {
    return handOn(context, step, requestOnward(context, step, seen));
  }
  if (seen.kind !== 'response') throw new Error('this large message is settled elsewhere');
  const open = seen.id && context.asked.server.take(seen.id.json);
  if (seen.id !== undefined && open === undefined) {
    const detail = 'The agent answered a request that the server has not made.';
    const fault = { id: undefined, asks: false, code: INVALID_REQUEST } as const;
    return reject(context, step, { ...fault, reason: 'unsolicited_answer', detail });
  }
  handOn(context, step, answerOnward(context, step, { seen, open }));
}

function settleRequest(context: Context, step: Step, seen: SeenRequest): void {
  if (!admits(context, step, seen)) return;
  // Development lets a call pass whose head did not show it; it is on record all the same.
  if (seen.method === TOOLS_CALL) recordRefused(context, step, OPAQUE);
  if (context.exit === undefined) {
    passRequest(context, step, seen);
    return;
  }
  const text = errorLine(seen.id, { code: INTERNAL_ERROR, message: exitWords(context) });
  step.out.push({ do: 'answer', to: 'agent', text });
}

/** The next part of a large message; what must not pass is broken off before it is passed on. */
function feedLarge(context: Context, step: Step): void {
  const large = context.large[step.from];
  if (large === undefined) return;
  large.outline.feed(step.bytes);
  const { hidden, returned } = findReturn(step.bytes, large.returned);
  large.returned = returned;
  if (!hidden) return;
  large.hidden = true;
  if (context.enforcing) breakOff(step, large);
}

/** Nobody knows whether the rest of it will ever come, and others wait. */
function stallLarge(context: Context, step: Step): void {
  const large = context.large[step.from];
  if (large === undefined || !large.streamed) return;
  large.stalled = true;
  breakOff(step, large);
}

function breakOff(step: Step, large: LargeMessage): void {
  if (!large.streamed) return;
  large.streamed = false;
  step.out.push({ do: 'break', to: other(step.from) });
}

export type { LargeMessage };
export { closeLarge, feedLarge, headQuestion, openLarge, stallLarge };
