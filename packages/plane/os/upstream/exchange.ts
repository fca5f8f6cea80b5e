// One call on one connection: what undici tells of it, as an answer and the parts of its body. There is no stream in
// between: a turn has many parts, and each would pass through its buffers.
import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import { faultFrom, type UpstreamFault } from './fault.ts';

/** Hears the parts of a body, then once how it ended: with a fault unless it came whole. */
export interface BodyReader {
  onPart(bytes: Buffer): void;
  onEnd(fault: UpstreamFault | undefined): void;
}

export interface AnswerBody {
  /** Once. What came before is heard at once. */
  read(reader: BodyReader): void;
  readonly isPaused: boolean;
  pause(): void;
  resume(): void;
  /** Breaks off what is not at its end; nothing is heard any more. */
  destroy(): void;
}

export interface ExchangeStart {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AnswerBody;
}

export class Exchange implements Dispatcher.DispatchHandler, AnswerBody {
  readonly started: Promise<ExchangeStart | UpstreamFault>;
  #tellStart: (start: ExchangeStart | UpstreamFault) => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #reader: BodyReader | undefined;
  /** What came before there was a reader: parts of the packet that the answer began in. */
  #early: Buffer[] = [];
  #end: { readonly fault: UpstreamFault | undefined } | undefined;
  #isDestroyed = false;
  #abortReason: Error | undefined;
  readonly #onSettled: () => void;

  /** `onSettled`: nothing is left to abort. */
  constructor(onSettled: () => void) {
    this.#onSettled = onSettled;
    this.started = new Promise((resolve) => {
      this.#tellStart = resolve;
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortReason !== undefined) controller.abort(this.#abortReason);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    const isInformational = status < 200;
    if (!isInformational) this.#tellStart({ status, headers, body: this });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#end !== undefined) return;
    if (this.#reader === undefined) this.#early.push(chunk);
    else this.#reader.onPart(chunk);
  }

  onResponseEnd(): void {
    this.#settle(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    this.#settle(faultFrom(cause));
  }

  read(reader: BodyReader): void {
    const early = this.#early;
    this.#early = [];
    for (const part of early) {
      reader.onPart(part);
      // The reader has destroyed it.
      if (this.#isDestroyed) return;
    }
    // It may have ended before, or just now because the reader has aborted it.
    if (this.#end === undefined) this.#reader = reader;
    else reader.onEnd(this.#end.fault);
  }

  get isPaused(): boolean {
    return this.#controller?.paused === true;
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  abort(reason: Error): void {
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  destroy(): void {
    if (this.#end !== undefined) return;
    this.#isDestroyed = true;
    this.#end = { fault: undefined };
    this.#onSettled();
    this.abort(new errors.RequestAbortedError());
  }

  #settle(fault: UpstreamFault | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { fault };
    this.#onSettled();
    // Unless the answer has begun.
    if (fault !== undefined) this.#tellStart(fault);
    this.#reader?.onEnd(fault);
  }
}
