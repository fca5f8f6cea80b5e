// Messages that are too large to inspect. What they are is read as they go by; a call is decided
// on its head, and everything about it is told at its end, when its hash is known.

import { concatBytes } from '../json/text.ts';
import type { Call } from '../policy/index.ts';
import { INVALID_REQUEST } from './answer-lines.ts';
import { applyDecision } from './apply-decision.ts';
import { asksHub, limitsFor } from './ask-hub.ts';
import { askForRetry, grantedRules } from './ask-people.ts';
import { type Context, type MessageStep, other, stepFor } from './context.ts';
import { concludeCall, type DecidedCall } from './decide-call.ts';
import { admits, answerGone, fromAgent, passRequest } from './from-agent.ts';
import { fromServer, settleAnswer } from './from-server.ts';
import type { RefusedPassage } from './guard.ts';
import { judgedByTexts, refusedAtHead } from './judge-large.ts';
import { handOn, requestOnward } from './pass-message.ts';
import { Outline, type OutlineSoFar } from './peek/outline.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import type { MessageId, Seen } from './peek/types.ts';
import { nextSeq, type ReadCall, readToolName, shownName } from './read-call.ts';
import { NOT_INSPECTED, recordDecision, recordStart } from './record-call.ts';
import { malformed, recordEnded, recordRefused, reject, rejectedHash } from './reject-message.ts';
import type { Command, HubQuestion, LargeEnd, Side } from './types.ts';

export interface LargeMessage {
  readonly outline: Outline;
  /** Its parts are passed on; false once it was broken off. */
  streamed: boolean;
  /** Its closing brace and what came behind it: they pass when all of it is judged. */
  held: Uint8Array;
  /** It was broken off because it did not go on. */
  stalled: boolean;
  /** The call that its head has shown it to be. */
  readonly call: DecidedHead | undefined;
  /** Its head did not show what it is, so it could not pass. */
  readonly opaque: boolean;
  /** Why no gate lets it pass unseen, if its head has told. */
  readonly refused: RefusedPassage | undefined;
}

type DecidedHead = Omit<DecidedCall, 'id'>;

/** The head of a large message that has been read; the hub is asked and the session decides from here. */
export interface LargeHead {
  readonly kind: 'head';
  readonly from: Side;
  readonly bytes: Uint8Array;
  readonly outline: Outline;
  readonly soFar: OutlineSoFar;
  /** The call that the head shows the message to be, if it does. */
  readonly call: HeadCall | undefined;
}

type HeadCall = Pick<ReadCall, 'call' | 'ref' | 'fault'>;

export function readHead(context: Context, from: Side, bytes: Uint8Array): LargeHead {
  const outline = new Outline(from === 'agent' && context.guard?.gathered !== undefined);
  outline.feed(bytes);
  const soFar = outline.soFar();
  const { method, name } = soFar;
  const isCall = from === 'agent' && method === TOOLS_CALL && name !== undefined;
  const call = isCall ? viewHeadCall(context, bytes, soFar) : undefined;
  return { kind: 'head', from, bytes, outline, soFar, call };
}

/** What the hub must be asked about the head of a large message, if anything. */
export function headQuestions(
  context: Context,
  { call: viewed, from, bytes }: LargeHead,
  nowMs: number,
): readonly HubQuestion[] {
  if (viewed === undefined || context.config.hub !== true) return [];
  const { call, ref, fault } = viewed;
  if (fault !== undefined || !asksHub(context, call)) return [];
  return [{ ref, call, limits: limitsFor(context, stepFor(from, bytes, nowMs), call) }];
}

/** Decides on the head of a large message whether its parts are passed on. */
export function openLarge(context: Context, step: MessageStep, head: LargeHead): void {
  const { outline, soFar } = head;
  const call =
    head.call && decideHead(context, step, { ...head.call, metaVersion: soFar.metaVersion });
  const refused = call === undefined ? refusedAtHead(context, step, soFar) : undefined;
  const opaque = isOpaque(step.from, soFar);
  const allowed =
    call === undefined ? refused === undefined : call.outcome.decision.action === 'ALLOW';
  const gone = step.from === 'agent' && context.exit !== undefined;
  const streamed = !gone && allowed && !(opaque && context.enforcing);
  const large = { outline, streamed, call, opaque, refused, held: NO_BYTES, stalled: false };
  context.large[step.from] = large;
  const to = other(step.from);
  step.out.push(
    streamed ? { do: 'stream', to, bytes: passable(large, step.bytes, 0) } : { do: 'swallow' },
  );
}

/** What may pass of the bytes from this place on: all that stands before the closing brace. */
function passable(large: LargeMessage, bytes: Uint8Array, start: number): Uint8Array {
  const { closedAt, isFaulty } = large.outline;
  // What is faulty and passes all the same, in development, is not kept: it may have no end.
  const until = closedAt === -1 || isFaulty ? bytes.length : Math.max(0, closedAt - start);
  if (until >= bytes.length && large.held.length === 0) return bytes;
  // A copy: what is held back outlives the memory that it came in.
  if (isFaulty) {
    const all = concatBytes(large.held, bytes);
    large.held = NO_BYTES;
    return all;
  }
  large.held = concatBytes(large.held, bytes.subarray(until));
  return bytes.subarray(0, until);
}

const NO_BYTES = new Uint8Array(0);

