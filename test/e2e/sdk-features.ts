// What a client sees of a server, feature by feature, in a form that two connections can be compared by.
import { createHash, randomUUID } from 'node:crypto';
import type { Came, OpenClient, SdkVersion } from './sdk-client.ts';

export type Call = readonly [name: string, args: Record<string, unknown>];

/** What a server has to show. */
export interface Surface {
  readonly tools: readonly Call[];
  readonly errors: readonly Call[];
  /** A call that goes on at each progress when the other tool is called, or one that goes on by itself. */
  readonly progress: readonly [steps: string, go: string] | readonly [steps: Call];
  /** Calls that ask the client for something before they answer. */
  readonly asking: readonly Call[];
  /** A call that reports progress until it is cancelled, and one that waits for its end and tells which. */
  readonly cancelled: readonly [wait: string, fate: string] | readonly [wait: Call];
  /** Answers with a text that is longer than what is inspected. */
  readonly large: Call;
  /** Calls that are answered only when all of them are open. */
  readonly meeting?: string;
  /** Answers with the metadata of its request. */
  readonly meta?: string;
  /** Logs at all levels, the highest last. */
  readonly logging?: string;
  /** A tool after whose call this resource and all lists have changed, or only the resource. */
  readonly changing: { readonly tool: string; readonly uri: string; readonly lists: boolean };
  readonly task?: string;
  readonly resources: readonly string[];
  readonly prompts: readonly (readonly [name: string, args: Record<string, string>])[];
  readonly completions: readonly Parameters<OpenClient['client']['complete']>[0][];
}

type Feature = (open: OpenClient, surface: Surface) => Promise<unknown>;

const LISTS = ['resources', 'prompts', 'tools'].map((kind) => `notifications/${kind}/list_changed`);
const UPDATED = 'notifications/resources/updated';
const MESSAGE = 'notifications/message';
const PARTIES = 12;

/** One table for every client, server and way between them. */
const FEATURES = {
  identity: async ({ client }) => ({
    serverInfo: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
  }),
  ping: (open) => open.request('ping', {}),
  'a method that is not there': (open) => outcome(open.request('no/such', { x: 1 })),
  'tools/list': ({ client }) => client.listTools(),
  'tools/call': (open, { tools }) => each(tools, ([name, args]) => open.call(name, args)),
  'errors of tools': (open, { errors }) =>
    each(errors, ([name, args]) => outcome(open.call(name, args))),
  progress: (open, { progress }) => stepByStep(open, progress),
  cancellation: (open, { cancelled }) => cancel(open, cancelled),
  'requests of the server': (open, { asking }) =>
    each(asking, async ([name, args]) => {
      const before = open.came.length;
      const result = await open.call(name, args);
      return { result, asked: open.came.slice(before).filter(isRequest) };
    }),
  'a large answer': async (open, { large: [name, args] }) => {
    const { content } = (await open.call(name, args)) as { content: unknown };
    const answer = JSON.stringify(content);
    return [answer.length, createHash('sha256').update(answer).digest('hex')];
  },
  'calls at the same time': (open, { meeting = '' }) => {
    const key = randomUUID();
    const names = Array.from({ length: PARTIES }, (_, index) => `caller ${index}`);
    const parties = String(PARTIES);
    return Promise.all(names.map((name) => open.call(meeting, { key, parties, name })));
  },
  'metadata of requests': (open, { meta = '' }) =>
    open.call(meta, {}, { meta: { 'example.com/trace': { id: 'é', n: [1e21] } } }),
  'news of resources and lists': (open, { changing }) => news(open, changing),
  // With a subscription open, where the client needs one for news.
  logging: async (open, { logging = '' }) => {
    const seen: unknown[] = [];
    for (const [level, count] of [
      ['warning', 2],
      ['debug', 4],
    ] as const) {
      await open.setLogLevel(level);
      const before = open.came.filter(isMessage).length;
      await open.call(logging, {});
      await open.arrived(MESSAGE, before + count);
      seen.push(level, open.came.filter(isMessage).slice(before));
    }
    return seen;
  },
  'a task': async (open, { task = '' }) => open.callAsTask?.(task),
  'resources/list': ({ client }) => client.listResources(),
  'resources/templates/list': ({ client }) => client.listResourceTemplates(),
  'the pages of a list': async ({ client }) => {
    const first = await client.listResourceTemplates({});
    const { nextCursor } = first as { nextCursor?: string };
    const next = nextCursor && (await client.listResourceTemplates({ cursor: nextCursor }));
    return [first, next, await outcome(client.listResourceTemplates({ cursor: 'no such' }))];
  },
  'resources/read': ({ client }, { resources }) =>
    each(resources, (uri) => outcome(client.readResource({ uri }))),
  'prompts/list': ({ client }) => client.listPrompts(),
  'prompts/get': ({ client }, { prompts }) =>
    each(prompts, ([name, args]) => outcome(client.getPrompt({ name, arguments: args }))),
  'completion/complete': ({ client }, { completions }) =>
    each(completions, (asked) => outcome(client.complete(asked))),
} satisfies Record<string, Feature>;

