// Writes chunks to a stream: what one turn of the event loop writes leaves as one write, and a
// full stream holds its sources back. No promise and no callback per message.
import type { Writable } from 'node:stream';
import type { Holdable } from '../types.ts';

export interface WriterOptions {
  /** Above this many waiting bytes the sources are held. */
  readonly bytesHigh?: number;
  /** The other side is gone; what was waiting is lost. Called once. */
  readonly onBroken?: (cause: Error) => void;
}

export interface ChunkWriter {
  /** Bytes are taken by reference: the caller must not change them afterwards. */
  write(chunk: Buffer): void;
  /** Sources to hold back while this side is full. */
  holds(...sources: readonly Holdable[]): void;
  bufferedBytes(): number;
  /** Writes what waits, then closes the stream. */
  end(): void;
  /** As `end`; true when all bytes have left. When time is up the rest is dropped. */
  close(timeoutMs: number): Promise<boolean>;
}

const BYTES_HIGH = 1024 * 1024;
// Copying up to here is cheaper than handing the system a list of pieces.
const CONCAT_BYTES_MAX = 64 * 1024;

export function createWriter(sink: Writable, options: WriterOptions = {}): ChunkWriter {
  const bytesHigh = Math.max(options.bytesHigh ?? BYTES_HIGH, sink.writableHighWaterMark);
  const batch = new Batch();
  const sources: Holdable[] = [];
  let isScheduled = false;
  let isFull = false;
  let isOver = false;
  const relieve = (): void => {
    if (!isFull) return;
    isFull = false;
    for (const source of sources) source.release();
  };
  const flush = (): void => {
    isScheduled = false;
    if (isOver || batch.bytes === 0) return;
    batch.writeTo(sink);
    if (isFull && !sink.writableNeedDrain) relieve();
  };
  const onBroken = (cause: Error): void => {
    if (isOver) return;
    isOver = true;
    batch.take();
    // Held sources may go on: what they bring has nowhere to go and is dropped.
    relieve();
    options.onBroken?.(cause);
  };
  sink.on('drain', relieve);
  sink.on('error', onBroken);
  sink.once('close', () => {
    if (!sink.writableFinished) onBroken(new Error('closed by the other side'));
  });
  const end = (): void => {
    flush();
    if (!isOver) sink.end();
    isOver = true;
  };
  return {
    write(chunk) {
      if (isOver) return;
      batch.add(chunk);
      if (!isScheduled) {
        isScheduled = true;
        process.nextTick(flush);
      }
      if (!isFull && batch.bytes + sink.writableLength > bytesHigh) {
        isFull = true;
        for (const source of sources) source.hold();
      }
    },
    holds(...more) {
      for (const source of more) {
        sources.push(source);
        if (isFull) source.hold();
      }
    },
    bufferedBytes: () => batch.bytes + sink.writableLength,
    end,
    close(timeoutMs) {
      end();
      return finished(sink, timeoutMs);
    },
  };
}

/** The chunks of one turn. Neighbours in the same memory, as lines of one read are, become one. */
class Batch {
  bytes = 0;
  #pieces: Buffer[] = [];
  /** The run of neighbours that the next chunk may extend. */
  #first: Buffer | undefined;
  #runBytes = 0;

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    const first = this.#first;
    if (
      first !== undefined &&
      first.buffer === chunk.buffer &&
      first.byteOffset + this.#runBytes === chunk.byteOffset
    ) {
      this.#runBytes += chunk.length;
      return;
    }
    this.#endRun();
    this.#first = chunk;
    this.#runBytes = chunk.length;
  }

  writeTo(sink: Writable): void {
    const total = this.bytes;
    const pieces = this.take();
    if (pieces.length > 1 && total <= CONCAT_BYTES_MAX) {
      sink.write(Buffer.concat(pieces, total));
      return;
    }
    if (pieces.length > 1) sink.cork();
    for (const piece of pieces) sink.write(piece);
    if (pieces.length > 1) sink.uncork();
  }

  take(): readonly Buffer[] {
    this.#endRun();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.bytes = 0;
    return pieces;
  }

  #endRun(): void {
    const first = this.#first;
    if (first === undefined) return;
    const isSingle = first.length === this.#runBytes;
    this.#pieces.push(
      isSingle ? first : Buffer.from(first.buffer, first.byteOffset, this.#runBytes),
    );
    this.#first = undefined;
  }
}

function finished(sink: Writable, timeoutMs: number): Promise<boolean> {
  if (sink.writableFinished) return Promise.resolve(true);
  if (sink.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      // A write that waits for a reader would keep the process alive.
      sink.destroy();
      resolve(false);
    }, timeoutMs);
    const settle = (): void => {
      clearTimeout(timer);
      resolve(sink.writableFinished);
    };
    sink.once('finish', settle);
    sink.once('close', settle);
  });
}
