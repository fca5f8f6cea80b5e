import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeLogin } from '@subluminal/gateway/proxy';
import { ownIdentity } from '@subluminal/plane/os';
import { expect, onTestFinished, test } from 'vitest';
import { runningGateway } from '../../gateway/serve/testing/running-gateway.ts';
import { loopback } from '../../gateway/turns/testing/loopback.ts';
import type { Machine } from './check.ts';
import { checkGateway, checkProxy } from './check-gateway.ts';
import { machineIn, put } from './machine.test-support.ts';

async function machine(env: { readonly [name: string]: string } = {}): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-doctor-gateway-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const made = await machineIn(folder, env);
  mkdirSync(made.cwd, { recursive: true });
  return made;
}

function logIn({ paths }: Machine, gatewayUrl: string, apiKey = 'sk-sub-some-key-of-ours'): void {
  const login = { gatewayUrl, apiKey, keyId: 'k', userId: 'ada', teamId: 'platform' };
  expect(writeLogin(paths.home, login)).toBeUndefined();
}

const json = (response: ServerResponse, value: object) => {
  response.setHeader('content-type', 'application/json');
  return response.end(JSON.stringify(value));
};

const VERSION = {
  gateway_version: '0.1.0',
  minimum_version: '0.1.0',
  latest_version: null,
  is_supported: true,
  message: null,
};
const WHO = { user_id: 'ada', team_id: 'platform', role: 'developer', key_id: 'k' };

test('a machine without a login needs no gateway and no proxy', async () => {
  const here = await machine();
  expect(await checkGateway(here)).toEqual({
    level: 'ok',
    text: 'this machine is not logged in to one',
  });
  expect(await checkProxy(here)).toEqual({ level: 'ok', text: 'it does not run' });
});

test('a gateway that takes the key is well', async () => {
  const gateway = await runningGateway();
  const here = await machine();
  logIn(here, gateway.url, gateway.key);
  expect(await checkGateway(here)).toEqual({
    level: 'ok',
    text: `${gateway.url} (version 0.1.0) knows this machine as ada (platform_admin)`,
  });
});

test('a key that the gateway does not know is broken', async () => {
  const gateway = await runningGateway();
  const here = await machine();
  logIn(here, gateway.url);
  const { level, text } = await checkGateway(here);
  expect([level, text]).toEqual(['broken', expect.stringContaining('[SUB_GATEWAY_KEY]')]);
});

test('a gateway that is away is broken', async () => {
  const gateway = await runningGateway();
  await gateway.close();
  const here = await machine();
  logIn(here, gateway.url);
  const { level, text } = await checkGateway(here);
  expect([level, text]).toEqual(['broken', expect.stringContaining('[SUB_GATEWAY_AWAY]')]);
});

test('a version that the gateway does not serve is broken', async () => {
  const old = 'tenant_id: acme\nclients: { version_min: 0.2.0 }\n';
  const gateway = await runningGateway({ files: { 'gateway.yaml': old } });
  const here = await machine();
  logIn(here, gateway.url, gateway.key);
  expect(await checkGateway(here)).toEqual({
    level: 'broken',
    text: `${gateway.url} asks for sub 0.2.0; this is 0.1.0`,
    fix: 'Update Subluminal on this machine.',
  });
});

test.each([
  [-600, /600 s ahead of/],
  [600, /600 s behind/],
])('a clock that is %i s off is a warning', async (seconds, words) => {
  const { url } = await loopback((request, response) => {
    response.setHeader('date', new Date(Date.now() + seconds * 1_000).toUTCString());
    return json(response, request.url?.includes('version') === true ? VERSION : WHO);
  });
  const here = await machine();
  logIn(here, url);
  const { level, text } = await checkGateway(here);
  expect(level).toBe('warn');
  expect(text.replace(/(?:599|601) s/, '600 s')).toMatch(words);
});

function proxyRuns({ paths }: Machine, mode: 'gateway' | 'own'): void {
  const started_at = new Date().toISOString();
  const state = { ...ownIdentity(), url: 'http://127.0.0.1:7777', mode, version: '1', started_at };
  put(join(paths.run, 'proxy.json'), JSON.stringify(state));
}

test('a machine that is logged in wants its proxy', async () => {
  const here = await machine();
  logIn(here, 'https://gateway.test');
  expect(await checkProxy(here)).toMatchObject({ level: 'warn', fix: 'Run `sub proxy start`.' });
  proxyRuns(here, 'own');
  expect(await checkProxy(here)).toMatchObject({
    level: 'warn',
    text: 'it was started before this machine has logged in or out',
  });
});

test('what sends agents past the proxy is named, without its value', async () => {
  const here = await machine({ ANTHROPIC_BASE_URL: 'https://elsewhere.test' });
  proxyRuns(here, 'own');
  mkdirSync(join(here.userHome, '.claude'));
  writeFileSync(join(here.userHome, '.claude/settings.json'), '{"apiKeyHelper":"./key.sh"}');
  const { level, more = [] } = await checkProxy(here);
  expect(level).toBe('warn');
  expect(more).toEqual([
    'ANTHROPIC_BASE_URL has another value in this environment',
    expect.stringContaining('settings.json: apiKeyHelper'),
  ]);
  expect(more.join(' ')).not.toMatch(/elsewhere|key\.sh/);
});
