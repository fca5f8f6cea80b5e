// The official client on server-everything, with or without the shim between, and all that it gets.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks';
import type { RequestTaskStore } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  type JSONRPCMessage,
  ListRootsRequestSchema,
  type Result,
} from '@modelcontextprotocol/sdk/types.js';
import { vi } from 'vitest';
import { everythingServer } from '../bundled.ts';
import { freePort } from '../free-port.ts';
import { UNDER_TEST } from './driver.ts';
import { DENIES } from './messages.ts';

export interface Session {
  readonly client: Client;
  /** Every message that has come to the client, in order. */
  readonly got: readonly JSONRPCMessage[];
  /** Every message that the client has sent, in order. */
  readonly sent: readonly JSONRPCMessage[];
  /** Resolves when so many messages have come in which this text stands; earlier ones count. */
  readonly arrived: (text: string, times?: number) => Promise<void>;
  /** The next sampling request waits until it is released. */
  readonly holdSampling: () => Held;
  close(): Promise<void>;
}

export interface Held {
  /** The request has come. */
  readonly asked: Promise<void>;
  /** Lets it be answered. */
  readonly release: () => void;
}

const SERVER = [process.execPath, everythingServer(), 'stdio'];

const CAPABILITIES = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
  tasks: {
    list: {},
    cancel: {},
    requests: { sampling: { createMessage: {} }, elicitation: { create: {} } },
  },
};

const ROOTS = [
  { uri: 'file:///one', name: 'One' },
  { uri: 'file:///zwei%20😀', name: 'Zwei 😀' },
];

const SAMPLED = {
  role: 'assistant' as const,
  model: 'test-model',
  stopReason: 'endTurn',
  content: { type: 'text' as const, text: 'A sample: "é" \u2028 😀' },
};

const ELICITED = {
  action: 'accept' as const,
  content: { name: 'Zoë', check: true, email: 'zoe@example.org', integer: 42, number: 3.14 },
};

/** How the server is reached. */
type Kind = 'stdio' | 'http' | 'sse';

/** A server that is reached by an address; none where it is started by the client. */
interface Everything {
  readonly kind: Kind;
  readonly url: string;
  stop(): void;
}

const MODES = { http: 'streamableHttp', sse: 'sse' } as const;

