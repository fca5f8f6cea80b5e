// The real clients against a gateway that runs as a process of its own, with a key as an agent of CI has it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { type Ended, ensureBuilt } from '../e2e/sub.ts';
import type { GatewayProcessOptions } from '../gateway/gateway-process.ts';
import {
  ASK,
  DEVELOPER,
  decideAll,
  type GatewayScene,
  recorded,
  routeTo,
  setGatewayScene,
  USED_UP,
} from './gateway-scene.ts';
import { REAL_CLIENTS, type RealClient } from './real-client.ts';
import { DONE, SECRET, turnsIn, writeConfigs } from './scene.ts';
import { call, text } from './script.ts';

interface KeyScene extends GatewayScene {
  /** What the client has for a key. */
  readonly key: string;
  readonly run: () => Promise<Ended>;
}

const POOLS = [
  ['Anthropic', 'only_anthropic', '/v1/messages', 'claude-sonnet-4-6'],
  ['OpenAI', 'only_openai', '/v1/responses', 'gpt-5.4'],
  ['its own network', 'only_local', '/v1/chat/completions', 'qwen2.5-coder'],
] as const;

beforeAll(ensureBuilt);

async function setKeyScene(
  client: RealClient,
  options: Omit<GatewayProcessOptions, 'upstream'>,
  skip: TestContext['skip'],
): Promise<KeyScene> {
  const scene = await setGatewayScene(client, options, skip);
  const { gateway, stage } = scene;
  const key = await gateway.invited(DEVELOPER);
  writeConfigs(scene, gateway.url);
  const env = { ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_API_KEY: key, SCRIPTED_KEY: key };
  return { ...scene, key, run: () => stage.run(client.command, { env }) };
}

describe.each(REAL_CLIENTS.map((client) => [client.title, client] as const))('%s', (_, client) => {
  test.each(POOLS)('edits by a model of %s, and a secret stays home', async (...args) => {
    const [, pool, path, modelName] = args;
    const { skip } = args.at(-1) as unknown as TestContext;
    const scene = await setKeyScene(client, { rules: routeTo(pool) }, skip);
    const { stage, model, gateway, key, run } = scene;
    const file = (name: string) => join(stage.project, name);
    model.play([
      call('files', 'read_text_file', { path: file('hello.txt') }),
      call('files', 'write_file', { path: file('copy.txt'), content: 'Hello, “world” 𝄞.\n' }),
      text(DONE),
    ]);
    const session = await run();
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
    const rules = `${routeTo('only_anthropic')}\n${ASK}`;
    const { model, gateway, run } = await setKeyScene(client, { rules }, skip);
    await gateway.loginAdmin();
    model.play([text(DONE)]);
    const running = run();
    const approved = decideAll(gateway, ['approve', '--note', 'Seen.'], running);
    const session = await running;
    expect(session, session.stdout + session.stderr + gateway.log()).toMatchObject({ code: 0 });
    expect(session.stdout).toContain(DONE);
    expect(await approved).toBe(turnsIn(model.requests()).length);
  });

  test('reports a budget that is used up, and does not try again', async ({ skip }) => {
    const { model, gateway, run } = await setKeyScene(client, { budgets: USED_UP }, skip);
    model.play([text(DONE)]);
    const session = await run();
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
    const { model, gateway, run } = await setKeyScene(client, { rules }, skip);
    const session = await run();
    expect(session.stdout + session.stderr).toContain(reason);
    expect(turnsIn(model.requests())).toEqual([]);
    const refused = await recorded(gateway, 'turn_blocked');
    expect(refused).toHaveLength(1);
  });
});
