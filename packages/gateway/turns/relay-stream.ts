// A streamed answer on its way to the client, whole events at a time, while an observer watches. On one wire the bytes
// pass as they are; to another they are translated. The last event is kept back until the turn is on record.
import {
  type AnswerObserver,
  type SseEvent,
  type SseReader,
  type StreamTranslation,
  sseReader,
  type UpstreamError,
} from '@subluminal/core/wires';
import { type AnswerBody, fault, type UpstreamFault } from '@subluminal/plane/upstream';
import type { ClientAnswer } from './client-answer.ts';
import { completeEnd, dataFrame, withoutByteOrderMarks } from './event-frames.ts';

export type StreamEnd =
  /** All but the last event went out. */
  | { readonly kind: 'complete'; readonly last: Uint8Array | string }
  /** The upstream said in its stream that it failed; `last` is how it said so. */
  | { readonly kind: 'error'; readonly error: UpstreamError; readonly last: Uint8Array | string }
  | { readonly kind: 'fault'; readonly fault: UpstreamFault };

export interface RelayOptions {
  readonly client: ClientAnswer;
  /** Sends status and headers, once, before the first event. */
  readonly open: () => void;
  readonly observer: AnswerObserver;
  /** Until when the first events are kept back, so that another attempt can still be made. */
  readonly holdUntilMs: number;
  readonly nowMs: () => number;
  readonly eventBytesMax: number;
  readonly streamMsMax: number;
  /** For a client of another wire. */
  readonly translation?: StreamTranslation | undefined;
  /** The chat wire: its last event comes after the answer is complete, and some servers leave it out. */
  readonly mayLackLast: boolean;
  /** Keeps the event from the client: it asked for none such. */
  readonly isHidden?: ((data: string) => boolean) | undefined;
  /** True for an event that is not of the wire: nobody else sees it. */
  readonly takesEvent?: ((event: SseEvent) => boolean) | undefined;
}

/** What comes behind the last event is read and dropped, within bounds, so that the connection can be used again. */
const REST_BYTES_MAX = 64 * 1024;
const REST_MS = 1_000;
const HELD_BYTES_MIN = 4_096;
const OUR_EVENTS = 'aicg.';
/** A blank line behind a line: `\\n\\r\\n`. */
const LINE_ENDS_MAX = 3;

export function relayStream(body: AnswerBody, options: RelayOptions): Promise<StreamEnd> {
  return new Promise((resolve, reject) => {
    new StreamRelay(body, options, resolve).start(reject);
  });
}

class StreamRelay {
  private readonly body: AnswerBody;
  private readonly options: RelayOptions;
  private readonly settle: (end: StreamEnd) => void;
  private readonly reader: SseReader;
  /** The beginning of an event whose end has not come. */
  private pending = Buffer.alloc(0);
  private pendingBytes = 0;
  /** Whole events that wait for the first one with content. */
  private held: (Buffer | string)[] | undefined = [];
  private heldBytes = 0;
  private isSettled = false;
  /** Ends what takes too long: the stream, and then what comes behind its last event. */
  private timer: NodeJS.Timeout | undefined;
  private restBytes = 0;
  private isBegun = false;

  constructor(body: AnswerBody, options: RelayOptions, settle: (end: StreamEnd) => void) {
    this.body = body;
    this.options = options;
    this.settle = settle;
    this.reader = sseReader({ eventBytesMax: options.eventBytesMax, decode });
  }

  /** What goes wrong in here is a defect of ours: it must not end the process. */
  start(onDefect: (cause: unknown) => void): void {
    const guarded = (work: () => void): void => {
      try {
        work();
      } catch (cause) {
        this.isSettled = true;
        this.breakOff();
        onDefect(cause);
      }
    };
    const tooLong = fault('timeout', 'The answer of the upstream takes too long.');
    this.timer = setTimeout(() => this.stop(tooLong), this.options.streamMsMax);
    this.body.read({
      onPart: (bytes) => guarded(() => this.take(bytes)),
      onEnd: (why) => guarded(() => this.endOfStream(why)),
    });
  }

  private take(chunk: Buffer): void {
    if (this.isSettled) return this.drop(chunk);
    if (this.pendingBytes === 0) {
      const end = completeEnd(chunk);
      if (end > 0) this.pass(end === chunk.length ? chunk : chunk.subarray(0, end));
      if (end < chunk.length) this.hold(chunk.subarray(end));
      return;
    }
    // What was there before completed nothing: only its last line ends can still do so.
    const from = Math.max(0, this.pendingBytes - LINE_ENDS_MAX);
    this.hold(chunk);
    const found = completeEnd(this.pending.subarray(from, this.pendingBytes));
    if (found === 0 || this.isSettled) return;
    const end = from + found;
    const whole = Buffer.from(this.pending.subarray(0, end));
    this.pending.copyWithin(0, end, this.pendingBytes);
    this.pendingBytes -= end;
    this.pass(whole);
  }

