// Approvals in a daemon of this process: channels with local stand-ins, answers that come back, the
// HTTP API, and restarts in between.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_ENDPOINTS, check, type EventOf, isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processInfo, thisSystem } from '../../os/index.ts';
import { type Desk, openDesk } from '../../stores/approvals/index.ts';
import { question } from '../../stores/approvals/testing/bench.ts';
import { HttpService, type Received } from '../../stores/approvals/testing/http-service.ts';
import { tempFolder } from '../../stores/ledger/testing/temp-ledger.ts';
import { signedHeaders } from '../approval-channels/webhook/callback.ts';
import { createLedgerClient } from '../ingest/index.ts';
import { runLedgerd } from './daemon.ts';
import { findLedger, withReader } from './index.ts';

const SECRET = 'a-secret-of-the-tests';
/** A process that is not there any more. */
const GONE = { pid: 4_194_304, start: 'never' };
const here = () => ({
  pid: process.pid,
  start: processInfo(process.pid, thisSystem())?.start ?? '',
});

interface Daemon {
  readonly log: string[];
  end(): Promise<unknown>;
  /** Resolves when the log holds it. */
  logged(part: string): Promise<string>;
}

function startDaemon(home: string, env: { readonly [name: string]: string } = {}): Daemon {
  const ending = new AbortController();
  const log: string[] = [];
  const looks = new Set<() => void>();
  const result = runLedgerd({
    env: { SUB_HOME: home, HOME: home, HOOK_SECRET: SECRET, PATH: '/usr/bin:/bin', ...env },
    cwd: '/',
    auto: false,
    version: '1.2.3',
    log: (message) => {
      log.push(message);
      for (const look of looks) look();
    },
    signal: ending.signal,
  });
  const end = () => {
    ending.abort();
    return result;
  };
  onTestFinished(async () => void (await end()));
  const logged = (part: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const line = log.find((one) => one.includes(part));
        if (line !== undefined) resolve(line);
      };
      looks.add(look);
      look();
      void result.then(() => reject(new Error(`it ended without ${part}: ${log.join('\n')}`)));
    });
  return { log, end, logged };
}

function config(home: string, text: string): void {
  writeFileSync(join(home, 'config.toml'), text, { mode: 0o600 });
}

function deskOf(home: string): Desk {
  const desk = openDesk({ home, pollMs: 50, ports: { nowMs: Date.now, uuid: uuidv7 } });
  if (isFailure(desk)) throw new Error(desk.message);
  return desk;
}

function ask(desk: Desk, more: Parameters<typeof question>[0] = {}): string {
  const asked = desk.queue.ask(question({ askedBy: here(), timeoutMs: 600_000, ...more }));
  if (asked.kind !== 'asked') throw new Error(asked.kind);
  return asked.id;
}

async function service(answer: () => number = () => 204): Promise<HttpService> {
  const started = await HttpService.start(() => ({ status: answer() }));
  onTestFinished(() => started.stop());
  return started;
}

function api(home: string): { readonly url: string; readonly token: string } {
  return JSON.parse(readFileSync(join(home, 'run', 'ledger.json'), 'utf8')) as never;
}

interface Told {
  readonly event: string;
  readonly id: string;
  readonly request_sha256: string;
}

const told = (received: Received | undefined) => JSON.parse(String(received?.body)) as Told;

/** Posts a signed answer as the service would. */
function answerTo(
  url: string,
  { id, request_sha256 }: Told,
  more: { readonly nonce?: string; readonly secret?: string } = {},
): Promise<Response> {
  const { nonce = 'n'.repeat(20), secret = SECRET } = more;
  const body = JSON.stringify({
    v: 1,
    id,
    state: 'approved',
    by: 'bob@example.com',
    request_sha256,
  });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const headers = signedHeaders({ timestamp, nonce, body }, secret);
  return fetch(url, { method: 'POST', headers, body });
}

async function approvalEvents(home: string): Promise<readonly EventOf<'approval'>[]> {
  const found = await findLedger({ env: { SUB_HOME: home, HOME: home }, cwd: '/' });
  if (isFailure(found)) throw new Error(found.message);
  const rows = await withReader(found, (reader) => reader.events({ afterSeq: 0, limit: 1_000 }));
  if (isFailure(rows)) throw new Error(rows.message);
  return rows.flatMap(({ line }) => {
    const event = JSON.parse(line ?? '{}') as EventOf<'approval'>;
    return event.type === 'approval' ? [event] : [];
  });
}

