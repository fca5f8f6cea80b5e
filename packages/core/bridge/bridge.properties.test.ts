import { isSpecType } from '@modelcontextprotocol/client';
import * as legacy from '@modelcontextprotocol/sdk/types.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/runs.ts';
import type { Side } from '../session/types.ts';
import {
  ask,
  type BridgePlay,
  bad,
  legacyAgent,
  modernAgent,
  modernMeta,
  ok,
  plain,
  say,
  type Written,
} from './testing/bridge-play.ts';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number };
}

type Act =
  | { readonly from: 'agent' | 'server'; readonly message: object; readonly about?: string }
  | { readonly from: 'time'; readonly nowMs: number };

/** What stands for ids and states that are known only when it is played. */
const NEW = 'NEW';
const LAST = 'LAST';

const json = fc.jsonValue({ maxDepth: 2 });
const agentId = fc.constant(NEW);
/** The id of a request that may be open. */
const openId = fc.nat({ max: 39 });
/** The ids of the bridge's requests to the server. */
const serverId = fc.integer({ min: 1, max: 12 }).map((count) => `t1-${count}`);
const askId = fc.constant(NEW);
const uri = fc.constantFrom('a:1', 'a:2');
const state = fc.oneof(
  { weight: 5, arbitrary: fc.constant(LAST) },
  { weight: 1, arbitrary: fc.integer({ min: 2, max: 6 }).map((count) => `t${count}`) },
);
const content = json.map((value) => [{ type: 'text', text: JSON.stringify(value) }]);
const inputs = fc.dictionary(
  fc.constantFrom('input-1', 'input-2'),
  fc.constant({ action: 'cancel' }),
);
const FORM = { message: 'm', requestedSchema: { type: 'object', properties: {} } };
const SAMPLE = { messages: [], maxTokens: 5 };
const INPUT_METHODS: readonly (readonly [string, object])[] = [
  ['elicitation/create', FORM],
  ['sampling/createMessage', SAMPLE],
  ['roots/list', {}],
];
const inputRequest = fc.constantFrom(...INPUT_METHODS);
const RESULTS: readonly object[] = [
  { content: [] },
  { tools: [] },
  { messages: [] },
  { contents: [] },
  { resources: [] },
];
const tick = fc.nat({ max: 2_000_000 }).map((nowMs): Act => ({ from: 'time', nowMs }));

function acts(
  agent: fc.Arbitrary<object>,
  server: fc.Arbitrary<object>,
): fc.Arbitrary<readonly Act[]> {
  const about = fc.option(
    serverId.map((id) => JSON.stringify(id)),
    { nil: undefined },
  );
  const one: fc.Arbitrary<Act> = fc.oneof(
    { weight: 5, arbitrary: agent.map((message) => ({ from: 'agent' as const, message })) },
    {
      weight: 5,
      arbitrary: fc
        .tuple(server, about)
        .map(([message, on]) => ({ from: 'server' as const, message, ...(on && { about: on }) })),
    },
    { weight: 1, arbitrary: tick },
  );
  return fc.array(one, { maxLength: 40 });
}

/** Gives new requests ids of their own, and rounds the state that was written last. */
function filledIn(message: object, count: number, written: readonly Written[]): Message {
  const { id, params, ...rest } = message as Message;
  const states = written.flatMap(
    ({ message: one }) => (one as Message).result?.['requestState'] ?? [],
  );
  const isRound = params?.['requestState'] === LAST;
  return {
    ...rest,
    ...(id !== undefined && { id: id === NEW ? count : id }),
    ...(params && { params: { ...params, ...(isRound && { requestState: states.at(-1) ?? '' }) } }),
  };
}

/** Plays it; gives what was said, and what was written because of it. */
function played(play: BridgePlay, script: readonly Act[]): Played {
  let nowMs = 0;
  const said: Said[] = [];
  const written: Written[] = [];
  for (const [count, act] of script.entries()) {
    if (act.from === 'time') {
      nowMs = Math.max(nowMs, act.nowMs);
      written.push(...play.tick(nowMs));
      continue;
    }
    const message = filledIn(act.message, count, written);
    said.push({ from: act.from, message });
    written.push(
      ...(act.from === 'agent'
        ? play.agent(message, nowMs)
        : play.server(message, act.about, nowMs)),
    );
  }
  return { said, written };
}

interface Said {
  readonly from: Side;
  readonly message: Message;
}

interface Played {
  readonly said: readonly Said[];
  readonly written: readonly Written[];
}

