// The events of one shim on their way to the sink.
import {
  type EventBody,
  type EventType,
  type EventWriter,
  MalformedEvent,
} from '@subluminal/contracts';
import type { EventLine, EventSink } from '@subluminal/core/ports';
import { type Emit, leanLine } from '@subluminal/core/session';

/** How long an event may be deferred, and how many may be. */
const DEFER_MS = 2;
const DEFERRED_MAX = 256;

interface Deferred {
  readonly event: Emit;
  readonly ts: string;
  /** Set as soon as there is time; stays undefined if the event is malformed. */
  line: EventLine | undefined;
}

/** Writes events with wall-clock time, which people can compare. */
export class Recorder {
  readonly #writer: EventWriter;
  readonly #sink: EventSink;
  readonly #warn: (text: string) => void;
  readonly #clock = wallClock();
  #deferred: Deferred[] = [];
  /** How many of them have their line. */
  #spelled = 0;
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(writer: EventWriter, sink: EventSink, warn: (text: string) => void) {
    this.#writer = writer;
    this.#sink = sink;
    this.#warn = warn;
  }

  /** Writes an event of the session. */
  emit(event: Emit): void {
    this.settle();
    const line = this.#lineOf(event, this.#clock());
    if (line !== undefined) this.#sink.write(line);
  }

  /** Takes an event that nothing waits for: it is written with the next one, or shortly after. */
  defer(event: Emit): void {
    this.#deferred.push({ event, ts: this.#clock(), line: undefined });
    if (this.#deferred.length >= DEFERRED_MAX) this.settle();
    // The answer is on its way by then, and the next call has not come yet.
    if (this.#immediate === undefined) this.#immediate = setImmediate(this.#spell).unref();
    // Left to run when the next event comes first: to set it for each one costs more.
    if (this.#timer === undefined) this.#timer = setTimeout(this.#due, DEFER_MS).unref();
  }

  /** Writes what was deferred. */
  settle(): void {
    if (this.#deferred.length === 0) return;
    this.#spell();
    const deferred = this.#deferred;
    this.#deferred = [];
    this.#spelled = 0;
    for (const { line } of deferred) if (line !== undefined) this.#sink.write(line);
  }

  /** Writes an event of the shim itself. */
  record<T extends EventType>(type: T, body: EventBody<NoInfer<T>>): void {
    this.settle();
    try {
      this.#sink.write({ line: this.#writer.line(type, body, this.#clock()), kind: 'durable' });
    } catch (cause) {
      this.#complain(cause);
    }
  }

  readonly #due = (): void => {
    this.#timer = undefined;
    this.settle();
  };

  readonly #spell = (): void => {
    this.#immediate = undefined;
    for (; this.#spelled < this.#deferred.length; this.#spelled++) {
      const one = this.#deferred[this.#spelled];
      if (one !== undefined) one.line = this.#lineOf(one.event, one.ts);
    }
  };

  #lineOf({ type, body, durability }: Emit, ts: string): EventLine | undefined {
    try {
      const line = this.#writer.line(type, body, ts);
      if (durability === 'durable') return { line, kind: 'durable' };
      return { line, kind: 'preview', lean: leanLine };
    } catch (cause) {
      this.#complain(cause);
      return undefined;
    }
  }

  /** A malformed event is our own fault; it must not take the call down with it. */
  #complain(cause: unknown): void {
    if (!(cause instanceof MalformedEvent)) throw cause;
    this.#warn(`an event could not be written: ${cause.message}`);
  }
}

/** The time as events have it; formatted again only when it has changed. */
function wallClock(): () => string {
  let lastMs = Number.NaN;
  let text = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== lastMs) text = new Date(nowMs).toISOString();
    lastMs = nowMs;
    return text;
  };
}
