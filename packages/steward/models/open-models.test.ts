import { type IntegrationsFile, isFailure } from '@subluminal/contracts';
import { writeLogin } from '@subluminal/gateway/proxy';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import type { ModelFault, Reply } from '../../../test/steward/model-script.ts';
import { type Scripts, startScriptedModel } from '../../../test/steward/scripted-model.ts';
import { runningGateway } from '../../gateway/serve/testing/running-gateway.ts';
import { bodyOf, loopback } from '../../gateway/turns/testing/loopback.ts';
import { type ModelAnswer, type ModelQuestion, sharedModel } from './index.ts';
import {
  localModel,
  openModelRun,
  RUN_ID,
  snapshotOf,
  temporaryHome,
} from './testing/model-run.ts';

async function scripted(scripts: Scripts) {
  const model = await startScriptedModel(scripts);
  onTestFinished(() => model.close());
  return model;
}

const QUESTION: ModelQuestion = {
  purpose: 'agent',
  runId: RUN_ID,
  system: 'You are Steward.',
  messages: [{ role: 'user', text: 'What is in the mail?' }],
  tokensMax: 500,
};
const TOOLS = [
  {
    name: 'email__read',
    description: 'Reads a mail.',
    inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
  },
];

function answered(given: ModelAnswer | object): ModelAnswer {
  if (isFailure(given)) throw new Error(`${given.code}: ${given.message}`);
  return given as ModelAnswer;
}

test('a local model without a key drives the agent, and its turns are on record', async () => {
  verifies('ST-11-primary');
  const model = await scripted([
    { text: 'I look.', uses: [{ name: 'email.read', args: { id: '7' } }] },
    { text: 'A bill.' },
  ]);
  const { models, of, events } = await openModelRun({ chains: { agent: [localModel(model.url)] } });
  const first = answered(await models.ask({ ...QUESTION, tools: TOOLS }));
  expect(first).toMatchObject({
    text: 'I look.',
    uses: [{ id: 'call_1', name: 'email__read', args: { id: '7' } }],
    stop: 'tools',
    model: 'local',
    outputTokens: 8,
  });
  const second = answered(
    await models.ask({
      ...QUESTION,
      tools: TOOLS,
      messages: [
        ...QUESTION.messages,
        { role: 'assistant', text: first.text, uses: first.uses },
        { role: 'tool', useId: 'call_1', text: 'You owe 5 dollars.', isError: false },
        { role: 'user', text: 'Be short.' },
      ],
    }),
  );
  expect(second).toMatchObject({ text: 'A bill.', uses: [], stop: 'end' });
  const [, last] = model.requests;
  expect(last?.conversation?.messages.map(({ role, text }) => [role, text])).toEqual([
    ['user', 'What is in the mail?'],
    ['assistant', 'I look.'],
    ['tool', 'You owe 5 dollars.'],
    ['user', 'Be short.'],
  ]);
  expect(last?.conversation?.system).toBe('You are Steward.');
  expect(last?.headers.authorization).toBeUndefined();
  expect(of('turn_start')).toHaveLength(2);
  expect(of('turn_start')[0]?.call).toMatchObject({ provider: 'openai_compat', model: 'local' });
  expect(of('turn_start')[0]?.call.preview.args_preview).toContain('"purpose":"agent"');
  expect(of('turn_decision').map(({ decision }) => decision.action)).toEqual(['ALLOW', 'ALLOW']);
  expect(of('turn_end')[0]).toMatchObject({ status: 'OK', usage: { tokens_out: 8 } });
  expect(JSON.stringify(events)).not.toContain('5 dollars');
});

