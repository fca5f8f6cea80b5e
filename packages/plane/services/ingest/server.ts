// The daemon's socket: its connections, the protocols they speak, and its orderly end.
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Failure, failure } from '@subluminal/contracts';
import { ConnectionGate, listenOnUnixSocket } from '../../os/index.ts';
import { Controller, countStale, FollowerTalk, LineTaker } from './conversations.ts';
import { Intake, type IntakeLimits } from './intake.ts';
import { allRead, Budget, Peer, type Talk } from './peer.ts';
import {
  type IngestLedger,
  type LedgerStatus,
  LINE_BYTES_MAX,
  type NumberedLine,
  type PruneCounts,
  type PruneFilter,
  REQUEST_BYTES_MAX,
  readHello,
  type TakenCounts,
} from './protocol.ts';
import { Sweeper } from './sweeper.ts';

export interface IngestOptions {
  readonly socketPath: string;
  readonly ledger: IngestLedger;
  /** The folder of the spool. */
  readonly spool: string;
  readonly version: string;
  readonly warn: (message: string) => void;
  /** A client asked for the end; the owner calls `close`. */
  readonly onStop: () => void;
  /** The ledger takes nothing any more. */
  readonly onFinal: (failure: Failure) => void;
  /** No connection and nothing in the spool for so long. */
  readonly idle?: { readonly afterMs: number; readonly onIdle: () => void };
  readonly limits?: Partial<IntakeLimits>;
  /** Bytes that all connections may hold of lines without an end; 128 MiB. */
  readonly heldBytesMax?: number;
  /** The status of the daemon is not given before. */
  readonly ready?: Promise<unknown>;
}

type HttpState = Pick<LedgerStatus, 'http' | 'http_error'>;

const BACKLOG = 1_024;
const SWEEP_MS = 30_000;
/** A shim that has just connected completes its file of the spool, even when it sends nothing more. */
const AFTER_HELLO_MS = [50, 1_000] as const;
const HELLO_BYTES_MAX = 65_536;
const HELLO_MS = 10_000;
const CONNECTIONS = { connectionsMax: 4_096, waitingMax: 256 };
const DROPPED =
  'too much was held for lines that did not end: the connection that held most was closed';
const DROPPED_QUIET_MS = 60_000;
const SILENCE: Talk = {
  line: () => undefined,
  ended: () => undefined,
  closed: () => undefined,
};

/** Listens on the socket, or says why it cannot. */
export async function openIngest(options: IngestOptions): Promise<IngestServer | Failure> {
  const { socketPath } = options;
  const daemon = new IngestServer(options);
  // A peer that stops writing may still listen. And nothing is read ahead while a socket is paused:
  // an error would throw away what was read and not yet taken.
  const server = createServer({ allowHalfOpen: true, highWaterMark: 1 }, (socket) =>
    daemon.accept(socket),
  );
  const listening = await listenOnUnixSocket(server, socketPath, { backlog: BACKLOG });
  if (listening.kind === 'taken') {
    const message = `another daemon answers on ${socketPath}.`;
    return failure('SUB_LEDGER_IO', message, 'Stop it, or set ledger.socket.');
  }
  if (listening.kind === 'failed') {
    const message = `${socketPath} cannot be listened on (${listening.why}).`;
    return failure('SUB_LEDGER_IO', message, 'Check its folder, or set ledger.socket.');
  }
  server.on('error', () => undefined);
  daemon.begin(server, listening.unlink);
  return daemon;
}

