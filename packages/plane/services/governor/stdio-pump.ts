// One direction of a session: bytes in, lines to the session, and its commands carried out.
import { createHash, type Hash } from 'node:crypto';
import {
  BROKEN_LINE_END,
  type Command,
  type Framed,
  type HubAnswer,
  type HubReply,
  type LargeEnd,
  type LargeHead,
  lineSplitter,
  type Message,
  type Observation,
  type Question,
  type Session,
  type Side,
} from '@subluminal/core/session';
import type { ChunkWriter } from '../transports/stdio/index.ts';

/** The hub of the run: what the agent asks of it, and what it hears of the server's answers. */
export interface HubAsker {
  ask(questions: readonly Question[]): Promise<readonly HubAnswer[]>;
  observe(observations: readonly Observation[]): Promise<boolean>;
  /** Nothing overtakes a message that waits for the hub: the source is held meanwhile. */
  hold(): void;
  release(): void;
}

interface LaneOptions {
  readonly from: Side;
  readonly session: Session;
  readonly outs: { readonly [S in Side]: ChunkWriter };
  readonly limits: { readonly inspectBytesMax: number; readonly messageBytesMax: number };
  readonly now: () => number;
  /** Carries out what is not about the bytes of this message. */
  readonly act: (command: Command) => void;
  /** Everything of one chunk has been carried out: hand over its events. */
  readonly settled: () => void;
  /** A long line is over: what waited for its end may be written. */
  readonly streamed?: () => void;
  readonly hub?: HubAsker | undefined;
}

export interface StdioPump {
  /** Whether a long line is on its way: nothing else may be written where it goes. */
  readonly isStreaming: boolean;
  /** How much of long lines has come so far. */
  readonly bytesStreamed: number;
  /** Gives a long line up that does not go on; the rest of it is dropped. */
  breakOff(): void;
  feed(chunk: Uint8Array): void;
  /** The input has ended; `over` is called when all of it has been carried out. */
  end(over?: () => void): void;
}

const NEWLINE = Buffer.from('\n');
const BROKEN = Buffer.from(BROKEN_LINE_END);

