// A peer on a pair of pipes: a message is a line.
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { BROKEN_LINE_END } from '@subluminal/core/session';
import { oneLine } from '../one-line.ts';
import type { Holdable, Incoming, Transport, TransportHandlers } from '../types.ts';
import { type ChunkReader, readChunks } from './read-chunks.ts';
import type { RunningServer } from './spawn.ts';
import { type FrameLimits, lineSplitter } from './split-lines.ts';
import { type ChunkWriter, createWriter, handleRead } from './write-chunks.ts';

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
    const lines = lineSplitter(this.#limits);
    const incoming = (messages: readonly Incoming[]): void => on.incoming(messages);
    const handle = (messages: readonly Incoming[]): void => {
      // A part of a line says nothing yet.
      if (messages.length > 0) handleRead(incoming, messages);
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
