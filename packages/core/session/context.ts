// What a session remembers, and one message on its way through it. Only this folder changes them.
import {
  type CallRef,
  type Decision,
  type EventDecision,
  isJsonObject,
  type JsonObject,
  type PolicyRef,
} from '@subluminal/contracts';
import { type Encode, utf8Of } from '../json/patch-text.ts';
import { type Decode, decodeText } from '../json/text.ts';
import { hasDuplicateKeys } from '../json/text-parts.ts';
import { initialState } from '../policy/decide/verdict.ts';
import type { Call, PolicyState, Snapshot, TraceStep } from '../policy/index.ts';
import type { ViewedSubject } from './govern-subject.ts';
import type { Guard, RefusedMessage } from './guard.ts';
import type { HeldCall } from './held-calls.ts';
import { InputRounds } from './input-rounds.ts';
import type { LargeMessage } from './large-messages.ts';
import type { LeasedCounters } from './leases.ts';
import type { MessageFault } from './peek/members.ts';
import type { Seen } from './peek/types.ts';
import type { ViewedCall } from './read-call.ts';
import { TaskCalls } from './task-calls.ts';
import {
  type Command,
  DEFAULT_LIMITS,
  type HubAnswer,
  type Redact,
  type Report,
  type ServerExit,
  type SessionConfig,
  type SessionLimits,
  type Side,
} from './types.ts';
import { BATCH_VERSION } from './versions.ts';

export interface Context {
  readonly config: SessionConfig;
  readonly limits: SessionLimits;
  readonly decode: Decode;
  readonly encode: Encode;
  readonly redact: Redact;
  readonly enforcing: boolean;
  snapshot: Snapshot;
  /** The gates beside the rules, if there are any. */
  guard: Guard | undefined;
  state: PolicyState;
  /** The protocol version that was negotiated, or that the agent last named. */
  version: string | undefined;
  /** The open requests of each side. */
  readonly requests: { readonly [S in Side]: OpenRequests };
  readonly held: Map<string, HeldCall>;
  /** The input that the server asked for in its answers to calls. */
  readonly inputRounds: InputRounds;
  /** Calls that go on as tasks. */
  readonly tasks: TaskCalls;
  /** The last decision as events show it: most calls get the very same one. */
  lastDecision:
    | { readonly decision: Decision; readonly policy: PolicyRef; readonly event: EventDecision }
    | undefined;
  /** Tool names, and how events show them. */
  readonly shownNames: Map<string, string>;
  /** When each breaker was last reported. */
  readonly breakersReported: Map<string, number>;
  readonly large: { [S in Side]: LargeMessage | undefined };
  readonly counts: CallCounts;
  /** The counters of the hub that this session holds calls of. */
  readonly leased: LeasedCounters;
  exit: ServerExit | undefined;
  seq: number;
}

interface CallCounts {
  total: number;
  allowed: number;
  blocked: number;
  throttled: number;
  errors: number;
  spared: number;
  heldBack: number;
}

/** A message that has been read. It is read once, for the questions to the hub and for the decision. */
export interface Message {
  readonly kind: 'whole';
  readonly from: Side;
  readonly bytes: Uint8Array;
  readonly seen: Seen;
  /** The JSON of the id of the request on whose stream it came; only on transports that have streams. */
  about?: string;
  /** The call in it, once it has been read. */
  call: ViewedCall | undefined;
  /** The request for a resource or a prompt in it, once it has been read. */
  subject?: ViewedSubject;
  /** The messages in it, if it is a batch and once they have been read. */
  batch: BatchItems | undefined;
}

/** The messages of a batch; none if the batch has a fault. */
export interface BatchItems {
  readonly items: readonly Message[];
  readonly fault: MessageFault | undefined;
}

/** One message, or one event of time, on its way through a session; `out` gathers the commands. */
export interface MessageStep {
  readonly context: Context;
  readonly from: Side;
  readonly bytes: Uint8Array;
  readonly nowMs: number;
  readonly out: Command[];
  /** The command that lets this message pass. */
  readonly forward: Command;
  readonly message?: Message | undefined;
  /** The size of a message that was streamed. */
  readonly bytesTotal?: number;
  /** The answers of the hub about the calls in this message. */
  readonly answers?: readonly HubAnswer[] | undefined;
  /** The hub has received the content of this message of the server. */
  readonly heard?: boolean | undefined;
  /** Set for a message that was too large for the gates: its hash, and why its head was refused, if it was. */
  readonly unseen?: { readonly streamHash: string; readonly refused: RefusedMessage | undefined };
}

