// An MCP session as a pure machine: a message and the time go in, commands come out. It does no
// I/O and has no clock; the same inputs always give the same commands.
import type { Lease } from '@subluminal/contracts/hub-frames';
import { carryState } from '../policy/decide/verdict.ts';
import type { PolicyState, Snapshot } from '../policy/index.ts';
import {
  type Context,
  createContext,
  type Message,
  type MessageStep,
  report,
  stepFor,
} from './context.ts';
import { fromAgent } from './from-agent.ts';
import { fromServer } from './from-server.ts';
import { recordNotices } from './gate-notes.ts';
import type { GateVerdict, Guard, MessageVerdict } from './guard.ts';
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
import { giveUpLeases, takeLeases } from './leases.ts';
import { peek } from './peek/peek.ts';
import type { Seen } from './peek/types.ts';
import { agentClosed, serverExited, tick } from './session-end.ts';
import type {
  Command,
  HeldAnswer,
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

const NO_BYTES = new Uint8Array(0);

export class Session {
  private readonly context: Context;

  constructor(config: SessionConfig) {
    this.context = createContext(config);
    this.useGuard(config.guard);
  }

  /** Reads one whole message, with or without its newline. No later step reads it again. */
  read(from: Side, bytes: Uint8Array, known?: Seen): Message {
    const seen = known ?? this.peek(bytes);
    return { kind: 'whole', from, bytes, seen, call: undefined, batch: undefined };
  }

  private peek(bytes: Uint8Array): Seen {
    const { isUtf8 } = this.context.config;
    // Bytes that are not UTF-8 are read one by one, to find the fault.
    return isUtf8 === undefined ? peek(bytes) : peek(bytes, { skim: isUtf8(bytes) });
  }

  /** Reads the first part of a message that is too large to inspect. */
  readHead(from: Side, bytes: Uint8Array): LargeHead {
    return readHead(this.context, from, bytes);
  }

  /** The questions that the hub must answer before this message of the agent is handled. */
  questions(message: Message | LargeHead, nowMs: number): readonly HubQuestion[] {
    const { context } = this;
    if (message.kind === 'head') return headQuestions(context, message, nowMs);
    return questionsIn(context, message, nowMs);
  }

  /** The contents that the hub must know before this message of the server is handled. */
  observations(message: Message | LargeHead): readonly Observation[] {
    return message.kind === 'head' ? [] : observationsIn(this.context, message);
  }

  /** Decides what to do with a message; the parts of a large one are streamed or swallowed. */
  handle(message: Message | LargeHead, nowMs: number, reply?: HubReply): Commands {
    const { context } = this;
    const { from, bytes } = message;
    const whole = message.kind === 'whole' ? message : undefined;
    const said = { answers: reply?.answers, heard: reply?.heard };
    const step = stepFor(context, { from, bytes, message: whole, ...said }, nowMs);
    for (const { leased } of reply?.answers ?? []) takeLeases(context, leased, nowMs);
    if (context.config.counted !== undefined) context.config.counted(from, methodOf(message));
    if (message.kind === 'head') openLarge(step, message);
    else if (from === 'agent') fromAgent(step, message.seen);
    else fromServer(step, message.seen);
    return withNotices(step);
  }

  /** A further part of a large message; the commands say how much of it passes. */
  largePiece(from: Side, bytes: Uint8Array): Commands {
    const step = stepFor(this.context, { from, bytes }, 0);
    feedLarge(step);
    return step.out;
  }

  /** A large message has not gone on for too long, while other messages wait. */
  largeStalled(from: Side): Commands {
    return this.act(0, stallLarge, from);
  }

  /** The end of a large message; the commands say whether its closing brace and newline pass. */
  largeEnd(from: Side, end: LargeEnd, nowMs: number): Commands {
    return this.act(nowMs, (step) => closeLarge(step, end), from);
  }

  /** The last line of an input that ended without a newline. */
  partial(from: Side, bytes: Uint8Array, nowMs: number): Commands {
    const step = stepFor(this.context, { from, bytes }, nowMs);
    const detail = 'The input ended in the middle of a line.';
    report(step, { what: 'DROPPED', reason: 'partial', detail });
    step.out.push({ do: 'drop', reason: 'partial' });
    return step.out;
  }

  /** Time has passed. Call it every second or so. */
  tick(nowMs: number): Commands {
    return this.act(nowMs, tick);
  }

  /** A person has answered, or nobody can be asked. */
  approval(callId: string, answer: HeldAnswer, nowMs: number): Commands {
    return this.act(nowMs, (step) => resolveHeld(step, callId, answer));
  }

  /** The hub has answered a `consult` command. */
  consulted(answer: HubAnswer, nowMs: number): Commands {
    takeLeases(this.context, answer.leased, nowMs);
    return this.act(nowMs, (step) => consulted(step, answer));
  }

  serverExited(exit: ServerExit, nowMs: number): Commands {
    return this.act(nowMs, (step) => serverExited(step, exit));
  }

  /** The agent sends nothing more, but may still read. */
  inputEnded(nowMs: number): Commands {
    return this.act(nowMs, endHeld);
  }

  agentClosed(nowMs: number): Commands {
    return this.act(nowMs, agentClosed);
  }

  /** Gives up what is left of leased counters, or of all of them; nothing of it is used any more. */
  giveUpLeases(nowMs: number, counters?: Parameters<typeof giveUpLeases>[2]): readonly Lease[] {
    return giveUpLeases(this.context, nowMs, counters);
  }

  /** Uses another policy from the next call on. Its counters are carried over, but nothing that was leased. */
  usePolicy(snapshot: Snapshot): void {
    giveUpLeases(this.context, 0);
    this.context.state = carryState(this.context.state, snapshot);
    this.context.snapshot = snapshot;
  }

  /** Uses other gates, or none, from the next message on. */
  useGuard(guard: Guard | undefined): void {
    this.context.guard = guard && failClosedGuard(guard, this.context.enforcing);
  }

  summary(): SessionSummary {
    const { counts } = this.context;
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

  /** The counters of the policy. */
  policyState(): PolicyState {
    return this.context.state;
  }

  /** How many requests of a side wait for their answer. */
  openRequests(side: Side): number {
    return this.context.requests[side].size;
  }

  private act(nowMs: number, act: (step: MessageStep) => void, from: Side = 'agent'): Commands {
    const step = stepFor(this.context, { from, bytes: NO_BYTES }, nowMs);
    act(step);
    return withNotices(step);
  }
}

/** The commands of a step, with the notices of the gates since the last one. */
function withNotices(step: MessageStep): Commands {
  const notices = step.context.guard?.notices();
  if (notices !== undefined && notices.length > 0) recordNotices(step, notices);
  return step.out;
}

/** The method of a message, or its kind. A batch counts as one message. */
function methodOf(message: Message | LargeHead): string {
  if (message.kind === 'whole') {
    const { seen } = message;
    const hasMethod = seen.kind === 'request' || seen.kind === 'notification';
    return hasMethod ? seen.method : seen.kind;
  }
  const { method, answers, batch } = message.soFar;
  if (batch) return 'batch';
  return answers ? 'response' : (method ?? 'other');
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
const REFUSED: MessageVerdict = { kind: 'refused', ...BROKEN };
const SAME: MessageVerdict = { kind: 'same' };

/**
 * The same guard, but it never throws: hostile content that breaks a gate must not end the session, nor
 * pass unjudged where gates are enforced.
 */
function failClosedGuard(guard: Guard, enforcing: boolean): Guard {
  const verdict = enforcing ? STOPPED : SPARED;
  const passage = enforcing ? REFUSED : SAME;
  return {
    manifestHash: guard.manifestHash,
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
      // A fault here is a fault in `surface`, too, which decides about the call.
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
