// `sub login`, `sub proxy`, `sub env` and `sub bind-repo` against a real gateway, as processes of their own.
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { bearing, isRunning, until } from '../contract/proc.ts';
import { freePort } from '../free-port.ts';
import { verifies } from '../requirements.ts';
import {
  keyOf,
  loggedInHome,
  newGateway,
  type ProxyHome,
  proxyHome,
  repositoryIn,
  scriptedProvider,
  turnFrom,
} from './proxy-home.ts';
import {
  ended,
  ensureBuilt,
  HAS_TERMINAL,
  SUB,
  startOnTerminal,
  startSub,
  subEnvironment,
} from './sub.ts';

beforeAll(() => ensureBuilt());

interface Started {
  readonly pid: number;
  readonly url: string;
}

async function startedProxy(machine: ProxyHome): Promise<Started> {
  const args = ['proxy', 'start', '--port', await freePort(), '--json'];
  const { code, stdout, stderr } = await machine.sub(args);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Started;
}

/** What a proxy leaves in the run folder; its log is meant to stay. */
const leftBy = ({ home }: ProxyHome) =>
  readdirSync(join(home, 'run')).filter((name) => /proxy/.test(name) && name !== 'proxy.log');

const proxiesOf = ({ home }: ProxyHome) =>
  bearing([home]).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('\0proxy\0'),
  );

describe('sub login', () => {
  test('says what to do for a user whom the gateway gives no team', async () => {
    const gateway = await newGateway((await scriptedProvider()).url);
    const args = ['login', '--gateway', gateway.url, '--setup', '-', '--user', 'nobody'];
    const done = await proxyHome().sub(args, { input: gateway.setupToken });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toContain('as nobody (platform_admin, team unassigned).');
    expect(done.stdout).toContain('add nobody to identity/users.yaml of the gateway.\n');
  });

  test('takes the setup token from standard input, and keeps the key for its user alone', async () => {
    verifies('R-18');
    const gateway = await newGateway((await scriptedProvider()).url);
    const machine = proxyHome();
    const args = ['login', '--gateway', gateway.url, '--setup', '-', '--user', 'ada'];
    const wrong = await machine.sub(args, { input: 'setup-sub-wrong' });
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('SUB_GATEWAY_TOKEN');
    const done = await machine.sub(args, { input: `${gateway.setupToken}\n` });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toContain('as ada (platform_admin, team platform)');
    expect(statSync(join(machine.home, 'gateway-login.json')).mode & 0o777).toBe(0o600);
    expect(done.stdout).not.toContain(keyOf(machine));
    const again = await machine.sub(args, { input: gateway.setupToken });
    expect(again.stderr).toContain('sub logout');
  });

  test('takes an invite, once, and the key is worth nothing behind the logout', async () => {
    verifies('R-18');
    const admin = await loggedInHome();
    const { gateway } = admin;
    const invite = await admin.sub(['gateway', 'invite', 'grace', '--json']);
    const { invite_token: token } = JSON.parse(invite.stdout) as { invite_token: string };
    const machine = proxyHome();
    const args = ['login', '--gateway', gateway.url, '--invite', '-'];
    const done = await machine.sub(args, { input: token });
    expect(done.stdout).toContain('as grace (developer, team platform)');
    const other = await proxyHome().sub(args, { input: token });
    expect(other).toMatchObject({ code: 2 });
    expect(other.stderr).toContain('SUB_GATEWAY_TOKEN');
    const headers = { authorization: `Bearer ${keyOf(machine)}` };
    const whoami = () => fetch(`${gateway.url}/api/v1/whoami`, { headers });
    expect(await (await whoami()).json()).toMatchObject({ user_id: 'grace', role: 'developer' });
    expect((await machine.sub(['logout'])).stdout).toContain('revoked and removed');
    expect((await whoami()).status).toBe(401);
    expect(readdirSync(machine.home)).not.toContain('gateway-login.json');
    expect((await machine.sub(['logout'])).stdout).toContain('not logged in');
  });

  test('keeps the key in the store of secrets where there is one', async () => {
    const gateway = await newGateway((await scriptedProvider()).url);
    const machine = proxyHome();
    const add = ['secrets', 'add', 'other', '--protect', 'file'];
    expect((await machine.sub(add, { input: 'of a server' })).code).toBe(0);
    const args = ['login', '--gateway', gateway.url, '--setup', '-', '--user', 'ada', '--json'];
    const done = await machine.sub(args, { input: gateway.setupToken });
    expect(JSON.parse(done.stdout)).toMatchObject({ key_in: 'vault' });
    expect(keyOf(machine)).toBeUndefined();
    const { url } = await startedProxy(machine);
    expect((await turnFrom(machine.folder, url)).status).toBe(200);
    const stats = await machine.sub(['stats', '--by', 'user']);
    expect(stats).toMatchObject({ code: 0, stderr: '' });
    expect((await machine.sub(['logout'])).stdout).toContain('revoked and removed');
    expect((await machine.sub(['secrets', 'list'])).stdout).not.toContain('gateway');
  });

  test('keeps the login when the gateway is away, unless it is forced to go', async () => {
    const machine = await loggedInHome();
    await machine.gateway.kill('SIGTERM');
    const kept = await machine.sub(['logout']);
    expect(kept).toMatchObject({ code: 2 });
    expect(kept.stderr).toMatch(/Or add --force\. \[SUB_GATEWAY_AWAY\]/);
    const forced = await machine.sub(['logout', '--force']);
    expect(forced.stdout).toContain('may still be valid');
    expect((await machine.sub(['logout'])).stdout).toContain('not logged in');
  });

  test.each([
    ['no gateway', ['--invite', '-'], '--gateway is missing'],
    ['no token', ['--gateway', 'https://gateway.test'], 'either --invite or --setup'],
    ['a key in the clear', ['--gateway', 'http://gateway.test', '--invite', '-'], 'in the clear'],
    ['no address', ['--gateway', 'gateway', '--invite', '-'], 'https://'],
  ])('refuses %s', async (_, args, words) => {
    const refused = await proxyHome().sub(['login', ...args], { input: 'token' });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(words);
  });
});

