// Messages that are too large to inspect. They are read as they are streamed. A call is decided on its
// head, and recorded at its end, when its hash is known.

import { concatBytes } from '../json/text.ts';
import { INVALID_REQUEST } from './answer-lines.ts';
import { answerWithoutServer } from './apply-decision.ts';
import { asksHub, limitsFor } from './ask-hub.ts';
import { grantedRules } from './ask-people.ts';
import { type Context, type MessageStep, nextSeq, other, stepFor } from './context.ts';
import { concludeCall, type DecidedCall } from './decide-call.ts';
import { admits, finishCall, fromAgent, passRequest } from './from-agent.ts';
import { fromServer } from './from-server.ts';
import type { RefusedMessage } from './guard.ts';
import { judgedByTexts, refusedAtHead } from './judge-large.ts';
import { LeaseNeeds } from './leases.ts';
import { handOn, requestOnward } from './pass-message.ts';
import { Outline } from './peek/outline.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import type { OutlineSoFar, Seen } from './peek/types.ts';
import { type ReadCall, readToolName, unreadCall } from './read-call.ts';
import { recordStart } from './record-call.ts';
import {
  malformed,
  type Rejection,
  recordEnded,
  recordRefused,
  reject,
  rejectedHash,
} from './reject-message.ts';
import type { Command, HubQuestion, LargeEnd, Side } from './types.ts';

export interface LargeMessage {
  readonly outline: Outline;
  /** Its parts are passed on; false once it was broken off. */
  streamed: boolean;
  /** Its closing brace and the bytes behind it: they pass once the whole message is judged. */
  held: Uint8Array;
  /** It was broken off because no further part came. */
  stalled: boolean;
  /** The call that its head shows, if it does. */
  readonly call: DecidedCall | undefined;
  /** Its head does not show what it is, so production does not let it pass. */
  readonly opaque: boolean;
  /** Why it may not pass without inspection, if its head shows that. */
  readonly refused: RefusedMessage | undefined;
}

/** The head of a large message. It is read once, for the questions to the hub and for the decision. */
export interface LargeHead {
  readonly kind: 'head';
  readonly from: Side;
  readonly bytes: Uint8Array;
  readonly outline: Outline;
  readonly soFar: OutlineSoFar;
  /** As in `Message`. */
  about?: string;
  /** The call that the head shows, if it does. */
  readonly call: HeadCall | undefined;
}

type HeadCall = Omit<ReadCall, 'seq' | 'shared'>;

export function readHead(context: Context, from: Side, bytes: Uint8Array): LargeHead {
  const outline = new Outline(from === 'agent' && context.guard?.gathered !== undefined);
  outline.feed(bytes);
  const soFar = outline.soFar();
  const { method, name } = soFar;
  const isCall = from === 'agent' && method === TOOLS_CALL && name !== undefined;
  const call = isCall ? readHeadCall(context, bytes, soFar) : undefined;
  return { kind: 'head', from, bytes, outline, soFar, call };
}

/** The questions that the hub must answer before the head of a large message is decided. */
export function headQuestions(
  context: Context,
  head: LargeHead,
  nowMs: number,
): readonly HubQuestion[] {
  if (head.call === undefined || context.config.hub !== true) return [];
  const { call, ref, fault } = head.call;
  if (fault !== undefined) return [];
  if (!asksHub(context, call)) {
    const needs = new LeaseNeeds(context);
    needs.add(call);
    const leases = needs.list();
    return leases.length === 0 ? [] : [{ ref, call, leases }];
  }
  return [{ ref, call, limits: limitsFor(stepFor(context, head, nowMs), call) }];
}

/** Decides on the head of a large message whether its parts are passed on. */
export function openLarge(step: MessageStep, head: LargeHead): void {
  const { context, from } = step;
  const { outline, soFar } = head;
  const call = head.call && decideHead(step, head.call);
  const refused = call === undefined ? refusedAtHead(step, soFar) : undefined;
  const opaque = isOpaque(from, soFar);
  const allowed =
    call === undefined ? refused === undefined : call.outcome.decision.action === 'ALLOW';
  const gone = from === 'agent' && context.exit !== undefined;
  const streamed = !gone && allowed && !(opaque && context.enforcing);
  const large = { outline, streamed, call, opaque, refused, held: NO_BYTES, stalled: false };
  context.large[from] = large;
  if (streamed) {
    step.out.push({ do: 'stream', to: other(from), bytes: passable(large, step.bytes, 0) });
  } else step.out.push({ do: 'swallow' });
}