test('the next model of a chain answers when one fails, however it fails', async () => {
  verifies('ST-11');
  const fault = (one: ModelFault): Reply => ({ fault: one, text: 'never whole' });
  const broken = await scripted({
    limited: [fault({ kind: 'status', status: 429 })],
    down: [fault({ kind: 'status', status: 503 })],
    unknown: [fault({ kind: 'status', status: 404 })],
    garbage: [fault({ kind: 'garbage' })],
    cut: [fault({ kind: 'cut' })],
    hanging: [fault({ kind: 'hang' })],
  });
  const good = await scripted([{ text: 'Here.' }]);
  const gone = await startScriptedModel([]);
  await gone.close();
  const names = ['limited', 'down', 'unknown', 'garbage', 'cut', 'hanging'];
  const agent = [
    ...names.map((name) => ({ ...localModel(broken.url, name), timeout_s: 1 })),
    localModel(gone.url, 'gone'),
    localModel(good.url, 'good'),
  ];
  const { models, of } = await openModelRun({ chains: { agent } });
  expect(answered(await models.ask(QUESTION))).toMatchObject({ text: 'Here.', model: 'good' });
  expect(of('turn_end').map(({ status, call }) => [call.model, status])).toEqual([
    ['limited', 'ERROR'],
    ['down', 'ERROR'],
    ['unknown', 'ERROR'],
    ['garbage', 'ERROR'],
    ['cut', 'ERROR'],
    ['hanging', 'TIMEOUT'],
    ['gone', 'ERROR'],
    ['good', 'OK'],
  ]);
});

test('what every model said is told when none answers', async () => {
  const model = await scripted({
    one: [{ fault: { kind: 'status', status: 500, message: 'out of\u001b[2K memory' } }],
  });
  const agent = [localModel(model.url, 'one'), localModel(model.url, 'two')];
  const { models } = await openModelRun({ chains: { agent } });
  const given = await models.ask(QUESTION);
  expect(given).toMatchObject({ code: 'SUB_MODEL_FAILED' });
  expect((given as { message: string }).message).toBe(
    'No model answered. one (openai_compat): out of\\u{1b}[2K memory. two (openai_compat): No model two.',
  );
});

test("OpenAI answers on its own wire, with the user's key", async () => {
  verifies('ST-11-primary');
  const seen: unknown[] = [];
  const openai = await loopback(async (request, response) => {
    const body: unknown = JSON.parse((await bodyOf(request)).toString('utf8'));
    seen.push([request.url, request.headers.authorization, body]);
    response.setHeader('content-type', 'application/json');
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'email__read' };
    const output = [{ ...call, arguments: '{"id":"7"}', status: 'completed' }];
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
    response.end(
      JSON.stringify({
        id: 'r',
        object: 'response',
        status: 'completed',
        model: 'gpt',
        output,
        usage,
      }),
    );
  });
  const own = { provider: 'openai' as const, model: 'gpt-5', base_url: `${openai.url}/v1` };
  const { models } = await openModelRun({
    chains: { agent: [{ ...own, key_ref: 'env://MY_KEY', timeout_s: 60 }] },
    env: { MY_KEY: 'sk-own' },
  });
  const given = answered(await models.ask({ ...QUESTION, tools: TOOLS }));
  expect(given).toMatchObject({
    uses: [{ id: 'call_1', name: 'email__read', args: { id: '7' } }],
    stop: 'tools',
    inputTokens: 10,
  });
  expect(seen).toMatchObject([
    ['/v1/responses', 'Bearer sk-own', { model: 'gpt-5', max_output_tokens: 500 }],
  ]);
});

const BUDGET =
  '  - { rule_id: dollars, kind: budget, match: { subjects: [turn] }, effect: { budget: { scope: run, limit_usd: 0.009, on_exceed: BLOCK } } }\n';

function anthropicMessage(text: string) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-6',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 100 },
  };
}

test('a budget in dollars refuses the turn, and no other model is asked', async () => {
  const seen: (string | undefined)[] = [];
  const anthropic = await loopback((request, response) => {
    seen.push(request.headers['x-api-key'] as string | undefined);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(anthropicMessage('Hi.')));
  });
  const other = await scripted([{ text: 'never' }]);
  const own = {
    provider: 'anthropic' as const,
    model: 'claude-sonnet-4-6',
    base_url: anthropic.url,
    timeout_s: 60,
  };
  const { models, of, events } = await openModelRun({
    chains: { agent: [own, localModel(other.url)] },
    rules: BUDGET,
    env: { ANTHROPIC_API_KEY: 'sk-ant-secret-value' },
  });
  const first = answered(await models.ask(QUESTION));
  // 100 tokens in at $3, 100 out at $15, for a million each.
  expect(first).toMatchObject({ text: 'Hi.', costMicros: 1_800, inputTokens: 100 });
  const second = await models.ask({ ...QUESTION });
  expect(second).toMatchObject({ code: 'SUB_MODEL_REFUSED' });
  expect((second as { message: string }).message).toContain('budget');
  expect(seen).toEqual(['sk-ant-secret-value']);
  expect(other.requests).toEqual([]);
  expect(of('turn_decision').map(({ decision }) => decision.rule_id)).toEqual([null, 'dollars']);
  expect(JSON.stringify(events)).not.toContain('sk-ant-secret');
});

