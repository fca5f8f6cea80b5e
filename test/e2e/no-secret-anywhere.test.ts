// Secrets are planted and a whole session runs: calls, leaks, refusals, people, a crash, and every
// command that shows what happened. Then every byte that was kept or said is searched for them.
// Every secret here is made up, and put together from parts so that no scanner takes it for one.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { approvingAt } from '../contract/approving.ts';
import { hangUp, QUICK, startRig, startServed } from '../contract/driver.ts';
import { type Home, homeOf, talkTo } from '../contract/gated.ts';
import { call } from '../contract/messages.ts';
import { until } from '../contract/proc.ts';
import { type Run, SCRIPTED, startRun } from '../contract/running.ts';
import { personSub } from '../person.ts';
import { verifies } from '../requirements.ts';
import { commandLines, filesBelow, formsOf, foundIn, type Place } from './planted.ts';
import { ended, ensureBuilt, runSub, startSub } from './sub.ts';

beforeAll(ensureBuilt);

const FROM_FILE = ['Zq7/tYw2+eR9', '"xLm\\K4pW v8BcJd'].join('');
const FROM_ENV = ['f81ddf02c6b9', '5e4a70c3d2b1967e'].join('');
const FROM_STORE = ['Hn5wQz8LrT2x', 'Vb7Kp4Md9Sg3Yc6F'].join('');
const AWS = ['AK', 'IA', 'A7B3C5D2E6F4G7H2'].join('');
const SECRETS = { FROM_FILE, FROM_ENV, FROM_STORE, AWS };
/** No secret: it has to be found, or the search finds nothing at all. */
const CONTROL = 'marker.Wd4kXr7pLq2sTb9n';

const FORMS = ['raw', 'base64', 'base64url', 'hex', 'url', 'json', 'halves', 'backwards'];
const NAMES = ['FILE_TOKEN', 'ENV_TOKEN', 'STORE_TOKEN'];

const binding = (server: string, name: string, [ref, source]: readonly string[]) =>
  `[[servers.${server}.secret_bindings]]\ninject_as = "${name}"\nsecret_ref = "${ref}"\nsource = "${source}"\n`;
const CONFIG = ['leaky', 'fragile']
  .flatMap((server) => [
    binding(server, 'FILE_TOKEN', ['file_token', 'file']),
    binding(server, 'ENV_TOKEN', ['env_source', 'env']),
    binding(server, 'STORE_TOKEN', ['store_token', 'vault']),
  ])
  .join('\n');

const POLICY = `policy_id: searched
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
content: { outbound: { secret: ask }, inbound: { secret: redact } }
rules:
  - rule_id: ask
    kind: approval
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["pay"] } }
    effect: { message: Paying needs a person., approval: { wait: hold, timeout_ms: 600000 } }
  - rule_id: few
    kind: deny
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["search"] } }
    effect:
      action: BLOCK
      message: Too many.
      hint: { hint_text: Ask for less., suggest: { clamp: { limit: { max: 10 } } } }
`;

/** One tool for each form of each secret, and some that do nothing. */
const LEAKY = Object.fromEntries([
  ...NAMES.flatMap((name) =>
    FORMS.map((form) => [`${name}_${form}`.toLowerCase(), `it is $${name}.${form} indeed`]),
  ),
  ['about', 'I work with $FILE_TOKEN and $STORE_TOKEN.base64.'],
  ['aws', `the key is ${AWS} now`],
  ...['echo', 'pay', 'search'].map((name) => [name, 'done']),
]) as { readonly [tool: string]: string };
const SERVERS = { leaky: LEAKY, fragile: { die: '!exit', tell: 'I have $FILE_TOKEN' } };

interface Search {
  readonly home: Home;
  readonly env: { readonly [name: string]: string };
  /** Everything that was said so far. */
  readonly said: Place[];
  readonly sub: (...args: readonly string[]) => Promise<string>;
}

/** Commands, each of them with all that it prints kept. */
function searching(): Search {
  const home = homeOf();
  const env = { HOME: home.folder, ...home.env, SUB_RUN_ID: '', ENV_SOURCE: '' };
  const said: Place[] = [];
  const sub = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr, code } = await personSub(args, { cwd: home.folder, env });
    // 1 is an answer of some commands, such as `sub replay`; 2 says that nothing was done.
    expect(code, `sub ${args.join(' ')}: ${stderr}`).toBeLessThan(2);
    said.push({ name: `sub ${args.join(' ')}`, bytes: `${stdout}\n${stderr}` });
    return stdout;
  };
  return { home, env, said, sub };
}