  /** Grows by doubling, so that an event in tiny pieces stays cheap. */
  private hold(bytes: Buffer): void {
    const length = this.pendingBytes + bytes.length;
    if (length > this.options.eventBytesMax) {
      return this.stop(fault('malformed', 'The upstream sent an event that is too large.'));
    }
    if (length > this.pending.length) {
      const larger = Buffer.allocUnsafe(Math.max(HELD_BYTES_MIN, 2 * length));
      this.pending.copy(larger, 0, 0, this.pendingBytes);
      this.pending = larger;
    }
    bytes.copy(this.pending, this.pendingBytes);
    this.pendingBytes = length;
  }

  /** Whole events, one or more. */
  private pass(whole: Buffer): void {
    const { observer, isHidden, takesEvent } = this.options;
    const bytes = this.isBegun ? whole : withoutByteOrderMarks(whole);
    this.isBegun = true;
    const events = this.reader.push(bytes);
    if (this.reader.isTooLarge) {
      return this.stop(fault('malformed', 'The upstream sent an event that is too large.'));
    }
    if (this.options.translation !== undefined) {
      return this.translated(events, this.options.translation);
    }
    let rest = bytes;
    let skipped = 0;
    for (const event of events) {
      // Only a gateway writes such events: from anybody else they are forged.
      const isTaken = takesEvent?.(event) ?? event.event.startsWith(OUR_EVENTS);
      if (!isTaken) observer.push(event);
      const { seen } = observer;
      if (isTaken || isHidden?.(event.data) === true) {
        const { start, end } = dataFrame(rest, skipped);
        this.send(rest.subarray(0, start));
        rest = rest.subarray(end);
        skipped = 0;
      } else if (this.isLast(event) || seen.error !== undefined) {
        if (this.held === undefined) this.options.client.holdToEnd();
        const { start, end } = dataFrame(rest, skipped);
        this.send(rest.subarray(0, start));
        const last = rest.subarray(start, end);
        const { error } = seen;
        return this.finish(
          error === undefined ? { kind: 'complete', last } : { kind: 'error', error, last },
        );
      } else skipped++;
    }
    this.send(rest);
  }

  private isLast({ data }: SseEvent): boolean {
    const { mayLackLast, observer } = this.options;
    return mayLackLast ? data === '[DONE]' : observer.seen.isComplete;
  }

  private translated(events: readonly SseEvent[], translation: StreamTranslation): void {
    let text = '';
    for (const event of events) {
      this.options.observer.push(event);
      text += translation.push(event);
      const { error, isComplete } = translation;
      if (error === undefined && !isComplete) continue;
      this.send(text);
      const last = translation.end();
      return this.finish(
        error === undefined ? { kind: 'complete', last } : { kind: 'error', error, last },
      );
    }
    this.send(text);
  }

  private endOfStream(why: UpstreamFault | undefined): void {
    clearTimeout(this.timer);
    if (this.isSettled) return;
    if (why !== undefined) return this.stop(why);
    const { translation, observer, mayLackLast } = this.options;
    const last = translation?.end() ?? '';
    const isWhole = mayLackLast && observer.seen.isComplete;
    if (translation === undefined ? isWhole : translation.isComplete) {
      return this.finish({ kind: 'complete', last });
    }
    this.stop(fault('disconnect', 'The stream of the upstream ended too early.'));
  }

  private send(bytes: Buffer | string): void {
    if (bytes.length === 0 || this.isSettled) return;
    const { client, observer, open, holdUntilMs, nowMs } = this.options;
    if (this.held !== undefined) {
      this.held.push(bytes);
      this.heldBytes += bytes.length;
      if (observer.seen.hasContent || nowMs() >= holdUntilMs) return this.flush();
      if (this.heldBytes > this.options.eventBytesMax) {
        this.stop(fault('malformed', 'The upstream sent too much before its answer.'));
      }
      return;
    }
    if (!client.isOpen) open();
    this.write(bytes);
  }

  private flush(): void {
    const { held } = this;
    this.held = undefined;
    if (held === undefined || held.length === 0) return;
    if (!this.options.client.isOpen) this.options.open();
    for (const bytes of held) this.write(bytes);
  }

  private write(bytes: Buffer | string): void {
    const { body } = this;
    if (this.options.client.write(bytes) || body.isPaused) return;
    body.pause();
    this.options.client.drained(() => body.resume());
  }

  /** An error before any content leaves the client untouched: the next attempt may do better. */
  private finish(end: StreamEnd): void {
    if (this.isSettled) return;
    if (end.kind === 'complete') {
      this.flush();
      if (!this.options.client.isOpen) this.options.open();
    }
    this.isSettled = true;
    this.settle(end);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.body.destroy(), REST_MS);
    this.body.resume();
  }

  private stop(why: UpstreamFault): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.breakOff();
    this.settle({ kind: 'fault', fault: why });
  }

  private drop(chunk: Buffer): void {
    this.restBytes += chunk.length;
    if (this.restBytes > REST_BYTES_MAX) this.breakOff();
  }

  private breakOff(): void {
    clearTimeout(this.timer);
    this.body.destroy();
  }
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  // A line that came in pieces is held in plain bytes; all others are Node's own.
  const own = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return own.toString('utf8', start, end);
}
