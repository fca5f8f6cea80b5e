// The real clients against a gateway that runs as a process of its own, with a key as an agent of CI has it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import {
  type GatewayProcess,
  type GatewayProcessOptions,
  type Json,
  startGatewayProcess,
} from '../gateway/gateway-process.ts';
import { type ModelRequest, type ModelServer, startModelServer } from './model-server.ts';
import { REAL_CLIENTS, type RealClient } from './real-client.ts';
import { call, listOf, text } from './script.ts';
import { type Stage, setStage } from './stage.ts';

interface Scene {
  readonly stage: Stage;
  readonly model: ModelServer;
  readonly gateway: GatewayProcess;
  /** What the client has for a key. */
  readonly key: string;
}

const SECRET = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
const DONE = 'That is all.';
const POOLS = [
  ['Anthropic', 'only_anthropic', '/v1/messages', 'claude-sonnet-4-6'],
  ['OpenAI', 'only_openai', '/v1/responses', 'gpt-5.4'],
  ['its own network', 'only_local', '/v1/chat/completions', 'qwen2.5-coder'],
] as const;

const routeTo = (pool: string) =>
  `  - { id: EVERYTHING, priority: 900, when: "true", action: route, model_pool: ${pool} }`;

beforeAll(ensureBuilt);

async function setScene(
  client: RealClient,
  options: Omit<GatewayProcessOptions, 'upstream'>,
  skip: TestContext['skip'],
): Promise<Scene> {
  if (client.binFolder === undefined) return skip(`${client.title} is not installed`);
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const gateway = await startGatewayProcess({ upstream: model.url, ...options });
  onTestFinished(() => gateway.close());
  const key = await gateway.invited('grace');
  const own = { ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_API_KEY: key, SCRIPTED_KEY: key };
  const stage = setStage({
    binFolder: client.binFolder,
    env: { ...client.env(model.url), ...own },
  });
  onTestFinished(() => stage.clear());
  for (const { path, text: written } of client.configs(stage, gateway.url)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, written);
  }
  writeFileSync(join(stage.project, 'hello.txt'), `Hello. The token is ${SECRET}.\n`);
  return { stage, model, gateway, key };
}

async function recorded(gateway: GatewayProcess, eventType: string): Promise<readonly Json[]> {
  const query = `user_id=grace&event_type=${eventType}&limit=100`;
  const { items } = await gateway.api(`/api/v1/audit/search?${query}`);
  return listOf(items);
}

/** Turns, not what a client looks for beside them. */
function turnsIn(requests: readonly ModelRequest[]): readonly ModelRequest[] {
  return requests.filter(
    ({ method, path }) => method === 'POST' && !path.endsWith('/count_tokens'),
  );
}

/** An admin approves whatever waits, until the session has ended. */
async function approveAll(gateway: GatewayProcess, running: Promise<unknown>): Promise<number> {
  const over = new AbortController();
  void running.finally(() => over.abort());
  let count = 0;
  for await (const id of gateway.waiting(over.signal)) {
    await gateway.api(`/api/v1/approvals/${id}/approve`, { body: { note: 'Seen.' } });
    count += 1;
  }
  return count;
}

describe.each(REAL_CLIENTS.map((client) => [client.title, client] as const))('%s', (_, client) => {
  test.each(POOLS)('edits by a model of %s, and a secret stays home', async (...args) => {
    const [, pool, path, modelName] = args;
    const { skip } = args.at(-1) as unknown as TestContext;
    const { stage, model, gateway, key } = await setScene(client, { rules: routeTo(pool) }, skip);
    const file = (name: string) => join(stage.project, name);
    model.play([
      call('files', 'read_text_file', { path: file('hello.txt') }),
      call('files', 'write_file', { path: file('copy.txt'), content: 'Hello, “world” 𝄞.\n' }),
      text(DONE),
    ]);
    const session = await stage.run(client.command);
    expect(session, session.stdout + session.stderr + gateway.log()).toMatchObject({ code: 0 });
    expect(session.stdout).toContain(DONE);
    expect(readFileSync(file('copy.txt'), 'utf8')).toBe('Hello, “world” 𝄞.\n');
    const turns = turnsIn(model.requests());
    expect(turns.length).toBeGreaterThanOrEqual(3);
    for (const turn of turns) {
      expect(turn.path).toBe(path);
      expect(turn.body['model']).toBe(modelName);
    }
    const [read = ''] = model.seen();
    expect(read).toMatch(/The token is \[REDACTED-GITHUB-TOKEN-[0-9A-F]{8}\]/);
    const bytes = model.requests().map((request) => request.bytes);
    expect(bytes.join('\n')).not.toContain(SECRET);
    expect(bytes.join('\n')).not.toContain(key);
    const ended = await recorded(gateway, 'turn');
    expect(ended).toHaveLength(turns.length);
  });

  test('waits for an admin who approves its turns', async ({ skip }) => {
    const rules = `${routeTo('only_anthropic')}\n  - { id: ASK, when: "true", action: require_approval }`;
    const { stage, model, gateway } = await setScene(client, { rules }, skip);
    model.play([text(DONE)]);
    const running = stage.run(client.command);
    const approved = approveAll(gateway, running);
    const session = await running;
    expect(session, session.stdout + session.stderr + gateway.log()).toMatchObject({ code: 0 });
    expect(session.stdout).toContain(DONE);
    expect(await approved).toBe(turnsIn(model.requests()).length);
  });

  test('reports a budget that is used up, and does not try again', async ({ skip }) => {
    const budgets =
      'version: 1\nusers:\n  grace: { daily: { cap_usd: 0.000001, on_exceeded: refuse } }\n';
    const { stage, model, gateway } = await setScene(client, { budgets }, skip);
    model.play([text(DONE)]);
    const session = await stage.run(client.command);
    expect(session.stdout + session.stderr).toContain('budget');
    expect(turnsIn(model.requests())).toEqual([]);
    const refused = await recorded(gateway, 'turn_over_budget');
    // One for the task; a client may ask for something beside it.
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThanOrEqual(3);
  });

  test('reports a rule that refuses in its words, and gives up', async ({ skip }) => {
    const reason = 'Closed for the audit. Come back on Monday.';
    const rules = `  - { id: CLOSED, when: "true", action: block, reasons: ["${reason}"] }`;
    const { stage, model, gateway } = await setScene(client, { rules }, skip);
    const session = await stage.run(client.command);
    expect(session.stdout + session.stderr).toContain(reason);
    expect(turnsIn(model.requests())).toEqual([]);
    const refused = await recorded(gateway, 'turn_blocked');
    expect(refused).toHaveLength(1);
  });
});
