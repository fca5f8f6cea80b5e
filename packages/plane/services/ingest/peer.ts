// One connection, whatever it turns out to speak: its bytes, its lines, its end.
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { LineReader } from '../../os/line-reader.ts';

/** What a protocol makes of a connection. */
export interface Talk {
  /** A line; undefined for one that was too long. */
  line(line: Buffer | undefined): void;
  /** The other side will send nothing more. */
  ended(): void;
  /** The connection is gone. */
  closed(): void;
}

interface PeerOptions {
  readonly socket: Socket;
  readonly talk: Talk;
  readonly lineBytesMax: number;
  /** What all peers may hold together. */
  readonly budget: Budget;
  /** All peers hold too much, and this one the most. */
  readonly onDropped: () => void;
  readonly onClose: () => void;
}

export class Peer {
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
  /** Bytes of its requests, until they are answered. */
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

  /** Requests of so many bytes are being worked on. */
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

  /** Sends the last text, and ends the connection when it has been sent. */
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
    this.#lines.readBytes(chunk, (line) => this.#talk.line(line));
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

// What all connections together may hold in memory of lines that have no end yet. One connection may
// hold a long line; many that never end theirs must not take the daemon's memory.

/** Four of the longest lines that there may be. */
const HELD_BYTES_MAX = 128 * 1024 * 1024;

export class Budget {
  readonly #bytesMax: number;
  readonly #held = new Map<Peer, number>();
  #total = 0;

  constructor(bytesMax: number = HELD_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** A peer holds more, or less, than before. When all hold too much, the one that holds most goes. */
  changed(peer: Peer): void {
    const bytes = peer.heldBytes;
    this.#total += bytes - (this.#held.get(peer) ?? 0);
    if (bytes === 0) this.#held.delete(peer);
    else this.#held.set(peer, bytes);
    while (this.#total > this.#bytesMax) {
      const [largest] = [...this.#held].toSorted(([, one], [, other]) => other - one);
      if (largest === undefined) return;
      this.gone(largest[0]);
      largest[0].drop();
    }
  }

  gone(peer: Peer): void {
    this.#total -= this.#held.get(peer) ?? 0;
    this.#held.delete(peer);
  }
}

// Whether everything that had reached the sockets was read. The kernel cannot be asked how much it
// holds; but what it holds is handed out with each turn of the event loop.

/** Two turns: connections that wait are accepted in one, and read from in the next. */
const TURNS = 2;
/** More than the kernel holds for one connection: who sends without end has sent it all before. */
const KERNEL_BYTES_MAX = 8 * 1024 * 1024;
/** One that waits for room may wait for long: for a disk that is full. */
const PAUSED_MS = 5;

/** Resolves when what was readable from all of them at the call has been read. */
export async function allRead(peers: () => Iterable<Peer>): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  const open = new Map<Peer, { from: number; last: number; quiet: number }>();
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
