// Events into a file, as plain JSON Lines: for CI, where a file is an artifact.
import { closeSync, writeSync } from 'node:fs';
import { type Failure, failure } from '@subluminal/contracts';
import type { EventLine } from '@subluminal/core/ports';
import { codeOrText, openForAppending } from '../../os/index.ts';
import {
  type BatchingSink,
  type PromptSinkStats,
  Waiters,
  type Warn,
  warnOnStderr,
} from './prompt-sink.ts';

export interface FileSinkOptions {
  /** What may wait in memory while the file takes nothing. */
  readonly queueBytes?: number;
  readonly warn?: Warn;
}

interface SinkFile {
  readonly fd: number;
  readonly path: string;
  readonly queueBytes: number;
  readonly warn: Warn;
}

const QUEUE_BYTES = 8 * 1024 * 1024;
const RETRY_MS = 20;

class FileSink implements BatchingSink {
  readonly #target: SinkFile;
  /** Made when somebody waits. */
  #waiters: Waiters | undefined;
  #queue: EventLine[] = [];
  /** What a write left over: it has to follow before anything else. */
  #rest: Uint8Array = new Uint8Array();
  #queueLength = 0;
  #previewsDropped = 0;
  #linesLost = 0;
  #isScheduled = false;
  #isClosed = false;
  #hasWarned = false;

  constructor(target: SinkFile) {
    this.#target = target;
  }

  write(event: EventLine): void {
    if (this.#isClosed) {
      this.#linesLost++;
      return;
    }
    this.#queue.push(event);
    this.#queueLength += event.line.length;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(this.#tick);
  }

  push(): void {
    if (this.#isClosed) return;
    if (this.#put()) this.#waiters?.check();
    else {
      this.#relieve();
      // The process may end meanwhile; flush() is there for those who wait.
      if (!this.#isScheduled) setTimeout(this.#tick, RETRY_MS).unref();
      this.#isScheduled = true;
    }
  }

  async flush(timeoutMs: number): Promise<void> {
    this.push();
    if (this.#isEmpty()) return;
    this.#waiters ??= new Waiters();
    await this.#waiters.wait(() => this.#isEmpty(), timeoutMs);
  }

  async close(timeoutMs: number): Promise<void> {
    if (this.#isClosed) return;
    await this.flush(timeoutMs);
    this.#isClosed = true;
    this.#linesLost += this.#queue.length;
    try {
      closeSync(this.#target.fd);
    } catch (cause) {
      this.#complain(cause);
    }
  }

  stats(): PromptSinkStats {
    return {
      queued: this.#queue.length,
      spooled: 0,
      previewsDropped: this.#previewsDropped,
      linesLost: this.#linesLost,
    };
  }

  readonly #tick = (): void => {
    this.#isScheduled = false;
    this.push();
  };

  #isEmpty(): boolean {
    return this.#queue.length === 0 && this.#rest.length === 0;
  }

  /** One write for all that waits; false when some of it still does. */
  #put(): boolean {
    try {
      if (!this.#putRest()) return false;
      if (this.#queue.length === 0) return true;
      const bytes = Buffer.from(`${this.#queue.map(({ line }) => line).join('\n')}\n`, 'utf8');
      const written = writeSync(this.#target.fd, bytes);
      this.#queue = [];
      this.#queueLength = 0;
      this.#rest = bytes.subarray(written);
      return this.#putRest();
    } catch (cause) {
      if (codeOrText(cause) !== 'EAGAIN') this.#complain(cause);
      return false;
    }
  }

  #putRest(): boolean {
    while (this.#rest.length > 0) {
      const written = writeSync(this.#target.fd, this.#rest);
      if (written <= 0) return false;
      this.#rest = this.#rest.subarray(written);
    }
    return true;
  }

  /** Keeps to the limit: previews go first, then what came last. */
  #relieve(): void {
    if (this.#queueLength <= this.#target.queueBytes) return;
    this.#queue = this.#queue.map((event) => {
      if (event.kind !== 'preview' || event.lean === undefined) return event;
      this.#previewsDropped++;
      return { kind: 'durable', line: event.lean(event.line) };
    });
    this.#queueLength = this.#queue.reduce((sum, { line }) => sum + line.length, 0);
    while (this.#queueLength > this.#target.queueBytes) {
      this.#queueLength -= this.#queue.pop()?.line.length ?? 0;
      this.#linesLost++;
    }
  }

  #complain(cause: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const { warn, path } = this.#target;
    warn(`events cannot be written to ${path} (${codeOrText(cause)}). Free some space.`);
  }
}

/** A sink for `SUB_EVENTS=file:PATH`: appends, and makes the file private when it creates it. */
export function fileSink(path: string, options: FileSinkOptions = {}): BatchingSink | Failure {
  const { queueBytes = QUEUE_BYTES, warn = warnOnStderr } = options;
  try {
    // Appending keeps the lines of several writers apart.
    const fd = openForAppending(path, 0o600);
    return new FileSink({ fd, path, queueBytes, warn });
  } catch (cause) {
    const reason = codeOrText(cause);
    const message = `events cannot be written to ${path} (${reason === 'ELOOP' ? 'it is a link' : reason}).`;
    const fix = 'Name a file, no link, in a folder that exists and that you may write to.';
    return failure('SUB_FILE_WRITE', message, fix);
  }
}
