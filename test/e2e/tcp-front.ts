// A port that stays while what is behind it comes and goes, and the place where a network is cut.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class TcpFront {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: number | undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket: Socket) => this.#take(socket));
  }

  static async open(): Promise<TcpFront> {
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpFront(server);
  }

  /** Leads new connections to this port; to none, and they are cut at once. */
  leadTo(port: number | undefined): void {
    this.#target = port;
  }

  /** Cuts all connections that are open. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.leadTo(undefined);
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #take(socket: Socket): void {
    if (this.#target === undefined) return void socket.resetAndDestroy();
    const port = this.#target;
    const onward = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one);
      one.setNoDelay();
      one.pipe(other);
      one.on('error', () => other.resetAndDestroy());
      one.once('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
