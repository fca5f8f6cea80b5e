// People who are reached by Slack and by a webhook, through the built `sub`: a held call outlives
// the daemon, is answered once, and is in the ledger with who, when and by which channel.
import { createHmac } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Event } from '@subluminal/contracts';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { runAgent } from '../e2e/run-agent.ts';
import { ended, ensureBuilt, startSub } from '../e2e/sub.ts';
import { approvingAt, asking } from './approving.ts';
import { endBearing, isRunning, until } from './proc.ts';

beforeAll(ensureBuilt);

const ANN = 'U0ANN00000';
const CHANNEL = 'C0CHANNEL0';
const SECRETS = {
  slack_token: 'xoxb-of-the-tests',
  slack_signing: 'signing-of-the-tests',
  hook: 'a-secret-of-the-tests',
} as const;

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A service on this machine that keeps what it is sent, and answers as it is told. */
async function standIn(answer: (path: string) => object = () => ({ ok: true })) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const path = request.url ?? '';
      received.push({ path, headers: request.headers, body: String(body) });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer(path)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const at = (path: string) => received.filter((one) => one.path === path);
  return {
    url: `http://127.0.0.1:${port}/`,
    at,
    /** The first that came to this path. */
    first: (path: string) => until(() => at(path)[0], `a message to ${path}`),
  };
}

