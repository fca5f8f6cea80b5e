// The official clients, SDK v1 and SDK v2, each with a user and a model who answer always the same.
import {
  Client as ModernClient,
  type StandardSchemaV1,
  type Transport,
} from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport as LegacyTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';

/** SDK v2 speaks 2026-07-28 where it is answered so; `v2 legacy` does not ask. */
export type SdkVersion = 'v1' | 'v2' | 'v2 legacy';

export interface CallOptions {
  readonly onprogress?: (progress: object) => void;
  readonly signal?: AbortSignal;
  readonly meta?: object;
}

type Page = { cursor?: string };

/** What both clients offer. */
export interface SdkClient {
  getServerVersion(): object | undefined;
  getServerCapabilities(): object | undefined;
  getInstructions(): string | undefined;
  listTools(): Promise<{ tools: { name: string }[] }>;
  listResources(): Promise<object>;
  listResourceTemplates(params?: Page): Promise<object>;
  readResource(params: { uri: string }): Promise<object>;
  listPrompts(): Promise<object>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<object>;
  complete(params: {
    ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string };
    argument: { name: string; value: string };
  }): Promise<object>;
  close(): Promise<void>;
}

/** A notification or request that came to the client. */
export interface Came {
  readonly method: string;
  readonly params?: object | undefined;
}

export interface OpenClient {
  readonly client: SdkClient;
  readonly isModern: boolean;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<object>;
  /** A request that has no function of its own. */
  request(method: string, params: Record<string, unknown>): Promise<object>;
  /** The calls that follow are logged from this level on. */
  setLogLevel(level: 'debug' | 'warning'): Promise<void>;
  /** Asks for news of this resource, and in the modern era of all lists, which a legacy client gets anyway. */
  watch(uri: string): Promise<void>;
  /** Asks for no more news of the resource. */
  unwatch(uri: string): Promise<void>;
  /** A call as a task: the steps and the result; only where the SDK has tasks. */
  readonly callAsTask?: (name: string) => Promise<readonly object[]>;
  readonly came: Came[];
  /** Resolves when as many notifications of this method have come. */
  arrived(method: string, count?: number): Promise<void>;
}

export interface SdkTransports {
  v1(): LegacyTransport;
  v2(): Transport;
}

const INFO = { name: 'sdk-matrix', version: '1.0.0' };
const CAPABILITIES = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } };
const ROOTS = { roots: [{ uri: 'file:///project', name: 'project' }] };
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const MODERN = '2026-07-28';
const MODEL_ANSWER = {
  role: 'assistant' as const,
  model: 'scripted',
  content: { type: 'text' as const, text: 'pong "é" \u2028 😀' },
};
const FORM = { name: 'Ada', color: 'blue', response: 'yes', ok: true, confirmed: true };

/** The user fills in forms, visits pages, and declines where the question says so. */
function userAnswer(params: { message: string; mode?: string | undefined }) {
  if (params.message.includes('decline')) return { action: 'decline' as const };
  if (params.message.includes('fail')) throw new Error('The user is away');
  return { action: 'accept' as const, ...(params.mode !== 'url' && { content: FORM }) };
}

/** `answers: false`: it is a client that no server may ask anything. */
export function openClient(
  version: SdkVersion,
  transports: SdkTransports,
  { answers = true }: { readonly answers?: boolean } = {},
): Promise<OpenClient> {
  if (version === 'v1') return openLegacy(transports.v1(), answers);
  return openModern(transports.v2(), version === 'v2' ? 'auto' : 'legacy', answers);
}

