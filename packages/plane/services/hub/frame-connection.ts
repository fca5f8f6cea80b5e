// The hub's end of an open connection: frames of one shim in, answers out, and what the hub says by itself.
import type { Socket } from 'node:net';
import { isObject } from '@subluminal/contracts';
import type { Recall } from '@subluminal/contracts/hub-frames';
import { LineReader } from '../../os/line-reader.ts';
import type { LeaseHolder } from './leases.ts';

export interface FrameLimits {
  readonly bodyBytesMax: number;
  /** Frames of one connection that wait for their answer; beyond it, nothing more is read. */
  readonly framesMax: number;
  /** Bytes of answers that a connection may leave unread. */
  readonly unreadBytesMax: number;
  readonly idleMs: number;
  /** How long a frame may take from its first byte to its last. */
  readonly requestMs: number;
}

export interface FrameAnswer {
  readonly status: number;
  readonly body: object;
}

interface FrameConnectionOptions {
  readonly socket: Socket;
  readonly limits: FrameLimits;
  /** Undefined where nothing is answered. */
  readonly answer: (
    frame: { readonly to: string; readonly body: unknown },
    connection: FrameConnection,
  ) => Promise<FrameAnswer | undefined>;
  /** Bytes of a frame that is not whole yet; false when all connections together hold too many. */
  readonly holds: (change: number) => boolean;
}

/** A shim that stood still too shows within this time that it lives. */
const STANDSTILL_MS = 1_000;
/** The number and the name of a frame stand beside its body. */
const WRAPPING_BYTES = 256;

export class FrameConnection implements LeaseHolder {
  readonly #options: FrameConnectionOptions;
  readonly #lines: LineReader;
  #openFrames = 0;
  #heldBytes = 0;
  #isEnding = false;
  #wholeBy: NodeJS.Timeout | undefined;

  constructor(options: FrameConnectionOptions) {
    const { socket, limits } = options;
    this.#options = options;
    this.#lines = new LineReader(limits.bodyBytesMax + WRAPPING_BYTES);
    socket.setTimeout(limits.idleMs);
    socket.on('timeout', () => this.#endIdle());
    socket.on('error', () => socket.destroy());
    // Node answers the end of an upgraded connection no longer.
    socket.once('end', () => this.end());
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.once('close', () => {
      clearTimeout(this.#wholeBy);
      this.#hold(0);
    });
  }

  /** How many of its frames wait for an answer. */
  get openFrames(): number {
    return this.#openFrames;
  }

  read(chunk: Buffer): void {
    const { socket, limits } = this.#options;
    this.#lines.read(chunk, (line) => {
      clearTimeout(this.#wholeBy);
      this.#wholeBy = undefined;
      if (line === undefined) socket.destroy();
      else if (!socket.destroyed) this.#take(line);
    });
    // A line that is too long already may never end.
    if (this.#lines.restLength > this.#lines.bytesMax) socket.destroy();
    if (!this.#hold(socket.destroyed ? 0 : this.#lines.heldBytes)) socket.destroy();
    // What is held counts against all: nobody may hold it for long.
    if (this.#lines.restLength > 0 && !socket.destroyed) {
      this.#wholeBy ??= setTimeout(() => socket.destroy(), limits.requestMs).unref();
    }
    if (this.#openFrames >= limits.framesMax) socket.pause();
  }

  /** If this process stood still, what has come meanwhile is read first: with the connection, leases are lost. */
  #endIdle(): void {
    const { socket } = this.#options;
    const { bytesRead } = socket;
    const look = (): void => {
      if (socket.bytesRead === bytesRead) socket.destroy();
    };
    setTimeout(look, STANDSTILL_MS).unref();
  }

  recall(recall: Recall): void {
    this.#write(`{"push":"recall","body":${JSON.stringify(recall)}}\n`);
  }

  stop(): void {
    this.#write('{"push":"stop","body":{}}\n');
  }

  /** Ends the connection, once what it has asked is answered. */
  end(): void {
    this.#isEnding = true;
    if (this.#openFrames === 0) this.#options.socket.end();
  }

  cut(): void {
    this.#options.socket.destroy();
  }

  #take(line: string): void {
    const frame = parsed(line);
    const { socket, answer } = this.#options;
    if (!isObject(frame)) return void socket.destroy();
    const { id, to, body } = frame;
    const number = typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
    if (typeof to !== 'string' || number !== id) return void socket.destroy();
    this.#openFrames++;
    // Begins now: what came first counts first.
    void answer({ to, body }, this)
      .catch(() => undefined)
      .then((given) => this.#answered(number, given));
  }

  #answered(id: number | undefined, given: FrameAnswer | undefined): void {
    const { socket, limits } = this.#options;
    this.#openFrames--;
    if (id !== undefined) {
      if (given === undefined) return void socket.destroy();
      const { status, body } = given;
      this.#write(`{"id":${id},"status":${status},"body":${JSON.stringify(body)}}\n`);
    }
    if (this.#isEnding && this.#openFrames === 0) socket.end();
    else if (this.#openFrames < limits.framesMax) socket.resume();
  }

  #write(text: string): void {
    const { socket, limits } = this.#options;
    if (socket.destroyed) return;
    socket.write(text);
    if (socket.writableLength > limits.unreadBytesMax) socket.destroy();
  }

  #hold(bytes: number): boolean {
    const change = bytes - this.#heldBytes;
    this.#heldBytes = bytes;
    return change === 0 || this.#options.holds(change);
  }
}

function parsed(line: string): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return value;
  } catch {
    return undefined;
  }
}