/** What must not pass before it is known what it is. */
function isOpaque(from: Side, soFar: OutlineSoFar): boolean {
  const { batch, method, name, answers, faulty } = soFar;
  if (batch || faulty) return true;
  if (from === 'server' || answers) return false;
  return method === undefined || (method === TOOLS_CALL && name === undefined);
}

/** The call that a head shows. Nothing is counted by looking. */
function viewHeadCall(context: Context, bytes: Uint8Array, soFar: OutlineSoFar): HeadCall {
  const { config } = context;
  const { tool_name, fault } = readToolName(soFar.name);
  const { serverName: server_name, identity } = config;
  const args_hash = headHash(context, bytes, soFar.argsStart);
  const call_id = config.callId();
  const ref = { call_id, server_name, tool_name: shownName(context, tool_name), args_hash };
  const bytes_in = bytes.length;
  const args = () => undefined;
  const approved = grantedRules(context, { ref, envelope: undefined, tool: tool_name, args });
  const call: Call = { identity, server_name, tool_name, args_hash, bytes_in, approved };
  return { call, ref, fault };
}

function decideHead(
  context: Context,
  step: MessageStep,
  head: HeadCall & Pick<OutlineSoFar, 'metaVersion'>,
): DecidedHead {
  const { call, ref, fault, metaVersion } = head;
  const read: ReadCall = {
    call,
    ref,
    seq: nextSeq(context),
    preview: NOT_INSPECTED,
    fault,
    progressToken: undefined,
    version: metaVersion ?? context.version,
    shared: fault === undefined && asksHub(context, call),
  };
  const decided = concludeCall(context, step, read);
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
  return rejectedHash(context, head.subarray(start));
}

/** A large message is over: now it is told of, and its last byte may pass or not. */
export function closeLarge(context: Context, step: MessageStep, end: LargeEnd): void {
  const large = context.large[step.from];
  context.large[step.from] = undefined;
  if (large === undefined) return;
  const to = other(step.from);
  const passed: Command = large.streamed
    ? { do: 'finish', to, bytes: large.held }
    : { do: 'swallow' };
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

interface EndedLarge {
  readonly large: LargeMessage;
  readonly end: LargeEnd;
}

function settleLarge(context: Context, step: MessageStep, { large, end }: EndedLarge): void {
  const seen = large.outline.finish();
  const recorded = large.call !== undefined;
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
  step: MessageStep,
  { head, seen, end }: { head: DecidedHead; seen: Seen; end: LargeEnd },
): void {
  const id = seen.kind === 'request' ? seen.id : undefined;
  const decided = { ...withHash(context, head, end), id };
  if (seen.kind === 'request' && !admits(context, step, seen)) return;
  recordStart(context, step, decided);
  const { approval } = decided.outcome.decision;
  const told = approval === undefined ? decided : askForRetry(context, step, decided);
  recordDecision(context, step, told);
  applyDecision(context, step, told);
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
  step: MessageStep,
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
  step: MessageStep,
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

interface KnownSender {
  readonly id: MessageId | undefined;
  readonly asks: boolean;
  readonly method: string | undefined;
}

function knownOf(seen: Seen): KnownSender {
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

function refuseOpaque(context: Context, step: MessageStep, seen: Seen): void {
  const detail = OPAQUE;
  const reason = seen.kind === 'batch' ? 'batch' : 'not_inspectable';
  reject(context, step, { reason, detail, code: INVALID_REQUEST, ...knownOf(seen) });
}

function settleFromServer(
  context: Context,
  step: MessageStep,
  { seen, end }: { readonly seen: Seen; readonly end: LargeEnd },
): void {
  if (seen.kind !== 'response') return fromServer(context, step, seen);
  const { bytesTotal, streamHash } = end;
  const uninspected = { bytesTotal, streamHash };
  // Its bytes are gone, so nothing can be read from them again.
  const answer = { ...seen, result: undefined, message: undefined };
  if (!settleAnswer(context, step, { seen: answer, uninspected })) fromServer(context, step, seen);
}

function settleFromAgent(context: Context, step: MessageStep, seen: Seen): void {
  const isMade = seen.kind === 'request' || seen.kind === 'notification';
  if (!isMade || seen.method !== TOOLS_CALL) return fromAgent(context, step, seen);
  if (seen.kind === 'notification') {
    return handOn(context, step, requestOnward(context, step, seen));
  }
  if (!admits(context, step, seen)) return;
  // Development lets a call pass whose head did not show it; it is on record all the same.
  recordRefused(context, step, OPAQUE);
  if (context.exit === undefined) passRequest(context, step, seen);
  else answerGone(context, step, seen);
}

/** The next part of a large message; at the first fault it is broken off, and nothing of the part passes. */
export function feedLarge(context: Context, step: MessageStep): void {
  const large = context.large[step.from];
  if (large === undefined) return;
  const { outline } = large;
  const start = outline.bytesFed;
  outline.feed(step.bytes);
  if (outline.isFaulty && context.enforcing) breakOff(step, large);
  if (!large.streamed) return;
  const bytes = passable(large, step.bytes, start);
  if (bytes.length > 0) step.out.push({ do: 'part', to: other(step.from), bytes });
}

/** Nobody knows whether the rest of it will ever come, and others wait. */
export function stallLarge(context: Context, step: MessageStep): void {
  const large = context.large[step.from];
  if (large === undefined || !large.streamed) return;
  large.stalled = true;
  breakOff(step, large);
}

function breakOff(step: MessageStep, large: LargeMessage): void {
  if (!large.streamed) return;
  large.streamed = false;
  step.out.push({ do: 'break', to: other(step.from) });
}
