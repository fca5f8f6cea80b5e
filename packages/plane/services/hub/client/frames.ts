// The client's end of an open connection: requests as frames, answers by their number.
import type { Socket } from 'node:net';
import { isObject } from '@subluminal/contracts';
import type { HubFrameName } from '@subluminal/contracts/hub-frames';
import { LineReader } from '../../../os/line-reader.ts';
import { jsonIn, LATE, type OpenedSocket } from './open-socket.ts';
import { type Unread, unread } from './unread.ts';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** `broken`: the connection has ended before the answer came. */
export type Exchanged = Answer | Unread | 'broken';

export interface Frame {
  readonly to: HubFrameName;
  /** As JSON. */
  readonly body: string | undefined;
  /** The deadline, by `performance.now()`. */
  readonly untilMs: number;
  /** Told of an answer that nobody waits for any more. */
  readonly late?: ((body: unknown) => void) | undefined;
}

export interface FramesOptions {
  readonly responseBytesMax: number;
  /** A frame of the hub that answers nothing. */
  readonly pushed: (push: string, body: unknown) => void;
  readonly closed: () => void;
}

/** An answer holds a number and a status beside its body. */
const WRAPPING_BYTES = 64;

export class Frames {
  readonly #socket: Socket;
  readonly #options: FramesOptions;
  readonly #lines: LineReader;
  readonly #pending = new Map<number, (exchanged: Exchanged) => void>();
  /** What to do with answers that came too late. */
  readonly #late = new Map<number, NonNullable<Frame['late']>>();
  /** Frames that wait for their turn. */
  readonly #received: (string | undefined)[] = [];
  #isDelivering = false;
  #nextId = 1;
  #isClosed = false;

  constructor({ socket, rest }: OpenedSocket, options: FramesOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#lines = new LineReader(options.responseBytesMax + WRAPPING_BYTES);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.once('close', () => this.close());
    // What is idle keeps no process alive.
    socket.unref();
    if (rest.length > 0) this.#read(rest);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Never rejects. */
  ask({ to, body, untilMs, late }: Frame): Promise<Exchanged> {
    if (this.#isClosed) return Promise.resolve('broken');
    return new Promise((resolve) => {
      const id = this.#nextId++;
      const settle = (exchanged: Exchanged): void => {
        clearTimeout(timer);
        this.#pending.delete(id);
        if (this.#pending.size === 0) this.#socket.unref();
        resolve(exchanged);
      };
      const giveUp = (): void => {
        settle(unread(LATE));
        if (late !== undefined) this.#late.set(id, late);
      };
      const timer = setTimeout(giveUp, Math.max(0, untilMs - performance.now())).unref();
      this.#pending.set(id, settle);
      this.#socket.ref();
      this.#socket.write(`{"id":${id},"to":"${to}","body":${body ?? 'null'}}\n`);
    });
  }

  /** Sends what gets no answer. */
  tell(to: HubFrameName, body: object): void {
    if (!this.#isClosed) this.#socket.write(`{"to":"${to}","body":${JSON.stringify(body)}}\n`);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    this.#options.closed();
    for (const settle of [...this.#pending.values()]) settle('broken');
  }

  #read(chunk: Buffer): void {
    this.#lines.read(chunk, (line) => this.#received.push(line));
    if (!this.#isDelivering) this.#deliver();
  }

  /**
   * One frame in each turn of the event loop: a call goes on with what was leased for it before the hub
   * may recall it.
   */
  readonly #deliver = (): void => {
    const [line] = this.#received;
    this.#isDelivering = this.#received.length > 1;
    if (this.#received.length === 0 || this.#isClosed) return;
    this.#received.shift();
    if (this.#isDelivering) setImmediate(this.#deliver);
    this.#take(line);
  };

  #take(line: string | undefined): void {
    const frame = line === undefined ? undefined : jsonIn(line);
    if (!isObject(frame)) return this.#break(line);
    const { id, push, status, body } = frame;
    if (typeof push === 'string') return this.#options.pushed(push, body);
    if (typeof id !== 'number' || typeof status !== 'number') return this.#break(line);
    const late = this.#late.get(id);
    this.#late.delete(id);
    if (late !== undefined) late(body);
    this.#pending.get(id)?.({ status, body });
  }

  /** After a frame that is too long or none, nothing on this connection can be trusted. */
  #break(line: string | undefined): void {
    const reason =
      line === undefined
        ? 'the answer of the hub is too long'
        : 'the hub gave an answer that breaks the contract';
    for (const settle of [...this.#pending.values()]) settle(unread(reason));
    this.close();
  }
}
