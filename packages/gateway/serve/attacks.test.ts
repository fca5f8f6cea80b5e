// A client with a key that wants more than it may have, and upstreams that want to do harm.
import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { anthropicAnswer, runningGateway, type TestGateway } from './testing/running-gateway.ts';

const ASKED = { model: 'any', max_tokens: 100, messages: [{ role: 'user', content: 'Hello?' }] };
const TOKEN = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');
const POLICY = 'policies/main.yaml';
const DEFAULTS =
  'version: 1\ndefaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }\nrules:\n';
const REDACTING = `${DEFAULTS}  - { id: REDACT, when: server_class.has_secret_finding, action: redact }\n`;
const ASKING = `${DEFAULTS}  - { id: ASK, when: 'request.model == "dear"', action: require_approval }\n`;

function sendEvents(response: ServerResponse, events: readonly { readonly type: string }[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
}

const MESSAGE = { ...anthropicAnswer(''), content: [], stop_reason: null };
const BEGUN = [
  {
    type: 'message_start',
    message: { ...MESSAGE, usage: { input_tokens: 1_000, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: 'word '.repeat(8_000) },
  },
];

async function costsOf(gateway: TestGateway, answer: Response): Promise<unknown> {
  const path = `/api/v1/audit/${answer.headers.get('x-aicg-trace-id')}`;
  await expect.poll(async () => (await gateway.ask(path)).status).toBe(200);
  const trace = (await (await gateway.ask(path)).json()) as { readonly costs: unknown };
  return trace.costs;
}

describe('an upstream that forges', () => {
  it('gets no event of ours to the client', async () => {
    const forged = { type: 'aicg.usage', cost_micros: 1 };
    const end = [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ];
    const gateway = await runningGateway({
      answer: (response) => {
        sendEvents(response, [...BEGUN, forged, ...end]);
        response.end();
      },
    });
    const text = await (await gateway.turn({ ...ASKED, stream: true })).text();
    expect(text).toContain('message_stop');
    expect(text).not.toContain('aicg.usage');
  });

  it.each([
    ['behind carriage returns', 'data: {"type":"ping"}\r\revent: aicg.usage\rdata: {}\r\r'],
    [
      'behind a mark at the start',
      '\uFEFFdata: {"type":"ping"}\n\nevent: aicg.usage\ndata: {}\n\n',
    ],
  ])('gets no event of ours to the client %s', async (_where, forged) => {
    const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
    const gateway = await runningGateway({
      answer: (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(forged + stop);
      },
    });
    const text = await (await gateway.turn({ ...ASKED, stream: true })).text();
    expect(text).toContain('message_stop');
    expect(text.match(/aicg\.\w+/g) ?? []).toEqual([]);
  });
});

describe('a client that does not want to pay', () => {
  it('pays for what it has read when it goes before the tokens are counted', async () => {
    const gateway = await runningGateway({ answer: (response) => sendEvents(response, BEGUN) });
    const gone = new AbortController();
    const answer = await gateway.turn({ ...ASKED, stream: true }, { signal: gone.signal });
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.endsWith('word "}}\n\n')) break;
    }
    gone.abort();
    expect(await costsOf(gateway, answer)).toMatchObject([
      { input_tokens: 1_000, output_tokens: 10_000, cost_source: 'estimated' },
    ]);
  }, 30_000);

  it('gets no answer in the background, which nobody would count', async () => {
    const gateway = await runningGateway();
    const body = { model: 'any', input: 'Hello?', background: true };
    const answer = await gateway.ask('/v1/responses', { body });
    expect(answer.status).toBe(400);
    expect(gateway.upstream).toEqual([]);
  });

  it('reserves for all answers that it asks for at once', async () => {
    const files = { 'budgets.yaml': 'defaults:\n  user_daily: { cap_usd: 0.1 }\n' };
    const gateway = await runningGateway({ files });
    const statusOf = async (n: number) =>
      (await gateway.ask('/v1/chat/completions', { body: { ...ASKED, n } })).status;
    expect(await statusOf(100)).toBe(429);
    expect(gateway.upstream).toEqual([]);
    expect(await statusOf(1)).toBe(200);
  });
});

describe('a client that asks for more tokens than there are', () => {
  it('does not take the budget of its team beyond what can be counted', async () => {
    const waiting: ServerResponse[] = [];
    const gateway = await runningGateway({
      files: { 'budgets.yaml': 'defaults:\n  team_monthly: { cap_usd: 1, on_exceeded: warn }\n' },
      answer: (response, { body }) => {
        if (body.includes('"max_tokens":9')) return waiting.push(response);
        response.setHeader('content-type', 'application/json');
        return response.end(JSON.stringify(anthropicAnswer('Hello.')));
      },
    });
    const huge = { ...ASKED, max_tokens: Number.MAX_SAFE_INTEGER };
    const asked = [1, 2, 3].map(() => gateway.turn(huge));
    await expect.poll(() => waiting.length).toBe(3);
    expect((await gateway.turn(ASKED)).status).toBe(200);
    expect((await gateway.ask('/api/v1/budget')).status).toBe(200);
    for (const response of waiting) response.writeHead(400).end('{}');
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([400, 400, 400]);
    const { budgets } = (await (await gateway.ask('/api/v1/budget')).json()) as {
      budgets: { scope: string; reserved_micros: number }[];
    };
    expect(budgets.find(({ scope }) => scope === 'team_month')?.reserved_micros).toBe(0);
  });
});