const SAMPLE_BYTES = 8;

export function createContext(config: SessionConfig): Context {
  const limits = { ...DEFAULT_LIMITS, ...config.limits };
  const enforcing = config.profile === 'production';
  return {
    config,
    limits,
    decode: config.decode ?? decodeText,
    encode: config.encode ?? utf8Of,
    redact: config.redact ?? ((text) => text),
    enforcing,
    snapshot: config.snapshot,
    guard: undefined,
    state: config.state ?? initialState(config.snapshot),
    version: undefined,
    requests: { agent: new OpenRequests(limits), server: new OpenRequests(limits) },
    held: new Map(),
    inputRounds: new InputRounds(config.sha256),
    tasks: new TaskCalls(),
    lastDecision: undefined,
    shownNames: new Map(),
    breakersReported: new Map(),
    large: { agent: undefined, server: undefined },
    counts: { total: 0, allowed: 0, blocked: 0, throttled: 0, errors: 0, spared: 0, heldBack: 0 },
    leased: new Map(),
    exit: undefined,
    seq: 0,
  };
}

/** What a step is about: a message that has been read, or bytes that are none. */
type StepInput = Pick<Message, 'from' | 'bytes'> &
  Pick<MessageStep, 'message' | 'answers' | 'heard'>;

export function stepFor(context: Context, input: StepInput, nowMs: number): MessageStep {
  const { from, bytes, message, answers, heard } = input;
  const forward: Command = { do: 'forward', to: other(from) };
  return { context, from, bytes, nowMs, out: [], forward, message, answers, heard };
}

export function other(side: Side): Side {
  return side === 'agent' ? 'server' : 'agent';
}

export function takesBatches({ version }: Context): boolean {
  return version === BATCH_VERSION;
}

/** The size of a message: its newline is not part of it. */
export function sizeOf(bytes: Uint8Array): number {
  return bytes.at(-1) === 0x0a ? bytes.length - 1 : bytes.length;
}

/** JSON that is known to be an object. */
export function parseObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (isJsonObject(value)) return value;
  throw new Error('a text that was read as a JSON object is none');
}

interface ParsedRest {
  readonly text: string;
  readonly value: JsonObject;
  /** A key stands in it twice. */
  readonly hasTwins: boolean;
}

const REST_LENGTH_MAX = 4_096;
let lastRest: ParsedRest = { text: '{}', value: {}, hasTwins: false };

/** The members beside the arguments of a call: those of most calls of a client are the same. */
export function parsedRest(text: string): ParsedRest {
  if (text === lastRest.text) return lastRest;
  const value = parseObject(text);
  const parsed = { text, value, hasTwins: hasDuplicateKeys(text, value) };
  if (text.length <= REST_LENGTH_MAX) lastRest = parsed;
  return parsed;
}

const SHOWN_NAMES_MAX = 256;

/** Rules see a name as it is; events show it without the secrets that an agent may put there. */
export function shownName({ shownNames, redact }: Context, name: string): string {
  const known = shownNames.get(name);
  if (known !== undefined) return known;
  const shown = redact(name) || '(none)';
  if (shownNames.size >= SHOWN_NAMES_MAX) shownNames.clear();
  shownNames.set(name, shown);
  return shown;
}

export function nextSeq(context: Context): number {
  return context.config.seq?.() ?? ++context.seq;
}

/** Reports to the operator what became of a message. */
export function report(
  step: MessageStep,
  facts: Omit<Report, 'from' | 'bytes' | 'sample'>,
  offset = -1,
): void {
  const { from, bytes, bytesTotal } = step;
  const sample = offset < 0 || bytes.length === 0 ? {} : { sample: hexAround(bytes, offset) };
  const size = bytesTotal ?? sizeOf(bytes);
  step.out.push({ do: 'report', report: { from, bytes: size, ...facts, ...sample } });
}

