// A proxy that takes CONNECT alone, and leads every name to one port of this machine.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

export interface ConnectProxy {
  readonly port: number;
  /** What was asked for: `host:port`, and the login. */
  readonly asked: { readonly target: string; readonly login: string | undefined }[];
  close(): void;
}

/** Without a port, it refuses everybody. */
export async function startConnectProxy(leadsTo?: number): Promise<ConnectProxy> {
  const asked: { target: string; login: string | undefined }[] = [];
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '', headers }, client, head) => {
    asked.push({ target: url, login: headers['proxy-authorization'] });
    client.on('error', () => {});
    if (leadsTo === undefined) {
      client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    const there = connect(leadsTo, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      there.write(head);
      there.pipe(client).pipe(there);
    });
    there.on('error', () => client.destroy());
    client.on('close', () => there.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, asked, close: () => void server.close() };
}
