// The servers of the configuration in force. One that has not changed stays as it is, with its sessions.
import { isDeepStrictEqual } from 'node:util';
import { type Failure, failure } from '@subluminal/contracts';
import type { ServerEntry } from '../config/serve-config.ts';
import { prepareServer, type ServedServer, type ServerSurroundings } from './served-server.ts';

export class ServedServers {
  readonly #around: ServerSurroundings;
  #servers: ReadonlyMap<string, ServedServer> = new Map();
  /** Servers that are no longer used, but whose sessions may not have ended. */
  readonly #gone = new Set<ServedServer>();

  constructor(around: ServerSurroundings) {
    this.#around = around;
  }

  get(name: string): ServedServer | undefined {
    return this.#servers.get(name);
  }

  /** Uses these servers from now on, or none of them when one cannot be made ready. */
  async use(entries: ReadonlyMap<string, ServerEntry>): Promise<Failure | undefined> {
    const next = new Map<string, ServedServer>();
    for (const [name, entry] of entries) {
      const known = this.#servers.get(name);
      const isSame = known !== undefined && isDeepStrictEqual(known.entry, entry);
      const server = isSame ? known : await prepareServer(entry, this.#around);
      if (typeof server === 'string') {
        return failure('SUB_SERVE_VALUE', `the server ${name} cannot be used: ${server}`, FIX);
      }
      next.set(name, server);
    }
    for (const [name, server] of this.#servers) {
      if (next.get(name) !== server) this.#gone.add(server);
    }
    this.#servers = next;
    return undefined;
  }

  /** Once the sessions of servers that are gone have ended. */
  async closeGone(): Promise<void> {
    const gone = [...this.#gone];
    this.#gone.clear();
    await Promise.all(gone.map((server) => server.close()));
  }

  async close(): Promise<void> {
    await this.use(new Map());
    await this.closeGone();
  }
}

const FIX = 'Correct its secrets in config.toml, or remove it from `servers`.';
