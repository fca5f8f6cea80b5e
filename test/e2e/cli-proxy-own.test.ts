// `sub proxy` on a machine that is logged in to no gateway, as a process of its own.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { loggedInHome, proxyHome, scriptedProvider } from './proxy-home.ts';
import { ensureBuilt } from './sub.ts';

beforeAll(() => ensureBuilt());

const POLICY = `policy_id: own
version: "1"
mode: control
rules:
  - { rule_id: no-dear, kind: deny, match: { subjects: [turn], model: { glob: ["dear*"] } }, effect: { action: BLOCK, message: Too dear. } }
`;

test('without a login, the policy of the user decides, and turns are in the ledger', async () => {
  const provider = await scriptedProvider();
  const machine = proxyHome({ env: { SUB_PROXY_ANTHROPIC_URL: provider.url } });
  writeFileSync(join(machine.home, 'policy.yaml'), POLICY, { mode: 0o600 });
  const started = await machine.sub(['proxy', 'start', '--port', await freePort(), '--json']);
  expect(started).toMatchObject({ code: 0, stderr: '' });
  const { url } = JSON.parse(started.stdout) as { url: string };
  expect((await machine.sub(['env'])).stdout).toBe(
    `export ANTHROPIC_BASE_URL="${url}/anthropic"\nexport OPENAI_BASE_URL="${url}/openai/v1"\n`,
  );
  const ask = (model: string) =>
    fetch(`${url}/anthropic/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'sk-ant-mine' },
      body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
    });
  expect((await ask('claude-sonnet-4-6')).status).toBe(200);
  expect(await (await ask('dear-model')).text()).toContain('Too dear.');
  expect(provider.turns.map(({ key }) => key)).toEqual(['sk-ant-mine']);
  const status = await machine.sub(['proxy', 'status']);
  expect(status.stdout).toContain('turns go to the providers, with the keys of the agents');
  expect((await machine.sub(['proxy', 'stop'])).code).toBe(0);
  const stats = await machine.sub(['stats', '--json']);
  expect(JSON.parse(stats.stdout)).toMatchObject({
    rows: [
      { name: 'anthropic/claude-sonnet-4-6', turns: 1, refused: 0, cost_micros: 4_500 },
      { name: 'anthropic/dear-model', turns: 1, refused: 1, cost_micros: 0 },
    ],
  });
  expect(readdirSync(join(machine.home, 'run')).filter((name) => name.startsWith('proxy'))).toEqual(
    ['proxy.log'],
  );
});

test('a broken policy keeps the proxy from starting, and says where it is broken', async () => {
  const machine = proxyHome();
  writeFileSync(join(machine.home, 'policy.yaml'), 'rules: [', { mode: 0o600 });
  const refused = await machine.sub(['proxy', 'start', '--port', await freePort()]);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/policy\.yaml:1.*\[SUB_MODELS_POLICY\]/s);
});

test('a file of settings that is not there keeps the proxy from starting', async () => {
  const machine = proxyHome();
  const refused = await machine.sub(['proxy', 'start', '--config', 'none.toml']);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('none.toml does not exist. Check the path. [SUB_FILE_READ]');
});

test('a proxy that was started before the login is to be started again', async () => {
  const machine = await loggedInHome();
  await machine.sub(['proxy', 'start', '--port', await freePort()]);
  await machine.sub(['logout']);
  const status = await machine.sub(['proxy', 'status']);
  expect(status.stdout).toContain('sub proxy stop');
});
