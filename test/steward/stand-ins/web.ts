// The web for tests: a proxy that is every host at once, serves the pages it was given, and keeps what was asked.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface WebStandIn {
  /** For `HTTP_PROXY`. */
  readonly proxyUrl: string;
  /** Pages by address, without what follows `?`. */
  readonly pages: Map<string, string>;
  /** Whole addresses that were asked for, as they came. */
  readonly requests: readonly string[];
  stop(): Promise<void>;
}

export async function startWeb(): Promise<WebStandIn> {
  const pages = new Map<string, string>();
  const requests: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { url = '/', headers } = request;
    const address = URL.canParse(url) ? url : `http://${headers.host ?? 'unknown'}${url}`;
    requests.push(address);
    const page = pages.get(address.replace(/[?#].*$/, ''));
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' });
    response.end(page ?? 'There is no such page.');
  };
  const server = createServer(answer);
  // A tunnel ends here as well: what comes through it is read as HTTP.
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.write('HTTP/1.1 200 Connected\r\n\r\n');
    server.emit('connection', socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    proxyUrl: `http://127.0.0.1:${port}`,
    pages,
    requests,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
