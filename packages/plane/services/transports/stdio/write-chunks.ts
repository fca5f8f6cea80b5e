// Writes chunks to a stream: what one turn of the event loop writes leaves as one write, and a
// full stream holds its sources back. No promise and no callback per message.
import type { Writable } from 'node:stream';
import { isIdle, pipeFd, writeAtOnce } from '../../../os/pipe-writes.ts';
import type { Holdable } from '../types.ts';

export interface WriterOptions {
  /** Above this many waiting bytes the sources are held. */
  readonly bytesHigh?: number;
  /** The other side is gone, and the waiting bytes are lost. Called once. */
  readonly onBroken?: (cause: Error) => void;
}

export type ChunkWriter = ReturnType<typeof createWriter>;

/** What the handling of a read has written: it leaves when the read has been handled. */
const written: (() => void)[] = [];
let isReading = false;

/**
 * Handles what one read brought. All that is written meanwhile leaves as one write at its end: after all that
 * has to come first, such as its events, and without waiting for the next tick.
 */
export function handleRead<T>(handle: (read: T) => void, read: T): void {
  isReading = true;
  try {
    handle(read);
  } finally {
    isReading = false;
    for (const flush of written) flush();
    written.length = 0;
  }
}

const BYTES_HIGH = 1024 * 1024;
// Copying up to here is cheaper than handing the system a list of pieces.
const CONCAT_BYTES_MAX = 64 * 1024;

export function createWriter(sink: Writable, options: WriterOptions = {}) {
  const bytesHigh = Math.max(options.bytesHigh ?? BYTES_HIGH, sink.writableHighWaterMark);
  const fd = pipeFd(sink);
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
    batch.writeTo(sink, fd);
    if (isFull && !sink.writableNeedDrain) relieve();
  };
  const onBroken = (cause: Error): void => {
    if (isOver) return;
    isOver = true;
    batch.take();
    // Held sources may go on: their input is dropped.
    relieve();
    options.onBroken?.(cause);
  };
  sink.on('drain', relieve);
  sink.on('error', onBroken);
  sink.once('close', () => {
    if (!sink.writableFinished) onBroken(new Error('closed by the other side'));
  });
  /** Writes the waiting bytes, then closes the stream. */
  const end = (): void => {
    flush();
    if (!isOver) sink.end();
    isOver = true;
  };
  return {
    /** Bytes are taken by reference: the caller must not change them afterwards. */
    write(chunk: Buffer): void {
      if (isOver) return;
      batch.add(chunk);
      if (!isScheduled) {
        isScheduled = true;
        if (isReading) written.push(flush);
        else process.nextTick(flush);
      }
      if (!isFull && batch.bytes + sink.writableLength > bytesHigh) {
        isFull = true;
        for (const source of sources) source.hold();
      }
    },
    /** Sources to hold back while this side is full. */
    holds(...more: readonly Holdable[]): void {
      for (const source of more) {
        sources.push(source);
        if (isFull) source.hold();
      }
    },
    bufferedBytes: () => batch.bytes + sink.writableLength,
    end,
    /** As `end`; true when all bytes have left. When time is up the rest is dropped. */
    close(timeoutMs: number): Promise<boolean> {
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

  writeTo(sink: Writable, fd: number | undefined): void {
    const total = this.bytes;
    const pieces = this.take();
    const [first] = pieces;
    if (pieces.length === 1 && first !== undefined) writePiece(sink, fd, first);
    else if (total <= CONCAT_BYTES_MAX) writePiece(sink, fd, Buffer.concat(pieces, total));
    else {
      sink.cork();
      for (const piece of pieces) writePiece(sink, fd, piece);
      sink.uncork();
    }
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

/** Gives the kernel what it takes at once, and the stream the rest: that one waits until there is room. */
function writePiece(sink: Writable, fd: number | undefined, piece: Buffer): void {
  const taken = fd !== undefined && isIdle(sink) ? (writeAtOnce(fd, piece) ?? 0) : 0;
  if (taken < piece.length) sink.write(taken === 0 ? piece : piece.subarray(taken));
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