describe('a client that wants more than the policy allows', () => {
  it('sends nothing by counting tokens before a person has approved', async () => {
    const gateway = await runningGateway({ files: { [POLICY]: ASKING } });
    const body = { model: 'dear', messages: ASKED.messages };
    const answer = await gateway.ask('/v1/messages/count_tokens', { body });
    expect(answer.headers.get('x-aicg-estimated')).toBe('true');
    expect(await answer.json()).toMatchObject({ estimated: true });
    expect(gateway.upstream).toEqual([]);
    const traceId = answer.headers.get('x-aicg-trace-id') ?? '';
    const trace: unknown = await (await gateway.ask(`/api/v1/audit/${traceId}`)).json();
    const events = [{ event_type: 'tokens_counted', routed_to: null, detail: { status: 200 } }];
    expect(trace).toMatchObject({ events, costs: [], routing: [] });
  });

  it.each([
    ['metadata', { metadata: { user_id: 'me', note: TOKEN } }],
    ['a key of metadata', { metadata: { [TOKEN]: 'x' } }],
    ['stop sequences', { stop_sequences: [TOKEN] }],
    ['a member that nobody knows', { notes: { deep: [{ er: TOKEN }] } }],
    ['the description of a tool', { tools: [{ name: 't', description: TOKEN, input_schema: {} }] }],
    [
      'a name in the schema of a tool',
      { tools: [{ name: 't', input_schema: { properties: { [TOKEN]: {} } } }] },
    ],
    ['the name of a tool', { tools: [{ name: TOKEN, input_schema: {} }] }],
    ['the name of a speaker', { messages: [{ role: 'user', name: TOKEN, content: 'Hello?' }] }],
    [
      'an id',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: TOKEN }] }] },
    ],
    ['escapes', { system: 'ESCAPED' }],
  ])('sends no secret in %s', async (_where, members) => {
    const gateway = await runningGateway({ files: { [POLICY]: REDACTING } });
    const body = { ...ASKED, ...members };
    const escaped = TOKEN.replaceAll(/[a-z]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify(body).replace('ESCAPED', escaped),
    });
    expect(answer.headers.get('x-aicg-modifiers')).toBe('redact');
    expect(gateway.upstream).toHaveLength(1);
    expect(JSON.stringify(JSON.parse(gateway.upstream[0]?.body ?? ''))).not.toContain(TOKEN);
  });

  it('names no model that would fill the records', async () => {
    const gateway = await runningGateway();
    const answer = await gateway.turn({ ...ASKED, model: 'm'.repeat(100_000) });
    expect(answer.status).toBe(400);
  });
});

describe('a client that wants everything for itself', () => {
  it('fills neither the list of those who approve, nor the gateway, with turns that wait', async () => {
    const gateway = await runningGateway({ files: { [POLICY]: ASKING } });
    const told = { accept: 'application/vnd.subluminal+json' };
    const gone = new AbortController();
    const asked = { ...ASKED, model: 'dear', stream: true };
    for (let turn = 0; turn < 32; turn++) await gateway.turn(asked, { signal: gone.signal });
    const answer = await gateway.turn(asked, { headers: told });
    expect(answer.status).toBe(451);
    expect(await answer.text()).toContain('32 turns that wait');
    gone.abort();
    const isPending = '/api/v1/approvals?state=pending';
    await expect
      .poll(async () => (await gateway.ask(isPending)).json(), { timeout: 10_000 })
      .toEqual({ approvals: [] });
  }, 30_000);

  it('does not keep the gateway from ending by a connection that says nothing', async () => {
    const gateway = await runningGateway();
    const { hostname, port } = new URL(gateway.url);
    const silent = connect(Number(port), hostname).on('error', () => {});
    const ended = once(silent, 'close');
    await once(silent, 'connect');
    expect((await gateway.turn(ASKED)).status).toBe(200);
    await gateway.close();
    await ended;
  });

  it('takes a part of the turns that the gateway holds at once', async () => {
    const gateway = await runningGateway();
    const keys = [gateway.key];
    for (const name of ['b', 'c']) {
      const made = await gateway.ask('/api/v1/me/api-keys', { body: { name } });
      keys.push(((await made.json()) as { readonly key: string }).key);
    }
    const statuses: (number | undefined)[] = [];
    for (let turn = 0; turn < 300; turn++) {
      const authorization = `Bearer ${keys[turn % 3]}`;
      const options = { method: 'POST', headers: { authorization, 'content-length': '100' } };
      const open = request(`${gateway.url}/v1/messages`, options, (answer) => {
        statuses.push(answer.statusCode);
      });
      open.on('error', () => {});
      open.flushHeaders();
      onTestFinished(() => void open.destroy());
    }
    const refused = Array.from({ length: 300 - 256 }, () => 429);
    await expect.poll(() => statuses, { timeout: 10_000 }).toEqual(refused);
  }, 30_000);
});

describe('an upstream that does harm', () => {
  it.each([9e15, 1e9])('takes no budget away by counting %d tokens', async (output_tokens) => {
    const gateway = await runningGateway({
      answer: (response) => {
        response.setHeader('content-type', 'application/json');
        const usage = { input_tokens: 5, output_tokens };
        response.end(JSON.stringify({ ...anthropicAnswer('Four words are these.'), usage }));
      },
    });
    const answer = await gateway.turn(ASKED);
    expect(answer.status).toBe(200);
    expect(await costsOf(gateway, answer)).toMatchObject([
      { output_tokens: 6, cost_source: 'estimated' },
    ]);
  });
});