/** One direction; not shared by the two. */
class StdioLane implements StdioPump {
  readonly #options: LaneOptions;
  readonly #splitter: ReturnType<typeof lineSplitter>;
  /** Where the parts of a long line go while it lasts. */
  #streaming: Side | undefined;
  #hash: Hash | undefined;
  #bytesStreamed = 0;
  /** With a hub: what came in while an answer was awaited, in order. */
  readonly #waiting: (Framed | { readonly kind: 'over'; readonly act: () => void })[] = [];
  #isAsking = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    const allocate = (bytes: number) => Buffer.allocUnsafe(bytes);
    this.#splitter = lineSplitter({ ...options.limits, allocate });
  }

  get isStreaming(): boolean {
    return this.#streaming !== undefined;
  }

  get bytesStreamed(): number {
    return this.#bytesStreamed;
  }

  breakOff(): void {
    const { from, session } = this.#options;
    this.#carryOut(session.largeStalled(from), NEWLINE);
  }

  feed(chunk: Uint8Array): void {
    this.#takeAll(this.#splitter.feed(chunk));
  }

  end(over: () => void = () => {}): void {
    this.#takeAll(this.#splitter.end());
    if (!this.#isAsking) return over();
    this.#waiting.push({ kind: 'over', act: over });
  }

  #takeAll(all: Iterable<Framed>): void {
    if (this.#options.hub === undefined) {
      for (const framed of all) this.#take(framed);
    } else {
      this.#waiting.push(...all);
      this.#drain(this.#options.hub);
    }
    this.#options.settled();
  }

  /** Takes what waits, until the hub must be asked or nothing is left. */
  #drain(hub: HubAsker): void {
    while (!this.#isAsking) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next.kind === 'over') next.act();
      else this.#askOrTake(hub, next);
    }
  }

  #askOrTake(hub: HubAsker, framed: Framed): void {
    const message = this.#read(framed);
    const asked = message && this.#asked(hub, message);
    if (message === undefined) return this.#take(framed);
    if (asked === undefined) return this.#handle(message, undefined);
    this.#isAsking = true;
    hub.hold();
    void asked.then((said) => {
      this.#isAsking = false;
      this.#handle(message, said);
      this.#drain(hub);
      this.#options.settled();
      hub.release();
    });
  }

  #read(framed: Framed): Message | LargeHead | undefined {
    const { session, from } = this.#options;
    if (framed.kind === 'line') return session.read(from, framed.bytes);
    return framed.kind === 'head' ? session.readHead(from, framed.bytes) : undefined;
  }

  /** What the hub says of a message, if it must be asked or told. */
  #asked(hub: HubAsker, message: Message | LargeHead): Promise<HubReply> | undefined {
    const { session, now, from } = this.#options;
    if (from === 'agent') {
      const questions = session.questions(message, now());
      if (questions.length === 0) return undefined;
      return hub.ask(questions).then((answers) => ({ answers }));
    }
    const seen = session.observations(message);
    return seen.length === 0 ? undefined : hub.observe(seen).then((heard) => ({ heard }));
  }

  #handle(message: Message | LargeHead, said: HubReply | undefined): void {
    const { session, now } = this.#options;
    const { bytes } = message;
    if (message.kind === 'head') this.#hash = createHash('sha256').update(bytes);
    this.#carryOut(session.handle(message, now(), said), bytes);
  }

  #take(framed: Framed): void {
    const { from, session, now } = this.#options;
    switch (framed.kind) {
      case 'line':
        return this.#handle(session.read(from, framed.bytes), undefined);
      case 'head':
        return this.#handle(session.readHead(from, framed.bytes), undefined);
      case 'piece':
        return this.#piece(framed.bytes);
      case 'end':
        return this.#large(framed.bytesTotal, framed.newline ? 'complete' : 'cut');
      case 'too_large':
        return this.#large(framed.bytesTotal, 'too_large');
      case 'partial':
        return this.#carryOut(session.partial(from, framed.bytes, now()), framed.bytes);
    }
  }

  #piece(bytes: Uint8Array): void {
    const { from, session } = this.#options;
    this.#hash?.update(bytes);
    this.#bytesStreamed += bytes.length;
    // The session says what passes of it: not the closing brace, and nothing behind a fault.
    this.#carryOut(session.largePiece(from, bytes), bytes);
  }

  #large(bytesTotal: number, outcome: LargeEnd['outcome']): void {
    const { from, session, now } = this.#options;
    const streamHash = (this.#hash ?? createHash('sha256')).digest('hex');
    this.#hash = undefined;
    this.#carryOut(session.largeEnd(from, { bytesTotal, streamHash, outcome }, now()), NEWLINE);
  }

  #endStream(to: Side, last: Buffer): void {
    this.#options.outs[to].write(last);
    this.#streaming = undefined;
    this.#options.streamed?.();
  }

  #carryOut(commands: readonly Command[], bytes: Uint8Array): void {
    const { outs, act } = this.#options;
    for (const command of commands) {
      switch (command.do) {
        case 'forward':
          outs[command.to].write(asBuffer(command.bytes ?? bytes));
          break;
        case 'stream':
          this.#streaming = command.to;
          outs[command.to].write(asBuffer(command.bytes));
          break;
        case 'part':
          outs[command.to].write(asBuffer(command.bytes));
          break;
        case 'swallow':
          this.#streaming = undefined;
          break;
        case 'finish':
          outs[command.to].write(asBuffer(command.bytes));
          this.#endStream(command.to, NEWLINE);
          break;
        case 'break':
          this.#endStream(command.to, BROKEN);
          break;
        default:
          act(command);
      }
    }
  }
}

export function createStdioPump(options: LaneOptions): StdioPump {
  return new StdioLane(options);
}

/** The same bytes as a Buffer; what comes from a stream already is one. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