/** An agent whose one call waits for a person, in a home with these channels. */
async function heldCall(table: string, more: { readonly PATH?: string } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sub-channels-'));
  onTestFinished(() => {
    endBearing([folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  const people = approvingAt(folder);
  mkdirSync(join(people.home, 'secrets'), { recursive: true, mode: 0o700 });
  chmodSync(people.home, 0o700);
  for (const [name, value] of Object.entries(SECRETS)) {
    writeFileSync(join(people.home, 'secrets', name), value, { mode: 0o600 });
  }
  writeFileSync(join(people.home, 'config.toml'), table, { mode: 0o600 });
  writeFileSync(join(folder, 'policy.yaml'), asking().replace('"pay"', '"get-sum"'));
  const env = { HOME: folder, SUB_HOME: people.home, SUB_RUN_ID: '', ...more };
  const calls = [['a', 'get-sum', { a: 2, b: 3 }]] as const;
  const agent = ['--', ...runAgent({ servers: ['a'], calls })];
  // The first shim starts the daemon.
  const run = startSub(['run', '--policy', 'policy.yaml', ...agent], { cwd: folder, env });
  run.stdin?.end();
  const over = ended(run);
  const { request } = await people.pending();
  return { folder, people, request, over };
}

type Held = Awaited<ReturnType<typeof heldCall>>;

/** Kills the daemon and starts another; where it is then. */
async function restarted({ people }: Held): Promise<string> {
  const status = await people.sub('ledgerd', '--status', '--json');
  const { pid } = JSON.parse(status.stdout) as { readonly pid: number };
  process.kill(pid, 'SIGKILL');
  await until(() => (isRunning(pid) ? undefined : true), 'the daemon to end');
  expect(await people.sub('ledgerd')).toMatchObject({ code: 0 });
  const { url } = JSON.parse(readFileSync(join(people.home, 'run', 'ledger.json'), 'utf8')) as {
    readonly url: string;
  };
  return url;
}

/** What the ledger has of the call, once the agent has ended well. */
async function onRecord({ folder, people, over, request }: Held) {
  const { code, stdout } = await over;
  expect(code).toBe(0);
  expect(stdout).toContain('agent: ["ok"]');
  await people.sub('export', 'run', 'last', '--out', 'trace');
  const lines = readFileSync(join(folder, 'trace', 'events.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const events = lines.map((line) => JSON.parse(line) as Event);
  expect(events.filter(({ type }) => type === 'tool_call_end')).toHaveLength(1);
  const steps = events.flatMap((event) => (event.type === 'approval' ? [event] : []));
  expect(steps.map(({ approval }) => approval.id)).toEqual([request.id, request.id]);
  expect(steps.map(({ approval }) => approval.state)).toEqual(['asked', 'approved']);
  for (const secret of Object.values(SECRETS)) expect(lines.join('\n')).not.toContain(secret);
  await people.sub('ledgerd', '--stop');
  return steps[1];
}

function slackTable(url: string): string {
  return `[approvals.slack]
token = "file://slack_token"
signing_secret = "file://slack_signing"
channel = "${CHANNEL}"
users = ["${ANN}"]
poll_ms = 100
api_url = "${url}"
`;
}

/** Slack's API, as far as it is used; the reactions are what the test says. */
function slackStandIn(reactions: () => readonly object[] = () => []) {
  return standIn((path) => {
    if (path === '/chat.postMessage')
      return { ok: true, channel: CHANNEL, ts: '1700000000.000001' };
    if (path === '/reactions.get') {
      return { ok: true, type: 'message', message: { reactions: reactions() } };
    }
    return { ok: true };
  });
}

/** What Slack sends when a button of a message is pressed. */
function press(url: string, post: Received, user: string): Promise<Response> {
  const blocks = JSON.parse(new URLSearchParams(post.body).get('blocks') ?? '[]') as {
    readonly type: string;
    readonly elements?: readonly { readonly action_id: string; readonly value: string }[];
  }[];
  const buttons = blocks.find(({ type }) => type === 'actions')?.elements ?? [];
  const action = buttons.find(({ action_id }) => action_id === 'subluminal_approve');
  const payload = {
    type: 'block_actions',
    user: { id: user, username: user === ANN ? 'ann' : 'eve' },
    channel: { id: CHANNEL },
    actions: [action],
  };
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const hmac = createHmac('sha256', SECRETS.slack_signing).update(`v0:${timestamp}:${body}`);
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${hmac.digest('hex')}`,
  };
  return fetch(`${url}/approvals/slack/actions`, { method: 'POST', headers, body });
}

it('a button in Slack approves a call over a restart of the daemon', async () => {
  const slack = await slackStandIn();
  const held = await heldCall(slackTable(slack.url));
  const post = await slack.first('/chat.postMessage');
  expect(post.headers.authorization).toBe(`Bearer ${SECRETS.slack_token}`);
  const url = await restarted(held);
  // Somebody who is not on the list is told so, and decides nothing.
  expect((await press(url, post, 'U0EVE00000')).status).toBe(200);
  expect(held.people.desk.queue.get(held.request.id)).toMatchObject({ state: 'pending' });
  expect((await press(url, post, ANN)).status).toBe(200);
  expect(await onRecord(held)).toMatchObject({
    approval: { by: `slack:${ANN} (ann)`, channel: 'slack', rule_id: 'ask' },
  });
  expect(slack.at('/chat.postMessage')).toHaveLength(1);
  const update = await slack.first('/chat.update');
  expect(new URLSearchParams(update.body).get('ts')).toBe('1700000000.000001');
});

it('a thumb under the message in Slack approves a call over a restart of the daemon', async () => {
  let reactions: readonly object[] = [];
  const slack = await slackStandIn(() => reactions);
  const held = await heldCall(slackTable(slack.url));
  await slack.first('/chat.postMessage');
  await restarted(held);
  reactions = [{ name: '+1', users: ['U0EVE00000', ANN], count: 2 }];
  expect(await onRecord(held)).toMatchObject({
    approval: { by: `slack:${ANN}`, channel: 'slack' },
  });
  expect(slack.at('/chat.postMessage')).toHaveLength(1);
  expect(slack.at('/chat.postEphemeral')).toHaveLength(1);
});

it('a signed answer of the webhook approves a call over a restart of the daemon, once', async () => {
  const hook = await standIn();
  const table = `[approvals.webhook]\nurl = "${hook.url}"\nsecret = "file://hook"\n`;
  const held = await heldCall(table);
  const { body } = await hook.first('/');
  const { id, request_sha256 } = JSON.parse(body) as {
    readonly id: string;
    readonly request_sha256: string;
  };
  expect(id).toBe(held.request.id);
  const url = await restarted(held);
  const post = (secret: string, nonce: string) => {
    const by = 'bob@example.com';
    const text = JSON.stringify({ v: 1, id, state: 'approved', by, request_sha256, note: 'go' });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signed = createHmac('sha256', secret).update(`v1:${timestamp}:${nonce}:${text}`);
    const headers = {
      'x-subluminal-timestamp': timestamp,
      'x-subluminal-nonce': nonce,
      'x-subluminal-signature': `v1=${signed.digest('hex')}`,
    };
    return fetch(`${url}/approvals/webhook`, { method: 'POST', headers, body: text });
  };
  expect((await post('another-secret-altogether', 'a'.repeat(20))).status).toBe(401);
  expect((await post(SECRETS.hook, 'b'.repeat(20))).status).toBe(200);
  expect((await post(SECRETS.hook, 'b'.repeat(20))).status).toBe(409);
  expect((await post(SECRETS.hook, 'c'.repeat(20))).status).toBe(409);
  expect(await onRecord(held)).toMatchObject({
    approval: { by: 'bob@example.com', channel: 'webhook' },
  });
  const events = hook.at('/').map((one) => (JSON.parse(one.body) as { event: string }).event);
  expect(events).toEqual(['approval.requested', 'approval.ended']);
});

it.skipIf(process.platform !== 'linux')('a notification tells of a call', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sub-notify-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const said = join(folder, 'said');
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" > "${said}.next"\nmv "${said}.next" "${said}"\n`;
  writeFileSync(join(folder, 'notify-send'), script, { mode: 0o755 });
  const PATH = `${folder}:${process.env['PATH'] ?? ''}`;
  const held = await heldCall('[approvals.desktop]\n', { PATH });
  const text = await until(() => {
    try {
      return readFileSync(said, 'utf8');
    } catch {
      return undefined;
    }
  }, 'a notification');
  expect(text).toContain(`a/get-sum waits: sub approvals show ${held.request.id.slice(-8)}`);
  await held.people.sub('approvals', 'approve', held.request.id);
  expect(await onRecord(held)).toMatchObject({ approval: { channel: 'terminal' } });
});
