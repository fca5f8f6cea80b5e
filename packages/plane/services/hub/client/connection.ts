// The one connection to the hub: opened when it is needed, and opened again once when it breaks.
import { MAX_INSPECT_BYTES, type Parsed } from '@subluminal/contracts';
import type { HubFrameName } from '@subluminal/contracts/hub-frames';
import type { Target } from './endpoint.ts';
import { type Exchanged, Frames } from './frames.ts';
import { errorIn, LATE, openSocket } from './open-socket.ts';
import { type Unread, unread } from './unread.ts';

interface ConnectionOptions {
  readonly target: Target;
  readonly connectMs: number;
  readonly requestBytesMax: number;
  readonly responseBytesMax: number;
  readonly pushed: (push: string, body: unknown) => void;
  /** A connection that was open is no longer. */
  readonly broken: () => void;
}

interface HubMessage<T> {
  readonly to: HubFrameName;
  /** As JSON; none where nothing has to be said. */
  readonly body?: string;
  /** The deadline, by `performance.now()`. */
  readonly untilMs: number;
  readonly parse: (value: unknown) => Parsed<T>;
  /** Told of an answer that came after the deadline. */
  readonly late?: (body: unknown) => void;
}

export type HubRead<T> = { readonly ok: true; readonly value: T } | Unread;

const MIB = 1_048_576;
const BODY_BYTES_LIMIT = 256 * MIB;
const OK = 200;
const CLOSED = 'the connection to the hub was closed';

/**
 * The longest body of a call that may be inspected: writing its JSON anew can make a number several
 * times as long, and names and limits go with it.
 */
export function hubBodyBytesMax(inspectBytesMax: number = MAX_INSPECT_BYTES): number {
  return Math.min(8 * inspectBytesMax + 2 * MIB, BODY_BYTES_LIMIT);
}

export class Connection {
  readonly #options: ConnectionOptions;
  #frames: Frames | undefined;
  #opening: Promise<Frames | Unread> | undefined;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Sends at once. Never rejects. */
  async send<T>(message: HubMessage<T>): Promise<HubRead<T>> {
    const { body = '', parse } = message;
    const { requestBytesMax } = this.#options;
    // UTF-8 takes at most three bytes for each unit of a string.
    if (3 * body.length > requestBytesMax && Buffer.byteLength(body) > requestBytesMax) {
      return unread('the message is too large for the hub');
    }
    const first = await this.#exchange(message);
    // Asks again once: the hub knows a call by its id and counts it once.
    const exchanged = first === 'broken' ? await this.#exchange(message) : first;
    if (exchanged === 'broken') return unread('the hub cannot be reached (ECONNRESET)');
    if ('ok' in exchanged) return exchanged;
    const { status, body: value } = exchanged;
    if (status !== OK) return unread(`the hub answered ${status}${errorIn(value)}`, { status });
    const parsed = parse(value);
    return parsed.ok ? parsed : unread('the hub gave an answer that breaks the contract');
  }

  /** Sends what gets no answer, if there is a connection. */
  tell(to: HubFrameName, body: object): void {
    this.#frames?.tell(to, body);
  }

  close(): void {
    this.#isClosed = true;
    this.#frames?.close();
  }

  async #exchange(message: HubMessage<unknown>): Promise<Exchanged> {
    const { to, body, untilMs, late } = message;
    if (this.#isClosed) return unread(CLOSED);
    const frames = await this.#open(untilMs);
    if (this.#isClosed) return unread(CLOSED);
    if ('ok' in frames) return frames;
    if (untilMs <= performance.now()) return unread(LATE);
    return frames.ask({ to, body, untilMs, late });
  }

  /** The open connection, or the one that is being opened. */
  #open(untilMs: number): Promise<Frames | Unread> | Frames | Unread {
    if (this.#frames !== undefined) return this.#frames;
    const totalMs = untilMs - performance.now();
    if (totalMs <= 0) return unread(LATE);
    this.#opening ??= this.#openFrames(totalMs).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openFrames(totalMs: number): Promise<Frames | Unread> {
    const { target, connectMs, responseBytesMax, pushed, broken } = this.#options;
    const opened = await openSocket({ target, connectMs, totalMs });
    if ('ok' in opened) return opened;
    const closed = (): void => {
      this.#frames = undefined;
      broken();
    };
    const frames = new Frames(opened, { responseBytesMax, pushed, closed });
    if (this.#isClosed) frames.close();
    else if (!frames.isClosed) this.#frames = frames;
    return frames;
  }
}