describe('the webhook of a daemon', () => {
  it('gets a request once over restarts, answers by the API of the daemon, and gets the end', async () => {
    const home = tempFolder();
    const hook = await service();
    config(home, `[approvals.webhook]\nurl = "${hook.url}"\nsecret = "env://HOOK_SECRET"\n`);
    const first = startDaemon(home);
    await first.logged('asking people by webhook');
    const client = createLedgerClient({ socketPath: join(home, 'run', 'ledger.sock') });
    expect(await client.status()).toMatchObject({ channels: ['webhook'] });
    const desk = deskOf(home);
    const id = ask(desk);
    const [asked] = await hook.until('/', 1);
    expect(told(asked)).toMatchObject({ event: 'approval.requested', id });
    await first.end();
    const second = startDaemon(home);
    await second.logged('asking people by webhook');
    await second.logged('serving');
    const { url } = api(home);
    const forged = await answerTo(`${url}/approvals/webhook`, told(asked), {
      secret: 'x'.repeat(20),
    });
    expect(forged.status).toBe(401);
    const right = await answerTo(`${url}/approvals/webhook`, told(asked));
    expect([right.status, await right.json()]).toEqual([200, { state: 'approved' }]);
    expect((await answerTo(`${url}/approvals/webhook`, told(asked))).status).toBe(409);
    const all = await hook.until('/', 2);
    expect(all.map((one) => told(one).event)).toEqual(['approval.requested', 'approval.ended']);
    expect(desk.queue.get(id)).toMatchObject({
      outcome: { by: 'bob@example.com', channel: 'webhook' },
    });
  });

  it('hears of an end that came while no daemon ran', async () => {
    const home = tempFolder();
    const hook = await service();
    config(home, `[approvals.webhook]\nurl = "${hook.url}"\nsecret = "env://HOOK_SECRET"\n`);
    const first = startDaemon(home);
    await first.logged('asking people by webhook');
    const desk = deskOf(home);
    const id = ask(desk);
    await hook.until('/', 1);
    await first.end();
    desk.decide(id, { state: 'rejected', by: 'ann', channel: 'terminal' });
    startDaemon(home);
    const [, ended] = await hook.until('/', 2);
    expect(told(ended)).toMatchObject({ event: 'approval.ended', id });
  });

  it('gets a request again when the daemon ended in the middle of it', async () => {
    const home = tempFolder();
    let isUp = false;
    const hook = await service(() => (isUp ? 204 : 503));
    const slow = 'backoff_ms = 60000\nattempts = 10\n';
    config(home, `[approvals.webhook]\nurl = "${hook.url}"\nsecret = "env://HOOK_SECRET"\n${slow}`);
    const first = startDaemon(home);
    await first.logged('asking people by webhook');
    const id = ask(deskOf(home));
    await hook.until('/', 1);
    await first.end();
    isUp = true;
    startDaemon(home);
    const [, again] = await hook.until('/', 2);
    expect(told(again)).toMatchObject({ event: 'approval.requested', id });
  });

  it('may answer at an address of its own, where nothing else is to be had', async () => {
    const home = tempFolder();
    const hook = await service();
    const listen = '[approvals]\nlisten = "127.0.0.1:0"\n';
    const table = `[approvals.webhook]\nurl = "${hook.url}"\nsecret = "env://HOOK_SECRET"\n`;
    config(home, `[ledger]\nhttp = "off"\n${listen}${table}`);
    const daemon = startDaemon(home);
    const line = await daemon.logged('taking answers to approvals on ');
    const url = line.replace(/^.* on /, '');
    ask(deskOf(home));
    const [asked] = await hook.until('/', 1);
    for (const path of ['/', '/api/v1/health', '/api/v1/approvals', '/approvals/slack/actions']) {
      expect((await fetch(`${url}${path}`)).status).toBe(404);
    }
    expect((await fetch(`${url}/approvals/webhook`)).status).toBe(405);
    const large = { method: 'POST', body: 'x'.repeat(70_000) };
    expect((await fetch(`${url}/approvals/webhook`, large)).status).toBe(413);
    const page = { method: 'POST', body: '{}', headers: { origin: 'https://evil.example' } };
    expect((await fetch(`${url}/approvals/webhook`, page)).status).toBe(403);
    expect((await answerTo(`${url}/approvals/webhook`, told(asked))).status).toBe(200);
  });

  it('is off without its secret, and the message does not hold the secret', async () => {
    const home = tempFolder();
    config(home, '[approvals.webhook]\nurl = "https://127.0.0.1:9/"\nsecret = "env://NO_SECRET"\n');
    const daemon = startDaemon(home);
    expect(await daemon.logged('are off')).toBe(
      'approvals by webhook are off: the secret approvals.webhook.secret cannot be had: NO_SECRET is not set.',
    );
  });
});