export type FeatureName = keyof typeof FEATURES;

/** Features that not every server shows. */
const NEEDS: { readonly [name in FeatureName]?: keyof Surface } = {
  'calls at the same time': 'meeting',
  'metadata of requests': 'meta',
  logging: 'logging',
  'a task': 'task',
};

/** What there is to see with this client. SDK v2 has no tasks, 2026-07-28 no ping. */
export function featuresOf(client: SdkVersion, surface: Surface): readonly FeatureName[] {
  const missing: readonly FeatureName[] =
    client === 'v1' ? [] : client === 'v2' ? ['a task', 'ping'] : ['a task'];
  return (Object.keys(FEATURES) as FeatureName[]).filter((name) => {
    const { [name]: need } = NEEDS;
    return !missing.includes(name) && (need === undefined || surface[need] !== undefined);
  });
}

/** By feature what came of it. */
export type Transcript = { readonly [name in FeatureName]?: unknown };

const FEATURE_MAX_MS = 20_000;

export async function transcript(
  open: OpenClient,
  surface: Surface,
  names: readonly FeatureName[],
): Promise<Transcript> {
  const seen: Record<string, unknown> = {};
  for (const name of names) {
    const feature: Feature = FEATURES[name];
    const result = await inTime(feature(open, surface)).catch((cause: unknown) => ({
      failed: errorOf(cause),
    }));
    seen[name] = comparable(result);
  }
  return seen;
}

async function inTime(feature: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('This took too long')), FEATURE_MAX_MS);
  });
  try {
    return await Promise.race([feature, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Without what the server makes anew each time: times, sessions, tasks. */
function comparable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(TIME, 'TIME').replaceAll(ID, 'ID'));
}

const ID = /\b[\da-f]{8}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{12}\b/g;
const TIME = /\b(?:\d{4}-\d\d-\d\dT)?\d{1,2}:\d\d:\d\d(?:\.\d+Z| [AP]M)?/g;

async function each<One>(all: readonly One[], ask: (one: One) => Promise<unknown>) {
  const seen: unknown[] = [];
  for (const one of all) seen.push([one, await ask(one)]);
  return seen;
}

/** The answer, or the error in its place. */
export function outcome(asked: Promise<object>): Promise<object> {
  return asked.catch(errorOf);
}

function errorOf(cause: unknown): object {
  const { code, message, data } = cause as Record<string, unknown>;
  // Of a response with the status of an error, the SDKs show the body.
  const body = /endpoint: (\{.*\})$/.exec(String(message))?.[1];
  if (body === undefined) return { code, message, data };
  const { error } = JSON.parse(body) as { error: object };
  return error;
}

/** Roots are asked for when a server sees fit; its answers show them. */
const isRequest = ({ method }: Came): boolean =>
  !method.startsWith('notifications/') && method !== 'roots/list';
const isMessage = ({ method }: Came): boolean => method === MESSAGE;

async function stepByStep(open: OpenClient, [steps, go]: Surface['progress']): Promise<unknown> {
  const key = randomUUID();
  const [name, args] = typeof steps === 'string' ? [steps, { key }] : steps;
  const seen: object[] = [];
  const told: Promise<object>[] = [];
  const onprogress = (step: object): void => {
    // Where the server asks for something first, SDK v2 reports these rounds itself.
    if (JSON.stringify(step).includes('Fulfilling input')) return;
    seen.push(step);
    if (go !== undefined) told.push(open.call(go, { key }));
  };
  const result = await open.call(name, args, { onprogress });
  // The SDK's client on stdio drops a report that comes in one piece with the answer.
  return {
    result,
    seen: go === undefined ? seen.slice(0, 1) : seen,
    told: await Promise.all(told),
  };
}

/** Cancels a call at its first progress, and hears of the server what has become of it. */
async function cancel(open: OpenClient, how: Surface['cancelled']): Promise<unknown> {
  const key = randomUUID();
  const [wait, fate] = how;
  const [name, args] = typeof wait === 'string' ? [wait, { key }] : wait;
  const controller = new AbortController();
  const called = open.call(name, args, {
    signal: controller.signal,
    onprogress: () => controller.abort('enough'),
  });
  const told = await outcome(called);
  return [told, fate && (await open.call(fate, { key }))];
}

/** News while the resource is subscribed, then news while it is not. */
async function news(open: OpenClient, { tool, uri, lists }: Surface['changing']): Promise<unknown> {
  const methods = lists ? [...LISTS, UPDATED] : [UPDATED];
  const changed = async (expected: readonly string[]): Promise<Came[]> => {
    open.came.length = 0;
    await open.call(tool, {});
    for (const method of expected) await open.arrived(method);
    const found = methods.map((method) => open.came.find((one) => one.method === method));
    return found.filter((one) => one !== undefined);
  };
  await open.watch(uri);
  const watched = await changed(methods);
  await open.unwatch(uri);
  return [watched, lists ? await changed(LISTS) : await open.call(tool, {})];
}
