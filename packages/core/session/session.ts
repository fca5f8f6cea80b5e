// An MCP session as a pure machine: a message and the time go in, commands come out. It does no
// I/O and has no clock; the same inputs always give the same commands.
import { carryState } from '../policy/decide/verdict.ts';
import type { PolicyState, Snapshot } from '../policy/index.ts';
import {
  type Context,
  createContext,
  type Message,
  type MessageStep,
  other,
  report,
  stepFor,
} from './context.ts';
import { fromAgent } from './from-agent.ts';
import { fromServer } from './from-server.ts';
import { recordNotices } from './gate-notes.ts';
import type { GateVerdict, Guard, Passage } from './guard.ts';
import { consulted, endHeld, resolveHeld } from './held-calls.ts';
import { observationsIn, questionsIn } from './hub-questions.ts';
import {
  closeLarge,
  feedLarge,
  headQuestions,
  type LargeHead,
  openLarge,
  readHead,
  stallLarge,
} from './large-messages.ts';
import { peek } from './peek/peek.ts';
import { agentClosed, openCount, serverExited, tick } from './session-end.ts';
import type {
  ApprovalAnswer,
  Command,
  HubAnswer,
  HubQuestion,
  HubReply,
  LargeEnd,
  Observation,
  ServerExit,
  SessionConfig,
  SessionSummary,
  Side,
} from './types.ts';

type Commands = readonly Command[];

export interface Session {
  /** Reads one whole message, with or without its newline. No later step reads it again. */
  read(from: Side, bytes: Uint8Array): Message;
  /** Reads the first part of a message that is too large to inspect. */
  readHead(from: Side, bytes: Uint8Array): LargeHead;
  /** What the hub must be asked before this message of the agent goes in; with a hub only. */
  questions(message: Message | LargeHead, nowMs: number): readonly HubQuestion[];
  /** What the hub must hear before this message of the server goes in; with `observes` only. */
  observations(message: Message | LargeHead): readonly Observation[];
  /** Says what to do with a message; the parts of a large one are streamed or swallowed. */
  handle(message: Message | LargeHead, nowMs: number, said?: HubReply): Commands;
  /** A further part of it; the commands say what passes of it. */
  largePiece(from: Side, piece: Uint8Array): Commands;
  /** It has not gone on for too long, while others wait to be heard. */
  largeStalled(from: Side): Commands;
  /** Its end; the commands say whether its closing brace and its newline pass, which make it a message. */
  largeEnd(from: Side, end: LargeEnd, nowMs: number): Commands;
  /** The last line of an input that ended without a newline. */
  partial(from: Side, line: Uint8Array, nowMs: number): Commands;
  /** Time has passed. Call it every second or so. */
  tick(nowMs: number): Commands;
  /** A person has answered, or cannot be asked. */
  approval(callId: string, answer: ApprovalAnswer, nowMs: number): Commands;
  /** What the hub said about a call that it was consulted about. */
  consulted(answer: Omit<HubAnswer, 'at'>, nowMs: number): Commands;
  serverExited(exit: ServerExit, nowMs: number): Commands;
  /** The agent sends nothing more, but may still listen. */
  inputEnded(nowMs: number): Commands;
  agentClosed(nowMs: number): Commands;
  /** Another policy, from the next call on. What was counted is carried over. */
  usePolicy(snapshot: Snapshot): void;
  /** Other gates, or none, from the next message on. */
  useGuard(guard: Guard | undefined): void;
  summary(): SessionSummary;
  /** What the policy has counted so far. */
  policyState(): PolicyState;
  /** The requests of a side that wait for their answer. */
  openRequests(side: Side): number;
}

const NO_BYTES = new Uint8Array(0);

export function createSession(config: SessionConfig): Session {
  const context = createContext(config);
  context.guard = failClosedGuard(config.guard, context.enforcing);
  const after = (
    nowMs: number,
    act: (step: MessageStep) => void,
    from: Side = 'agent',
  ): Commands => {
    const step = stepFor(from, NO_BYTES, nowMs);
    act(step);
    return told(context, step);
  };
  return {
    read: (from, bytes) => readMessage(context, from, bytes),
    readHead: (from, bytes) => readHead(context, from, bytes),
    questions: (message, nowMs) =>
      message.kind === 'head'
        ? headQuestions(context, message, nowMs)
        : questionsIn(context, message, nowMs),
    observations: (message) => (message.kind === 'head' ? [] : observationsIn(context, message)),
    handle: (message, nowMs, said) => {
      const { from, bytes } = message;
      const step: MessageStep = {
        from,
        bytes,
        nowMs,
        out: [],
        forward: { do: 'forward', to: other(from) },
        message: message.kind === 'whole' ? message : undefined,
        answers: said?.answers,
        heard: said?.heard,
      };
      if (message.kind === 'head') openLarge(context, step, message);
      if (config.counted !== undefined) config.counted(from, countedMethod(message));
      if (message.kind === 'head') return told(context, step);
      if (from === 'agent') fromAgent(context, step, message.seen);
      else fromServer(context, step, message.seen);
      return told(context, step);
    },
    largePiece: (from, piece) => {
      const step = stepFor(from, piece, 0);
      feedLarge(context, step);
      return step.out;
    },
    largeStalled: (from) => after(0, (step) => stallLarge(context, step), from),
    largeEnd: (from, end, nowMs) => after(nowMs, (step) => closeLarge(context, step, end), from),
    partial: (from, bytes, nowMs) => {
      const step = stepFor(from, bytes, nowMs);
      const detail = 'The input ended in the middle of a line.';
      report(step, { what: 'DROPPED', reason: 'partial', detail });
      step.out.push({ do: 'drop', reason: 'partial' });
      return step.out;
    },
    tick: (nowMs) => after(nowMs, (step) => tick(context, step)),
    approval: (callId, end, nowMs) =>
      after(nowMs, (step) => resolveHeld(context, step, { callId, end })),
    consulted: (answer, nowMs) => after(nowMs, (step) => consulted(context, step, answer)),
    serverExited: (exit, nowMs) => after(nowMs, (step) => serverExited(context, step, exit)),
    inputEnded: (nowMs) => after(nowMs, (step) => endHeld(context, step)),
    agentClosed: (nowMs) => after(nowMs, (step) => agentClosed(context, step)),
    usePolicy: (snapshot) => usePolicy(context, snapshot),
    useGuard: (guard) => {
      context.guard = failClosedGuard(guard, context.enforcing);
    },
    summary: () => summaryOf(context),
    policyState: () => context.state,
    openRequests: (side) => openCount(context, side),
  };
}

