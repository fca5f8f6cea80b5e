// One governed session for the tools of a client, or of an MCP server that only its hooks tell of: the governor of a
// shim between two peers in memory. Before a tool runs, the agent calls it; what would reach the server may run. After
// it, the server answers; what reaches the agent is what the model may see.
import { pathToFileURL } from 'node:url';
import { isJsonObject, isObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { memberRange } from '@subluminal/core/json';
import type { Snapshot } from '@subluminal/core/policy';
import type { ApprovalWanted, AskedFor } from '@subluminal/core/session';
import { uuidv7 } from 'uuidv7';
import { monotonicClock, parseJson } from '../../os/index.ts';
import { governBoth, runCommands } from '../governor/govern.ts';
import type { SessionParts } from '../governor/governed-session.ts';
import { changePolicy, type OpenedSession, openSession } from '../governor/open-session.ts';
import { MemoryTransport } from '../transports/memory/memory-transport.ts';
import { type HookSessionOpening, type HookSurroundings, partsOf } from './session-parts.ts';
import { outputIn, textOf } from './tool-output.ts';

export interface CalledTool {
  readonly tool: string;
  readonly argsText: string;
  readonly useId?: string | undefined;
  /** The client can ask its user about it. */
  readonly mayAsk?: boolean;
}

export type ToolVerdict =
  /** It may run; with other arguments where the gates have changed them. */
  | { readonly kind: 'passes'; readonly argsText?: string }
  /** The client asks its user: what becomes of it is known once it has run, or has not. */
  | { readonly kind: 'asks'; readonly reason: string }
  | {
      readonly kind: 'refused';
      readonly reason: string;
      /** The arguments that the hint suggests instead. */
      readonly suggestedArgs?: JsonObject;
    };

export type ShownOutput =
  | { readonly kind: 'same' }
  | { readonly kind: 'changed'; readonly output: JsonValue }
  | { readonly kind: 'withheld'; readonly reason: string };

/** A promise only of what is not known at once: most is, and hops of promises cost more than the decision. */
export type Soon<T> = T | Promise<T>;

export interface OpenedCall {
  readonly id: number;
  readonly verdict: Soon<ToolVerdict>;
}

/** What a tool has put out, and the result that it is made into. */
export interface ToolOutput {
  readonly output: JsonValue;
  readonly result: string;
}

/** What the client asks its user. */
interface OpenQuestion {
  readonly id: string;
  readonly callId: string;
  readonly ruleId: string;
  readonly sinceMs: number;
}

interface Pending {
  readonly sent: Uint8Array;
  readonly mayAsk: boolean;
  question?: OpenQuestion;
  /** The verdict after the question. */
  settled?: Promise<ToolVerdict>;
  isApproved?: boolean;
  decide: ((verdict: ToolVerdict) => void) | undefined;
  ran:
    | {
        readonly output: JsonValue;
        readonly answer: Uint8Array;
        readonly show: (shown: ShownOutput) => void;
      }
    | undefined;
}

const PROMPT_METHOD = 'hooks/prompt';
const ROOTS_METHOD = 'roots/list';
const MESSAGE_START = /^\{"jsonrpc":"2\.0","id":(\d{1,15}),"method":"([a-z/]{1,40})"/;
const ANSWER_START = /^\{"jsonrpc":"2\.0","id":(\d{1,15}),/;
const START_LENGTH = 128;
/** Where the user of a client is asked, on record. */
const CHANNEL = 'client';
const SAME: ShownOutput = { kind: 'same' };
const ENDED = 'The session has ended, so nothing of it runs any more.';
const GIVEN_UP = 'The call was given up before it was decided.';
const UNREADABLE = 'What was decided could not be read.';

export class HookSession {
  readonly #opened: OpenedSession;
  readonly #agent: MemoryTransport;
  readonly #server: MemoryTransport;
  readonly #pending = new Map<number, Pending>();
  readonly #client: string;
  #cwd: string;
  #lastId = 0;
  #closing: Promise<void> | undefined;

  private constructor(parts: SessionParts, { cwd, client }: HookSessionOpening) {
    this.#cwd = cwd;
    this.#client = client;
    const broken = (): void => {};
    const { limits } = parts;
    this.#agent = new MemoryTransport(limits, {
      received: (bytes) => this.#toAgent(bytes),
      broken,
    });
    this.#server = new MemoryTransport(limits, {
      received: (bytes) => this.#toServer(bytes),
      broken,
    });
    this.#opened = openSession(parts, { agent: this.#agent, now: monotonicClock() });
    const { governed } = this.#opened;
    governed.server = this.#server;
    const nothing = (): void => {};
    governBoth(governed, this.#server, { agent: nothing, broken: nothing, server: nothing });
  }

  /** A text says why it cannot be opened: then nothing may run. */
  static async open(
    around: HookSurroundings,
    opening: HookSessionOpening,
  ): Promise<HookSession | string> {
    const opened: { session?: HookSession } = {};
    const parts = await partsOf(around, opening, (wanted) =>
      opened.session === undefined ? undefined : opened.session.#ask(wanted),
    );
    if (typeof parts === 'string') return parts;
    const session = new HookSession(parts, opening);
    opened.session = session;
    const { snapshot } = around.policy();
    if (snapshot !== parts.snapshot) await session.usePolicy(snapshot);
    return session;
  }

  /** Asks whether a tool may run. The verdict takes as long as a person takes. */
  before({ tool, argsText, useId, mayAsk = false }: CalledTool): OpenedCall {
    const params = `"name":${JSON.stringify(tool)},"arguments":${argsText}${metaOf(useId)}`;
    return this.#request('tools/call', params, mayAsk);
  }

  /** A call has run after the client was told to ask: that is the approval, and the only sign of it. */
  async approved(id: number): Promise<ToolVerdict> {
    const pending = this.#pending.get(id);
    if (pending?.settled === undefined) return { kind: 'refused', reason: ENDED };
    if (pending.isApproved !== true) {
      pending.isApproved = true;
      this.#answerQuestion(pending, 'approved');
    }
    return pending.settled;
  }

  /** Whether what the user says may go on; nothing in it can be changed. */
  async prompt(text: string): Promise<ToolVerdict> {
    const { verdict, id } = this.#request(PROMPT_METHOD, `"prompt":${JSON.stringify(text)}`);
    const said = await verdict;
    const isPassed = said.kind === 'passes';
    if (isPassed) this.#server.send(Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{}}`));
    this.#pending.delete(id);
    return isPassed && said.argsText !== undefined
      ? { kind: 'refused', reason: 'It holds what may not be sent. Leave it out.' }
      : said;
  }

  /** What of an output the model may see. */
  after(id: number, { output, result }: ToolOutput): Soon<ShownOutput> {
    const pending = this.#pending.get(id);
    if (pending === undefined || pending.ran !== undefined || this.#closing !== undefined)
      return { kind: 'withheld', reason: ENDED };
    const answer = Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
    return soon((show) => {
      pending.ran = { output, answer, show };
      this.#server.send(answer);
    });
  }

  /** The call is over, and nobody knows how: the client has given it up, or has told nothing. */
  cancel(id: number): void {
    const pending = this.#pending.get(id);
    const isAsked = pending !== undefined && isAsking(pending);
    if (isAsked) this.#answerQuestion(pending, 'declined');
    this.#pending.delete(id);
    if (pending === undefined || this.#closing !== undefined) return;
    if (!isAsked) this.#cancelled(id);
    pending.decide?.({ kind: 'refused', reason: GIVEN_UP });
    pending.ran?.show({ kind: 'withheld', reason: ENDED });
  }

  /** The folder that relative names start from. */
  useCwd(cwd: string): void {
    if (cwd === this.#cwd) return;
    this.#cwd = cwd;
    const id = ++this.#lastId;
    this.#server.send(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${ROOTS_METHOD}"}`));
  }

  async usePolicy(snapshot: Snapshot): Promise<void> {
    await changePolicy(this.#opened.governed, snapshot);
  }

  /** Calls without an answer are cancelled, and what it has done is recorded. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const pending = [...this.#pending.values()];
    for (const each of pending.filter(isAsking)) this.#answerQuestion(each, 'declined');
    this.#pending.clear();
    await this.#opened.close(false);
    for (const { decide, ran } of pending) {
      decide?.({ kind: 'refused', reason: ENDED });
      ran?.show({ kind: 'withheld', reason: ENDED });
    }
  }

  #request(method: string, params: string, mayAsk = false): OpenedCall {
    const id = ++this.#lastId;
    const sent = Buffer.from(
      `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}}}`,
    );
    if (this.#closing !== undefined) return { id, verdict: { kind: 'refused', reason: ENDED } };
    const verdict = soon<ToolVerdict>((decide) => {
      this.#pending.set(id, { sent, mayAsk, decide, ran: undefined });
      this.#agent.send(sent);
    });
    return { id, verdict };
  }

  /** Lets the client ask, where it can. The arguments that run then are those that it has told. */
  #ask({ messageId, wait, isRewritten, summary, call, rule_id }: ApprovalWanted) {
    const pending = this.#pending.get(Number(messageId));
    const { decide, mayAsk = false } = pending ?? {};
    if (pending === undefined || decide === undefined || !mayAsk) return undefined;
    if (wait !== 'hold' || isRewritten === true) return undefined;
    const isFirst = pending.question === undefined;
    const id = uuidv7();
    const sinceMs = this.#opened.governed.now();
    pending.question = { id, callId: call.call_id, ruleId: rule_id, sinceMs };
    if (isFirst) {
      pending.settled = new Promise((resolve) => {
        pending.decide = resolve;
      });
      decide({ kind: 'asks', reason: summary });
    } else {
      // It has run by now: the user has been asked about the use, not about one of the rules.
      queueMicrotask(() => this.#answerQuestion(pending, 'approved'));
    }
    return { id, advice: '', channel: CHANNEL, isUntimed: true } satisfies AskedFor;
  }

  #answerQuestion({ question }: Pending, answer: 'approved' | 'declined'): void {
    if (question === undefined) return;
    const { id, callId, ruleId, sinceMs } = question;
    const { governed } = this.#opened;
    const nowMs = governed.now();
    const waited_ms = Math.max(0, nowMs - sinceMs);
    const state = answer === 'approved' ? 'approved' : 'rejected';
    const ended = { state, by: this.#client, channel: CHANNEL, waited_ms } as const;
    governed.recorder.record('approval', {
      call: { call_id: callId },
      approval: { id, rule_id: ruleId, ...ended },
    });
    governed.counter.waited(waited_ms);
    runCommands(governed, governed.session.approval(callId, answer, nowMs));
  }

  /** A call that reaches the server may run. */
  #toServer(bytes: Uint8Array): void {
    const [, number, method = ''] = MESSAGE_START.exec(startOf(bytes)) ?? [];
    if (method !== 'tools/call' && method !== PROMPT_METHOD) return;
    const id = Number(number);
    const pending = this.#pending.get(id);
    // Nobody waits for it any more, so nothing runs.
    if (pending?.decide === undefined) return this.#cancelled(id);
    const { decide, sent } = pending;
    pending.decide = undefined;
    decide(isSame(bytes, sent) ? { kind: 'passes' } : changedCall(bytes, method));
  }

  /** An answer to a call that waits is a refusal; to one that has run, its result. */
  #toAgent(bytes: Uint8Array): void {
    const [, number] = ANSWER_START.exec(startOf(bytes)) ?? [];
    const { ran } = this.#pending.get(Number(number)) ?? {};
    // As most outputs are, and then it need not be read.
    if (ran !== undefined && isSame(bytes, ran.answer)) return this.#shown(Number(number), SAME);
    const message = parseJson(Buffer.from(bytes).toString('utf8'));
    if (!isObject(message)) return;
    const { id, method } = message;
    if (method === ROOTS_METHOD) return this.#tellRoots(id);
    if (method !== undefined || typeof id !== 'number') return;
    const pending = this.#pending.get(id);
    if (pending?.decide !== undefined) {
      this.#pending.delete(id);
      pending.decide({ kind: 'refused', reason: refusalIn(message), ...suggestionIn(message) });
    } else if (pending?.ran !== undefined) this.#shown(id, shown(message, pending.ran.output));
  }

  #shown(id: number, what: ShownOutput): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.ran?.show(what);
  }

  #tellRoots(id: unknown): void {
    const roots = [{ uri: pathToFileURL(this.#cwd).href }];
    this.#agent.send(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: { roots } })));
  }

  #cancelled(requestId: number): void {
    const method = 'notifications/cancelled';
    this.#agent.send(
      Buffer.from(JSON.stringify({ jsonrpc: '2.0', method, params: { requestId } })),
    );
  }
}

/** Whether the client was told to ask about it, and nobody knows yet what came of that. */
function isAsking({ question, isApproved }: Pending): boolean {
  return question !== undefined && isApproved !== true;
}

/** The id by which the client's model knows the call. */
function metaOf(useId: string | undefined): string {
  if (useId === undefined) return '';
  return `,"_meta":{"callId":${JSON.stringify(useId)}}`;
}

function startOf(bytes: Uint8Array): string {
  return Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    Math.min(bytes.length, START_LENGTH),
  ).toString();
}