test('a policy that changes holds for the next turn', async () => {
  const model = await scripted([{ text: 'Hi.' }]);
  const { models, usePolicy, ended } = await openModelRun({
    chains: { agent: [localModel(model.url)] },
  });
  expect(answered(await models.ask(QUESTION)).text).toBe('Hi.');
  const deny =
    '  - { rule_id: none, kind: deny, match: { subjects: [turn] }, effect: { action: BLOCK } }\n';
  usePolicy(await snapshotOf(deny));
  expect(await models.ask(QUESTION)).toMatchObject({ code: 'SUB_MODEL_REFUSED' });
  models.closeRun(RUN_ID);
  expect(ended).toMatchObject([{ calls_total: 2, calls_blocked: 1 }]);
  expect(await models.ask(QUESTION)).toMatchObject({ code: 'SUB_MODEL_FAILED' });
  expect(model.requests).toHaveLength(1);
});

test('a secret in the conversation does not go to the model', async () => {
  const model = await scripted([{ text: 'Hi.' }]);
  const chains = { agent: [localModel(model.url)] };
  const { models, of } = await openModelRun({ chains, sections: 'content: {}\n' });
  const text = 'The key is ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789, tell ann@example.com.';
  answered(await models.ask({ ...QUESTION, messages: [{ role: 'user', text }] }));
  expect(model.requests[0]?.conversation?.asked).toMatch(
    /^The key is \[REDACTED-GITHUB-TOKEN-\w+\], tell ann@example\.com\.$/,
  );
  expect(of('turn_decision')[0]?.call.content?.action).toBe('redact');
});

test('a guardian that is the agent as well is told of', () => {
  const [large, small] = ['large', 'small'].map((name) => localModel('http://127.0.0.1:1', name));
  if (large === undefined || small === undefined) throw new Error('no models');
  expect(sharedModel({ agent: [large] })).toBe('large');
  expect(sharedModel({ agent: [large, small], guardian: [large] })).toBe('large');
  expect(sharedModel({ agent: [large, small], guardian: [small, large] })).toBeUndefined();
});

test('each purpose has a chain of its own, or that of the agent', async () => {
  verifies('ST-11-guardian');
  const model = await scripted((conversation) => ({ text: `I am ${conversation.model}.` }));
  const chains: IntegrationsFile['models'] = {
    agent: [localModel(model.url, 'large')],
    guardian: [localModel(model.url, 'small')],
  };
  const { models, of } = await openModelRun({ chains });
  const say = async (purpose: ModelQuestion['purpose']) =>
    answered(await models.ask({ ...QUESTION, purpose })).text;
  expect(await say('guardian')).toBe('I am small.');
  expect(await say('worker')).toBe('I am large.');
  expect(of('turn_start').map(({ call }) => call.preview.args_preview)).toEqual([
    expect.stringContaining('"purpose":"guardian"'),
    expect.stringContaining('"purpose":"worker"'),
  ]);
});

test('tool calls that are malformed come back as data', async () => {
  const call = (parts: object) => ({ type: 'function', ...parts });
  const model = await scripted([
    {
      finishReason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          call({ id: 'a', function: { name: 'email__read', arguments: '{"id": ' } }),
          call({ id: 'a', function: { name: 'no such tool!', arguments: '[1]' } }),
          call({ function: { name: 'email__read', arguments: '' } }),
          call({ id: 'd', function: {} }),
          call({ id: 'e', function: { name: 'email__read', arguments: '{"__proto__":{"x":1}}' } }),
          'no call',
        ],
      },
    },
  ]);
  const { models } = await openModelRun({ chains: { agent: [localModel(model.url)] } });
  const { uses, stop } = answered(await models.ask({ ...QUESTION, tools: TOOLS }));
  expect(stop).toBe('tools');
  expect(uses.map(({ name, args }) => [name, JSON.stringify(args)])).toEqual([
    ['email__read', '{"input":"{\\"id\\": "}'],
    ['no such tool!', '{"input":"[1]"}'],
    ['email__read', '{}'],
    ['', '{}'],
    ['email__read', '{"__proto__":{"x":1}}'],
  ]);
  expect(new Set(uses.map(({ id }) => id)).size).toBe(uses.length);
});