async function openLegacy(transport: LegacyTransport, answers: boolean): Promise<OpenClient> {
  const client = new LegacyClient(INFO, { capabilities: answers ? CAPABILITIES : {} });
  const { came, arrived, note } = recorder();
  if (answers) {
    client.setRequestHandler(CreateMessageRequestSchema, (request, { requestId }) =>
      note(request, MODEL_ANSWER, requestId),
    );
    client.setRequestHandler(ElicitRequestSchema, (request, { requestId }) =>
      note(request, userAnswer(request.params), requestId),
    );
    client.setRequestHandler(ListRootsRequestSchema, (request, { requestId }) =>
      note(request, ROOTS, requestId),
    );
  }
  client.fallbackNotificationHandler = async (notification) => note(notification, undefined);
  await client.connect(transport);
  return {
    client,
    isModern: false,
    came,
    arrived,
    call: (name, args, { meta, ...options } = {}) =>
      client.callTool({ name, arguments: args, ...metaMember(meta) }, undefined, options),
    request: (method, params) => client.request({ method, params }, ResultSchema),
    setLogLevel: async (level) => void (await client.setLoggingLevel(level)),
    watch: async (uri) => void (await client.subscribeResource({ uri })),
    unwatch: async (uri) => void (await client.unsubscribeResource({ uri })),
    callAsTask: async (name) => {
      const steps: object[] = [];
      const params = { name, arguments: {} };
      const stream = client.experimental.tasks.callToolStream(params, CallToolResultSchema, {
        task: { ttl: 60_000 },
      });
      // How often its status is asked for is a matter of time.
      for await (const step of stream) {
        const isSame = step.type === 'taskStatus' && step.task.status === 'working';
        if (!isSame) steps.push(step);
      }
      return steps;
    },
  };
}

async function openModern(
  transport: Transport,
  mode: 'auto' | 'legacy',
  answers: boolean,
): Promise<OpenClient> {
  const client = new ModernClient(INFO, {
    capabilities: answers ? CAPABILITIES : {},
    versionNegotiation: { mode },
  });
  const { came, arrived, note } = recorder();
  if (answers) {
    client.setRequestHandler('sampling/createMessage', (request, { mcpReq }) =>
      note(request, MODEL_ANSWER, mcpReq.id),
    );
    client.setRequestHandler('elicitation/create', (request, { mcpReq }) =>
      note(request, userAnswer(request.params), mcpReq.id),
    );
    client.setRequestHandler('roots/list', (request, { mcpReq }) =>
      note(request, ROOTS, mcpReq.id),
    );
  }
  client.fallbackNotificationHandler = async (notification) => note(notification, undefined);
  await client.connect(transport);
  const isModern = client.getNegotiatedProtocolVersion() === MODERN;
  let logLevel: string | undefined;
  const metaOf = (meta?: object): object | undefined =>
    logLevel === undefined ? meta : { ...meta, [LOG_LEVEL]: logLevel };
  return {
    client,
    isModern,
    came,
    arrived,
    call: (name, args, { meta, ...options } = {}) =>
      client.callTool({ name, arguments: args, ...metaMember(metaOf(meta)) }, options),
    request: (method, params) => client.request({ method, params }, ANY_RESULT),
    setLogLevel: async (level) => {
      if (isModern) logLevel = level;
      else await client.request({ method: 'logging/setLevel', params: { level } }, ANY_RESULT);
    },
    ...(isModern ? modernWatching(client) : legacyWatching(client)),
  };
}

/** A schema that every result meets. */
const ANY_RESULT = {
  '~standard': { version: 1 as const, vendor: 'any', validate: (value: unknown) => ({ value }) },
} as StandardSchemaV1<object>;

function metaMember(meta: object | undefined): { _meta?: Record<string, unknown> } {
  return meta === undefined ? {} : { _meta: { ...meta } };
}

function legacyWatching(client: ModernClient): Pick<OpenClient, 'watch' | 'unwatch'> {
  return {
    watch: async (uri) => void (await client.subscribeResource({ uri })),
    unwatch: async (uri) => void (await client.unsubscribeResource({ uri })),
  };
}

function modernWatching(client: ModernClient): Pick<OpenClient, 'watch' | 'unwatch'> {
  const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  let subscription: { close(): Promise<void> } | undefined;
  const listen = async (resourceSubscriptions: string[]): Promise<void> => {
    await subscription?.close();
    subscription = await client.listen({ ...lists, resourceSubscriptions });
  };
  return { watch: (uri) => listen([uri]), unwatch: () => listen([]) };
}

/** Keeps what comes to a client. */
function recorder() {
  const came: Came[] = [];
  const watchers = new Set<() => void>();
  const requests = new Set<string>();
  // The event store of server-everything sends requests of other streams again when a client resumes one.
  const note = <Answer>({ method, params }: Came, answer: Answer, id?: string | number): Answer => {
    const request = JSON.stringify([id, method, params]);
    if (id !== undefined && requests.has(request)) return answer;
    requests.add(request);
    came.push({ method, params });
    for (const look of watchers) look();
    return answer;
  };
  const arrived = (method: string, count = 1): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (came.filter((one) => one.method === method).length < count) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  return { came, arrived, note };
}
