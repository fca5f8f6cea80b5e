// An MCP session as a pure machine: a message and the time go in, commands come out. It does no
// I/O and has no clock; the same inputs always give the same commands.
import { carryState } from '../policy/decide/state.ts';
import type { PolicyState, Snapshot } from '../policy/index.ts';
import { fromAgent } from './agent.ts';
import { consulted, endHeld, resolveHeld } from './approvals.ts';
import { tellNotices } from './content-notes.ts';
import { type Context, contextOf, report, type Step, stepOf } from './context.ts';
import { failClosedGuard } from './fail-closed-guard.ts';
import type { Guard } from './guard.ts';
import { closeLarge, feedLarge, headQuestion, openLarge, stallLarge } from './large.ts';
import { observationsIn } from './observe.ts';
import { peek } from './peek/peek.ts';
import type { Seen } from './peek/types.ts';
import { questionsIn } from './questions.ts';
import { fromServer } from './server.ts';
import { agentClosed, openCount, serverExited, tick } from './session-end.ts';
import type {
  ApprovalAnswer,
  Command,
  HubAnswer,
  LargeEnd,
  Observation,
  Question,
  ServerExit,
  SessionConfig,
  SessionSummary,
  Side,
} from './types.ts';

type Commands = readonly Command[];
type Counted = NonNullable<SessionConfig['counted']>;

export interface Session {
  /** What the hub must be asked before this line or head goes in; with a hub only. */
  questions(kind: 'line' | 'head', bytes: Uint8Array, nowMs: number): readonly Question[];
  /** One whole line of the agent, with or without its newline. */
  fromAgent(line: Uint8Array, nowMs: number, answers?: readonly HubAnswer[]): Commands;
  /** What the hub must hear before this line of the server goes in; with `observes` only. */
  observations(line: Uint8Array): readonly Observation[];
  /** One whole line of the server; `heard` when the hub has heard its observations. */
  fromServer(line: Uint8Array, nowMs: number, heard?: boolean): Commands;
  /** The first part of a line that is too long to inspect: its parts are streamed or swallowed. */
  largeHead(from: Side, head: Uint8Array, when: Moment): Commands;
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

/** When something came in, and what the hub said of it. */
interface Moment {
  readonly nowMs: number;
  readonly answers?: readonly HubAnswer[] | undefined;
}

const NO_BYTES = new Uint8Array(0);

export function createSession(config: SessionConfig): Session {
  const context = contextOf(config);
  const after = (nowMs: number, act: (step: Step) => void, from: Side = 'agent'): Commands => {
    const step = stepOf(from, NO_BYTES, nowMs);
    act(step);
    return told(context, step);
  };
  return {
    questions: (kind, bytes, nowMs) => {
      const step = stepOf('agent', bytes, nowMs);
      if (kind === 'line') return questionsIn(context, step, look(context, bytes));
      const question = headQuestion(context, step);
      return question === undefined ? [] : [question];
    },
    fromAgent: (bytes, nowMs, answers) => {
      const step = answered(stepOf('agent', bytes, nowMs), answers);
      const seen = look(context, bytes);
      if (config.counted !== undefined) count(config.counted, 'agent', seen);
      fromAgent(context, step, seen);
      return told(context, step);
    },
    observations: (bytes) =>
      config.observes === true ? observationsIn(context, bytes, look(context, bytes)) : [],
    fromServer: (bytes, nowMs, heard) => {
      const step = heardOf(stepOf('server', bytes, nowMs), heard);
      const seen = look(context, bytes);
      if (config.counted !== undefined) count(config.counted, 'server', seen);
      fromServer(context, step, seen);
      return told(context, step);
    },
    largeHead: (from, head, { nowMs, answers }) => {
      const step = answered(stepOf(from, head, nowMs), answers);
      openLarge(context, step);
      config.counted?.(from, largeMethod(context, from));
      return told(context, step);
    },
    largePiece: (from, piece) => {
      const step = stepOf(from, piece, 0);
      feedLarge(context, step);
      return step.out;
    },
    largeStalled: (from) => after(0, (step) => stallLarge(context, step), from),
    largeEnd: (from, end, nowMs) => after(nowMs, (step) => closeLarge(context, step, end), from),
    partial: (from, bytes, nowMs) => {
      const step = stepOf(from, bytes, nowMs);
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

/** What is to be done, with what the gates have noticed meanwhile. */
function told(context: Context, step: Step): Commands {
  if (context.guard !== undefined) tellNotices(context, step);
  return step.out;
}

function heardOf(step: Step, heard: boolean | undefined): Step {
  return heard === true ? { ...step, heard } : step;
}

/** A batch counts as one message, whatever is in it. */
function count(counted: Counted, from: Side, seen: Seen): void {
  const hasMethod = seen.kind === 'request' || seen.kind === 'notification';
  counted(from, hasMethod ? seen.method : seen.kind);
}

/** What the head of a large message shows it to be. */
function largeMethod({ large }: Context, from: Side): string {
  const { method, answers, batch } = large[from]?.outline.soFar() ?? {};
  if (batch === true) return 'batch';
  return answers === true ? 'response' : (method ?? 'other');
}

function answered(step: Step, answers: readonly HubAnswer[] | undefined): Step {
  return answers === undefined ? step : { ...step, answers };
}

/** With a native check of UTF-8, long strings are read faster. */
function look({ config }: Context, bytes: Uint8Array): Seen {
  if (config.isUtf8 === undefined) return peek(bytes);
  // What is not UTF-8 is read byte by byte, to find where.
  return peek(bytes, { skim: config.isUtf8(bytes) });
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