/** Whether a message is what was sent, but for the newline that ends it. */
function isSame(bytes: Uint8Array, sent: Uint8Array): boolean {
  const message = bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes;
  return Buffer.compare(message, sent) === 0;
}

/** What `begin` hands to its callback: at once, or a promise of it. */
function soon<T>(begin: (settle: (value: T) => void) => void): Soon<T> {
  const settled: T[] = [];
  let settle = (value: T): void => void settled.push(value);
  begin((value) => settle(value));
  const [first] = settled;
  return first ?? new Promise((resolve) => (settle = resolve));
}

/** The arguments as they were written, but for what the gates have changed. */
function changedCall(bytes: Uint8Array, method: string): ToolVerdict {
  const params = memberRange(bytes, 'params');
  const name = method === PROMPT_METHOD ? 'prompt' : 'arguments';
  const args = params && memberRange(bytes, name, params.start);
  if (args === undefined) return { kind: 'refused', reason: UNREADABLE };
  return { kind: 'passes', argsText: Buffer.from(bytes.subarray(args.start, args.end)).toString() };
}

/** Reason and hint, whether the refusal is an error or a result. */
function refusalIn({ error, result }: { readonly [key: string]: unknown }): string {
  const text = isObject(error) ? error['message'] : isObject(result) && textOf(result['content']);
  return typeof text === 'string' && text !== '' ? text : UNREADABLE;
}

function suggestionIn({ error, result }: { readonly [key: string]: unknown }) {
  const data = isObject(error) ? error['data'] : isObject(result) ? result['_meta'] : undefined;
  const refusal = isObject(data) ? data['subluminal'] : undefined;
  const hint = isObject(refusal) ? refusal['hint'] : undefined;
  const suggestedArgs: unknown = isObject(hint) ? hint['suggested_args'] : undefined;
  return isJsonObject(suggestedArgs) ? { suggestedArgs } : {};
}

function shown(message: { readonly [key: string]: unknown }, output: JsonValue): ShownOutput {
  const { result } = message;
  if (!isObject(result) || isOurs(result)) {
    return { kind: 'withheld', reason: refusalIn(message) };
  }
  const now = outputIn(result, output);
  return now === undefined
    ? { kind: 'withheld', reason: UNREADABLE }
    : { kind: 'changed', output: now };
}

/** Only Subluminal writes its mark: this result is a refusal. */
function isOurs({ _meta: meta }: { readonly [key: string]: unknown }): boolean {
  return isObject(meta) && Object.hasOwn(meta, 'subluminal');
}