export class IngestServer {
  readonly #options: IngestOptions;
  readonly #intake: Intake;
  readonly #sweeper: Sweeper;
  readonly #peers = new Set<Peer>();
  readonly #followers = new Set<FollowerTalk>();
  readonly #listeners = new Set<() => void>();
  readonly #holders = new Set<symbol>();
  readonly #startedAt = new Date().toISOString();
  readonly #budget: Budget;
  readonly #gate = new ConnectionGate(CONNECTIONS);
  #bound: { readonly server: Server; readonly unlink: () => void } | undefined;
  #http: HttpState = {};
  #channels: readonly string[] = [];
  #committed = 0;
  #conflicts = 0;
  #stays: boolean;
  #isClosing = false;
  #quietUntilMs = 0;
  #asker: Peer | undefined;
  #sweepTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: IngestOptions) {
    this.#options = options;
    const { ledger, spool, warn, onFinal, limits = {} } = options;
    this.#stays = options.idle === undefined;
    this.#budget = new Budget(options.heldBytesMax);
    const onTaken = (counts: TakenCounts) => this.#taken(counts);
    this.#intake = new Intake({ ledger, warn, onFinal, onTaken, limits });
    const onWork = () => this.touch();
    this.#sweeper = new Sweeper({ spool, ledger, intake: this.#intake, warn, onWork });
  }

  begin(server: Server, unlink: () => void): void {
    this.#bound = { server, unlink };
    server.maxConnections = this.#gate.acceptedMax;
    this.#sweepTimer = setInterval(() => void this.#sweeper.sweep(), SWEEP_MS);
    void this.#sweeper.sweep();
    this.touch();
  }

  accept(socket: Socket): void {
    this.#gate.add(socket);
    const timer = setTimeout(() => refuse(peer, 'the first line did not come'), HELLO_MS);
    const peer = new Peer({
      socket,
      lineBytesMax: HELLO_BYTES_MAX,
      talk: {
        line: (line) => {
          clearTimeout(timer);
          const isKnown = line !== undefined && this.#converse(peer, line.toString('utf8'));
          if (isKnown) this.#gate.admit(socket);
          if (!isKnown) refuse(peer, 'the first line does not say a protocol that is spoken here');
        },
        ended: () => peer.end(),
        closed: () => clearTimeout(timer),
      },
      budget: this.#budget,
      onDropped: () => this.#dropped(),
      onClose: () => {
        this.#peers.delete(peer);
        this.touch();
      },
    });
    this.#peers.add(peer);
    this.touch();
  }

  /** Commits all lines that had reached the sockets and the spool. */
  async sync(): Promise<void> {
    await this.#readAndCommit();
    await this.#sweeper.sweep();
  }

  /** Takes lines that came another way; all or nothing. `isDurable`: on disk, and signed, when it resolves. */
  async take(lines: readonly NumberedLine[], isDurable = false): Promise<TakenCounts> {
    const { ledger } = this.#options;
    const release = this.hold();
    try {
      const counts = await ledger.ingest(lines);
      this.#taken(counts);
      if (isDurable) await ledger.seal();
      return counts;
    } finally {
      release();
    }
  }

  prune(filter: PruneFilter, isDry: boolean): Promise<PruneCounts> {
    const { ledger } = this.#options;
    return isDry ? countStale(ledger, filter) : ledger.prune(filter);
  }

  /** From now on it ends only when it is told to. */
  stay(): void {
    this.#stays = true;
    this.touch();
  }

  /** Ends the daemon; the connection of the asker is kept until then. */
  stop(asker: Peer): void {
    this.#asker = asker;
    this.#options.onStop();
  }

  /** Without the connection of the asker. */
  async status(asker: Peer): Promise<LedgerStatus> {
    await this.#options.ready;
    return {
      pid: process.pid,
      version: this.#options.version,
      started_at: this.#startedAt,
      connections: [...this.#peers].filter((peer) => peer !== asker).length,
      events_committed: this.#committed,
      stays: this.#stays,
      conflicts: this.#conflicts,
      ...this.#http,
      ...(this.#channels.length > 0 && { channels: this.#channels }),
    };
  }

  /** Where the HTTP API is served, or why it is not. */
  setHttp(http: HttpState): void {
    this.#http = http;
  }

  /** By which channels people are asked for approvals. */
  setChannels(names: readonly string[]): void {
    this.#channels = names;
  }

  /** Something used the daemon in another way: it is not idle. */
  touch(): void {
    const { idle } = this.#options;
    clearTimeout(this.#idleTimer);
    const isUsed = this.#peers.size > 0 || this.#holders.size > 0;
    if (idle === undefined || this.#stays || isUsed || this.#isClosing) return;
    this.#idleTimer = setTimeout(idle.onIdle, idle.afterMs);
  }

  /** Keeps the daemon from being idle until the result is called. */
  hold(): () => void {
    const holder = Symbol('holder');
    this.#holders.add(holder);
    this.touch();
    return () => {
      this.#holders.delete(holder);
      this.touch();
    };
  }

  /** Calls back like `onAdded`, and keeps the daemon from being idle meanwhile. */
  subscribe(listener: () => void): () => void {
    const ends = [this.hold(), this.onAdded(listener)];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Calls back after each commit that added events; the result takes that back. */
  onAdded(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Reads, commits and answers what has arrived, for at most `timeoutMs`; then runs `last` and ends
   * all connections.
   */
  async close(timeoutMs: number, last: () => Promise<void>): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#idleTimer);
    // Nobody finds the socket any more; connections that wait are accepted and read.
    this.#bound?.unlink();
    const timer = setTimeout(() => this.#intake.end(), timeoutMs);
    await this.#readAndCommit();
    this.#bound?.server.close();
    for (const peer of this.#peers) if (peer !== this.#asker) peer.end();
    await this.#sweeper.stop();
    await nextTurn();
    await this.#intake.settled();
    clearTimeout(timer);
    this.#intake.end();
    try {
      await last();
    } finally {
      for (const peer of this.#peers) peer.destroy();
    }
  }

  async #readAndCommit(): Promise<void> {
    await allRead(() => [...this.#peers].filter(({ maySendLines }) => maySendLines));
    await this.#intake.settled();
  }

  /** False when the first line names no known protocol. */
  #converse(peer: Peer, text: string): boolean {
    const hello = readHello(text);
    if (hello === undefined) return false;
    peer.maySendLines = hello.kind === 'ingest';
    switch (hello.kind) {
      case 'ingest': {
        // A shim that has gone may have left something on disk.
        const onClosed = () => void (this.#isClosing || this.#sweeper.sweep());
        const { producer } = hello;
        const before = () => this.#sweeper.takeOf(producer);
        const taker = new LineTaker({ peer, intake: this.#intake, producer, before, onClosed });
        peer.speak(taker, LINE_BYTES_MAX);
        this.#sweepSoon();
        return true;
      }
      case 'control':
        peer.speak(new Controller(peer, this), REQUEST_BYTES_MAX);
        return true;
      case 'follow': {
        const follower = new FollowerTalk(peer, this.#options.ledger);
        this.#followers.add(follower);
        peer.speak(follower, HELLO_BYTES_MAX);
        void this.#feed(peer, follower, hello);
        return true;
      }
    }
  }

  /** A client that does this does it often: one warning a minute. */
  #dropped(): void {
    const nowMs = performance.now();
    if (nowMs < this.#quietUntilMs) return;
    this.#quietUntilMs = nowMs + DROPPED_QUIET_MS;
    this.#options.warn(DROPPED);
  }

  #sweepSoon(): void {
    for (const waitMs of AFTER_HELLO_MS) {
      setTimeout(() => void (this.#isClosing || this.#sweeper.sweep()), waitMs).unref();
    }
  }

  async #feed(
    peer: Peer,
    follower: FollowerTalk,
    wish: { readonly after?: number; readonly backlog?: number },
  ): Promise<void> {
    try {
      await follower.feed(wish);
    } catch (cause) {
      if (!this.#isClosing) this.#options.warn(`a follower could not be served: ${String(cause)}`);
    } finally {
      this.#followers.delete(follower);
      peer.end();
    }
  }

  #taken({ accepted, conflicts = 0 }: TakenCounts): void {
    this.#conflicts += conflicts;
    if (accepted === 0) return;
    this.#committed += accepted;
    for (const follower of this.#followers) follower.moved();
    for (const listener of this.#listeners) listener();
  }
}

function refuse(peer: Peer, error: string): void {
  peer.maySendLines = false;
  peer.speak(SILENCE, HELLO_BYTES_MAX);
  peer.end(`${JSON.stringify({ ok: false, error })}\n`);
}