/** Reads a message once. With a native check of UTF-8, long strings are read faster. */
function readMessage({ config }: Context, from: Side, bytes: Uint8Array): Message {
  // What is not UTF-8 is read byte by byte, to find where.
  const seen =
    config.isUtf8 === undefined ? peek(bytes) : peek(bytes, { skim: config.isUtf8(bytes) });
  return { kind: 'whole', from, bytes, seen, call: undefined, batch: undefined };
}

/** What is to be done, with what the gates have noticed meanwhile. */
function told(context: Context, step: MessageStep): Commands {
  const notices = context.guard?.notices();
  if (notices !== undefined && notices.length > 0) recordNotices(context, step, notices);
  return step.out;
}

/** The method of a message, or what it is. A batch counts as one message. */
function countedMethod(message: Message | LargeHead): string {
  if (message.kind === 'whole') {
    const { seen } = message;
    const hasMethod = seen.kind === 'request' || seen.kind === 'notification';
    return hasMethod ? seen.method : seen.kind;
  }
  const { method, answers, batch } = message.soFar;
  if (batch) return 'batch';
  return answers ? 'response' : (method ?? 'other');
}

function usePolicy(context: Context, snapshot: Snapshot): void {
  context.state = carryState(context.state, snapshot);
  context.snapshot = snapshot;
}

function summaryOf({ counts }: Context): SessionSummary {
  return {
    calls_total: counts.total,
    calls_allowed: counts.allowed,
    calls_blocked: counts.blocked,
    calls_throttled: counts.throttled,
    errors_total: counts.errors,
    calls_spared: counts.spared,
    answers_held_back: counts.heldBack,
  };
}

const BROKEN = {
  rule_id: null,
  reason_code: 'POLICY_ERROR',
  summary: 'A gate could not look at this, so it does not pass.',
} as const;
const STOPPED: GateVerdict = {
  kind: 'stop',
  decision: { action: 'BLOCK', severity: 'critical', ...BROKEN },
};
const SPARED: GateVerdict = { kind: 'pass', would: { action: 'BLOCK', ...BROKEN } };
const REFUSED: Passage = { kind: 'refused', ...BROKEN };
const SAME: Passage = { kind: 'same' };

/**
 * The same guard, which never throws: hostile content that breaks a gate must not end the session,
 * nor pass unjudged where gates are enforced.
 */
function failClosedGuard(guard: Guard | undefined, enforcing: boolean): Guard | undefined {
  if (guard === undefined) return undefined;
  const verdict = enforcing ? STOPPED : SPARED;
  const passage = enforcing ? REFUSED : SAME;
  return {
    surface: (call, nowMs) => orElse(verdict, () => guard.surface(call, nowMs)),
    content: (call, nowMs) => orElse(verdict, () => guard.content(call, nowMs)),
    passed: (call, nowMs) => guard.passed(call, nowMs),
    ended: (end, nowMs) => guard.ended(end, nowMs),
    wants: (way, kind, method) => guard.wants(way, kind, method),
    passing: (way, message, nowMs) => orElse(passage, () => guard.passing(way, message, nowMs)),
    unseen: (way, kind, method) => orElse(passage, () => guard.unseen(way, kind, method)),
    notices: () => guard.notices(),
    ...(guard.isLimited !== undefined && {
      isLimited: (tool) => orElse(true, () => guard.isLimited?.(tool) ?? true),
      // What breaks here breaks in `surface` too, which says what becomes of the call.
      limits: (call, nowMs) => orElse([], () => guard.limits?.(call, nowMs) ?? []),
    }),
    ...(guard.gathered !== undefined && {
      gathered: (call, texts) => orElse(verdict, () => guard.gathered?.(call, texts) ?? verdict),
    }),
    ...(guard.around !== undefined && {
      around: (way, envelope, nowMs) =>
        orElse(passage, () => guard.around?.(way, envelope, nowMs) ?? passage),
    }),
  };
}

function orElse<T>(otherwise: T, look: () => T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