describe('the table [approvals]', () => {
  it.each([
    ['[approvals]\nkep_days = 3\n', 'unknown key `kep_days`', 'Did you mean `keep_days`?'],
    ['[approvals.webhok]\nurl = "x"\n', 'unknown key `webhok`', 'Did you mean `webhook`?'],
    ['[approval]\nx = 1\n', 'unknown key `approval.x`', 'Did you mean `approvals`?'],
    [
      '[approvals.webhook]\nurl = "https://x.example/"\nsecret = "gopher://x"\n',
      '`approvals.webhook.secret` has no known scheme',
      'Write one of env://, file://, keychain://, sub://, vault://, op://.',
    ],
  ])('that is wrong is told with its place: %j', async (text, message, fix) => {
    const home = tempFolder();
    config(home, text);
    const found = await findLedger({ env: { SUB_HOME: home, HOME: home }, cwd: '/' });
    expect(found).toMatchObject({ kind: 'failure', fix });
    expect(isFailure(found) ? found.message : '').toMatch(/config\.toml:\d+:\d+: /);
    expect(isFailure(found) ? found.message : '').toContain(message);
  });
});

it('a desktop is notified by its own program', async () => {
  const home = tempFolder();
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const said = join(bin, 'said');
  writeFileSync(
    join(bin, 'notify-send'),
    `#!/bin/sh\nprintf '%s\\n' "$@" > "${said}.next"; mv "${said}.next" "${said}"\n`,
  );
  chmodSync(join(bin, 'notify-send'), 0o755);
  config(home, '[approvals.desktop]\n');
  const daemon = startDaemon(home, { PATH: `${bin}:/usr/bin:/bin` });
  if (process.platform !== 'linux') return;
  await daemon.logged('asking people by desktop');
  const id = ask(deskOf(home));
  while (!readdirSync(bin).includes('said')) await new Promise(setImmediate);
  expect(readFileSync(said, 'utf8')).toContain(`sub approvals show ${id.slice(-8)}`);
});

describe('an end', () => {
  it('is recorded once when the asking process is gone, and not while it is there', async () => {
    const home = tempFolder();
    const hook = await service();
    config(home, `[approvals.webhook]\nurl = "${hook.url}"\nsecret = "env://HOOK_SECRET"\n`);
    const daemon = startDaemon(home);
    await daemon.logged('serving');
    const desk = deskOf(home);
    const lost = ask(desk, { wait: 'hint', askedBy: GONE });
    const held = ask(desk);
    // The daemon knows of both.
    await hook.until('/', 2);
    for (const id of [held, lost]) {
      desk.decide(id, { state: 'approved', by: 'ann', channel: 'terminal' });
    }
    while (desk.queue.marked(lost, 'ledger') === undefined) await new Promise(setImmediate);
    await daemon.end();
    // Another start finds nothing to add.
    const again = startDaemon(home);
    await again.logged('serving');
    await again.end();
    const events = await approvalEvents(home);
    expect(events).toMatchObject([
      {
        run_id: 'run-1',
        agent_id: 'coder',
        approval: {
          id: lost,
          rule_id: 'ask-writes',
          state: 'approved',
          by: 'ann',
          channel: 'terminal',
        },
      },
    ]);
    expect(events[0]?.approval.grant_id).toBeTruthy();
  });

  it('that came while no daemon ran goes on record with the next one', async () => {
    const home = tempFolder();
    const desk = deskOf(home);
    const id = ask(desk, { wait: 'hint', askedBy: GONE });
    desk.decide(id, { state: 'rejected', by: 'ann', channel: 'terminal', note: 'no' });
    const daemon = startDaemon(home);
    while (desk.queue.marked(id, 'ledger') === undefined) await new Promise(setImmediate);
    await daemon.end();
    expect(await approvalEvents(home)).toMatchObject([{ approval: { id, state: 'rejected' } }]);
  });
});

