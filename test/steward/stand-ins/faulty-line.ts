// A line to a server that can be cut or held up when something certain passes.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface FaultyLine {
  readonly port: number;
  /** Cuts the line when this passes from the client to the server. It does not arrive. */
  cutAt: string | undefined;
  /** Lets nothing pass any more when this comes from the client. */
  holdAt: string | undefined;
  stop(): Promise<void>;
}

export async function faultyLine(toPort: number): Promise<FaultyLine> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(toPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.pipe(client);
    client.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      if (line.cutAt !== undefined && text.includes(line.cutAt)) client.destroy();
      else if (line.holdAt === undefined || !text.includes(line.holdAt)) upstream.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const line: FaultyLine = {
    port: (server.address() as AddressInfo).port,
    cutAt: undefined,
    holdAt: undefined,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return line;
}
