// A peer on a pair of pipes: a message is a line.
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { BROKEN_LINE_END } from '@subluminal/core/session';
import { isIdle, pipeFd, writeAtOnce } from '../../../os/pipe-writes.ts';
import { oneLine } from '../one-line.ts';
import type { Holdable, Incoming, Transport, TransportHandlers } from '../types.ts';
import { type ChunkReader, readChunks } from './read-chunks.ts';
import type { RunningServer } from './spawn.ts';
import { type FrameLimits, LineSplitter } from './split-lines.ts';

interface Pipes {
  readonly input: Readable;
  readonly output: Writable;
}

const LINE_FEED = 0x0a;
const NEWLINE = Buffer.from('\n');
const BROKEN = Buffer.from(BROKEN_LINE_END);
const LOOK_MS = 1_000;
/** A large message that stalls for this long, or keeps others waiting for this long, is given up. */
const STILL_MS = 5_000;
const WAIT_MS = 60_000;

/** The agent on our own stdin and stdout; to be opened once in a process. */
export function openAgent(limits: FrameLimits): Transport {
  return new StdioTransport(openAgentEnds(), limits);
}

export function openServer({ stdout, stdin }: RunningServer, limits: FrameLimits): Transport {
  return new StdioTransport({ input: stdout, output: stdin }, limits);
}

class StdioTransport implements Transport {
  readonly #input: Readable;
  readonly #limits: FrameLimits;
  readonly #writer: ChunkWriter;
  #on: TransportHandlers | undefined;
  #reader: ChunkReader | undefined;
  #isStopped = false;
  /** A large message is on its way: whole messages wait until it is over. */
  #isStreaming = false;
  #bytesStreamed = 0;
  readonly #waiting: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor({ input, output }: Pipes, limits: FrameLimits) {
    this.#input = input;
    this.#limits = limits;
    this.#writer = createWriter(output, { onBroken: () => this.#on?.broken?.() });
  }

  read(on: TransportHandlers): void {
    this.#on = on;
    const lines = new LineSplitter(this.#limits);
    const incoming = (messages: readonly Incoming[]): void => on.incoming(messages);
    const handle = (messages: readonly Incoming[]): void => {
      // A part of a line says nothing yet.
      if (messages.length > 0 && !this.#isStopped) handleRead(incoming, messages);
    };
    this.#reader = readChunks(this.#input, {
      chunk: (chunk) => handle(lines.feed(chunk)),
      memory: { room: () => lines.room(), took: (bytes) => handle(lines.took(bytes)) },
      end: () => {
        handle(lines.end());
        on.end();
      },
    });
  }

  hold(): void {
    this.#reader?.hold();
  }

  release(): void {
    this.#reader?.release();
  }

  stop(): void {
    // Node reads the pipe of a child that has ended to its end, whatever we want.
    this.#isStopped = true;
    this.#reader?.stop();
  }

  write(message: Uint8Array): void {
    const bytes = asBuffer(message);
    if (!this.#isStreaming) return this.#writeLine(bytes);
    if (this.#waiting.push(bytes) > 1 || this.#on?.stalled === undefined) return;
    this.hold();
    this.#watchStream();
  }

  writePart(bytes: Uint8Array): void {
    this.#isStreaming = true;
    this.#bytesStreamed += bytes.length;
    this.#writer.write(asBuffer(bytes));
  }

  endParts(): void {
    this.#endStream(NEWLINE);
  }

  abortParts(): void {
    this.#endStream(BROKEN);
  }

  holds(...sources: readonly Holdable[]): void {
    this.#writer.holds(...sources);
  }

  end(): void {
    this.#writer.end();
  }

  close(timeoutMs: number): Promise<boolean> {
    this.#writeWaiting();
    return this.#writer.close(timeoutMs);
  }

  /** A message of another kind of transport has no newline. */
  #writeLine(bytes: Buffer): void {
    if (bytes.indexOf(LINE_FEED) === bytes.length - 1) return this.#writer.write(bytes);
    // Whatever brought it here, it is one message.
    this.#writer.write(asBuffer(oneLine(bytes)));
    this.#writer.write(NEWLINE);
  }

  #endStream(last: Buffer): void {
    this.#writer.write(last);
    this.#isStreaming = false;
    this.#writeWaiting();
  }

  #writeWaiting(): void {
    clearInterval(this.#timer);
    if (this.#waiting.length === 0) return;
    for (const bytes of this.#waiting.splice(0)) this.#writeLine(bytes);
    if (this.#on?.stalled !== undefined) this.release();
  }

  #watchStream(): void {
    let before = this.#bytesStreamed;
    let stillMs = 0;
    let waitMs = 0;
    const look = (): void => {
      stillMs = this.#bytesStreamed === before ? stillMs + LOOK_MS : 0;
      before = this.#bytesStreamed;
      waitMs += LOOK_MS;
      if (stillMs >= STILL_MS || waitMs >= WAIT_MS) this.#on?.stalled?.();
    };
    this.#timer = setInterval(look, LOOK_MS).unref();
  }
}

/** The text of valid UTF-8. */
export function decodeBytes(bytes: Uint8Array, start: number, end: number): string {
  return asBuffer(bytes).toString('utf8', start, end);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Our own stdin and stdout. Pipes and sockets are opened as bare
 * sockets, which spares the start-up cost of `process.stdin` and `process.stdout`; for files and
 * terminals those two know the details.
 */
export function openAgentEnds(): Pipes {
  return {
    input: isPipe(0) ? new Socket({ fd: 0, readable: true, writable: false }) : process.stdin,
    output: isPipe(1) ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout,
  };
}

function isPipe(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

// Writes chunks to a stream: what one turn of the event loop writes leaves as one write, and a
// full stream holds its sources back. No promise and no callback per message.

export interface WriterOptions {
  /** Above this many waiting bytes the sources are held. */
  readonly bytesHigh?: number;
  /** The other side is gone, and the waiting bytes are lost. Called once. */
  readonly onBroken?: (cause: Error) => void;
}

type ChunkWriter = ReturnType<typeof createWriter>;

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
