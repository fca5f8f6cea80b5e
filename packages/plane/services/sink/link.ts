// One connection after the other to the ledger's socket, in the background.
import { connect, type Socket } from 'node:net';
import { isIdle, pipeFd, writeAtOnce } from '../../os/pipe-writes.ts';

export interface LinkEvents {
  onOpen(): void;
  /** The ledger has committed this many more of the lines that were sent; true when its next word
   * is not urgent. */
  onAck(count: number): boolean;
  onDrain(): void;
  /** There is no connection, or no longer. */
  onLost(): void;
}

interface LinkOptions {
  readonly socketPath: string;
  /** The first line of every connection. */
  readonly hello: string;
  readonly events: LinkEvents;
}

export type LinkState = 'connecting' | 'open' | 'lost' | 'ended';

const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 2_000;
const CONNECT_TIMEOUT_MS = 1_000;
/** An answer is a few bytes; a peer that sends more without a newline is no ledger. */
const ANSWER_LENGTH_MAX = 65_536;
const READ_BYTES = 4_096;
/** Each answer wakes the process: those of so much time are read together. */
const REST_MS = 50;
/** A ledger that is busy makes room within this time; a longer wait would be felt by the agent. */
const FULL_WAITS_MAX = 8;
const FULL_WAIT_MS = 0.25;
const NOBODY_WAKES = new Int32Array(new SharedArrayBuffer(4));

export class LedgerLink {
  state: LinkState = 'lost';
  readonly #options: LinkOptions;
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #rest: NodeJS.Timeout | undefined;
  #retryMs = RETRY_MIN_MS;
  #answer = '';
  #sent = 0;
  #acked = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Whether bytes wait in this process because the kernel has no room for them. */
  get isClogged(): boolean {
    return (this.#socket?.writableLength ?? 0) > 0;
  }

  connect(): void {
    if (this.state !== 'lost') return;
    clearTimeout(this.#timer);
    this.state = 'connecting';
    this.#answer = '';
    this.#sent = 0;
    this.#acked = 0;
    const socket: Socket = connect({
      path: this.#options.socketPath,
      onread: {
        buffer: Buffer.allocUnsafe(READ_BYTES),
        callback: (length, bytes) => {
          const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1');
          if (!this.#received(text)) return true;
          this.#rest = setTimeout(() => socket.resume(), REST_MS).unref();
          return false;
        },
      },
    });
    this.#socket = socket;
    // Events wait for the process, the process doesn't wait for events: close() does, for a while.
    socket.unref();
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy());
    socket.on('connect', () => this.#opened(socket));
    socket.on('drain', () => this.#options.events.onDrain());
    // The reason is of no use here: `close` follows, and the lines go elsewhere.
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#closed(socket));
  }

  /** The kernel has taken the bytes, unless it has no room: see `isClogged`. */
  write(bytes: Buffer, lines: number): void {
    this.#sent += lines;
    const socket = this.#socket;
    if (socket === undefined) return;
    const taken = isIdle(socket) ? writeSoon(socket, bytes) : 0;
    if (taken < bytes.length) socket.write(bytes.subarray(taken));
  }

  /** Somebody waits for the ledger's word: it is read as it comes. */
  attend(): void {
    if (this.#rest === undefined) return;
    clearTimeout(this.#rest);
    this.#rest = undefined;
    this.#socket?.resume();
  }

  /** Lets the other side read what is on its way, and never comes back. */
  end(): void {
    this.state = 'ended';
    clearTimeout(this.#timer);
    this.attend();
    this.#socket?.destroySoon();
  }

  #opened(socket: Socket): void {
    if (this.state !== 'connecting') return;
    socket.setTimeout(0);
    this.state = 'open';
    socket.write(`${this.#options.hello}\n`);
    this.#options.events.onOpen();
  }

  #closed(socket: Socket): void {
    if (socket !== this.#socket || this.state === 'ended') return;
    this.#socket = undefined;
    this.state = 'lost';
    // Many shims lose the same ledger at the same time: they shall not all come back at once.
    const waitMs = this.#retryMs * (0.5 + Math.random());
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MAX_MS);
    this.#timer = setTimeout(() => this.connect(), waitMs);
    this.#timer.unref();
    this.#options.events.onLost();
  }

  /** Whether there is time until the next answer. */
  #received(text: string): boolean {
    const lines = (this.#answer + text).split('\n');
    this.#answer = lines.pop() ?? '';
    if (this.#answer.length > ANSWER_LENGTH_MAX) this.#socket?.destroy();
    // Each counts from the start of the connection, so the last one says it all.
    const acked = lines.map(ackOf).findLast((count) => count !== undefined);
    if (acked === undefined) return false;
    if (acked < this.#acked || acked > this.#sent) {
      this.#socket?.destroy();
      return false;
    }
    const more = acked - this.#acked;
    this.#acked = acked;
    this.#retryMs = RETRY_MIN_MS;
    return more > 0 && this.#options.events.onAck(more);
  }
}

/**
 * Waits a moment for a full socket: the disk, where the lines would go instead, takes as long, and then the
 * ledger has them twice. Nothing is waited for again until the socket has been empty: see `isIdle`.
 */
function writeSoon(socket: Socket, bytes: Buffer): number {
  const fd = pipeFd(socket);
  if (fd === undefined) return 0;
  let taken = 0;
  for (let waits = 0; ; waits++) {
    const more = writeAtOnce(fd, taken === 0 ? bytes : bytes.subarray(taken));
    taken += more ?? 0;
    if (taken === bytes.length || more === undefined || waits === FULL_WAITS_MAX) return taken;
    Atomics.wait(NOBODY_WAKES, 0, 0, FULL_WAIT_MS);
  }
}

/** N of `{"ack":N}`; other answers are of a later version. */
function ackOf(line: string): number | undefined {
  const digits = /^\s*\{\s*"ack"\s*:\s*(\d{1,15})\s*[,}]/.exec(line)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 10);
}