/** What is wrong with a message to a legacy server. */
function faultAtLegacyServer(message: Message): string | undefined {
  const { id, method, params } = message;
  const request = id === undefined ? legacy.ClientNotificationSchema : legacy.ClientRequestSchema;
  const schema = method === undefined ? legacy.JSONRPCMessageSchema : request;
  if (JSON.stringify(params ?? {}).includes('requestState')) return 'it has a modern member';
  return schema.safeParse(message).error?.message;
}

/** What is wrong with a message to a modern agent. */
function faultAtModernAgent({ id, method, result, error }: Message): string | undefined {
  if (method !== undefined) return id === undefined ? undefined : 'a server sends no requests';
  if (error !== undefined) return LEGACY_CODES.has(error.code) ? 'a legacy code' : undefined;
  const { resultType, requestState, inputRequests } = result ?? {};
  if (resultType === 'complete') return undefined;
  if (resultType !== 'input_required') return 'no type of result';
  if (typeof requestState !== 'string') return 'no state';
  const asked: readonly unknown[] = Object.values(inputRequests ?? {});
  return asked.every((one) => isSpecType.ServerRequest(one)) ? undefined : 'no request for input';
}

const LEGACY_CODES = new Set([-32002, -32042]);

/** What is wrong with a message to a modern server. */
function faultAtModernServer({ id, method, params }: Message): string | undefined {
  if (method === undefined) return 'a client sends no answers';
  const meta: unknown = params?.['_meta'];
  const expected = Object.entries(modernMeta());
  const has = ([key, value]: [string, unknown]): boolean =>
    JSON.stringify((meta as Record<string, unknown>)[key]) === JSON.stringify(value);
  return id === undefined || expected.every(has) ? undefined : 'no metadata';
}

/** What is wrong with a message to a legacy agent. */
function faultAtLegacyAgent(message: Message): string | undefined {
  const { id, method, result = {} } = message;
  if ('resultType' in result) return 'it has a modern member';
  // A server that withdraws its requests cancels them.
  if (method === undefined || method === 'notifications/cancelled') return undefined;
  const schema = id === undefined ? legacy.ServerNotificationSchema : legacy.ServerRequestSchema;
  return schema.safeParse(message).error?.message;
}

type FindFault = (message: Message) => string | undefined;

/** The faults of all that was written. */
function faultsOf({ written }: Played, find: { readonly [S in Side]: FindFault }): unknown[] {
  return written.flatMap(({ to, message }) => {
    const fault = isSpecType.JSONRPCMessage(message) ? find[to](message as Message) : 'no JSON-RPC';
    return fault === undefined ? [] : [{ to, message, fault }];
  });
}

/** No request gets two answers, and nothing is answered that was not asked. */
function expectOneAnswer({ said, written }: Played, side: Side): void {
  const asked = said.filter(({ from, message }) => from === side && message.method !== undefined);
  const ids = new Set(asked.map(({ message }) => message.id));
  for (const { to, message } of written) {
    const { id, method } = message as Message;
    if (to !== side || method !== undefined) continue;
    expect(ids.delete(id), `an answer to ${JSON.stringify(id)}`).toBe(true);
  }
}