describe('the HTTP API', () => {
  async function served() {
    const home = tempFolder();
    const desk = deskOf(home);
    const daemon = startDaemon(home);
    await daemon.logged('serving');
    const { url, token } = api(home);
    const send = async (path: string, body?: object, headers: Record<string, string> = {}) => {
      const auth = { authorization: `Bearer ${token}`, ...headers };
      const posted = {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...auth },
        body: JSON.stringify(body),
      };
      const response = await fetch(
        `${url}${path}`,
        body === undefined ? { headers: auth } : posted,
      );
      return { status: response.status, body: (await response.json()) as never };
    };
    return { desk, send };
  }

  it('lists, shows and decides, as its shapes say', async () => {
    const { desk, send } = await served();
    const [one, two] = [ask(desk), ask(desk, { askedBy: GONE })];
    const listed = await send('/api/v1/approvals?state=pending');
    expect(check(API_ENDPOINTS.approvals.answer, listed.body)).toEqual([]);
    expect(listed.body).toMatchObject({
      rows: [
        { id: two, asker: 'gone' },
        { id: one, asker: 'there' },
      ],
    });
    const shown = await send(`/api/v1/approvals/${one}`);
    expect(check(API_ENDPOINTS.approval.answer, shown.body)).toEqual([]);
    expect(shown.body).toMatchObject({ request: { call: { args: { path: 'src/main.ts' } } } });
    const { request_sha256 } = shown.body as { readonly request_sha256: string };
    const grant = {
      kind: 'minutes',
      minutes: 30,
      args: { kind: 'pattern', like: { path: 'src/*' }, free: ['content'] },
    };
    const dry = await send(`/api/v1/approvals/${one}/approve`, {
      request_sha256,
      grant,
      dry_run: true,
    });
    expect(check(API_ENDPOINTS.approve.answer, dry.body)).toEqual([]);
    expect(dry.body).toMatchObject({ changed: false, approval: { state: 'pending' } });
    expect(desk.grants.list()).toMatchObject({ found: [] });
    const approved = await send(`/api/v1/approvals/${one}/approve`, {
      request_sha256,
      note: 'fine',
      grant,
    });
    expect(approved.body).toMatchObject({
      changed: true,
      approval: { outcome: { state: 'approved', channel: 'web', note: 'fine' } },
      grant: {
        state: 'active',
        covers: expect.arrayContaining(['With these arguments and no others:']) as string[],
      },
    });
    const late = await send(`/api/v1/approvals/${one}/reject`, { request_sha256 });
    expect(late).toMatchObject({ status: 200, body: { changed: false } });
    const grants = await send('/api/v1/grants?state=active');
    expect(check(API_ENDPOINTS.grants.answer, grants.body)).toEqual([]);
    const [{ id: grantId } = { id: '' }] = (grants.body as { rows: { id: string }[] }).rows;
    const revoked = await send(`/api/v1/grants/${grantId}/revoke`, {});
    expect(check(API_ENDPOINTS.revoke.answer, revoked.body)).toEqual([]);
    expect(revoked.body).toMatchObject({ changed: true, grant: { state: 'revoked' } });
  });

  it('decides only the request that was seen, for a holder of the token, and nothing else', async () => {
    const { desk, send } = await served();
    const id = ask(desk);
    const path = `/api/v1/approvals/${id}/approve`;
    const sha = { request_sha256: 'f'.repeat(64) };
    expect((await send(path, sha)).status).toBe(409);
    expect((await send(path, {})).status).toBe(400);
    expect((await send(path, { ...sha, by: 'root' })).status).toBe(400);
    expect((await send(path, sha, { authorization: 'Bearer x' })).status).toBe(401);
    expect((await send(path, sha, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await send(path, sha, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await send(path)).status).toBe(405);
    expect((await send(`${path}?x=1`, sha)).status).toBe(400);
    const nobody = `/api/v1/approvals/${uuidv7()}`;
    expect((await send(nobody)).status).toBe(404);
    expect((await send(`${nobody}/reject`, sha)).status).toBe(404);
    expect((await send(`/api/v1/grants/${uuidv7()}/revoke`, {})).status).toBe(404);
    const { request_sha256 } = (await send(`/api/v1/approvals/${id}`)).body;
    const wide = { kind: 'run', args: { kind: 'pattern', like: { path: 'lib/*' } } };
    expect(await send(path, { request_sha256, grant: wide })).toMatchObject({
      status: 409,
      body: { error: { code: 'SUB_GRANT_REFUSED' } },
    });
    expect(desk.queue.get(id)).toMatchObject({ state: 'pending' });
  });
});
