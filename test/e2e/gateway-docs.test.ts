// The pages about models and the gateway: their commands run in order, against a real gateway and a scripted provider,
// and print what the pages show; their configuration is checked.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ensureBuilt, ROOT, SUB } from './sub.ts';

const page = (name: string) => readFileSync(`${ROOT}docs/${name}.md`, 'utf8');
const FENCE = /^```(\w*)\n(.*?)^```$/gms;
const blocks = (text: string, language: string) =>
  [...text.matchAll(FENCE)].flatMap(([, name, block = '']) => (name === language ? [block] : []));

interface ShownCommand {
  readonly command: string;
  readonly output: string;
}

/** Every command behind `$` with what the page shows of its output, in the order of the page. */
function shownCommands(text: string): readonly ShownCommand[] {
  return blocks(text, '')
    .filter((block) => block.startsWith('$ '))
    .flatMap((block) => block.split(/^\$ /m).slice(1))
    .map((shown) => {
      const [command = '', ...lines] = shown.split('\n');
      return { command, output: lines.join('\n').trimEnd() };
    });
}

/** An ellipsis stands for anything, and every time, port and amount of a run is its own. */
function pattern(output: string): RegExp {
  const parts = output
    .replaceAll(/^…\n/gm, '…')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:…')
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('[^]*?')}`);
}

const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-6',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1_000, output_tokens: 100 },
};

/** What stands in for an agent: it sends the turns that Claude Code would. */
const AGENT = `#!${process.execPath}
for (let n = 0; n < 4; n++) {
  const answer = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'sk-ant-own' },
    body: '{"model":"claude-sonnet-4-6","max_tokens":100,"messages":[{"role":"user","content":"Hello?"}]}',
  });
  if (answer.status !== 200) throw new Error(await answer.text());
}
`;

let folder: string;
let provider: Server;
let env: { [name: string]: string };
beforeAll(() => ensureBuilt());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-gateway-docs-'));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const programs = {
    sub: `#!/bin/sh\nexec "${process.execPath}" "${SUB}" "$@"\n`,
    'claude.mjs': AGENT,
    claude: `#!/bin/sh\nexec "${process.execPath}" "${bin}/claude.mjs"\n`,
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  provider = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(ANSWER));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  env = {
    PATH: [bin, process.env['PATH'] ?? ''].join(delimiter),
    HOME: folder,
    SUB_HOME: join(folder, 'sub'),
    SUB_RUN_ID: '',
    NO_PROXY: '127.0.0.1',
    ANTHROPIC_API_KEY: 'a-key-for-tests',
    OPENAI_API_KEY: 'another-key-for-tests',
  };
});
afterEach(() => {
  sh('sub ledgerd --stop');
  provider.closeAllConnections();
  provider.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const providerUrl = () => `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;

/** The output of a command as a reader sees it; a failed one fails the test. */
function sh(command: string): string {
  const ended = spawnSync('sh', ['-c', command], { cwd: folder, env, encoding: 'utf8' });
  expect(ended.status, `${command}\n${ended.stdout}${ended.stderr}`).toBe(0);
  return ended.stdout;
}

/** Runs one command of a page, holds its output to the page, and gives it back. */
async function follow({ command, output }: ShownCommand): Promise<string> {
  // Not at once: the gateway of the page and the provider of the test live beside it.
  const child = spawn('sh', ['-c', command], { cwd: folder, env });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(code, `${command}\n${stdout}${stderr}`).toBe(0);
  expect(stdout.replaceAll('\r', ''), command).toMatch(pattern(output));
  return stdout;
}

describe('docs/start/govern-models.md', () => {
  test('its policy is valid, and its commands show the turns of the agent', async () => {
    const text = page('start/govern-models');
    writeFileSync(join(folder, 'policy.yaml'), blocks(text, 'yaml')[0] ?? '');
    const [lint, ...later] = shownCommands(text);
    if (lint === undefined) throw new Error('the page shows no command');
    await follow(lint);
    const [start = ''] = /^sub run .*$/m.exec(text) ?? [];
    const child = spawn('sh', ['-c', start], {
      cwd: folder,
      env: { ...env, ANTHROPIC_BASE_URL: providerUrl() },
    });
    let told = '';
    child.stderr.setEncoding('utf8').on('data', (said: string) => (told += said));
    expect(await new Promise((resolve) => child.on('close', resolve)), told).toBe(0);
    const [line = ''] = /^sub run: .*refused$/m.exec(text) ?? [];
    expect(told).toContain(line.slice('sub run: '.length));
    for (const shown of later) await follow(shown);
    expect(later.map(({ command }) => command)).toHaveLength(2);
  });
});

describe('docs/guides/gateway.md', () => {
  const text = page('guides/gateway');
  let gateway: ChildProcess | undefined;
  let log = '';
  beforeEach(() => {
    log = '';
  });
  afterEach(async () => {
    const ending = gateway;
    if (ending === undefined) return;
    const closed = new Promise((resolve) => ending.on('close', resolve));
    ending.kill('SIGTERM');
    await closed;
  });

  /** The gateway of the page, on a free port, with the scripted provider in place of the vendors. */
  async function serve({ command, output }: ShownCommand): Promise<void> {
    const pools = join(folder, 'gateway/pools.yaml');
    const real = readFileSync(pools, 'utf8');
    const scripted = real
      .replace('https://api.anthropic.com', providerUrl())
      .replace('https://api.openai.com/v1', `${providerUrl()}/v1`)
      // Whoever is drawn, the page shows the first.
      .replaceAll(/(model: claude-[\w-]+, weight:) \d+/g, '$1 1000000')
      .replaceAll(/(model: gpt-[\w.-]+, weight:) \d+/g, '$1 1')
      .replaceAll('trust_tier: vendor', 'trust_tier: private');
    writeFileSync(pools, scripted);
    gateway = spawn('sh', ['-c', `exec ${command} --port 0`], { cwd: folder, env });
    gateway.stderr?.setEncoding('utf8').on('data', (said: string) => (log += said));
    await until(() => log.includes('It listens on'));
    expect(log).toMatch(pattern(output));
    env = {
      ...env,
      GATEWAY: /It listens on (\S+)\.\n/.exec(log)?.[1] ?? '',
    };
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (gateway?.exitCode !== null) throw new Error(`the gateway has ended:\n${log}`);
      await wait(20);
    }
  }

  /** What later commands of the page use of this output. */
  function remember(command: string, stdout: string): void {
    const found = (expression: RegExp) => expression.exec(stdout)?.[1] ?? '';
    if (command.includes('/setup/exchange')) env = { ...env, KEY: found(/"api_key":"([^"]+)"/) };
    if (command.includes('/anthropic/')) env = { ...env, TRACE: found(/trace-id: (\S+)/) };
    if (command.includes('state=pending')) env = { ...env, APPROVAL: found(/"id":"([^"]+)"/) };
  }

  /** Adds the rule of the page, and lets a turn wait for it. */
  async function holdTurn(): Promise<{ readonly answer: Promise<Response> }> {
    appendFileSync(join(folder, 'gateway/policies/main.yaml'), blocks(text, 'yaml')[0] ?? '');
    sh('sub gateway check gateway');
    await until(() => log.includes('is in force'));
    const headers = { authorization: `Bearer ${env['KEY']}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'claude-opus-4-7', max_tokens: 10, messages: [] });
    const answer = fetch(`${env['GATEWAY']}/v1/messages`, { method: 'POST', headers, body });
    for (;;) {
      const waiting = await fetch(`${env['GATEWAY']}/api/v1/approvals?state=pending`, { headers });
      if ((await waiting.text()).includes('"id"')) return { answer };
    }
  }

  test('its commands work in the order of the page, and print what it shows', async () => {
    let invite = '';
    let held: { readonly answer: Promise<Response> } | undefined;
    for (const shown of shownCommands(text)) {
      if (shown.command.startsWith('sub gateway serve')) {
        await serve(shown);
        continue;
      }
      if (shown.command.includes('state=pending')) held = await holdTurn();
      const setup = /setup-sub-[\w-]+/.exec(log)?.[0] ?? '';
      const command = shown.command.replace('setup-sub-…', setup).replace('inv-sub-…', invite);
      const stdout = await follow({ ...shown, command });
      invite = /inv-sub-[\w-]+/.exec(stdout)?.[0] ?? invite;
      remember(command, stdout);
      if (command.includes('/approve')) await held?.answer;
    }
    expect((await held?.answer)?.status).toBe(200);
    expect(log).not.toContain(env['KEY']);
  }, 60_000);

  test('its clients find their wires where the table says', async () => {
    sh('sub gateway init gateway');
    await serve({ command: 'sub gateway serve gateway', output: '' });
    const bases = [...text.matchAll(/_BASE_URL=\$GATEWAY(\S+?)`/g)].map(([, path]) => path);
    const [toml = ''] = blocks(text, 'toml');
    const [, codex = ''] = /base_url = "https:\/\/[^/]+(.*)"/.exec(toml) ?? [];
    expect([...bases, codex]).toEqual(['/anthropic', '/openai/v1', '/openai/v1']);
    for (const path of [
      '/anthropic/v1/messages',
      '/openai/v1/chat/completions',
      '/openai/v1/responses',
    ]) {
      const { status } = await fetch(env['GATEWAY'] + path, { method: 'POST', body: '{}' });
      // Known, and closed to those without a key.
      expect({ path, status }).toEqual({ path, status: 401 });
    }
  });
});

describe('docs/operating/gateway.md', () => {
  const text = page('operating/gateway');

  test('its configuration of TLS is one that the check takes', () => {
    sh('sub gateway init gateway');
    for (const name of ['tls.crt', 'tls.key']) {
      writeFileSync(join(folder, name), 'x', { mode: 0o600 });
    }
    const [yaml = ''] = blocks(text, 'yaml');
    writeFileSync(join(folder, 'gateway/gateway.yaml'), yaml.replaceAll('/etc/subluminal', folder));
    expect(sh('sub gateway check gateway')).toContain('no problems');
  });

  test('it names files of the checkout, metrics and settings that exist', () => {
    const metrics = page('reference/gateway-api');
    for (const [, name = ''] of text.matchAll(/`subluminal_gateway_(\w+)/g)) {
      expect(metrics).toContain(`\`${name}\``);
    }
    const settings = page('reference/gateway-config');
    for (const name of [
      'client_ca_file',
      'trusted_proxies',
      'expires_ms',
      'ip_allowlist',
      'url_ref',
    ]) {
      expect(text).toContain(name);
      expect(settings).toContain(name);
    }
    const compose = readdirSync(`${ROOT}deploy`);
    const named = [...text.matchAll(/deploy\/([\w.]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !['.env', ...compose].includes(name))).toEqual([]);
  });
});

describe('docs/reference/gateway-turns.md', () => {
  test('it names every audit event and header that the gateway writes', () => {
    const text = page('reference/gateway-turns').toLowerCase();
    const written = ['gateway-governor', 'sent-turn', 'refusals'].map((name) =>
      readFileSync(`${ROOT}packages/gateway/serve/${name}.ts`, 'utf8'),
    );
    const names = [...written.join('\n').matchAll(/eventType: '(\w+)'|'(x-aicg-[\w-]+)'/g)];
    expect(names.length).toBeGreaterThan(8);
    expect(
      names.map(([, event, header]) => event ?? header).filter((name = '') => !text.includes(name)),
    ).toEqual([]);
  });
});