/** The daemon, in the foreground: what it says is searched as well. */
async function serveLedger({ home, env, said }: Search): Promise<() => Promise<void>> {
  const child = startSub(['ledgerd', '--foreground'], { cwd: home.folder, env });
  const over = ended(child);
  onTestFinished(() => void child.kill('SIGKILL'));
  await until(() => addressIn(home), 'the ledger to serve');
  return async () => {
    child.kill('SIGTERM');
    const { stdout, stderr } = await over;
    said.push({ name: 'sub ledgerd', bytes: `${stdout}\n${stderr}` });
  };
}

interface Address {
  readonly url: string;
  readonly token: string;
}

function addressIn(home: Home): Address | undefined {
  try {
    const text = readFileSync(join(home.path, 'run', 'ledger.json'), 'utf8');
    const { url, token } = JSON.parse(text) as Partial<Address>;
    return url === undefined || token === undefined ? undefined : { url, token };
  } catch {
    return undefined;
  }
}

async function fetched({ home, said }: Search, path: string): Promise<unknown> {
  const { url = '', token = '' } = addressIn(home) ?? {};
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  const bytes = await response.text();
  expect(response.status, path).toBe(200);
  said.push({ name: `GET ${path}`, bytes });
  return path.includes('/events') ? undefined : (JSON.parse(bytes) as unknown);
}

/** The server gives its secrets away, and the agent tries to send them. */
async function leak(run: Run): Promise<void> {
  for (const tool of Object.keys(LEAKY).filter((name) => /_token_|aws/.test(name))) {
    const { text = '' } = await run.call('leaky', tool);
    expect(text, tool).toMatch(/redacted|held back/i);
  }
  for (const secret of [FROM_FILE, FROM_ENV, FROM_STORE]) {
    for (const form of formsOf(secret).slice(0, 4)) {
      const refused = await run.call('leaky', 'echo', { deep: [{ text: `take ${form}.` }] });
      expect(refused.reason_code, form).toBe('LEAK_BLOCKED');
    }
    const named = await run.call('leaky', `get_${secret}`, {});
    expect(named).toMatchObject({ ok: false });
  }
}

/** Two calls wait for a person; one of them has a key in it. */
async function askPeople(search: Search, run: Run): Promise<void> {
  const people = approvingAt(search.home.folder);
  const answering = async (tool: string, args: object, ...how: readonly string[]) => {
    const waiting = run.call('leaky', tool, args);
    const { request } = await people.pending();
    await search.sub('approvals', 'list', '--json');
    await search.sub('approvals', 'show', request.id);
    await fetched(search, '/api/v1/approvals?state=pending');
    await fetched(search, `/api/v1/approvals/${request.id}`);
    search.said.push(...commandLines([run.mark, search.home.folder]));
    await search.sub('approvals', 'approve', request.id, ...how);
    expect(await waiting).toMatchObject({ ok: true });
  };
  await answering('echo', { note: `use ${AWS} for it` });
  await answering('pay', { amount: 5, memo: CONTROL }, '--always');
}

/** Every command and every path that shows what happened. */
async function lookAtAll(search: Search): Promise<void> {
  const { sub, home } = search;
  const runs = (await fetched(search, '/api/v1/runs')) as { rows: { run_id: string }[] };
  const id = runs.rows[0]?.run_id ?? '';
  const calls = (await fetched(search, `/api/v1/calls?limit=1000&run_id=${id}`)) as {
    rows: { call_id: string }[];
  };
  expect(calls.rows.length).toBeGreaterThan(40);
  for (const path of ['', '/summary', '/events'])
    await fetched(search, `/api/v1/runs/${id}${path}`);
  for (const { call_id } of calls.rows) await fetched(search, `/api/v1/calls/${id}/${call_id}`);
  for (const path of ['health', 'stats', 'policies', 'approvals', 'grants']) {
    await fetched(search, `/api/v1/${path}`);
  }
  await sub('query', '--json', '--limit', '1000');
  await sub('query', '--csv', '--limit', '1000');
  await sub('query', '--runs', '--json');
  await sub('query', '--text', CONTROL);
  await sub('tail', '--json', '--no-follow', '--backlog', '1000');
  await sub('tail', '--no-follow', '--backlog', '1000');
  await sub('export', 'run', 'last', '-o', join(home.folder, 'exported'));
  await sub('replay', 'last', '--policy', join(home.path, 'policy.yaml'), '--json');
  await sub('hints', 'list', '--json');
  await sub('grants', 'list', '--json');
  await sub('pins', 'list', '--json');
  await sub('secrets', 'list');
  await sub('status', '--json');
  await sub('doctor', '--json');
  await sub('ledger', 'verify');
}