describe('sub proxy', () => {
  test('starts one proxy, says where it is, and ends it without a trace', async () => {
    verifies('R-18');
    const machine = await loggedInHome();
    const port = await freePort();
    const started = await machine.sub(['proxy', 'start', '--port', port]);
    expect(started).toMatchObject({ code: 0, stderr: '' });
    const url = `http://127.0.0.1:${port}`;
    const again = await machine.sub(['proxy', 'start', '--port', await freePort()]);
    expect(again.stdout).toContain(` on ${url}; turns go to ${machine.gateway.url}.`);
    const status = await machine.sub(['proxy', 'status', '--json']);
    expect(status).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(status.stdout)).toMatchObject({
      running: true,
      url,
      health: { status: 'ok' },
    });
    expect(await (await fetch(`${url}/_aicg/whoami`)).json()).toMatchObject({
      user_id: 'ada',
      team_id: 'platform',
      gateway_url: machine.gateway.url,
    });
    expect((await machine.sub(['env'])).stdout).toBe(
      `export ANTHROPIC_BASE_URL="${url}/anthropic"
export ANTHROPIC_API_KEY="sk-aicg-noop"
export OPENAI_BASE_URL="${url}/openai/v1"
export OPENAI_API_KEY="sk-aicg-noop"
`,
    );
    const checked = await machine.sub(['doctor', '--json']);
    const { checks } = JSON.parse(checked.stdout) as { checks: { id: string; text: string }[] };
    expect(checks).toContainEqual(expect.objectContaining({ id: 'gateway', level: 'ok' }));
    expect(checks).toContainEqual(expect.objectContaining({ id: 'proxy', level: 'ok' }));
    const [pid, ...others] = proxiesOf(machine);
    expect(others).toEqual([]);
    const stopped = await machine.sub(['proxy', 'stop']);
    expect(stopped.stdout).toBe(`The proxy (pid ${pid}) has ended.\n`);
    expect([proxiesOf(machine), leftBy(machine)]).toEqual([[], []]);
    expect((await machine.sub(['proxy', 'stop'])).stdout).toBe('No proxy runs.\n');
    expect(await machine.sub(['proxy', 'status'])).toMatchObject({
      code: 1,
      stdout: 'No proxy runs.\n',
    });
  });

  test('is started once, however many start it', async () => {
    const machine = await loggedInHome();
    const port = await freePort();
    const starts = await Promise.all(
      [1, 2, 3].map(() => machine.sub(['proxy', 'start', '--port', port])),
    );
    expect(starts.filter(({ code }) => code === 0)).not.toEqual([]);
    expect(proxiesOf(machine)).toHaveLength(1);
    expect((await machine.sub(['proxy', 'status'])).code).toBe(0);
  });

  test('starts again after it was killed', async () => {
    const machine = await loggedInHome();
    const { pid } = await startedProxy(machine);
    process.kill(pid, 'SIGKILL');
    await until(() => (isRunning(pid) ? undefined : true), 'the proxy to end');
    expect((await machine.sub(['proxy', 'status'])).code).toBe(1);
    const next = await startedProxy(machine);
    expect(next.pid).not.toBe(pid);
    expect((await turnFrom(machine.folder, next.url)).status).toBe(200);
    await machine.sub(['proxy', 'stop']);
    expect([proxiesOf(machine), leftBy(machine)]).toEqual([[], []]);
  });

  test('ends no other process that has the pid of a proxy that was killed', async () => {
    const machine = await loggedInHome();
    const { pid } = await startedProxy(machine);
    const path = join(machine.home, 'run', 'proxy.json');
    const state = JSON.parse(readFileSync(path, 'utf8')) as object;
    process.kill(pid, 'SIGKILL');
    await until(() => (isRunning(pid) ? undefined : true), 'the proxy to end');
    writeFileSync(path, JSON.stringify({ ...state, pid: process.pid }), { mode: 0o600 });
    expect((await machine.sub(['proxy', 'stop'])).stdout).toBe('No proxy runs.\n');
    await startedProxy(machine);
  });

  test('says so when its port is taken, and leaves nothing', async () => {
    const machine = await loggedInHome();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const refused = await machine.sub(['proxy', 'start', '--port', port]);
    taken.close();
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/EADDRINUSE.*\[SUB_PROXY_LISTEN\].*\[SUB_PROXY_START\]/s);
    expect([proxiesOf(machine), leftBy(machine)]).toEqual([[], []]);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('ends with %s, and leaves nothing', async (signal) => {
    const machine = await loggedInHome();
    const { folder: cwd, env } = machine;
    const args = ['proxy', 'start', '--foreground', '--port', await freePort()];
    const child = startSub(args, { cwd, env });
    const end = ended(child);
    await until(() => (leftBy(machine).includes('proxy.json') ? true : undefined), 'a proxy');
    const second = await machine.sub(args);
    expect(second).toMatchObject({ code: 2 });
    expect(second.stderr).toContain('A proxy runs already for this home');
    child.kill(signal);
    expect(await end).toMatchObject({ code: 0, signal: null, stdout: '' });
    expect([proxiesOf(machine), leftBy(machine)]).toEqual([[], []]);
  });

  test.runIf(HAS_TERMINAL)('ends with Ctrl-C on a terminal', async () => {
    const machine = await loggedInHome();
    const { folder: cwd, env } = machine;
    const port = await freePort();
    const words = [process.execPath, SUB, 'proxy', 'start', '--foreground', '--port', port];
    const child = startOnTerminal(words, { cwd, env: subEnvironment(env) });
    const end = ended(child);
    await until(() => (leftBy(machine).includes('proxy.json') ? true : undefined), 'a proxy');
    child.stdin.write('\x03');
    expect(await end).toMatchObject({ code: 0 });
    expect([proxiesOf(machine), leftBy(machine)]).toEqual([[], []]);
  });

  test('does not pass the events of the gateway on in production', async () => {
    const machine = await loggedInHome({ env: { SUB_ENV: 'prod' } });
    const refused = await machine.sub(['proxy', 'start', '--passthrough-aicg-events']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('for development');
    expect(proxiesOf(machine)).toEqual([]);
  });

  test('is refused with what to do when the gateway asks for a newer one', async () => {
    const gateway = 'tenant_id: acme\nclients: { version_min: 99.0.0 }\n';
    const machine = await loggedInHome({ files: { 'gateway.yaml': gateway } });
    const refused = await machine.sub(['proxy', 'start', '--port', await freePort()]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/it asks for 99\.0\.0.*\[SUB_PROXY_VERSION\]/s);
    expect(proxiesOf(machine)).toEqual([]);
  });

  test('shows the rules of the gateway, and keeps a copy that holds while they do', async () => {
    const rules = `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: NO-SECRETS, priority: 10, when: server_class.has_secret_finding, action: block }
  - { id: CLEAN, priority: 9, when: server_class.has_personal_data_finding, action: redact }
`;
    const machine = await loggedInHome({ files: { 'policies/main.yaml': rules } });
    const shown = await machine.sub(['proxy', 'policy']);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/10 +NO-SECRETS +block/);
    expect(shown.stdout).toMatch(/9 +CLEAN +redact/);
    expect(await machine.sub(['proxy', 'policy'])).toEqual(shown);
  });
});

