// The proxy of a machine that is logged in to no gateway: a policy of the user, real files, a scripted provider.
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Event, isFailure } from '@subluminal/contracts';
import { openDesk } from '@subluminal/plane/approvals';
import { uuidv7 } from 'uuidv7';
import { expect, test } from 'vitest';
import { type SeenRequest, scriptedUpstream } from '../local/testing/local-run.ts';
import { anthropicAnswer } from '../serve/testing/running-gateway.ts';
import { ASKED, MESSAGES, runningOwnProxy } from './testing/running-proxy.ts';

const SECRET = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');
const KEY = { 'x-api-key': 'sk-ant-mine' };
const MODEL = 'claude-sonnet-4-6';
const TURN = { ...ASKED, model: MODEL };

const policyOf = (rules: string, sections = '') =>
  `policy_id: own\nversion: "1"\nmode: control\n${sections}rules:\n${rules}`;

async function ownProxy(rules?: string, sections?: string) {
  const upstream = await scriptedUpstream(() => ({
    type: 'application/json',
    text: JSON.stringify(anthropicAnswer('Hello.')),
  }));
  const { url } = upstream;
  const proxy = await runningOwnProxy({
    env: { SUB_PROXY_ANTHROPIC_URL: url, SUB_PROXY_OPENAI_URL: `${url}/v1` },
    ...(rules !== undefined && { policy: policyOf(rules, sections) }),
  });
  return { upstream, proxy };
}

const of = <T extends Event['type']>(events: readonly Event[], type: T) =>
  events.filter((event): event is Extract<Event, { type: T }> => event.type === type);

const sentBy = ({ url, headers }: SeenRequest) => [url, headers['x-api-key']];

test('turns go to the provider with the key of the agent, and each session is a run of the ledger', async () => {
  const { upstream, proxy } = await ownProxy();
  const session = (id: string) => ({ ...KEY, 'x-claude-code-session-id': id });
  const answer = await proxy.ask(`${MESSAGES}?beta=true`, TURN, session('s-1'));
  expect(await answer.json()).toEqual(anthropicAnswer('Hello.'));
  await Promise.all([1, 2].map(() => proxy.ask(MESSAGES, TURN, session('s-2'))));
  expect(upstream.seen.map(sentBy)).toContainEqual(['/v1/messages?beta=true', 'sk-ant-mine']);
  expect(await (await proxy.ask('/_aicg/sessions')).json()).toMatchObject({
    sessions: [
      { session_id: 's-1', turns: 1 },
      { session_id: 's-2', turns: 2 },
    ],
  });
  const events = await proxy.close();
  const ends = of(events, 'turn_end');
  // 1,000 tokens at $3 and 100 at $15, for a million each.
  expect(ends.map(({ usage }) => usage?.cost_micros)).toEqual([4_500, 4_500, 4_500]);
  expect(new Set(ends.map(({ run_id }) => run_id)).size).toBe(2);
  expect(of(events, 'run_end').map(({ run }) => [run.status, run.summary.calls_total])).toEqual([
    ['SUCCEEDED', 1],
    ['SUCCEEDED', 2],
  ]);
  expect(JSON.stringify(events)).not.toMatch(/sk-ant-mine|Hello/);
});

test.each([
  ['/openai/v1/chat/completions', { model: 'gpt-5.4', messages: ASKED.messages }],
  ['/openai/v1/responses', { model: 'gpt-5.4', input: 'Hello?' }],
  ['/anthropic/v1/messages/count_tokens', TURN],
])('%s leads to its provider', async (path, body) => {
  const { upstream, proxy } = await ownProxy();
  await proxy.ask(path, body, { authorization: 'Bearer sk-mine' });
  expect(upstream.seen).toMatchObject([
    { url: path.replace(/^\/\w+/, ''), headers: { authorization: 'Bearer sk-mine' } },
  ]);
});

test('the policy of the user decides', async () => {
  const { upstream, proxy } = await ownProxy(
    '  - { rule_id: no-dear, kind: deny, match: { subjects: [turn], model: { glob: ["dear*"] } }, effect: { action: BLOCK, message: Too dear. } }\n',
  );
  const refused = await proxy.ask(MESSAGES, { ...ASKED, model: 'dear-model' }, KEY);
  expect(refused.status).toBe(451);
  expect(await refused.text()).toContain('Too dear.');
  expect((await proxy.ask(MESSAGES, TURN, KEY)).status).toBe(200);
  expect(upstream.seen).toHaveLength(1);
  const decisions = of(await proxy.close(), 'turn_decision');
  expect(decisions.map(({ decision }) => [decision.action, decision.rule_id])).toEqual([
    ['BLOCK', 'no-dear'],
    ['ALLOW', null],
  ]);
});