/** The part of these bytes that may pass now: everything before the closing brace of the message. */
function passable(large: LargeMessage, bytes: Uint8Array, start: number): Uint8Array {
  const { closedAt, isFaulty } = large.outline;
  // Development passes on a faulty message. It is not held, because it may never end.
  const until = closedAt === -1 || isFaulty ? bytes.length : Math.max(0, closedAt - start);
  if (until >= bytes.length && large.held.length === 0) return bytes;
  // A copy: the held bytes outlive the chunk that they came in.
  if (isFaulty) {
    const all = concatBytes(large.held, bytes);
    large.held = NO_BYTES;
    return all;
  }
  large.held = concatBytes(large.held, bytes.subarray(until));
  return bytes.subarray(0, until);
}

const NO_BYTES = new Uint8Array(0);

/** Whether a head does not show what its message is. */
function isOpaque(from: Side, soFar: OutlineSoFar): boolean {
  const { batch, method, name, answers, faulty } = soFar;
  if (batch || faulty) return true;
  if (from === 'server' || answers) return false;
  return method === undefined || (method === TOOLS_CALL && name === undefined);
}

/** The call that a head shows. Nothing is counted here. */
function readHeadCall(context: Context, bytes: Uint8Array, soFar: OutlineSoFar): HeadCall {
  const { tool_name: tool, fault } = readToolName(soFar.name);
  const start = soFar.argsStart === -1 ? bytes.length : soFar.argsStart;
  // Stands for the hash of the arguments until the last byte has come.
  const args_hash = rejectedHash(context, bytes.subarray(start));
  const read = unreadCall(context, { tool, args_hash, bytes_in: bytes.length });
  const subject = { ref: read.ref, envelope: undefined, tool, args: () => undefined };
  const call = { ...read.call, approved: grantedRules(context, subject) };
  return { ...read, call, fault, version: soFar.metaVersion ?? read.version };
}

function decideHead(step: MessageStep, head: HeadCall): DecidedCall {
  const { context } = step;
  const shared = head.fault === undefined && asksHub(context, head.call);
  const read = { ...head, seq: nextSeq(context), shared };
  const decided = concludeCall(step, { read, id: undefined });
  // Counted now: further calls may come before this one has ended.
  context.state = decided.outcome.state;
  return decided;
}

/** The end of a large message: it is recorded, and its last byte passes or not. */
export function closeLarge(step: MessageStep, end: LargeEnd): void {
  const { context, from } = step;
  const large = context.large[from];
  context.large[from] = undefined;
  if (large === undefined) return;
  const { streamed, held, refused } = large;
  const to = other(from);
  const forward: Command = streamed ? { do: 'finish', to, bytes: held } : { do: 'swallow' };
  const out: Command[] = [];
  const { bytesTotal, streamHash } = end;
  const unseen = { streamHash, refused };
  settleLarge({ ...step, out, forward, bytesTotal, unseen }, large, end);
  // A streamed message that may not pass is broken off before any answer of ours follows.
  if (streamed && !out.includes(forward)) step.out.push({ do: 'break', to });
  step.out.push(...out.filter((command) => command !== forward || streamed));
}

function settleLarge(step: MessageStep, large: LargeMessage, end: LargeEnd): void {
  const seen = large.outline.finish();
  const head = large.call && withHash(step.context, large.call, end);
  const recorded = head !== undefined;
  if (end.outcome !== 'complete' || large.stalled) {
    const fault = 'Invalid call: the message is too large, or its end is missing.';
    if (head !== undefined) recordEnded(step, { ...head.read, fault, shared: false });
    return refuseUnfinished(step, { seen, end, recorded });
  }
  if (seen.kind === 'invalid') {
    const fault = 'Invalid call: the message is not valid.';
    if (head !== undefined) recordEnded(step, { ...head.read, fault, shared: false });
    return malformed(step, { ...seen, recorded });
  }
  if (head !== undefined) {
    const judged = judgedByTexts(step.context, head, large.outline.gathered());
    return settleCall(step, judged, seen);
  }
  if (seen.kind === 'batch' || (large.opaque && step.context.enforcing)) {
    const reason = seen.kind === 'batch' ? 'batch' : 'not_inspectable';
    return reject(step, { ...senderOf(seen), reason, detail: OPAQUE, code: INVALID_REQUEST });
  }
  if (step.from === 'server') fromServer(step, seen);
  else settleFromAgent(step, seen);
}

