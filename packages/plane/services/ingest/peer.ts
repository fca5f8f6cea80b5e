// One connection, whatever it turns out to speak: its bytes, its lines, its end.
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** What a protocol makes of a connection. */
export interface Talk {
  /** A line; undefined for one that was too long. */
  line(text: string | undefined): void;
  /** The other side will send nothing more. */
  ended(): void;
  /** The connection is gone. */
  closed(): void;
}

interface PeerOptions {
  readonly socket: Socket;
  readonly talk: Talk;
  readonly lineBytesMax: number;
  /** Of what all peers hold. */
  readonly budget: Budget;
  /** Too much is held, by this one more than by any other. */
  readonly onDropped: () => void;
  readonly onClose: () => void;
}

export class Peer implements Holder {
  /** Whether it may send lines for the ledger: until its first line says otherwise. */
  maySendLines = true;
  /** Bytes that were read. */
  bytesRead = 0;
  /** Reading waits for room. */
  isPaused = false;
  #talk: Talk;
  readonly #socket: Socket;
  readonly #lines: LineReader;
  readonly #budget: Budget;
  readonly #onDropped: () => void;
  /** What it has asked for, until it is answered. */
  #askedBytes = 0;
  #isGone = false;
  #isDeaf = false;
  #latest: string | undefined;

