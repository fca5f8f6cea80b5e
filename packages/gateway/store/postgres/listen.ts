// Hears of changes that any gateway makes. A connection that breaks is made again.
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { clientConfig, translated } from './database.ts';

const FIRST_PAUSE_MS = 50;
const PAUSE_MS_MAX = 5_000;

export interface ChannelListener {
  /** Resolves when no later change is missed. Returns what ends it. */
  watch(changed: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export function channelListener(url: string, channel: string): ChannelListener {
  const watchers = new Set<() => void>();
  const closing = new AbortController();
  let connected: Promise<Client> | undefined;

  const tell = () => {
    for (const changed of watchers) changed();
  };
  const listen = async (): Promise<Client> => {
    const client = new Client({ ...clientConfig(url), statement_timeout: 0, query_timeout: 0 });
    client.on('error', () => {});
    client.on('notification', tell);
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
    } catch (cause) {
      await client.end().catch(() => {});
      throw cause;
    }
    client.once('end', () => {
      if (closing.signal.aborted) return;
      connected = listenAgain();
      // Whoever watches meanwhile waits for it; nobody else has to hear that it was closed.
      connected.catch(() => {});
    });
    return client;
  };
  const listenAgain = async (): Promise<Client> => {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      await wait(pauseMs, undefined, { signal: closing.signal, ref: false });
      try {
        const client = await listen();
        // Something may have changed while nobody listened.
        tell();
        return client;
      } catch {
        closing.signal.throwIfAborted();
      }
    }
  };
  return {
    async watch(changed) {
      const watcher = () => changed();
      connected ??= listen();
      try {
        await translated(() => connected ?? listen());
      } catch (cause) {
        connected = undefined;
        throw cause;
      }
      watchers.add(watcher);
      return async () => {
        watchers.delete(watcher);
      };
    },
    async close() {
      closing.abort();
      watchers.clear();
      const client = await connected?.catch(() => undefined);
      await client?.end().catch(() => {});
    },
  };
}
