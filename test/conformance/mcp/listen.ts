import type { Server } from 'node:http';

/** Listens on a free port of loopback, and says on stdout where. */
export function listen(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
  });
}
