// Which connections a listener keeps. Anybody who reaches it may connect and say nothing; that must
// never shut out a client that speaks. So a connection has to show who it is before it counts:
// until then it waits, and when too many wait, those that have sent nothing go first, oldest first.
import type { Server, Socket } from 'node:net';

export interface GateLimits {
  /** Connections that have shown who they are. */
  readonly connectionsMax: number;
  /** Connections that have not, yet. */
  readonly waitingMax: number;
}

/** More than a listener accepts in one turn: what comes at once is heard before it is dropped. */
const BURST_MAX = 1_024;
/** Connections that wait are accepted in one turn of the event loop, and read from in the next. */
const TURNS = 2;

export class ConnectionGate {
  readonly #limits: GateLimits;
  /** In the order of their arrival. */
  readonly #waiting = new Set<Socket>();
  readonly #admitted = new Set<Socket>();
  /** What a connection with TLS is carried by. */
  readonly #carriers = new WeakMap<Socket, Socket>();
  #isPlanned = false;

  constructor(limits: GateLimits) {
    this.#limits = limits;
  }

  /** For the listener itself: beyond it, nothing is accepted at all. */
  get acceptedMax(): number {
    return this.#limits.connectionsMax + this.#limits.waitingMax + BURST_MAX;
  }

  /** Takes all connections of a server: with TLS from their start, since they may never become secure. */
  watch(server: Server): void {
    const open = new Map<string, Socket>();
    server.maxConnections = this.acceptedMax;
    server.on('connection', (socket: Socket) => {
      const peer = peerOf(socket);
      open.set(peer, socket);
      socket.once('close', () => open.get(peer) === socket && open.delete(peer));
      this.add(socket);
    });
    server.on('secureConnection', (socket: Socket) => {
      const carrier = open.get(peerOf(socket));
      if (carrier !== undefined) this.#carriers.set(socket, carrier);
    });
  }

  /** A connection that nothing is known of. */
  add(socket: Socket): void {
    this.#waiting.add(socket);
    socket.once('close', () => {
      this.#waiting.delete(socket);
      this.#admitted.delete(socket);
    });
    if (this.#waiting.size > this.#limits.waitingMax) this.#planEviction();
  }

  /** It has shown who it is. False when there are too many of these: it is then closed. */
  admit(shown: Socket): boolean {
    const socket = this.#carriers.get(shown) ?? shown;
    if (this.#admitted.has(socket)) return true;
    this.#waiting.delete(socket);
    if (this.#admitted.size >= this.#limits.connectionsMax) {
      socket.destroy();
      return false;
    }
    // Its end may have come before its words were read.
    if (!socket.destroyed) this.#admitted.add(socket);
    return true;
  }

  /** Closes all that have not shown who they are: a listener that ends does not wait for them. */
  dropWaiting(): void {
    for (const socket of this.#waiting) socket.destroy();
  }

  /** Not at once: what has arrived together with the last connection is read first. */
  #planEviction(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    const after = (turns: number): void => {
      if (turns > 0) {
        setImmediate(after, turns - 1);
        return;
      }
      this.#isPlanned = false;
      this.#evict();
    };
    after(TURNS);
  }

  #evict(): void {
    let excess = this.#waiting.size - this.#limits.waitingMax;
    for (const isVictim of [isSilent, () => true]) {
      for (const socket of this.#waiting) {
        if (excess <= 0) return;
        if (!isVictim(socket)) continue;
        excess -= 1;
        this.#waiting.delete(socket);
        socket.destroy();
      }
    }
  }
}

/** No two open connections of a listener have the same. */
function peerOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}

function isSilent({ bytesRead }: Socket): boolean {
  return bytesRead === 0;
}
