// The HTTP API beside the socket. Where it listens, and with which token, stands in a private file.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { readRegularFile, thisSystem } from '../../os/index.ts';
import type { Ledger } from '../../stores/ledger/index.ts';
import type { Workbench } from '../api/index.ts';
import type { IngestServer } from '../ingest/server.ts';
import type { Approvals } from './approvals.ts';
import type { LedgerHome } from './home.ts';
import { keepPageMemory, readPageMemory } from './page-memory.ts';
import type { OpenWorkbench } from './workbench-host.ts';

interface HttpOptions {
  readonly home: LedgerHome;
  readonly ledger: Ledger;
  readonly server: IngestServer;
  readonly approvals: Pick<Approvals, 'desk' | 'callbacks'>;
  /** What the commands of `sub` give to the API; opened when it is first asked for. */
  readonly openWorkbench?: OpenWorkbench | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  readonly version: string;
  /** The folder of the built page; undefined where there is none. */
  readonly pages: string | undefined;
  readonly log: (message: string) => void;
}

interface Http {
  close(): Promise<void>;
}

const TOKEN_BYTES = 32;
const ADDRESS_BYTES_MAX = 65_536;
const PRIVATE_MODE = 0o600;
const NONE: Http = { close: () => Promise.resolve() };

/** Opens nothing when it is off or cannot be served: the ledger works without. */
export async function openHttp(options: HttpOptions): Promise<Http> {
  const { home, ledger, server, approvals, version, pages, log } = options;
  const { desk, callbacks } = approvals;
  const address = addressOf(home.config['ledger.http']);
  if (address === undefined) return NONE;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const memory = readPageMemory(home.paths.home);
  const closing = new AbortController();
  // Loaded only by a daemon that serves it.
  const { openApi } = await import('../api/index.ts');
  const open = (port: number) =>
    openApi({
      reader: ledger.store,
      // A daemon that is asked by HTTP is not idle.
      onRequest: () => server.touch(),
      take: (lines) => server.take(lines),
      feed: { tip: () => ledger.lastSeq, subscribe: (listener) => server.subscribe(listener) },
      desk,
      callbacks,
      workbench: lazyWorkbench(options, closing.signal),
      pages: pages === undefined ? undefined : { folder: pages, secret: memory.secret },
      runDir: home.paths.run,
      hasSteward: () => existsSync(join(home.paths.home, 'steward')),
      user: thisSystem().userName() ?? 'unknown',
      token,
      host: address.host,
      port,
      version,
      nowMs: Date.now,
      onWarning: log,
    });
  // A page that is open looks for the daemon where the last one was.
  const isFree = address.port === 0 && memory.port !== 0;
  const again = isFree ? await open(memory.port) : undefined;
  const api = again === undefined || isFailure(again) ? await open(address.port) : again;
  const unserved = (why: string): Http => {
    log(`the HTTP API is not served: ${why}`);
    server.setHttp({ http_error: why });
    return NONE;
  };
  if (isFailure(api)) return unserved(`${api.message} ${api.fix}`);
  const file = join(home.paths.run, 'ledger.json');
  try {
    await writePrivately(file, `${JSON.stringify({ pid: process.pid, url: api.url, token })}\n`);
  } catch (cause) {
    // Nobody could learn the token.
    await api.close();
    return unserved(`${file} cannot be written (${String(cause)})`);
  }
  const { url } = api;
  if (pages !== undefined) keepPageMemory(home.paths.home, { ...memory, port: portOf(url) });
  server.setHttp({ http: { url, ...(pages !== undefined && { page: url }) } });
  return {
    close: async () => {
      closing.abort();
      await removeOwn(file, token);
      await api.close();
    },
  };
}

/** Opened once; an opening that failed is tried again. */
function lazyWorkbench(options: HttpOptions, closing: AbortSignal) {
  const { home, env, ledger, server, log, openWorkbench } = options;
  if (openWorkbench === undefined) return undefined;
  let opened: Promise<Workbench> | undefined;
  return () => {
    opened ??= openWorkbench({ home, env, ledger, log, closing, sync: () => server.sync() }).catch(
      (cause: unknown) => {
        opened = undefined;
        throw cause;
      },
    );
    return opened;
  };
}

function addressOf(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, host, port] = /^\[?([^[\]]+?)\]?:(\d+)$/.exec(text) ?? [];
  return host === undefined ? undefined : { host, port: Number(port) };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

async function writePrivately(file: string, text: string): Promise<void> {
  const next = `${file}.${randomBytes(6).toString('hex')}.part`;
  await writeFile(next, text, { flag: 'wx', mode: PRIVATE_MODE });
  await rename(next, file);
}

/** Another daemon may have written its own meanwhile. */
async function removeOwn(file: string, token: string): Promise<void> {
  const read = readRegularFile(file, { bytesMax: ADDRESS_BYTES_MAX });
  if (read.kind === 'read' && read.bytes.includes(token)) await rm(file, { force: true });
}