describe('a repository', () => {
  test('is bound when it is first used, and turns with a foreign binding are refused', async () => {
    verifies('R-18');
    const machine = await loggedInHome();
    const { url } = await startedProxy(machine);
    const { folder, gateway, provider } = machine;
    const payments = repositoryIn(
      folder,
      'payments',
      'https://ada:pw@github.com/acme/payments.git',
    );
    const other = repositoryIn(folder, 'other', 'git@github.com:acme/other.git');
    const repoOf = async (trace: string) => {
      const headers = { authorization: `Bearer ${keyOf(machine)}` };
      const answer = await fetch(`${gateway.url}/api/v1/audit/${trace}`, { headers });
      const { events } = (await answer.json()) as { events: { repo_id: string }[] };
      return events[0]?.repo_id;
    };
    const [first, second] = [await turnFrom(payments, url), await turnFrom(other, url)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await repoOf(first.trace)).toBe('payments');
    expect(await repoOf(second.trace)).toBe('github.com/acme/other');
    const binding = join(payments, '.git', 'aicg-binding');
    expect(statSync(binding).mode & 0o777).toBe(0o600);
    expect(JSON.stringify(provider.turns)).not.toMatch(/payments|sk-aicg-noop/);
    copyFileSync(join(other, '.git', 'aicg-binding'), binding);
    chmodSync(binding, 0o600);
    expect((await turnFrom(payments, url)).status).toBe(451);
    const bound = await machine.sub(['bind-repo'], { cwd: payments });
    expect(bound.stdout).toContain('is bound to this machine as payments until');
    expect((await turnFrom(payments, url)).status).toBe(200);
    const nowhere = await machine.sub(['bind-repo']);
    expect(nowhere.stderr).toContain('is in no git repository');
  });
});

describe('sub env --check-conflicts', () => {
  test('names what would win over the variables, and shows no value', async () => {
    const machine = await loggedInHome();
    expect(await machine.sub(['env', '--check-conflicts'])).toMatchObject({ code: 0, stderr: '' });
    const settings = join(machine.folder, '.claude', 'settings.json');
    mkdirSync(join(machine.folder, '.claude'));
    writeFileSync(settings, '{"env":{"ANTHROPIC_BASE_URL":"https://elsewhere.test"}}');
    const found = await machine.sub(['env', '--check-conflicts']);
    expect(found).toMatchObject({ code: 1, stderr: '' });
    expect(found.stdout).toContain('settings.json: env.ANTHROPIC_BASE_URL wins over');
    expect(found.stdout).not.toContain('elsewhere');
  });
});
