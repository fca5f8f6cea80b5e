// The official SDKs against a gateway that runs as a process of its own, each on its own wire and across wires.
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ModelServer, startModelServer } from '../clients/model-server.ts';
import { calls, failure, text } from '../clients/script.ts';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { type GatewayProcess, PROVIDER_KEYS, startGatewayProcess } from './gateway-process.ts';
import { type KnownSdk, RESULT, SDKS } from './sdks.ts';

const RULES = `
  - { id: TO-ANTHROPIC, priority: 900, when: request.model == "to-anthropic", action: route, model_pool: only_anthropic }
  - { id: TO-OPENAI, priority: 900, when: request.model == "to-openai", action: route, model_pool: only_openai }
  - { id: TO-LOCAL, priority: 900, when: request.model == "to-local", action: route, model_pool: only_local }
  - { id: CLOSED, when: request.model == "closed", action: block, reasons: ["Closed for the audit."] }
  - { id: ASK, when: request.model == "held", action: require_approval }
  - id: NOWHERE
    priority: 900
    when: request.model == "nowhere"
    action: route
    model_pool: only_anthropic
    emit: 'required_data_residency = ["eu"]'
`;
const BUDGETS = `version: 1
users:
  grace: { daily: { cap_usd: 0.000001, on_exceeded: refuse } }
`;
const UPSTREAMS = [
  { to: 'to-anthropic', path: '/v1/messages', model: 'claude-sonnet-4-6' },
  { to: 'to-openai', path: undefined, model: 'gpt-5.4' },
  { to: 'to-local', path: '/v1/chat/completions', model: 'qwen2.5-coder' },
] as const;
const BODY_BYTES_MAX = 10_485_760;
const READ = { tool: 'read_file', args: { path: 'src/ünï "quoted" 𝄞.ts', lines: [1, 2.5, null] } };
const LIST = { tool: 'list_files', args: {} };
const SECRET = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;

let model: ModelServer;
let gateway: GatewayProcess;
let poorKey: string;

/** For the start of a gateway on a busy machine. */
const START_MS = 60_000;

beforeAll(async () => {
  ensureBuilt();
  model = await startModelServer();
  gateway = await startGatewayProcess({ upstream: model.url, rules: RULES, budgets: BUDGETS });
  poorKey = await gateway.invited('grace');
}, START_MS);
afterAll(async () => {
  await gateway?.close();
  await model?.close();
});
beforeEach(() => model.play([text('Hello.')]));

const opened = ({ open }: KnownSdk, options: { key?: string; maxRetries?: number } = {}) =>
  open({ url: gateway.url, key: gateway.key, ...options });

/** An admin says this to the next turn that waits. */
async function resolve(verdict: 'approve' | 'reject'): Promise<void> {
  const over = new AbortController();
  for await (const id of gateway.waiting(over.signal)) {
    await gateway.api(`/api/v1/approvals/${id}/${verdict}`, { body: {} });
    break;
  }
  over.abort();
}

