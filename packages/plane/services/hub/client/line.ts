// One connection to the hub with its queue: requests go out one after the other.
import { HUB_ENDPOINTS, type Parsed } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { Turns } from './turns.ts';
import { type Exchanged, Wire, type WireOptions } from './wire.ts';

export interface LineOptions extends WireOptions {
  readonly requestBytesMax: number;
}

export type LineRead<T> =
  | { readonly ok: true; readonly value: T }
  | (Unread & { readonly ok: false });

export interface Unread {
  readonly reason: string;
  /** 0 when there was no answer at all. */
  readonly status: number;
  /** Nobody listens there: the process of the hub has ended, or has not begun. */
  readonly gone: boolean;
}

interface HubMessage<T> {
  readonly to: keyof typeof HUB_ENDPOINTS;
  /** As JSON; none with GET. */
  readonly body?: string;
  /** When it is too late, by `performance.now()`. */
  readonly untilMs: number;
  readonly parse: (value: unknown) => Parsed<T>;
}

export const REASON_LENGTH_MAX = 300;

export class Line {
  readonly turns = new Turns();
  readonly #wire: Wire;
  readonly #requestBytesMax: number;

  constructor(options: LineOptions) {
    this.#wire = new Wire(options);
    this.#requestBytesMax = options.requestBytesMax;
  }

  /** Sends at once; who wants order does it within a turn. Never rejects. */
  async send<T>({ to, body, untilMs, parse }: HubMessage<T>): Promise<LineRead<T>> {
    const { method, path } = HUB_ENDPOINTS[to];
    // UTF-8 takes at most three bytes for each unit of a string.
    const fits = body === undefined || 3 * body.length <= this.#requestBytesMax;
    if (!fits && Buffer.byteLength(body) > this.#requestBytesMax) {
      return unread('the message is too large for the hub');
    }
    const totalMs = untilMs - performance.now();
    const sent = { method, path, totalMs, ...(body !== undefined && { body }) };
    return read(await this.#wire.exchange(sent), parse);
  }

  close(): void {
    this.#wire.close();
  }
}

function read<T>(exchanged: Exchanged, parse: HubMessage<T>['parse']): LineRead<T> {
  if (exchanged.kind === 'failed') return { ...unread(exchanged.reason), gone: exchanged.gone };
  const { status, text } = exchanged;
  const value = jsonOf(text);
  if (status !== 200) return unread(`the hub answered ${status}${saidIn(value)}`, status);
  const parsed = parse(value);
  return parsed.ok ? parsed : unread('the hub gave an answer that breaks the contract', status);
}

function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** The message of an error, safe to show. */
function saidIn(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('error' in value)) return '';
  const { error } = value;
  if (typeof error !== 'object' || error === null || !('message' in error)) return '';
  return typeof error.message === 'string' ? `: ${visible(error.message, REASON_LENGTH_MAX)}` : '';
}

function unread(reason: string, status = 0): Unread & { readonly ok: false } {
  return { ok: false, reason, status, gone: false };
}