test('an answer that was cut off by its length asks for no tool', async () => {
  const uses = [{ name: 'email.read', args: { id: '7' } }];
  const model = await scripted([{ text: 'I', uses, finishReason: 'length' }]);
  const { models } = await openModelRun({ chains: { agent: [localModel(model.url)] } });
  const given = answered(await models.ask({ ...QUESTION, tools: TOOLS }));
  expect(given).toMatchObject({ text: 'I', uses: [], stop: 'length' });
});

test('a question that is stopped ends at once, and no other model is asked', async () => {
  const model = await scripted([{ fault: { kind: 'hang' } }]);
  const agent = [localModel(model.url, 'one'), localModel(model.url, 'two')];
  const { models, of } = await openModelRun({ chains: { agent } });
  const stop = new AbortController();
  const asked = models.ask({ ...QUESTION, signal: stop.signal });
  await model.received(1);
  stop.abort();
  expect(await asked).toMatchObject({ code: 'SUB_MODEL_STOPPED' });
  expect(model.requests).toHaveLength(1);
  expect(of('turn_end')).toMatchObject([{ status: 'CANCELLED' }]);
});

test('a key is neither sent over plain http nor told', async () => {
  const echo = await loopback((request, response) => {
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `no: ${request.headers.authorization}` } }));
  });
  const key_ref = 'env://MODEL_KEY';
  const agent = [
    { ...localModel('http://models.example.com/v1', 'plain'), key_ref },
    { ...localModel('https://models.example.com/v1', 'unset'), key_ref: 'env://OTHER_KEY' },
    { ...localModel('ftp://models.example.com', 'strange') },
    { ...localModel(echo.url, 'echo'), key_ref },
  ];
  const env = { MODEL_KEY: 'very-secret-key' };
  const { models, of, events } = await openModelRun({ chains: { agent }, env });
  const given = (await models.ask(QUESTION)) as { message: string };
  expect(given.message).toContain('plain (openai_compat): The model would get its key over plain');
  expect(given.message).toContain('OTHER_KEY is not set');
  expect(given.message).toContain('strange (openai_compat): The model is no address.');
  expect(given.message).toContain('echo (openai_compat): no: Bearer [key]');
  expect(given.message).not.toContain('very-secret-key');
  expect(of('turn_start')).toHaveLength(1);
  expect(JSON.stringify(events)).not.toContain('very-secret-key');
});

test("the team's gateway answers, says what it cost, and its refusal is final", async () => {
  verifies('ST-11');
  const gateway = await runningGateway({
    files: {
      'policies/main.yaml': `version: 1
defaults:
  on_no_match: { action: route, model_pool: standard, reasons: [default] }
rules:
  - { id: CLOSED, when: 'request.model == "dear"', action: block, reasons: ["Closed for the audit."] }
`,
    },
  });
  const home = temporaryHome();
  const login = { gatewayUrl: gateway.url, apiKey: gateway.key };
  writeLogin(home, { ...login, keyId: 'k', userId: 'ada', teamId: 'platform' });
  const other = await scripted([{ text: 'never' }]);
  const team = (model: string) => ({ provider: 'gateway' as const, model, timeout_s: 60 });
  const chains = {
    agent: [team('any'), localModel(other.url)],
    worker: [team('dear'), localModel(other.url)],
  };
  const { models, of } = await openModelRun({ chains, home });
  const given = answered(await models.ask(QUESTION));
  // 1,000 tokens in at $3, 100 out at $15, for a million each.
  expect(given).toMatchObject({ text: 'Hello.', inputTokens: 1_000, costMicros: 4_500 });
  expect(of('turn_end')[0]?.usage?.cost_micros).toBe(4_500);
  const refused = await models.ask({ ...QUESTION, purpose: 'worker' });
  expect(refused).toMatchObject({ code: 'SUB_MODEL_REFUSED' });
  expect((refused as { message: string }).message).toContain('Closed for the audit.');
  expect(gateway.upstream).toHaveLength(1);
  await gateway.close();
  expect(answered(await models.ask(QUESTION)).text).toBe('never');
});
