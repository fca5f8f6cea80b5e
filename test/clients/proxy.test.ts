// The real clients of a developer who is logged in to the gateway of a team: `sub proxy`, `sub gateway serve`, and a
// scripted model behind them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { type Ended, ensureBuilt, SUB } from '../e2e/sub.ts';
import { freePort } from '../free-port.ts';
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
import { type Body, call, isBody, listOf, text } from './script.ts';
import type { CommandOptions } from './stage.ts';

interface ProxyScene extends GatewayScene {
  /** Runs a command in a shell that has the variables of `sub env`. */
  readonly inShell: (command: readonly string[], options?: CommandOptions) => Promise<Ended>;
}

const WRAPPED = [process.execPath, SUB, 'wrap', '--'];
const EVAL = 'eval "$("$0" "$1" env)" && shift && exec "$@"';
const NOTE = 'Not on a Friday.';
/** They would try for half a minute and longer. */
const IMPATIENT = { CLAUDE_CODE_MAX_RETRIES: '1' };
const RETRIES = ['request_max_retries', 'stream_max_retries'].flatMap((name) => [
  '-c',
  `model_providers.scripted.${name}=1`,
]);
/** Claude Code gives up; Codex waits for the network, and a person would end it. */
const NO_PROXY = { 'claude-code': 'ECONNREFUSED', codex: 'waiting for network' };

beforeAll(ensureBuilt);

async function setProxyScene(
  client: RealClient,
  options: Omit<GatewayProcessOptions, 'upstream'>,
  skip: TestContext['skip'],
): Promise<ProxyScene> {
  const scene = await setGatewayScene(client, options, skip);
  const { gateway, stage } = scene;
  await subOf(
    scene,
    'login',
    '--gateway',
    gateway.url,
    '--invite',
    await gateway.invite(DEVELOPER),
  );
  const started = await subOf(scene, 'proxy', 'start', '--port', await freePort(), '--json');
  const { url } = JSON.parse(started) as { readonly url: string };
  writeConfigs(scene, `${url}/openai`);
  const inShell: ProxyScene['inShell'] = (command, how) =>
    stage.run(['sh', '-c', EVAL, process.execPath, SUB, ...command], how);
  return { ...scene, inShell };
}