/** What the agent has heard, but for its own arguments: a hint gives them back, corrected. */
function heardIn(run: Run): string {
  const lines = run.stdout().split('\n');
  return lines.filter((line) => !line.includes('Suggested arguments: ')).join('\n');
}

/** What may hold a secret: its own file, and what the server and its script are made of. */
function isSource(path: string): boolean {
  return /secrets\/file_token$|\/(?:leaky|fragile)\.(?:json|log)$/.test(path);
}

describe('a whole session', () => {
  it('leaves no secret anywhere, in no spelling', { timeout: 120_000 }, async () => {
    verifies('IP-4.1', 'IP-6.4', 'SL-7.4', 'ST-8.10.5', 'ST-8.10.8', 'T-F.2', 'T-I.5');
    const search = searching();
    const { home, said, env } = search;
    home.write('config.toml', CONFIG);
    home.write('secrets/file_token', `${FROM_FILE}\n`);
    const policy = home.write('policy.yaml', POLICY);
    const added = await runSub(['secrets', 'add', 'store_token'], {
      cwd: home.folder,
      env,
      input: FROM_STORE,
    });
    expect(added.code, added.stderr).toBe(0);
    said.push({ name: 'sub secrets add', bytes: added.stdout + added.stderr });

    const stopLedger = await serveLedger(search);
    const options = { home, servers: SERVERS, env: { ENV_SOURCE: FROM_ENV } };
    const run = await startRun({
      ...options,
      flags: ['--policy', policy, '--verbose'],
      toLedger: true,
    });
    said.push(...commandLines([run.mark, home.folder]));
    expect(said.filter(({ name }) => name.startsWith('/proc')).length).toBeGreaterThan(5);
    await run.call('leaky', 'echo', { note: CONTROL });
    await leak(run);
    for (const token of [AWS, FROM_FILE]) {
      const hinted = await run.call('leaky', 'search', { limit: 500, token });
      expect(hinted).toMatchObject({ ok: false, action: 'REJECT_WITH_HINT' });
    }
    await askPeople(search, run);
    expect((await run.call('fragile', 'tell')).text).toMatch(/redacted/i);
    expect(await run.call('fragile', 'die', { note: CONTROL })).toMatchObject({ ok: false });
    said.push(...commandLines([run.mark, home.folder]));
    await run.end();
    said.push({ name: 'sub run', bytes: `${heardIn(run)}\n${run.stderr()}` });

    const bundled = await startRun({
      ...options,
      flags: ['--policy', policy, '--bundle', join(home.folder, 'bundle')],
      toLedger: true,
    });
    await bundled.call('leaky', 'echo', { note: CONTROL });
    await leak(bundled);
    await bundled.end();
    said.push({ name: 'sub run --bundle', bytes: `${heardIn(bundled)}\n${bundled.stderr()}` });

    await lookAtAll(search);
    const whileItRuns = filesBelow(home.folder, isSource);
    await stopLedger();
    const places = [...whileItRuns, ...filesBelow(home.folder, isSource), ...said];

    // The search finds what is there: in the ledger, in the queue, in what was exported and said.
    const control = foundIn(places, CONTROL).join('\n');
    for (const place of ['ledger.db', '/approvals/', '/bundle/events.jsonl', '/exported/events']) {
      expect(control).toContain(place);
    }
    for (const place of ['GET /api/v1/calls', 'sub query', 'sub approvals show']) {
      expect(control).toContain(place);
    }
    const pins = readFileSync(join(home.path, 'pins.json'), 'utf8');
    expect(pins).toContain('I work with');
    // So it does for each secret, where it is meant to be.
    const sources = filesBelow(home.folder, (path) => !isSource(path));
    expect(foundIn(sources, FROM_FILE).join('\n')).toContain('file_token');
    expect(foundIn(sources, AWS).join('\n')).toContain('leaky.log');

    const leaks = Object.entries(SECRETS).map(([name, secret]) => [name, foundIn(places, secret)]);
    expect(leaks).toEqual(Object.keys(SECRETS).map((name) => [name, []]));
  });
});