  constructor({ socket, talk, lineBytesMax, budget, onDropped, onClose }: PeerOptions) {
    this.#socket = socket;
    this.#talk = talk;
    this.#budget = budget;
    this.#onDropped = onDropped;
    this.#lines = new LineReader(lineBytesMax);
    forgiveWrites(socket, () => {
      this.#isDeaf = true;
    });
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('end', () => this.#talk.ended());
    // `close` follows.
    socket.on('error', () => undefined);
    socket.on('drain', () => this.#writeLatest());
    socket.on('close', () => {
      this.#isDeaf = true;
      this.#isGone = true;
      this.#budget.gone(this);
      this.#talk.closed();
      onClose();
    });
  }

  /** From now on it speaks this, with lines of so many bytes. */
  speak(talk: Talk, lineBytesMax: number): void {
    this.#talk = talk;
    this.#lines.bytesMax = lineBytesMax;
  }

  get heldBytes(): number {
    return this.#isGone ? 0 : this.#lines.heldBytes + this.#askedBytes;
  }

  /** So much of what it sent is being worked on. */
  holds(bytes: number): void {
    this.#askedBytes = bytes;
    this.#budget.changed(this);
  }

  drop(): void {
    this.#isGone = true;
    this.#onDropped();
    this.#socket.destroy();
  }

  pause(): void {
    this.isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.#socket.resume();
  }

  write(text: string): void {
    if (!this.#isDeaf) this.#socket.write(text);
  }

  /** Resolves when everything written is with the kernel, or nobody is there any more. */
  drained(): Promise<void> {
    if (this.#isDeaf || this.#socket.writableLength === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#socket.off('drain', done);
        this.#socket.off('close', done);
        resolve();
      };
      this.#socket.on('drain', done);
      this.#socket.on('close', done);
    });
  }

  /** Of texts that supersede each other only the last one is kept for a peer that does not read. */
  writeLatest(text: string): void {
    this.#latest = text;
    this.#writeLatest();
  }

  /** Says the last words, and lets go when they have been heard. */
  end(text = ''): void {
    if (this.#isDeaf) this.#socket.destroy();
    else this.#socket.end(text, () => this.#socket.destroy());
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.bytesRead += chunk.length;
    if (this.#isGone) return;
    const before = this.#lines.heldBytes;
    this.#lines.read(chunk, (line) => this.#talk.line(line === TOO_LONG ? undefined : line));
    if (this.#lines.heldBytes !== before) this.#budget.changed(this);
  }

  #writeLatest(): void {
    const text = this.#latest;
    if (text === undefined || this.#isDeaf || this.#socket.writableLength > 0) return;
    this.#latest = undefined;
    this.#socket.write(text);
  }
}

/**
 * A write to a peer that was killed fails, and Node then destroys the socket together with all that
 * the peer had sent and nobody has read yet. So a failed write is taken as a written one: reading
 * goes on to the end, which is near.
 */
function forgiveWrites(socket: Socket, onFailed: () => void): void {
  // oxlint-disable no-underscore-dangle -- That is how a stream's implementation is called.
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  const forgiving = (done: () => void) => (cause?: Error | null) => {
    if (cause) onFailed();
    done();
  };
  socket._write = (chunk, encoding, done) => write(chunk, encoding, forgiving(done));
  if (writev) socket._writev = (chunks, done) => writev(chunks, forgiving(done));
  // oxlint-enable no-underscore-dangle
}

// Bytes to lines, each within a limit.

const NEWLINE = 0x0a;

/** A line that was too long to be kept. */
export const TOO_LONG = Symbol('too long');

/** Parts from this size on are kept as they came; smaller ones are gathered in a block. */
const PART_BYTES_MIN = 16 * 1024;
const BLOCK_BYTES_MIN = 256;
const BLOCK_BYTES_MAX = 64 * 1024;

export class LineReader {
  bytesMax: number;
  #parts: Buffer[] = [];
  /** Where small parts go: each by itself would take many times its size. */
  #block: Buffer = Buffer.alloc(0);
  #used = 0;
  #length = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Bytes of a line that has no end yet. */
  get restLength(): number {
    return this.#length;
  }

  /** Bytes of memory that it takes. */
  get heldBytes(): number {
    if (this.#length > this.bytesMax) return 0;
    return this.#length - this.#used + this.#block.length;
  }

  /** Calls `take` for each line that is whole by now. */
  read(chunk: Buffer, take: (line: string | typeof TOO_LONG) => void): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      // Most lines lie within one chunk: no copy.
      if (this.#length === 0 && at - from <= this.bytesMax) {
        take(chunk.toString('utf8', from, at));
      } else {
        this.#add(chunk.subarray(from, at));
        take(this.#length > this.bytesMax ? TOO_LONG : this.#whole());
        this.#forget();
        this.#length = 0;
      }
      from = at + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  #whole(): string {
    return Buffer.concat([...this.#parts, this.#block.subarray(0, this.#used)]).toString();
  }

  #forget(): void {
    this.#parts = [];
    this.#block = Buffer.alloc(0);
    this.#used = 0;
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.bytesMax) this.#forget();
    else if (part.length >= PART_BYTES_MIN) {
      this.#endBlock();
      this.#parts.push(part);
    } else this.#gather(part);
  }

  #gather(part: Buffer): void {
    if (this.#used + part.length > BLOCK_BYTES_MAX) this.#endBlock();
    const needed = this.#used + part.length;
    if (needed > this.#block.length) {
      const size = Math.max(BLOCK_BYTES_MIN, 2 ** Math.ceil(Math.log2(needed)));
      const grown = Buffer.allocUnsafeSlow(size);
      this.#block.copy(grown, 0, 0, this.#used);
      this.#block = grown;
    }
    part.copy(this.#block, this.#used);
    this.#used = needed;
  }

  /** What was gathered becomes a part. */
  #endBlock(): void {
    if (this.#used > 0) this.#parts.push(this.#block.subarray(0, this.#used));
    this.#block = Buffer.alloc(0);
    this.#used = 0;
  }
}

// What all connections together may hold in memory of lines that have no end yet. One connection may
// hold a long line; many that never end theirs must not take the daemon's memory.

export interface Holder {
  readonly heldBytes: number;
  /** Lets go of what it holds, and of the connection. */
  drop(): void;
}

/** Four of the longest lines that there may be. */
const HELD_BYTES_MAX = 128 * 1024 * 1024;

export class Budget {
  readonly #bytesMax: number;
  readonly #held = new Map<Holder, number>();
  #total = 0;

  constructor(bytesMax: number = HELD_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** It holds more, or less, than before. The one that holds most goes when it is too much. */
  changed(holder: Holder): void {
    const bytes = holder.heldBytes;
    this.#total += bytes - (this.#held.get(holder) ?? 0);
    if (bytes === 0) this.#held.delete(holder);
    else this.#held.set(holder, bytes);
    while (this.#total > this.#bytesMax) {
      const largest = this.#largest();
      if (largest === undefined) return;
      this.gone(largest);
      largest.drop();
    }
  }

  gone(holder: Holder): void {
    this.#total -= this.#held.get(holder) ?? 0;
    this.#held.delete(holder);
  }

  #largest(): Holder | undefined {
    let largest: Holder | undefined;
    for (const [holder, bytes] of this.#held) {
      if (largest === undefined || bytes > (this.#held.get(largest) ?? 0)) largest = holder;
    }
    return largest;
  }
}

// Whether everything that had reached the sockets was read. The kernel cannot be asked how much it
// holds; but what it holds is handed out with each turn of the event loop.

export interface Readable {
  readonly bytesRead: number;
  readonly isPaused: boolean;
}

/** Two turns: connections that wait are accepted in one, and read from in the next. */
const TURNS = 2;
/** More than the kernel holds for one connection: who sends without end has sent it all before. */
const KERNEL_BYTES_MAX = 8 * 1024 * 1024;
/** One that waits for room may wait for long: for a disk that is full. */
const PAUSED_MS = 5;

/** Resolves when what was readable from all of them at the call has been read. */
export async function allRead(peers: () => Iterable<Readable>): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  const open = new Map<Readable, { from: number; last: number; quiet: number }>();
  for (const peer of peers()) {
    open.set(peer, { from: peer.bytesRead, last: peer.bytesRead, quiet: 0 });
  }
  while (open.size > 0) {
    const isHeldUp = [...open.keys()].every(({ isPaused }) => isPaused);
    await (isHeldUp ? pause(PAUSED_MS) : nextTurn());
    for (const [peer, seen] of open) {
      const isQuiet = peer.bytesRead === seen.last && !peer.isPaused;
      seen.quiet = isQuiet ? seen.quiet + 1 : 0;
      seen.last = peer.bytesRead;
      if (seen.quiet >= TURNS || peer.bytesRead - seen.from > KERNEL_BYTES_MAX) open.delete(peer);
    }
  }
}
