// Clients of both official SDKs on servers of the other era, with the shim between, and on servers of their
// own era, without it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { everythingServer } from '../bundled.ts';
import { startServing } from '../e2e/served.ts';
import { freePort } from '../free-port.ts';
import { UNDER_TEST } from './driver.ts';
import { normal } from './everything.ts';
import { bundle } from './messages.ts';

export interface EraSession<C> {
  readonly client: C;
  /** Every message that has come to the client. */
  readonly got: readonly unknown[];
  readonly eventsPath: string;
  /** Resolves when a message has come in which this text stands; earlier ones count. */
  readonly arrived: (text: string) => Promise<void>;
  close(): Promise<void>;
}

const CAPABILITIES = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } };
const INFO = { name: 'eras', version: '1' };
const ROOTS = [{ uri: 'file:///one', name: 'One' }];
const SAMPLED = {
  role: 'assistant' as const,
  model: 'test-model',
  content: { type: 'text' as const, text: 'A sample: "é" \u2028 😀' },
};
const PERSON = { name: 'Zoë', check: true, email: 'zoe@example.org', integer: 42, number: 3.14 };

const MODERN = [process.execPath, fileURLToPath(new URL('servers/modern.mjs', import.meta.url))];

/** Nothing that asks for input is called twice; its rounds are no second call. */
const ONCE = bundle(`
  - rule_id: once
    kind: dedupe
    match: { tool_name: { glob: ["trigger-elicitation-request", "everything"] } }
    effect:
      dedupe: { scope: run, window_ms: 600000, key: args_hash, on_duplicate: BLOCK }
`);

/** `direct`: nothing is between client and server. `address`: `sub serve` before a server that listens itself. */
export type Between = 'direct' | 'shim' | 'serve' | 'address';

/** The arguments of the modern server. */
const MODES = {
  direct: ['serve'],
  shim: ['reject'],
  serve: ['reject'],
  address: ['reject', 'http'],
} as const;

interface Place {
  /** The address, behind `sub serve`. */
  readonly url?: URL;
  readonly params: {
    readonly command: string;
    readonly args: string[];
    readonly env: Record<string, string>;
    readonly cwd: string;
    readonly stderr: 'ignore';
  };
  readonly eventsPath: string;
  readonly close: () => Promise<void>;
}

/** Where a client finds the server. */
async function placeOf(server: readonly string[], between: Between): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-eras-'));
  const eventsPath = join(folder, 'events.jsonl');
  const policyPath = join(folder, 'policy.yaml');
  writeFileSync(policyPath, ONCE);
  const shim = [process.execPath, UNDER_TEST, 'shim', '--server-name', 'eras'];
  const flags = ['--policy', policyPath, '--events', `file:${eventsPath}`];
  const words = between === 'shim' ? [...shim, ...flags, '--', ...server] : server;
  const [command = '', ...args] = words;
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/tmp', SUB_HOME: join(folder, 'home') };
  const listening = between === 'address' ? await startListening(server) : undefined;
  const servers = { eras: listening ? { url: listening.url } : { command: server } };
  const isServed = between === 'serve' || between === 'address';
  const serving = isServed ? await startServing({ auth: { none: true }, servers }) : undefined;
  return {
    ...(serving !== undefined && { url: new URL(`${serving.url}/mcp/eras`) }),
    params: { command, args, env, cwd: '/', stderr: 'ignore' },
    eventsPath,
    close: async () => {
      await serving?.close();
      await listening?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a server that listens: one of its first lines says where, or that it does so on its port. */
async function startListening(server: readonly string[]) {
  const [command = '', ...args] = server;
  const port = await freePort();
  const child = spawn(command, args, { env: { ...process.env, PORT: port }, stdio: 'pipe' });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => {
      if (text.toString().startsWith('http')) resolve(text.toString().trim());
    });
    child.stderr.on('data', (text: Buffer) => {
      if (text.toString().includes(port)) resolve(`http://127.0.0.1:${port}/mcp`);
    });
    child.once('exit', () => reject(new Error('the server did not start')));
  });
  const stop = async (): Promise<void> => {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  return { url, stop };
}

/** Listens in on what comes. To be called before the client connects. */
function recorded(transport: object): Pick<EraSession<unknown>, 'got' | 'arrived'> {
  const got: unknown[] = [];
  const watchers = new Set<() => void>();
  type Deliver = (message: unknown, extra: unknown) => void;
  let current: Deliver | undefined;
  const listeningIn =
    (deliver: Deliver): Deliver =>
    (message, extra) => {
      // A client that listens more than once hands messages on to itself.
      if (!got.includes(message)) got.push(message);
      deliver(message, extra);
      for (const look of watchers) look();
    };
  Object.defineProperty(transport, 'onmessage', {
    get: () => current,
    set: (next: Deliver | undefined) => {
      current = next && listeningIn(next);
    },
  });
  const arrived = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!got.some((one) => JSON.stringify(one).includes(text))) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  return { got, arrived };
}

/** The client of SDK v2 on server-everything: modern behind Subluminal, or legacy without it. */
export async function modernClient(between: Between): Promise<EraSession<ModernClient>> {
  const transportName = between === 'address' ? 'streamableHttp' : 'stdio';
  const everything = [process.execPath, everythingServer(transportName)];
  const place = await placeOf(everything, between);
  const { url, params } = place;
  const transport = url === undefined ? new ModernStdio(params) : new ModernHttp(url);
  const client = new ModernClient(INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: between === 'direct' ? 'legacy' : { pin: '2026-07-28' } },
  });
  client.setRequestHandler('roots/list', () => ({ roots: ROOTS }));
  client.setRequestHandler('sampling/createMessage', () => SAMPLED);
  client.setRequestHandler('elicitation/create', ({ params: asked }) => ({
    action: 'accept',
    ...(asked.mode !== 'url' && { content: PERSON }),
  }));
  const record = recorded(transport);
  await client.connect(transport);
  return { client, ...record, ...closing(client, place) };
}

/** The client of SDK v1 on a server of SDK v2, which is modern only behind Subluminal, and of both eras without it. */
export async function legacyClient(between: Between): Promise<EraSession<LegacyClient>> {
  const place = await placeOf([...MODERN, ...MODES[between]], between);
  const { url, params } = place;
  const transport = url === undefined ? new LegacyStdio(params) : new LegacyHttp(url);
  const client = new LegacyClient(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: ROOTS }));
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  client.setRequestHandler(ElicitRequestSchema, ({ params: asked }) => ({
    action: 'accept',
    ...(asked.mode !== 'url' && { content: { name: PERSON.name } }),
  }));
  const record = recorded(transport);
  await client.connect(transport);
  return { client, ...record, ...closing(client, place) };
}

function closing(client: { close(): Promise<void> }, { eventsPath, close }: Place) {
  return {
    eventsPath,
    async close() {
      await client.close();
      await close();
    },
  };
}

/** Members that only one era has. */
const OF_ONE_ERA = new Set(['ttlMs', 'cacheScope', 'resultType', '_meta', 'execution']);

/** A value without what differs between two runs, and between the eras. */
export function neutral(value: unknown): unknown {
  const plain = normal(value);
  if (Array.isArray(plain)) return plain.map(neutral);
  if (typeof plain !== 'object' || plain === null) return plain;
  const members = Object.entries(plain).filter(([key]) => !OF_ONE_ERA.has(key));
  return Object.fromEntries(members.map(([key, member]) => [key, neutral(member)]));
}