describe('a server that was started by itself, where no ledger can be had', () => {
  it('has no secret in what waits on disk', async () => {
    const { home } = searching();
    home.write('config.toml', binding('puppet', 'FILE_TOKEN', ['file_token', 'file']));
    home.write('secrets/file_token', FROM_FILE);
    const script = join(home.folder, 'leaky.json');
    writeFileSync(script, JSON.stringify(LEAKY));
    const rig = await startRig({
      command: [process.execPath, SCRIPTED, script, join(home.folder, 'leaky.log')],
      flags: ['--events', 'ledger'],
      env: { ...home.env, SUB_LEDGER_PATH: '/dev/null/ledger.db' },
    });
    const agent = talkTo(rig);
    await agent.open();
    await agent.tools();
    await agent.call('echo', { note: CONTROL });
    const heard: string[] = [];
    for (const form of FORMS) {
      heard.push(JSON.stringify(await agent.call(`file_token_${form}`)));
      await agent.call('echo', { text: FROM_FILE, key: AWS });
    }
    await agent.call('aws');
    await hangUp(rig);
    const said = [heard.join('\n'), rig.stderr()].map((bytes) => ({ name: 'said', bytes }));
    const places = [...filesBelow(home.folder, isSource), ...said];
    expect(foundIn(places, CONTROL).join('\n')).toContain('/spool/');
    expect(foundIn(places, FROM_FILE)).toEqual([]);
    expect(foundIn(places, AWS)).toEqual([]);
  });
});

const json = (value: object) => `${JSON.stringify({ jsonrpc: '2.0', ...value })}\n`;
const TEXT = `I have ${FROM_FILE}.`;
/** Everything that a server can send, with the secret in it. */
const SENT: readonly (readonly [what: string, line: string])[] = [
  ['an error', json({ id: 1, error: { code: -1, message: TEXT, data: { deep: [TEXT] } } })],
  ['a result with metadata', json({ id: 1, result: { content: [], _meta: { [FROM_FILE]: 1 } } })],
  ['structured content', json({ id: 1, result: { content: [], structuredContent: { a: TEXT } } })],
  ['a log', json({ method: 'notifications/message', params: { level: 'info', data: TEXT } })],
  ['progress', json({ method: 'notifications/progress', params: { message: TEXT } })],
  ['a notification nobody knows', json({ method: 'notifications/own', params: { TEXT } })],
  ['a request', json({ id: 's', method: 'elicitation/create', params: { message: TEXT } })],
  ['a request nobody knows', json({ id: 's', method: 'own/ask', params: { TEXT } })],
  ['an answer to nothing', json({ id: FROM_FILE, result: { TEXT } })],
  ['no JSON', `${TEXT}\n`],
  [
    'a key that is there twice',
    `{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":${JSON.stringify(TEXT)}}}\n`,
  ],
  [
    'a long answer',
    json({ id: 1, result: { content: [{ type: 'text', text: 'x'.repeat(2_000_000) + TEXT }] } }),
  ],
];

describe('a server that tells its secret', () => {
  it.each(SENT)('in %s tells it to nobody', (_, line) => expectNotTold(line));
});

async function expectNotTold(line: string): Promise<void> {
  const { home } = searching();
  home.write('config.toml', binding('puppet', 'FILE_TOKEN', ['file_token', 'file']));
  home.write('secrets/file_token', FROM_FILE);
  const rig = await startServed({ env: { ...QUICK, ...home.env } });
  rig.say(call(1, 'read'));
  await rig.server.heard.next();
  await rig.server.write(line);
  await rig.server.write(json({ id: 1, result: { content: [] } }));
  const { rest } = await hangUp(rig);
  expect(rest.length).toBeGreaterThan(0);
  const bytes = [...rest, rig.stderr()].join('\n');
  const files = [...filesBelow(home.folder, isSource), ...filesBelow(rig.folder, () => false)];
  expect(foundIn([{ name: 'said', bytes }, ...files], FROM_FILE)).toEqual([]);
}

describe('the search', () => {
  it.each(formsOf(FROM_FILE))('finds a planted secret written as %j, and by its half', (form) => {
    for (const text of [form, form.slice(form.length / 2), form.slice(0, form.length / 2)]) {
      expect(foundIn([{ name: 'a', bytes: `x${text}y` }], FROM_FILE)).toEqual(['a']);
    }
    expect(foundIn([{ name: 'a', bytes: 'nothing' }], FROM_FILE)).toEqual([]);
  });
});