function hexAround(bytes: Uint8Array, offset: number): string {
  const near = bytes.subarray(Math.max(0, offset - SAMPLE_BYTES), offset + SAMPLE_BYTES);
  return Array.from(near, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A forwarded call: what its end needs to be recorded. */
export interface OpenCall {
  readonly ref: CallRef;
  readonly call: Call;
  readonly trace: readonly TraceStep[];
  /** The hub decided it, and keeps its counters. */
  readonly shared: boolean;
}

interface NewRequest {
  readonly method: string;
  readonly sinceMs: number;
  readonly call: OpenCall | undefined;
  /** The call that waits for a person; the server has not seen it. */
  readonly heldAs: string | undefined;
  /** The task that it is about. */
  readonly taskId?: string | undefined;
}

/** A request without an answer. Its id stays taken until the answer comes, even if the caller gave up. */
export interface OpenRequest extends NewRequest {
  /** The JSON of its id, as it was written. */
  readonly idJson: string;
  /** Why nobody waits for it any more: its end is recorded, and a late answer still passes. */
  readonly endedBy: 'cancelled' | 'lost' | undefined;
  readonly endedAtMs: number;
}

/** A reader that uses doubles may round a number of more digits. */
const EXACT_DIGITS_MAX = 15;

/** Requests that wait for their answer, by id. Bounded: without room, new ones are refused. */
export class OpenRequests {
  private readonly waiting = new Map<string, OpenRequest>();
  /** Requests that ended without an answer, in the order in which they ended. */
  private readonly ended = new Map<string, OpenRequest>();
  private readonly limits: Pick<SessionLimits, 'openMax' | 'idTakenMs'>;

  constructor(limits: Pick<SessionLimits, 'openMax' | 'idTakenMs'>) {
    this.limits = limits;
  }

  /** How many requests wait for their answer. */
  get size(): number {
    return this.waiting.size;
  }

  /** The request with this id, whether or not its caller still waits. */
  get(idJson: string): OpenRequest | undefined {
    const key = requestKey(idJson);
    return this.waiting.get(key) ?? this.ended.get(key);
  }

  /** Whether another request finds room; to make some, it forgets an id that was taken for long enough. */
  makeRoom(nowMs: number): boolean {
    const { openMax, idTakenMs } = this.limits;
    if (this.waiting.size >= openMax) return false;
    // Every waiting request may end without an answer, and must find room then.
    if (this.waiting.size + this.ended.size < 2 * openMax) return true;
    for (const [key, { endedAtMs }] of this.ended) {
      if (nowMs - endedAtMs < idTakenMs) return false;
      this.ended.delete(key);
      return true;
    }
    return false;
  }

  add(idJson: string, { method, sinceMs, call, heldAs, taskId }: NewRequest): void {
    this.waiting.set(requestKey(idJson), {
      idJson,
      method,
      sinceMs,
      call,
      heldAs,
      taskId,
      endedBy: undefined,
      endedAtMs: 0,
    });
  }

  /** Marks a request that nobody waits for any more; its id stays taken. */
  end({ idJson }: OpenRequest, endedBy: 'cancelled' | 'lost', nowMs: number): void {
    const key = requestKey(idJson);
    const request = this.waiting.get(key);
    if (request === undefined) return;
    this.waiting.delete(key);
    this.ended.set(key, { ...request, endedBy, endedAtMs: nowMs });
  }

  /** Removes a request that has its answer. */
  take(idJson: string): OpenRequest | undefined {
    const key = requestKey(idJson);
    const request = this.waiting.get(key) ?? this.ended.get(key);
    if (request !== undefined && !this.waiting.delete(key)) this.ended.delete(key);
    return request;
  }

  /** The waiting requests, the oldest first. */
  entries(): Iterable<OpenRequest> {
    return this.waiting.values();
  }

  /** The methods that an answer may belong to. */
  methods(): ReadonlySet<string> {
    const seen = [...this.waiting.values()].filter(({ heldAs }) => heldAs === undefined);
    return new Set([...seen, ...this.ended.values()].map(({ method }) => method));
  }

  clear(): void {
    this.waiting.clear();
    this.ended.clear();
  }
}

/**
 * Many peers read a number as a double and send back a rounded one. So two ids that round to the same
 * number count as one id; otherwise the answer to one could be taken for the answer to the other.
 */
function requestKey(idJson: string): string {
  if (idJson.length <= EXACT_DIGITS_MAX || idJson.startsWith('"')) return idJson;
  return String(Number(idJson));
}
