// A port for what cannot be told to take any: it has to be free until it is used.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to connections and to port 0: nobody else gets one of these by chance. */
const FIRST = 20_000;
const BEHIND = 32_000;
const TRIES_MAX = 100;

export async function freePort(): Promise<string> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = randomInt(FIRST, BEHIND);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return String(port);
  }
  throw new Error('no port is free');
}
