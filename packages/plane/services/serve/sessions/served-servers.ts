// The servers of the configuration in force. One that has not changed stays as it is, with its sessions. One that lacks
// a secret is not ready, and keeps no other from working.
import { isDeepStrictEqual } from 'node:util';
import { type Failure, isFailure } from '@subluminal/contracts';
import type { ServerEntry } from '../config/serve-config.ts';
import { prepareServer, type ServedServer, type ServerSurroundings } from './served-server.ts';

export class ServedServers {
  readonly #around: ServerSurroundings;
  #servers: ReadonlyMap<string, ServedServer> = new Map();
  /** What processes get of the environment. */
  #processEnv: ServerSurroundings['env'] = {};
  /** Why servers can't be used, by name. */
  #unready: ReadonlyMap<string, string> = new Map();
  /** Servers that are no longer used, but whose sessions may not have ended. */
  readonly #gone = new Set<ServedServer>();

  constructor(around: ServerSurroundings) {
    this.#around = around;
  }

  get(name: string): ServedServer | undefined {
    return this.#servers.get(name);
  }

  isUnready(name: string): boolean {
    return this.#unready.has(name);
  }

  get unreadyCount(): number {
    return this.#unready.size;
  }

  get readyCount(): number {
    return this.#servers.size;
  }

  /** Uses these servers from now on. One that was not ready is tried again. */
  async use(entries: ReadonlyMap<string, ServerEntry>): Promise<Failure | undefined> {
    const next = new Map<string, ServedServer>();
    const unready = new Map<string, string>();
    const processEnv = this.#withoutTokens(entries);
    const isSameEnv = isDeepStrictEqual(processEnv, this.#processEnv);
    for (const [name, entry] of entries) {
      const known = this.#servers.get(name);
      const isProcess = entry.kind === 'command';
      const env = isProcess ? processEnv : this.#around.env;
      const isSame = isDeepStrictEqual(known?.entry, entry) && (isSameEnv || !isProcess);
      const kept = isSame ? known : undefined;
      const server = kept ?? (await prepareServer(entry, { ...this.#around, env }));
      if (typeof server === 'string') unready.set(name, server);
      else if (isFailure(server)) return server;
      else next.set(name, server);
    }
    this.#tell(next, unready);
    for (const [name, server] of this.#servers) {
      if (next.get(name) !== server) this.#gone.add(server);
    }
    this.#servers = next;
    this.#processEnv = processEnv;
    this.#unready = unready;
    return undefined;
  }

  /** The environment for processes: without the variables that are there for other servers. */
  #withoutTokens(entries: ReadonlyMap<string, ServerEntry>): ServerSurroundings['env'] {
    const taken = new Set(
      [...entries.values()].flatMap((entry) =>
        entry.kind === 'remote' ? [entry.bearerEnv, ...Object.values(entry.headerEnv)] : [],
      ),
    );
    const own = Object.entries(this.#around.env).filter(([name]) => !taken.has(name));
    return Object.fromEntries(own);
  }

  #tell(next: ReadonlyMap<string, ServedServer>, unready: ReadonlyMap<string, string>): void {
    const { warn } = this.#around;
    for (const [name, why] of unready) {
      if (this.#unready.get(name) === why) continue;
      warn(`The server ${name} is not ready, and its callers get 503: ${why} ${FIX}`);
    }
    for (const name of this.#unready.keys()) {
      if (next.has(name)) warn(`The server ${name} is ready.`);
    }
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

const FIX =
  'Set the secret and send SIGHUP; a variable, or a secret that config.toml binds anew, needs another start.';