async function startEverything(kind: Kind): Promise<Everything> {
  if (kind === 'stdio') return { kind, url: '', stop() {} };
  const port = await freePort();
  const env = { ...process.env, PORT: port };
  const child = spawn(process.execPath, [everythingServer(MODES[kind])], {
    env,
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}/${kind === 'sse' ? 'sse' : 'mcp'}`;
  await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), { timeout: 20_000, interval: 50 });
  return { kind, url, stop: () => void child.kill('SIGKILL') };
}

/** A client that can do everything, and the server, behind the shim if wanted. */
export async function openSession(
  how: 'direct' | 'governed',
  kind: Kind = 'stdio',
): Promise<Session> {
  // One for each session: they share what is in its memory.
  const at = await startEverything(kind);
  const folder = mkdtempSync(join(tmpdir(), 'sub-everything-'));
  writeFileSync(join(folder, 'policy.yaml'), DENIES);
  const transport = how === 'direct' ? directWay(at, folder) : governedWay(at, folder);
  const taskStore = new InMemoryTaskStore();
  const client = new Client(
    { name: 'transparency', version: '1' },
    { capabilities: CAPABILITIES, taskStore },
  );
  const record = recorded(transport);
  const sampling = handleRequests(client);
  await client.connect(transport);
  return {
    client,
    ...record,
    holdSampling: sampling.hold,
    async close() {
      await client.close();
      at.stop();
      taskStore.cleanup();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function directWay({ kind, url }: Everything, folder: string): Transport {
  if (kind === 'stdio') return processWay(SERVER, folder);
  // oxlint-disable-next-line typescript/no-deprecated -- The old transport is what is compared.
  if (kind === 'sse') return new SSEClientTransport(new URL(url));
  return new StreamableHTTPClientTransport(new URL(url));
}

function governedWay({ kind, url }: Everything, folder: string): Transport {
  const events = `file:${join(folder, 'events.jsonl')}`;
  const flags = ['--policy', join(folder, 'policy.yaml'), '--events', events];
  const shim = [process.execPath, UNDER_TEST, 'shim', '--server-name', 'everything', ...flags];
  return processWay([...shim, ...(kind === 'stdio' ? ['--', ...SERVER] : ['--url', url])], folder);
}

function processWay([command = '', ...args]: readonly string[], folder: string): Transport {
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/tmp', SUB_HOME: join(folder, 'home') };
  return new StdioClientTransport({ command, args, env, cwd: '/', stderr: 'ignore' });
}

/** Listens in on both directions. To be called before the client connects. */
function recorded(transport: Transport): Pick<Session, 'got' | 'sent' | 'arrived'> {
  const got: JSONRPCMessage[] = [];
  const sent: JSONRPCMessage[] = [];
  const watchers = new Set<() => void>();
  const start = transport.start.bind(transport);
  transport.start = () => {
    const deliver = transport.onmessage;
    const listenIn: Transport['onmessage'] = (message, extra) => {
      got.push(message);
      deliver?.(message, extra);
      for (const look of watchers) look();
    };
    Object.assign(transport, { onmessage: listenIn });
    return start();
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    sent.push(message);
    return send(message, options);
  };
  const arrived = (text: string, times = 1): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (got.filter((one) => JSON.stringify(one).includes(text)).length < times) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  return { got, sent, arrived };
}

/** Answers what the server asks, always the same. */
function handleRequests(client: Client): { readonly hold: () => Held } {
  let held: { readonly ask: () => void; readonly released: Promise<void> } | undefined;
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: ROOTS }));
  client.setRequestHandler(CreateMessageRequestSchema, async (request, extra) => {
    if (held !== undefined) {
      const { ask, released } = held;
      held = undefined;
      ask();
      await released;
    }
    return asTask(request, extra, SAMPLED);
  });
  client.setRequestHandler(ElicitRequestSchema, (request, extra) =>
    asTask(request, extra, request.params.mode === 'url' ? { action: 'accept' } : ELICITED),
  );
  return {
    hold() {
      const [ask, asked] = signal();
      const [release, released] = signal();
      held = { ask, released };
      return { asked, release };
    },
  };
}

function signal(): [() => void, Promise<void>] {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return [resolve, promise];
}

interface MaybeTask {
  readonly params: { readonly task?: { readonly ttl?: number | undefined } | undefined };
}

/** The answer itself, or a task that has it, if the server wants one. */
async function asTask<R extends Result>(
  { params }: MaybeTask,
  { taskStore }: { readonly taskStore?: RequestTaskStore },
  result: R,
) {
  if (params.task === undefined || taskStore === undefined) return result;
  const task = await taskStore.createTask({ ttl: params.task.ttl ?? null, pollInterval: 50 });
  await taskStore.storeTaskResult(task.taskId, 'completed', result);
  return { task };
}

/**
 * Takes out what no two runs share: the time of day that the server puts into its texts, the times
 * and random ids of tasks, and random elicitation ids. Base64 that hides such a text is opened.
 */
export function normal(value: unknown): unknown {
  if (typeof value === 'string') return normalText(value);
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const blob =
        key === 'blob' && typeof one === 'string' ? Buffer.from(one, 'base64') : undefined;
      const text = blob?.toString('utf8') ?? '';
      return [key, text.startsWith('Resource ') ? normalText(text) : normal(one)];
    }),
  );
}

const RANDOM: readonly (readonly [RegExp, string])[] = [
  [/\b\d{1,2}:\d{2}:\d{2}(?: [AP]M)?/g, '<time>'],
  [/\b\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, '<instant>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b[0-9a-f]{32}\b/g, '<task>'],
];

function normalText(text: string): string {
  return RANDOM.reduce((left, [pattern, word]) => left.replace(pattern, word), text);
}
