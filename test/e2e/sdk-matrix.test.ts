// The official clients before the official servers: what a client sees through `sub` is what it sees directly. Where the
// two speak different eras, it is what the client sees of a server that speaks its own.
import { join } from 'node:path';
import { StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type RunningServe,
  type SubHome,
  startServe,
  subHome,
} from '../conformance/mcp/sub-serve.ts';
import { type OpenClient, openClient, type SdkTransports, type SdkVersion } from './sdk-client.ts';
import {
  type FeatureName,
  featuresOf,
  outcome,
  type Transcript,
  transcript,
} from './sdk-features.ts';
import { EVERYTHING, type MatrixServer, SDK_V1, SDK_V2, SDK_V2_MODERN } from './sdk-servers.ts';
import { ensureBuilt, SUB } from './sub.ts';

const HOOK_MAX_MS = 120_000;

/** A connection without `sub`. */
interface Direct {
  readonly client: SdkVersion;
  readonly server: MatrixServer;
  readonly on: 'http' | 'stdio';
}

interface Pair {
  readonly client: SdkVersion;
  readonly server: MatrixServer;
  /** They have no era in common: it is compared with this pair of the client's own. */
  readonly like?: Pick<Direct, 'client' | 'server'>;
}

const PAIRS: readonly Pair[] = [
  { client: 'v1', server: SDK_V1 },
  { client: 'v1', server: SDK_V2 },
  { client: 'v1', server: EVERYTHING },
  { client: 'v2 legacy', server: SDK_V1 },
  { client: 'v2 legacy', server: SDK_V2 },
  { client: 'v2 legacy', server: EVERYTHING },
  { client: 'v2', server: SDK_V2 },
  // The bridges.
  { client: 'v2', server: SDK_V1, like: { client: 'v2 legacy', server: SDK_V1 } },
  { client: 'v2', server: EVERYTHING, like: { client: 'v2 legacy', server: EVERYTHING } },
  { client: 'v1', server: SDK_V2_MODERN, like: { client: 'v1', server: SDK_V2 } },
  { client: 'v2 legacy', server: SDK_V2_MODERN, like: { client: 'v2 legacy', server: SDK_V2 } },
];

/** SDK v2 serves the legacy era over HTTP without sessions, and so without these. */
const OF_SESSIONS: ReadonlySet<FeatureName> = new Set([
  'cancellation',
  'requests of the server',
  'logging',
  'news of resources and lists',
]);

function namesOf({ client, server, on }: Direct): readonly FeatureName[] {
  const names = featuresOf(client, server.surface);
  const hasNoSessions = server === SDK_V2 && client !== 'v2' && on === 'http';
  return hasNoSessions ? names.filter((name) => !OF_SESSIONS.has(name)) : names;
}

const SERVERS = [SDK_V1, SDK_V2, SDK_V2_MODERN, EVERYTHING];
const WAYS = ['sub shim --url', 'sub serve before HTTP', 'sub serve before stdio'] as const;

const home = withEvents(subHome(SUB));
const urls = new Map<MatrixServer, string>();
const stops: (() => Promise<void>)[] = [];
let serve: RunningServe;

beforeAll(async () => {
  ensureBuilt();
  const served: [string, { url: string } | { command: string[] }][] = [];
  for (const [index, server] of SERVERS.entries()) {
    const started = await server.http();
    const { url } = started;
    stops.push(() => started.stop());
    urls.set(server, url);
    served.push([`http${index}`, { url }]);
    served.push([`stdio${index}`, { command: [process.execPath, ...server.stdio()] }]);
  }
  serve = await startServe(home, Object.fromEntries(served));
  stops.unshift(() => serve.stop());
}, HOOK_MAX_MS);

afterAll(async () => {
  for (const stop of stops) await stop();
  home.remove();
}, HOOK_MAX_MS);

/** What is recorded goes to a file: a ledger would outlive the test. */
function withEvents(at: SubHome): SubHome {
  const events = `file:${join(at.folder, 'events.jsonl')}`;
  return { ...at, env: { ...at.env, SUB_EVENTS: events } };
}

function overHttp(url: string): SdkTransports {
  return {
    v1: () => new StreamableHTTPClientTransport(new URL(url)),
    v2: () => new ModernHttp(new URL(url)),
  };
}

function overStdio(args: readonly string[]): SdkTransports {
  const { env } = home;
  const program = { command: process.execPath, args: [...args], env, stderr: 'ignore' as const };
  return { v1: () => new StdioClientTransport(program), v2: () => new ModernStdio(program) };
}

function through(way: (typeof WAYS)[number], server: MatrixServer): SdkTransports {
  const index = SERVERS.indexOf(server);
  if (way === 'sub serve before HTTP') return overHttp(`${serve.origin}/mcp/http${index}`);
  if (way === 'sub serve before stdio') return overHttp(`${serve.origin}/mcp/stdio${index}`);
  const url = urls.get(server) ?? '';
  return overStdio([SUB, 'shim', '--server-name', `shim${index}`, '--url', url]);
}