/** What a command of the developer prints that must go well. */
async function subOf({ stage }: GatewayScene, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await stage.sub(...args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

/** What the ledger of the developer has, the oldest first. */
async function story(scene: GatewayScene, ...filters: readonly string[]): Promise<readonly Body[]> {
  const answer: unknown = JSON.parse(await subOf(scene, 'query', '--json', ...filters));
  return isBody(answer) ? listOf(answer['calls']).toReversed() : [];
}

describe.each(REAL_CLIENTS.map((client) => [client.title, client] as const))('%s', (_, client) => {
  test.each([
    ['Anthropic', 'only_anthropic', '/v1/messages'],
    ['OpenAI', 'only_openai', '/v1/responses'],
  ])('edits by a model of %s in one run, and a secret stays home', async (...args) => {
    const [, pool, path] = args;
    const { skip } = args.at(-1) as unknown as TestContext;
    const scene = await setProxyScene(client, { rules: routeTo(pool) }, skip);
    const { stage, model, gateway, inShell } = scene;
    const file = (name: string) => join(stage.project, name);
    model.play([
      call('files', 'read_text_file', { path: file('hello.txt') }),
      call('files', 'write_file', { path: file('copy.txt'), content: 'Hello, “world” 𝄞.\n' }),
      text(DONE),
    ]);
    const session = await inShell([...WRAPPED, ...client.command]);
    expect(session, session.stdout + session.stderr + gateway.log()).toMatchObject({ code: 0 });
    expect(session.stdout).toContain(DONE);
    expect(readFileSync(file('copy.txt'), 'utf8')).toBe('Hello, “world” 𝄞.\n');
    const turns = turnsIn(model.requests());
    expect(turns).toHaveLength(3);
    for (const turn of turns) expect([turn.path, turn.body['stream']]).toEqual([path, true]);
    // What the tool gave back came to the client, and not to the model.
    expect(model.seen()[0]).toMatch(/The token is \[REDACTED-GITHUB-TOKEN-[0-9A-F]{8}\]/);
    expect(
      model
        .requests()
        .map(({ bytes }) => bytes)
        .join('\n'),
    ).not.toContain(SECRET);
    expect(await recorded(gateway, 'turn')).toMatchObject(
      // The newest first: the secret came with the second turn.
      [['redact'], ['redact'], []].map((modifiers) => ({ decision: { modifiers } })),
    );
    const [run = ''] = /(?<=: run )\S+(?=:)/.exec(session.stderr) ?? [];
    const turn = { kind: 'turn', decision: 'ALLOW', status: 'OK', tokens_in: 1 };
    expect(await story(scene, '--run', run)).toMatchObject([
      turn,
      { kind: 'tool_call', tool_name: 'read_text_file' },
      turn,
      { kind: 'tool_call', tool_name: 'write_file' },
      turn,
    ]);
    expect(await story(scene)).toHaveLength(5);
    // Codex kills its servers, whose counts are then taken from the events.
    expect(session.stderr).toMatch(/: 5 calls(?: \(3 turns of models, \S+\))?, 0 refused/);
  });

  test('waits for an admin, who lets a turn pass or not', async ({ skip }) => {
    const rules = `${routeTo('only_anthropic')}\n${ASK}`;
    const scene = await setProxyScene(client, { rules }, skip);
    const { model, gateway, inShell } = scene;
    await gateway.loginAdmin();
    model.play([text(DONE)]);
    const first = inShell(client.command);
    expect(await decideAll(gateway, ['approve'], first)).toBe(1);
    const passed = await first;
    expect(passed, passed.stdout + passed.stderr + gateway.log()).toMatchObject({ code: 0 });
    expect(passed.stdout).toContain(DONE);
    expect(turnsIn(model.requests())).toHaveLength(1);

    model.play([text(DONE)]);
    const second = inShell(client.command);
    expect(await decideAll(gateway, ['reject', '--note', NOTE], second)).toBe(1);
    const refused = await second;
    expect(refused.stdout).toContain(`was rejected by ada: ${NOTE} (rule`);
    expect(turnsIn(model.requests())).toEqual([]);
    expect(await story(scene)).toMatchObject([
      { decision: 'ALLOW', reason_code: 'GATEWAY_ROUTED', status: 'OK' },
      { decision: 'BLOCK', reason_code: 'GATEWAY_REFUSED', tokens_in: null },
    ]);
  });

  test('is told once that a budget is used up, and gets nowhere without gateway or proxy', async ({
    skip,
  }) => {
    const scene = await setProxyScene(client, { budgets: USED_UP }, skip);
    const { model, stage, gateway, inShell } = scene;
    const broke = await inShell(client.command);
    expect(broke.code).toBe(1);
    expect(broke.stdout + broke.stderr).toContain(`The budget for the day of ${DEVELOPER}`);
    expect(await recorded(gateway, 'turn_over_budget')).toHaveLength(1);
    const refused = { decision: 'BLOCK', reason_code: 'GATEWAY_REFUSED' };
    expect(await story(scene)).toMatchObject([refused]);

    const command = client.id === 'codex' ? [...client.command, ...RETRIES] : client.command;
    await gateway.close();
    const alone = await inShell(command, { env: IMPATIENT });
    expect(alone.code).toBe(1);
    expect(alone.stdout + alone.stderr).toContain(
      `The gateway ${new URL(gateway.url).host} cannot be reached, so no turn passes.`,
    );
    const [, ...later] = await story(scene);
    expect(later.length).toBeGreaterThan(0);
    for (const turn of later) {
      expect(turn).toMatchObject({ decision: 'BLOCK', reason_code: 'GATEWAY_UNAVAILABLE' });
    }

    const env = JSON.parse(await subOf(scene, 'env', '--json')) as { [name: string]: string };
    await subOf(scene, 'proxy', 'stop');
    const until = NO_PROXY[client.id];
    const lost = await stage.run(command, { env: { ...env, ...IMPATIENT }, until });
    expect(lost.stdout + lost.stderr).toContain(until);
    expect(turnsIn(model.requests())).toEqual([]);
  });
});