/** The decision on the head becomes the decision on the call. */
function settleCall(step: MessageStep, head: DecidedCall, seen: Seen): void {
  const id = seen.kind === 'request' ? seen.id : undefined;
  if (seen.kind === 'request' && !admits(step, seen)) return;
  const decided = { ...head, id };
  recordStart(step, decided);
  finishCall(step, decided);
}

function withHash(context: Context, head: DecidedCall, end: LargeEnd): DecidedCall {
  const { streamHash, bytesTotal } = end;
  const call = { ...head.read.call, bytes_in: bytesTotal };
  const ref = { ...head.read.ref, args_hash: streamHash };
  // The state has moved on since the head was decided.
  const outcome = { ...head.outcome, state: context.state };
  return { ...head, read: { ...head.read, call, ref, streamHash }, outcome };
}

function refuseUnfinished(
  step: MessageStep,
  unfinished: { readonly seen: Seen; readonly end: LargeEnd; readonly recorded: boolean },
): void {
  const { seen, end, recorded } = unfinished;
  const fault =
    end.outcome === 'too_large'
      ? {
          reason: 'too_large' as const,
          detail: `A message is larger than the limit; ${end.bytesTotal} bytes of it were read.`,
        }
      : {
          reason: 'partial' as const,
          detail: 'A message ended in the middle, or did not go on.',
        };
  // No profile forwards a message that was not read to its end.
  reject(step, { ...senderOf(seen), ...fault, code: INVALID_REQUEST, recorded, always: true });
}

/** The facts about a message that its rejection needs. */
function senderOf(seen: Seen): Pick<Rejection, 'id' | 'asks' | 'method'> {
  switch (seen.kind) {
    case 'invalid':
    case 'request':
      return { id: seen.id, asks: seen.kind === 'request' || seen.asks, method: seen.method };
    case 'response':
      return { id: seen.id, asks: false };
    case 'notification':
      return { id: undefined, asks: true, method: seen.method };
    case 'batch':
      return { id: undefined, asks: true };
  }
}

const OPAQUE = 'A message is too large to inspect, and its beginning does not show what it is.';

function settleFromAgent(step: MessageStep, seen: Seen): void {
  const hasMethod = seen.kind === 'request' || seen.kind === 'notification';
  if (!hasMethod || seen.method !== TOOLS_CALL) return fromAgent(step, seen);
  if (seen.kind === 'notification') return handOn(step, requestOnward(step, seen));
  if (!admits(step, seen)) return;
  // Development lets a call pass whose head did not show it; the call is recorded all the same.
  recordRefused(step, OPAQUE);
  if (step.context.exit === undefined) passRequest(step, seen);
  else answerWithoutServer(step, seen.id);
}

/** The next part of a large message. At the first fault it is broken off, and nothing of the part passes. */
export function feedLarge(step: MessageStep): void {
  const { context, from, bytes } = step;
  const large = context.large[from];
  if (large === undefined) return;
  const { outline } = large;
  const start = outline.bytesFed;
  outline.feed(bytes);
  if (outline.isFaulty && context.enforcing) breakOff(step, large);
  if (!large.streamed) return;
  const passed = passable(large, bytes, start);
  if (passed.length > 0) step.out.push({ do: 'part', to: other(from), bytes: passed });
}

/** Gives up a large message that has not gone on for too long, because other messages wait. */
export function stallLarge(step: MessageStep): void {
  const large = step.context.large[step.from];
  if (large === undefined || !large.streamed) return;
  large.stalled = true;
  breakOff(step, large);
}

function breakOff(step: MessageStep, large: LargeMessage): void {
  if (!large.streamed) return;
  large.streamed = false;
  step.out.push({ do: 'break', to: other(step.from) });
}
