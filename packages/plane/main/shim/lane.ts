// One direction of a session: bytes in, lines to the session, and its commands carried out.
import { createHash, type Hash } from 'node:crypto';
import {
  BROKEN_LINE_END,
  type Command,
  type Framed,
  type LargeEnd,
  lineSplitter,
  type Session,
  type Side,
} from '@subluminal/core/session';
import type { ChunkWriter } from '../../stdio/index.ts';

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
}

interface Lane {
  feed(chunk: Uint8Array): void;
  /** The input has ended. */
  end(): void;
}

const NEWLINE = Buffer.from('\n');
const BROKEN = Buffer.from(BROKEN_LINE_END);

/** One direction; not shared by the two. */
class StdioLane implements Lane {
  readonly #options: LaneOptions;
  readonly #splitter: ReturnType<typeof lineSplitter>;
  /** Where the parts of a long line go while it lasts. */
  #streaming: Side | undefined;
  #hash: Hash | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    const allocate = (bytes: number) => Buffer.allocUnsafe(bytes);
    this.#splitter = lineSplitter({ ...options.limits, allocate });
  }

  feed(chunk: Uint8Array): void {
    for (const framed of this.#splitter.feed(chunk)) this.#take(framed);
    this.#options.settled();
  }

  end(): void {
    for (const framed of this.#splitter.end()) this.#take(framed);
    this.#options.settled();
  }

  #take(framed: Framed): void {
    const { from, session, now } = this.#options;
    switch (framed.kind) {
      case 'line': {
        const { bytes } = framed;
        const commands =
          from === 'agent' ? session.fromAgent(bytes, now()) : session.fromServer(bytes, now());
        return this.#carryOut(commands, bytes);
      }
      case 'head':
        this.#hash = createHash('sha256').update(framed.bytes);
        return this.#carryOut(session.largeHead(from, framed.bytes, { nowMs: now() }), framed.bytes);
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
    const { from, session, outs } = this.#options;
    this.#hash?.update(bytes);
    session.largePiece(from, bytes);
    if (this.#streaming !== undefined) outs[this.#streaming].write(asBuffer(bytes));
  }

  #large(bytesTotal: number, outcome: LargeEnd['outcome']): void {
    const { from, session, now } = this.#options;
    const streamHash = (this.#hash ?? createHash('sha256')).digest('hex');
    this.#carryOut(session.largeEnd(from, { bytesTotal, streamHash, outcome }, now()), NEWLINE);
    this.#streaming = undefined;
    this.#hash = undefined;
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
          outs[command.to].write(asBuffer(bytes));
          break;
        case 'swallow':
          this.#streaming = undefined;
          break;
        case 'finish':
          outs[command.to].write(NEWLINE);
          break;
        case 'break':
          outs[command.to].write(BROKEN);
          break;
        default:
          act(command);
      }
    }
  }
}

function createLane(options: LaneOptions): Lane {
  return new StdioLane(options);
}

/** The same bytes as a Buffer; what comes from a stream already is one. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export type { Lane };
export { asBuffer, createLane };