describe('a modern agent before a legacy server, whatever both say', () => {
  const call = fc.oneof(
    { weight: 5, arbitrary: fc.constant({ name: 'x', arguments: { a: 1 } }) },
    { weight: 1, arbitrary: fc.constant({ name: 'y' }) },
  );
  const agent = fc.oneof(
    fc.tuple(agentId, call).map(([id, params]) => ask(id, 'tools/call', params)),
    fc
      .tuple(agentId, call, state, inputs)
      .map(([id, params, requestState, inputResponses]) =>
        ask(id, 'tools/call', { ...params, requestState, inputResponses }),
      ),
    fc
      .tuple(agentId, fc.constantFrom('info', 'error', 'loud'))
      .map(([id, level]) =>
        ask(id, 'tools/list', {}, modernMeta({ 'io.modelcontextprotocol/logLevel': level })),
      ),
    fc.tuple(agentId, uri).map(([id, one]) =>
      ask(id, 'subscriptions/listen', {
        notifications: { toolsListChanged: true, resourceSubscriptions: [one] },
      }),
    ),
    fc.tuple(agentId, uri).map(([id, one]) => ask(id, 'resources/read', { uri: one })),
    agentId.map((id) => ask(id, 'server/discover')),
    openId.map((requestId) => say('notifications/cancelled', { requestId })),
  );
  const server = fc.oneof(
    fc.tuple(serverId, content).map(([id, some]) => ok(id, { content: some })),
    fc.tuple(serverId, fc.constantFrom(...RESULTS)).map(([id, result]) => ok(id, result)),
    fc
      .tuple(serverId, fc.constantFrom(-32002, -32042, -32603, -32021, 7))
      .map(([id, code]) => bad(id, code)),
    fc.tuple(askId, inputRequest).map(([id, [method, params]]) => plain(id, method, params)),
    askId.map((id) => plain(id, 'ping')),
    openId.map((requestId) => say('notifications/cancelled', { requestId })),
    uri.map((one) => say('notifications/resources/updated', { uri: one })),
    fc.constant(say('notifications/tools/list_changed')),
    json.map((data) => say('notifications/message', { level: 'error', data })),
  );

  test('what is written is valid in the era of its reader', () => {
    fc.assert(
      fc.property(acts(agent, server), (script) => {
        expect(
          faultsOf(played(modernAgent(), script), {
            agent: faultAtModernAgent,
            server: faultAtLegacyServer,
          }),
        ).toEqual([]);
      }),
      runs(2_000),
    );
  });

  test('no request is answered twice, and no round of a call reaches the server', () => {
    fc.assert(
      fc.property(acts(agent, server), (script) => {
        const { said, written } = played(modernAgent(), script);
        expectOneAnswer({ said, written }, 'agent');
        expectOneAnswer({ said, written }, 'server');
        const made = said.filter(
          ({ from, message }) =>
            from === 'agent' &&
            message.method === 'tools/call' &&
            message.params?.['requestState'] === undefined,
        );
        const sent = written.filter(
          ({ to, message }) => to === 'server' && (message as Message).method === 'tools/call',
        );
        expect(sent.length).toBeLessThanOrEqual(made.length);
      }),
      runs(2_000),
    );
  });
});

describe('a legacy agent before a modern server, whatever both say', () => {
  const ownAsk = fc.integer({ min: 2, max: 8 }).map((count) => `sub-t${count}`);
  const agent = fc.oneof(
    fc
      .tuple(agentId, json)
      .map(([id, a]) => plain(id, 'tools/call', { name: 'x', arguments: { a } })),
    agentId.map((id) => plain(id, 'tools/list')),
    agentId.map((id) => plain(id, 'ping')),
    fc.tuple(agentId, uri).map(([id, one]) => plain(id, 'resources/subscribe', { uri: one })),
    fc.tuple(agentId, uri).map(([id, one]) => plain(id, 'resources/unsubscribe', { uri: one })),
    agentId.map((id) => plain(id, 'logging/setLevel', { level: 'info' })),
    openId.map((requestId) => say('notifications/cancelled', { requestId })),
    fc.constant(say('notifications/initialized')),
    ownAsk.map((id) => ok(id, { action: 'decline' })),
    ownAsk.map((id) => bad(id, -1)),
  );
  const inputRequests = fc.dictionary(
    fc.constantFrom('a', 'b'),
    inputRequest.map(([method, params]) => ({ method, params })),
  );
  const server = fc.oneof(
    fc
      .tuple(serverId, content)
      .map(([id, some]) => ok(id, { resultType: 'complete', content: some })),
    fc
      .tuple(serverId, inputRequests)
      .map(([id, requests]) =>
        ok(id, { resultType: 'input_required', inputRequests: requests, requestState: 'S' }),
      ),
    serverId.map((id) => ok(id, { resultType: 'task', taskId: 'T' })),
    serverId.map((id) => bad(id, -32602)),
    fc.tuple(serverId, uri).map(([id, one]) =>
      say('notifications/subscriptions/acknowledged', {
        _meta: { 'io.modelcontextprotocol/subscriptionId': id },
        notifications: { resourceSubscriptions: [one] },
      }),
    ),
    fc.tuple(serverId, uri).map(([id, one]) =>
      say('notifications/resources/updated', {
        _meta: { 'io.modelcontextprotocol/subscriptionId': id },
        uri: one,
      }),
    ),
    serverId.map((requestId) => say('notifications/cancelled', { requestId })),
  );

  test('what is written is valid in the era of its reader', () => {
    fc.assert(
      fc.property(acts(agent, server), (script) => {
        expect(
          faultsOf(played(legacyAgent(), script), {
            agent: faultAtLegacyAgent,
            server: faultAtModernServer,
          }),
        ).toEqual([]);
      }),
      runs(2_000),
    );
  });

  test('no request is answered twice', () => {
    fc.assert(
      fc.property(acts(agent, server), (script) => {
        expectOneAnswer(played(legacyAgent(), script), 'agent');
      }),
      runs(2_000),
    );
  });
});
