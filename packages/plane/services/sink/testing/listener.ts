// The ledger's end of the wire, as small as it can be: what arrives, and an answer when told to.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

interface Received {
  readonly seq: number;
  readonly line: string;
}

export class Listener {
  readonly hellos: string[] = [];
  readonly received: Received[] = [];
  /** How many lines came in each chunk: one write should be one of them. */
  readonly chunks: number[] = [];
  acks = true;
  reads = true;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #wake: () => void = () => {};

  constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  async listen(path: string): Promise<void> {
    this.#server.listen(path);
    await once(this.#server, 'listening');
  }

  /** Resolves when the condition holds, looked at after each chunk and connection. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** As a kill would: every connection ends at once, and nobody listens. */
  async die(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  answer(text: string): void {
    for (const socket of this.#sockets) socket.write(text);
  }

  resume(): void {
    this.reads = true;
    for (const socket of this.#sockets) socket.resume();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    if (!this.reads) socket.pause();
    let rest = '';
    let count = 0;
    let isFirst = true;
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      if (isFirst) this.hellos.push(lines.shift() ?? '');
      isFirst = false;
      for (const text of lines) this.received.push(split(text));
      if (lines.length > 0) this.chunks.push(lines.length);
      count += lines.length;
      // To answer a peer that is dead closes the socket, and what is still unread is gone: so all
      // that has arrived is read first.
      if (this.acks) setImmediate(() => socket.write(`${JSON.stringify({ ack: count })}\n`));
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#wake();
    });
    this.#wake();
  }

  get connections(): number {
    return this.#sockets.size;
  }
}

function split(text: string): Received {
  const space = text.indexOf(' ');
  return { seq: Number(text.slice(0, space)), line: text.slice(space + 1) };
}