async function look(
  { client, server }: Pair,
  transports: SdkTransports,
  names: readonly FeatureName[],
): Promise<Transcript> {
  const open = await openClient(client, transports);
  try {
    expect(open.isModern).toBe(client === 'v2');
    return await transcript(open, server.surface, names);
  } finally {
    await open.client.close();
  }
}

/** What was seen without `sub`, which several pairs are compared with. */
const directs = new Map<string, Promise<Transcript>>();

function directly(direct: Direct): Promise<Transcript> {
  const { client, server, on } = direct;
  const key = `${client} ${server.name} ${on}`;
  const known = directs.get(key);
  if (known !== undefined) return known;
  const transports = on === 'stdio' ? overStdio(server.stdio()) : overHttp(urls.get(server) ?? '');
  const seen = look(direct, transports, namesOf(direct));
  directs.set(key, seen);
  return seen;
}

describe.each(PAIRS)('a client on SDK $client before $server.name', (pair) => {
  const { client, server, like } = pair;
  /** Only on stdio SDK v2 shows all of the legacy era. */
  const directOf = (way: string): Direct => ({
    ...(like ?? pair),
    on: way.endsWith('stdio') || like?.server === SDK_V2 ? 'stdio' : 'http',
  });
  const sharedNames = (way: string): readonly FeatureName[] => {
    const own = featuresOf(client, server.surface);
    return namesOf(directOf(way)).filter((name) => own.includes(name));
  };
  const seen = new Map<string, Transcript>();

  beforeAll(async () => {
    const looking = WAYS.map(async (way) => {
      seen.set(way, await look(pair, through(way, server), sharedNames(way)));
    });
    await Promise.all([...looking, ...WAYS.map((way) => directly(directOf(way)))]);
  }, HOOK_MAX_MS);

  describe.each(WAYS)('through %s', (way) => {
    test.each(sharedNames(way))('sees the same: %s', async (name) => {
      const { [name]: direct } = await directly(directOf(way));
      expect(direct).not.toHaveProperty('failed');
      const neutral = (value: unknown) => (like === undefined ? value : withoutEra(value));
      expect(neutral(seen.get(way)?.[name])).toEqual(neutral(direct));
    });
  });
});

describe.each(WAYS)('what is not bridged has a clear error through %s', (way) => {
  const clients: OpenClient[] = [];
  const opened = async (client: SdkVersion, server: MatrixServer, answers: boolean) => {
    const open = await openClient(client, through(way, server), { answers });
    clients.push(open);
    return open;
  };
  let modern: OpenClient;
  let legacy: OpenClient;
  let muteModern: OpenClient;
  let muteLegacy: OpenClient;

  beforeAll(async () => {
    [modern, legacy, muteModern, muteLegacy] = await Promise.all([
      opened('v2', SDK_V1, true),
      opened('v1', SDK_V2_MODERN, true),
      opened('v2', SDK_V1, false),
      opened('v1', SDK_V2_MODERN, false),
    ]);
  }, HOOK_MAX_MS);

  afterAll(async () => {
    await Promise.all(clients.map(({ client }) => client.close()));
  });

  test('neither era is offered the tasks of the other', async () => {
    for (const open of [modern, legacy]) {
      expect(open.client.getServerCapabilities()).not.toHaveProperty('tasks');
      const answer = await outcome(open.request('tasks/get', { taskId: 'x' }));
      expect(answer).toMatchObject({ code: -32_601 });
    }
  });

  test('a legacy client that answers a request for input with an error ends the call with it', async () => {
    const answer = await outcome(legacy.call('test_input_required_result_failed', {}));
    expect(answer).toHaveProperty('message', expect.stringContaining('The user is away'));
  });

  test.each(['sampling', 'elicitation'])(
    'a legacy server is told that the client has no %s',
    async (feature) => {
      const args = { prompt: 'Say pong', message: 'Go on?' };
      const answer = await outcome(muteModern.call(`test_${feature}`, args));
      const message = `The client does not support ${feature} in this call.`;
      expect(answer).toHaveProperty('code', -32_601);
      expect(answer).toHaveProperty('message', expect.stringContaining(message));
    },
  );

  test.each([
    ['sampling', 'sampling'],
    ['elicitation', 'elicitation'],
    ['roots', 'list_roots'],
  ])('a legacy client hears that a modern server needs %s', async (feature, kind) => {
    const answer = await outcome(muteLegacy.call(`test_input_required_result_${kind}`, {}));
    expect(answer).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { [feature]: {} } },
    });
  });
});

/** What a revision adds or leaves out, or makes anew. */
const OF_ERA: ReadonlySet<string> = new Set([
  'io.modelcontextprotocol/serverInfo',
  'io.modelcontextprotocol/subscriptionId',
  'cacheScope',
  'elicitationId',
  'execution',
  'extensions',
  'progressToken',
  'tasks',
  'ttlMs',
]);
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(['_meta', 'params']);

function withoutEra(value: unknown): unknown {
  // The code of a resource that is not found.
  const text = JSON.stringify(value ?? null).replaceAll('-32002', '-32602');
  return JSON.parse(text, (key, member: unknown) => {
    if (OF_ERA.has(key)) return undefined;
    return MAY_BE_EMPTY.has(key) && JSON.stringify(member) === '{}' ? undefined : member;
  });
}
