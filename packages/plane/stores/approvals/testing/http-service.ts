// A service on 127.0.0.1 that keeps what it was sent and answers as a test tells it; for tests only.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
}
type Answers = (received: Received) => Answer | Promise<Answer>;

export class HttpService {
  readonly received: Received[] = [];
  readonly #server: Server;
  #url = '';
  readonly #looks = new Set<() => void>();

  private constructor(answers: Answers) {
    this.#server = createServer((request, response) => {
      void buffer(request).then(async (body) => {
        const received = { path: request.url ?? '', headers: request.headers, body };
        const answer = await answers(received);
        response.writeHead(answer.status, {
          'content-type': 'application/json',
          ...answer.headers,
        });
        response.end(JSON.stringify(answer.body ?? {}));
        this.received.push(received);
        for (const look of this.#looks) look();
      });
    });
  }

  static async start(answers: Answers): Promise<HttpService> {
    const service = new HttpService(answers);
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    service.#url = `http://127.0.0.1:${(service.#server.address() as AddressInfo).port}/`;
    return service;
  }

  get url(): string {
    return this.#url;
  }

  /** Resolves when it has answered so many requests to this path. */
  async until(path: string, count: number): Promise<readonly Received[]> {
    const those = () => this.received.filter((one) => one.path === path);
    await new Promise<void>((resolve) => {
      const look = () => {
        if (those().length < count) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
    return those();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
