// The machine of a developer for tests: a home of its own, and a gateway as a process of its own in front of a
// scripted provider.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { CONFIG_TEXTS, writeConfig } from '../../packages/gateway/config/testing/config-folder.ts';
import { anthropicAnswer } from '../../packages/gateway/serve/testing/running-gateway.ts';
import { bodyOf, loopback } from '../../packages/gateway/turns/testing/loopback.ts';
import { endBearing, noneBearing } from '../contract/proc.ts';
import { serveAt } from '../gateway/running-processes.ts';
import type { ServedGateway } from '../gateway/served-gateway.ts';
import { askSub } from './ask-sub.ts';
import { type Ended, ended } from './sub.ts';

export interface ProxyHome {
  readonly folder: string;
  readonly home: string;
  readonly env: { readonly [name: string]: string };
  sub(args: readonly string[], options?: { input?: string; cwd?: string }): Promise<Ended>;
}

export interface ProviderTurn {
  readonly body: string;
  readonly key: string | undefined;
}

export interface ProxyHomeOptions {
  /** The name of the folder below that of the test. */
  readonly folder?: string;
  readonly env?: { readonly [name: string]: string };
}

/** A home with nothing in it. What was started from it ends with the test. */
export function proxyHome({ folder: name, env: more }: ProxyHomeOptions = {}): ProxyHome {
  const folder = mkdtempSync(join(tmpdir(), `sub-${name ?? 'proxy-home'}-`));
  const home = join(folder, 'sub');
  mkdirSync(home, { mode: 0o700 });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    SUB_HOME: home,
    SUB_RUN_ID: '',
    SUB_ENV: 'dev',
    ANTHROPIC_BASE_URL: '',
    ANTHROPIC_API_KEY: '',
    OPENAI_BASE_URL: '',
    OPENAI_API_KEY: '',
    ...more,
  };
  onTestFinished(async () => {
    endBearing([folder]);
    await noneBearing([folder]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const sub: ProxyHome['sub'] = (args, { input, cwd = folder } = {}) =>
    askSub(args, { cwd, env, ...(input !== undefined && { input }) });
  return { folder, home, env, sub };
}

/** A provider that answers every turn, and what it was sent. */
export async function scriptedProvider() {
  const turns: ProviderTurn[] = [];
  const { url } = await loopback(async (request, response) => {
    const body = (await bodyOf(request)).toString('utf8');
    const key = request.headers['x-api-key'] ?? request.headers.authorization;
    turns.push({ body, key: typeof key === 'string' ? key : undefined });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(anthropicAnswer('Hello.')));
  });
  return { url, turns };
}

/** A gateway that nobody has logged in to. */
export async function newGateway(
  provider: string,
  files: { readonly [file: string]: string } = {},
): Promise<ServedGateway & { readonly setupToken: string }> {
  const { folder } = proxyHome({ folder: 'proxy-gateway' });
  const dir = join(folder, 'config');
  writeConfig(dir, {
    ...CONFIG_TEXTS,
    'pools.yaml': (CONFIG_TEXTS['pools.yaml'] ?? '')
      .replace('https://api.anthropic.com', provider)
      .replace('env://TEST_ANTHROPIC_KEY', 'env://TEST_KEY'),
    'webhooks.yaml': 'webhooks: []\n',
    'identity/users.yaml':
      'users:\n  - { user_id: ada, team_id: platform }\n  - { user_id: grace, team_id: platform }\n',
    ...files,
  });
  const gateway = await serveAt({
    dir,
    home: folder,
    database: join(folder, 'gateway.db'),
  });
  const { setupToken } = gateway ?? {};
  if (gateway === undefined || setupToken === undefined) throw new Error('no gateway, or no token');
  return { ...gateway, setupToken };
}

/** A machine whose user `ada` is the admin of a new gateway. */
export async function loggedInHome(
  options: ProxyHomeOptions & { readonly files?: { readonly [file: string]: string } } = {},
) {
  const provider = await scriptedProvider();
  const gateway = await newGateway(provider.url, options.files);
  const machine = proxyHome(options);
  const args = ['login', '--gateway', gateway.url, '--setup', '-', '--user', 'ada'];
  const done = await machine.sub(args, { input: `${gateway.setupToken}\n` });
  if (done.code !== 0) throw new Error(done.stderr);
  return { ...machine, provider, gateway };
}

/** The key that the gateway gave this machine. */
export function keyOf({ home }: Pick<ProxyHome, 'home'>): string {
  const text = readFileSync(join(home, 'gateway-login.json'), 'utf8');
  return (JSON.parse(text) as { readonly api_key: string }).api_key;
}

/** A turn from a process that works in a folder, as an agent does. */
export async function turnFrom(
  cwd: string,
  url: string,
): Promise<{ readonly status: number; readonly trace: string }> {
  const script = `
    const answer = await fetch(${JSON.stringify(`${url}/anthropic/v1/messages`)}, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'sk-aicg-noop' },
      body: JSON.stringify({ model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    console.log(JSON.stringify({ status: answer.status, trace: answer.headers.get('x-aicg-trace-id') }));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd });
  const { stdout } = await ended(child);
  return JSON.parse(stdout) as { status: number; trace: string };
}

export function repositoryIn(folder: string, name: string, remote: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  const git = (...args: string[]) => execFileSync('git', ['-C', path, ...args], { stdio: 'pipe' });
  git('init', '-q');
  git('remote', 'add', 'origin', remote);
  return path;
}