describe.each(SDKS.map((sdk) => [sdk.title, sdk] as const))('%s', (_, sdk) => {
  const { errors } = sdk;

  describe.each(UPSTREAMS)('sent $to', ({ to, path, model: named }) => {
    test.each([
      ['streams', true],
      ['gets whole', false],
    ])('%s a task with calls in parallel', async (_how, isStream) => {
      verifies('R-P1.1');
      model.play([calls(READ, LIST), text('Both are fine.')]);
      const client = opened(sdk);
      const task = await client.task(to, isStream);
      expect(task.calls.map(({ name, args }) => ({ tool: name, args }))).toEqual([READ, LIST]);
      expect(new Set(task.calls.map(({ id }) => id)).size).toBe(2);
      expect(task.text).toBe('Both are fine.');
      const pieces = [JSON.stringify(READ.args), '{}', 'Both are fine.'];
      expect(task.deltas).toBe(isStream ? pieces.join('') : '');
      expect(client.sent()).toBe(2);
      expect(model.seen()).toEqual([RESULT('read_file'), RESULT('list_files')]);
      const requests = model.requests();
      expect(requests).toHaveLength(2);
      for (const { body, bytes, path: reached } of requests) {
        expect(body['model']).toBe(named);
        expect(reached).toBe(path ?? sdk.openAiPath);
        expect(bytes).not.toContain(gateway.key);
      }
    });

    test('is told what the provider finds wrong', async () => {
      const message = 'The provider does not like this.';
      model.play([failure(400, { error: { type: 'invalid_request_error', message } })]);
      const client = opened(sdk);
      const asked = client.ask(to, 'Hello?');
      await expect(asked).rejects.toBeInstanceOf(errors.bad);
      await expect(asked).rejects.toThrow(message);
      expect(client.sent()).toBe(1);
    });

    test('a secret in a prompt does not reach the provider', async () => {
      expect(await opened(sdk).stream(to, `Use ${SECRET} there.`)).toBe('Hello.');
      const [{ bytes } = { bytes: '' }] = model.requests();
      expect(bytes).toMatch(/Use \[REDACTED-[A-Z-]+-[0-9A-F]{8}\] there\./);
      expect(bytes).not.toContain(SECRET);
      expect(bytes).not.toContain(gateway.key);
    });
  });

  test.each([
    ['a rule that blocks', 'refused', 'Closed for the audit.', { model: 'closed' }],
    ['a key that nobody knows', 'authentication', 'key is not known', { key: 'sk-wrong' }],
    ['a budget that is used up', 'rate', 'budget', { isPoor: true }],
    ['a request that is too large', 'any', 'larger than', { length: BODY_BYTES_MAX }],
    ['a request without a model', 'bad', 'model', { model: '' }],
  ] as const)('is refused once by %s', async (_kind, error, words, how) => {
    const {
      model: named = 'to-anthropic',
      length = 1,
      isPoor,
      key,
    } = {
      key: undefined,
      isPoor: false,
      ...how,
    } as { model?: string; length?: number; isPoor?: boolean; key?: string };
    const used = isPoor ? poorKey : key;
    const client = opened(sdk, used === undefined ? {} : { key: used });
    const asked = client.ask(named, 'a'.repeat(length));
    await expect(asked).rejects.toBeInstanceOf(errors[error]);
    await expect(asked).rejects.toThrow(words);
    expect(client.sent()).toBe(1);
    const streamed = client.stream(named, 'a'.repeat(length));
    await expect(streamed).rejects.toBeInstanceOf(errors[error]);
    await expect(streamed).rejects.toThrow(words);
    expect(client.sent()).toBe(2);
    expect(model.requests()).toEqual([]);
  });

  test('tries again when no endpoint can take the turn', async () => {
    const client = opened(sdk, { maxRetries: 1 });
    await expect(client.ask('nowhere', 'Hello?')).rejects.toBeInstanceOf(errors.server);
    expect(client.sent()).toBe(2);
    expect(model.requests()).toEqual([]);
  });

  test.each(['ask', 'stream'] as const)('waits for an approval (%s)', async (how) => {
    const client = opened(sdk);
    const asked = client[how]('held', 'Hello?');
    await resolve('approve');
    expect(await asked).toBe('Hello.');
    expect(client.sent()).toBe(1);
  });

  test('hears in its stream that a person said no', async () => {
    const client = opened(sdk);
    const asked = client.stream('held', 'Hello?');
    await resolve('reject');
    expect(await asked).toMatch(/^Subluminal: The approval \S+ was rejected by ada/);
    expect(client.sent()).toBe(1);
    expect(model.requests()).toEqual([]);
  });

  test('is refused once when a person says no', async () => {
    const client = opened(sdk);
    const asked = client.ask('held', 'Hello?');
    await Promise.all([resolve('reject'), expect(asked).rejects.toBeInstanceOf(errors.refused)]);
    expect(client.sent()).toBe(1);
  });

  test('lists the models of the pools, and finds one by its name', async () => {
    const client = opened(sdk);
    const models = await client.models();
    expect(models).toContain('claude-sonnet-4-6');
    expect(models).toContain('gpt-5.4');
    expect(await client.model('claude-sonnet-4-6')).toBe('claude-sonnet-4-6');
    await expect(client.model('no-such-model')).rejects.toMatchObject({ status: 404 });
  });
});

describe('a gateway that lets few in', () => {
  let narrow: GatewayProcess;
  beforeAll(async () => {
    const settings = (written: string) =>
      written
        .replace('key_requests_per_minute: 600', 'key_requests_per_minute: 60')
        .replace('ip_allowlist: []', 'ip_allowlist: ["127.0.0.1/32"]')
        .replace('trusted_proxies: []', 'trusted_proxies: ["127.0.0.1/32"]');
    narrow = await startGatewayProcess({ upstream: model.url, rules: RULES, settings });
  }, START_MS);
  afterAll(() => narrow?.close());

  describe.each(SDKS.map((sdk) => [sdk.title, sdk] as const))('%s', (_, { open, errors }) => {
    test('is refused once from an address that is not allowed', async () => {
      const headers = { 'x-forwarded-for': '203.0.113.9' };
      const client = open({ url: narrow.url, key: narrow.key, headers });
      const asked = client.ask('to-anthropic', 'Hello?');
      await expect(asked).rejects.toBeInstanceOf(errors.refused);
      await expect(asked).rejects.toThrow('does not answer to this address');
      expect(client.sent()).toBe(1);
      expect(model.requests()).toEqual([]);
    });

    test('hears that a key asks too often, and when to come again', async () => {
      const key = await narrow.invited('grace');
      const client = open({ url: narrow.url, key, maxRetries: 0 });
      const asked = Array.from({ length: 60 }, () => client.ask('closed', 'Hello?'));
      const outcomes = await Promise.allSettled(asked);
      const limited = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' && outcome.reason instanceof errors.rate
          ? [outcome.reason]
          : [],
      );
      expect(limited.length).toBeGreaterThan(0);
      expect(limited.length).toBeLessThan(60);
      const [first] = limited as unknown as { message: string; headers: Headers }[];
      expect(first?.message).toContain('Too many requests');
      expect(Number(first?.headers.get('retry-after'))).toBeGreaterThan(0);
    });
  });
});

describe('tokens', () => {
  const asked = { messages: [{ role: 'user' as const, content: 'How long is this? '.repeat(50) }] };
  const client = () => new Anthropic({ baseURL: gateway.url, apiKey: gateway.key });

  test('are counted by the provider that can', async () => {
    const counted = await client().messages.countTokens({ ...asked, model: 'to-anthropic' });
    expect(counted.input_tokens).toBe(1);
    const [request] = model.requests();
    expect(request?.headers['x-api-key']).toBe(PROVIDER_KEYS.anthropic);
  });

  test('are estimated, and marked so, where no provider counts them', async () => {
    const { data, response } = await client()
      .messages.countTokens({ ...asked, model: 'to-openai' })
      .withResponse();
    expect(data.input_tokens).toBeGreaterThan(100);
    expect(data.input_tokens).toBeLessThan(1_000);
    expect(response.headers.get('x-aicg-estimated')).toBe('true');
    expect(model.requests()).toEqual([]);
  });
});