test('a budget in dollars holds for one session, and not for another', async () => {
  const { proxy } = await ownProxy(
    '  - { rule_id: cents, kind: budget, match: { subjects: [turn] }, effect: { budget: { scope: run, limit_usd: 0.01, on_exceed: BLOCK } } }\n',
  );
  const turns = async (id: string) => {
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const answer = await proxy.ask(MESSAGES, TURN, { ...KEY, 'session-id': id });
      statuses.push(answer.status);
    }
    return statuses;
  };
  // Each turn costs $0.0045.
  expect(await turns('s-1')).toEqual([200, 200, 429, 429]);
  expect(await turns('s-2')).toEqual([200, 200, 429, 429]);
});

test('a secret in a prompt never reaches the provider', async () => {
  const { upstream, proxy } = await ownProxy(
    '  []\n',
    'content: { outbound: { secret: block } }\n',
  );
  const messages = [{ role: 'user', content: `Use ${SECRET}.` }];
  expect((await proxy.ask(MESSAGES, { ...TURN, messages }, KEY)).status).toBe(200);
  expect(upstream.seen[0]?.body).toMatch(/Use \[REDACTED-/);
  const events = await proxy.close();
  expect(of(events, 'turn_decision')[0]?.call.content).toMatchObject({ action: 'redact' });
  expect(JSON.stringify(events) + JSON.stringify(upstream.seen)).not.toContain(SECRET);
});

test('a turn that needs a person waits until it is approved', async () => {
  const { proxy } = await ownProxy(
    '  - { rule_id: ask, kind: approval, match: { subjects: [turn] }, effect: { approval: { wait: hold } } }\n',
  );
  const turn = proxy.ask(MESSAGES, TURN, KEY);
  const pending = () => {
    const desk = openDesk({ home: proxy.home, ports: { nowMs: () => Date.now(), uuid: uuidv7 } });
    if (isFailure(desk)) throw new Error(desk.message);
    const listed = desk.queue.list({ state: 'pending' });
    if (isFailure(listed)) throw new Error(listed.message);
    return listed.found.map(({ request }) => ({ id: request.id, desk }));
  };
  await expect.poll(pending, { timeout: 20_000 }).toHaveLength(1);
  const [asked] = pending();
  asked?.desk.decide(asked.id, { state: 'approved', by: 'me', channel: 'test' });
  expect((await turn).status).toBe(200);
});

test.each([
  ['tightens that of the user', KEY],
  ['holds in it, whatever session of another folder a client names', { ...KEY, 'session-id': 's' }],
])('the policy of a repository %s', async (_what, headers) => {
  const { proxy } = await ownProxy('  []\n');
  const repo = join(proxy.home, 'repo');
  mkdirSync(join(repo, '.subluminal'), { recursive: true });
  execFileSync('git', ['init', '-q', repo]);
  const deny =
    '  - { rule_id: none-here, kind: deny, match: { subjects: [turn] }, effect: { action: BLOCK, message: Not here. } }\n';
  writeFileSync(join(repo, '.subluminal/policy.yaml'), policyOf(deny));
  const script = `const answer = await fetch('${proxy.url}${MESSAGES}', { method: 'POST', headers: ${JSON.stringify(headers)}, body: ${JSON.stringify(JSON.stringify(TURN))} });
    console.log(answer.status, await answer.text());`;
  const asked = async (cwd: string) => {
    const args = ['--input-type=module', '-e', script];
    return (await promisify(execFile)(process.execPath, args, { cwd })).stdout;
  };
  expect(await asked(proxy.home)).toMatch(/^200 /);
  expect(await asked(repo)).toMatch(/^451 .*Not here\./);
  expect(await asked(proxy.home)).toMatch(/^200 /);
});

test('a policy that is broken now lets no new session pass, and says so', async () => {
  const { upstream, proxy } = await ownProxy('  []\n');
  expect((await proxy.ask(MESSAGES, TURN, { ...KEY, 'session-id': 'old' })).status).toBe(200);
  writeFileSync(join(proxy.home, 'policy.yaml'), 'rules: [', { mode: 0o600 });
  const refused = await proxy.ask(MESSAGES, TURN, { ...KEY, 'session-id': 'new' });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toMatch(/policy\.yaml/);
  expect((await proxy.ask(MESSAGES, TURN, { ...KEY, 'session-id': 'old' })).status).toBe(200);
  writeFileSync(join(proxy.home, 'policy.yaml'), policyOf('  []\n'), { mode: 0o600 });
  expect((await proxy.ask(MESSAGES, TURN, { ...KEY, 'session-id': 'new' })).status).toBe(200);
  expect(upstream.seen).toHaveLength(3);
});

test('a proxy with a broken policy does not start', async () => {
  await expect(runningOwnProxy({ policy: 'rules: [' })).rejects.toThrow('SUB_MODELS_POLICY');
});

test('the placeholder of `sub env` is no key', async () => {
  const { upstream, proxy } = await ownProxy();
  const refused = await proxy.ask(MESSAGES, TURN);
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('sub login');
  expect(upstream.seen).toEqual([]);
});
