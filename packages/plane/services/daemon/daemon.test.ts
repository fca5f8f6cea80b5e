// The daemon as a whole, in this process: one per home, its retention, its HTTP API.

import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { Bench, question } from '../../stores/approvals/testing/bench.ts';
import { Shim } from '../../stores/ledger/testing/events.ts';
import { tempFolder } from '../../stores/ledger/testing/temp-ledger.ts';
import { createLedgerClient } from '../ingest/index.ts';
import { runLedgerd } from './daemon.ts';
import { findLedger, withReader, withWriter } from './index.ts';
import { sweepApprovals } from './retention.ts';

const DAY_MS = 86_400_000;

interface Served {
  readonly client: ReturnType<typeof createLedgerClient>;
  readonly log: readonly string[];
  /** When it has ended, by itself or not. */
  readonly ended: Promise<unknown>;
  end(): Promise<unknown>;
}

/** Serves a home until the test has finished. */
async function serve(
  home: string,
  env: { readonly [name: string]: string } = {},
  rest: { readonly pages?: string; readonly auto?: boolean } = {},
): Promise<Served> {
  const ending = new AbortController();
  const log: string[] = [];
  let isServing: () => void = () => undefined;
  const serving = new Promise<void>((resolve) => {
    isServing = resolve;
  });
  const result = runLedgerd({
    env: { SUB_HOME: home, HOME: home, ...env },
    cwd: '/',
    auto: false,
    version: '1.2.3',
    ...rest,
    log: (message) => {
      log.push(message);
      if (message.startsWith('serving')) isServing();
    },
    signal: ending.signal,
  });
  const end = () => {
    ending.abort();
    return result;
  };
  onTestFinished(async () => void (await end()));
  await Promise.race([serving, result]);
  const client = createLedgerClient({ socketPath: join(home, 'run', 'ledger.sock') });
  return { client, log, ended: result, end };
}

async function ledgerOf(home: string) {
  const found = await findLedger({ env: { SUB_HOME: home, HOME: home }, cwd: '/' });
  if (isFailure(found)) throw new Error(found.message);
  return found;
}

async function runsIn(home: string): Promise<readonly string[]> {
  const page = await withReader(await ledgerOf(home), (reader) => reader.runs({}, {}));
  if (isFailure(page)) throw new Error(page.message);
  return page.rows.map(({ run_id }) => run_id);
}

describe('a home', () => {
  it('has one daemon: the second says so, and the first goes on', async () => {
    const home = tempFolder();
    const first = await serve(home);
    const second = await serve(home);
    expect(await second.end()).toEqual({ kind: 'already' });
    expect(await first.client.status()).toMatchObject({ version: '1.2.3' });
    expect(await first.end()).toEqual({ kind: 'ended' });
    expect(first.log.at(-1)).toBe('ended');
  });

  it('waits for a command that writes to the ledger', async () => {
    const home = tempFolder();
    let daemon: Promise<Served> | undefined;
    await withWriter(await ledgerOf(home), { create: true, warn: () => undefined }, async () => {
      daemon = serve(home);
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    expect(await (await daemon)?.client.status()).toBeDefined();
  });

  it('that others may write to is not served', async () => {
    const home = tempFolder();
    chmodSync(home, 0o777);
    const result = await runLedgerd({
      env: { SUB_HOME: home, HOME: home },
      cwd: '/',
      auto: false,
      version: '1',
      log: () => undefined,
      signal: new AbortController().signal,
    });
    expect(result).toMatchObject({ kind: 'failure', code: 'SUB_HOME_UNSAFE' });
  });
});

describe('retention', () => {
  it('prunes old runs at the start, once a day', async () => {
    const home = tempFolder();
    const nowMs = Date.now();
    const old = new Shim('old', { run: 'old' }, nowMs - 91 * DAY_MS);
    const lean = new Shim('lean', { run: 'lean' }, nowMs - 31 * DAY_MS);
    const young = new Shim('young', { run: 'young' }, nowMs);
    const found = await ledgerOf(home);
    await withWriter(found, { create: true, warn: () => undefined }, (ledger) =>
      ledger.ingest([old, lean, young].flatMap((shim) => shim.call('c'))),
    );
    const first = await serve(home);
    await expect.poll(() => runsIn(home)).toEqual(['young', 'lean']);
    await expect.poll(() => first.log).toContainEqual(expect.stringMatching(/^pruned 2 runs/));
    const previews = await withReader(found, async (reader) =>
      Promise.all(
        ['lean', 'young'].map(async (run) => (await reader.call(run, 'c'))?.args_preview),
      ),
    );
    expect(previews).toEqual([null, '{"of":"c"}']);
    const late = new Shim('late', { run: 'late' }, nowMs - 91 * DAY_MS);
    await first.client.ingest(late.call('c'));
    await first.end();
    const second = await serve(home);
    expect(await second.client.sync(5_000)).toBe(true);
    await second.end();
    expect(await runsIn(home)).toContain('late');
  });
});

describe('the queue of approvals', () => {
  it('ends requests without an answer, and removes them a month later', async () => {
    const bench = new Bench();
    onTestFinished(() => bench.end());
    const asked = bench.desk.queue.ask(question());
    if (asked.kind !== 'asked') throw new Error(asked.kind);
    const files = () => readdirSync(bench.folder).filter((name) => name.startsWith(asked.id));
    await sweepApprovals(bench.home, bench.nowMs + DAY_MS);
    expect(files().toSorted()).toEqual([`${asked.id}.end.json`, `${asked.id}.json`]);
    await sweepApprovals(bench.home, bench.nowMs + 40 * DAY_MS);
    expect(files()).toEqual([]);
  });

  it('is not made where there is none', async () => {
    const home = tempFolder();
    expect(await sweepApprovals(home, Date.now())).toBe(0);
    expect(existsSync(join(home, 'approvals'))).toBe(false);
  });
});

describe('the HTTP API', () => {
  interface Address {
    readonly pid: number;
    readonly url: string;
    readonly token: string;
  }

  it('is served on this machine, to those who can read the token', async () => {
    const home = tempFolder();
    const daemon = await serve(home);
    await daemon.client.ingest(new Shim('a', {}, Date.now()).call('c'));
    const file = join(home, 'run', 'ledger.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { pid, url, token } = JSON.parse(readFileSync(file, 'utf8')) as Address;
    expect(pid).toBe(process.pid);
    expect(await daemon.client.status()).toMatchObject({ http: { url } });
    const ask = async (authorization: string) =>
      fetch(`${url}/api/v1/calls`, { headers: { authorization } });
    expect((await ask('Bearer nobody')).status).toBe(401);
    const answer = await ask(`Bearer ${token}`);
    expect(await answer.json()).toMatchObject({ rows: [{ call_id: 'c' }] });
    await daemon.end();
    expect(existsSync(file)).toBe(false);
  });

  it('tells of events as they are committed', async () => {
    const home = tempFolder();
    const daemon = await serve(home);
    const shim = new Shim('a', {}, Date.now());
    await daemon.client.ingest(shim.call('before'));
    const { url, token } = JSON.parse(
      readFileSync(join(home, 'run', 'ledger.json'), 'utf8'),
    ) as Address;
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream?after=0`, {
      headers: { authorization: `Bearer ${token}` },
    });
    onTestFinished(() => socket.terminate());
    const texts: string[] = [];
    socket.on('message', (data: Buffer) => texts.push(data.toString('utf8')));
    await new Promise((resolve) => void socket.on('open', resolve));
    await daemon.client.ingest(shim.call('live'));
    await expect.poll(() => texts.join('\n')).toContain('"live"');
    expect(texts.join('\n')).toContain('"before"');
  });

  it('does not end by itself while a page is open', async () => {
    const rest = { auto: true, pages: tempFolder() };
    writeFileSync(join(rest.pages, 'index.html'), 'the page');
    // Long enough to open the page in.
    const env = { SUB_LEDGER_IDLE_EXIT_MS: '2000' };
    const home = tempFolder();
    const watched = await serve(home, env, rest);
    const file = readFileSync(join(home, 'run', 'ledger.json'), 'utf8');
    const { url, token } = JSON.parse(file) as { readonly url: string; readonly token: string };
    const headers = { authorization: `Bearer ${token}` };
    const page = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`, { headers });
    onTestFinished(() => page.terminate());
    await once(page, 'open');
    // One that nobody looks at has begun later, and ends.
    const alone = await serve(tempFolder(), env, rest);
    expect(await alone.ended).toEqual({ kind: 'ended' });
    expect([page.readyState, watched.log.at(-1)]).toEqual([WebSocket.OPEN, watched.log[0]]);
  });

  it('serves the page, and a session goes on after a restart', async () => {
    const home = tempFolder();
    const pages = tempFolder();
    writeFileSync(join(pages, 'index.html'), 'the page');
    const address = () =>
      JSON.parse(readFileSync(join(home, 'run', 'ledger.json'), 'utf8')) as Address;
    const first = await serve(home, {}, { pages });
    const { url, token } = address();
    expect(await first.client.status()).toMatchObject({ http: { url, page: url } });
    expect(await (await fetch(`${url}/live`)).text()).toBe('the page');
    const post = async (path: string, body: object, headers: object = {}) =>
      fetch(`${url}/api/v1/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const authorization = `Bearer ${token}`;
    const link = (await (await post('login/link', {}, { authorization })).json()) as {
      readonly path: string;
    };
    const login = await post('login', { code: link.path.split('#')[1] });
    const { page_token } = (await login.json()) as { readonly page_token: string };
    const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    const ask = () =>
      fetch(`${url}/api/v1/session`, { headers: { cookie, 'x-sub-page': page_token } });
    expect((await ask()).status).toBe(200);
    await first.end();
    expect(statSync(join(home, 'page.json')).mode & 0o777).toBe(0o600);
    const second = await serve(home, {}, { pages });
    expect(address().url).toBe(url);
    expect(address().token).not.toBe(token);
    expect(await (await ask()).json()).toMatchObject({ plane: 'ledger', role: 'owner' });
    await second.end();
    // Somebody else could have read the secret: it is not used any more.
    chmodSync(join(home, 'page.json'), 0o644);
    await serve(home, { SUB_LEDGER_HTTP: new URL(url).host }, { pages });
    expect((await ask()).status).toBe(401);
    expect(statSync(join(home, 'page.json')).mode & 0o777).toBe(0o600);
  });

  it('takes another port when the last one is taken', async () => {
    const home = tempFolder();
    const other = createServer();
    onTestFinished(() => void other.close());
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { readonly port: number };
    const kept = { secret: 's'.repeat(43), port };
    writeFileSync(join(home, 'page.json'), JSON.stringify(kept), { mode: 0o600 });
    const daemon = await serve(home, {}, { pages: tempFolder() });
    const { http } = (await daemon.client.status()) ?? {};
    expect(http?.url).not.toContain(`:${port}`);
    expect(JSON.parse(readFileSync(join(home, 'page.json'), 'utf8'))).toEqual({
      secret: kept.secret,
      port: Number(new URL(http?.url ?? '').port),
    });
  });

  it('can be left off', async () => {
    const home = tempFolder();
    const daemon = await serve(home, { SUB_LEDGER_HTTP: 'off' });
    expect(await daemon.client.status()).not.toHaveProperty('http');
    expect(existsSync(join(home, 'run', 'ledger.json'))).toBe(false);
  });

  it('says why it is not served', async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    await new Promise<void>((resolve) => void other.listen(0, '::1', resolve));
    const { port } = other.address() as { readonly port: number };
    const daemon = await serve(tempFolder(), { SUB_LEDGER_HTTP: `[::1]:${port}` });
    const { http, http_error } = (await daemon.client.status()) ?? {};
    expect(http).toBeUndefined();
    expect(http_error).toContain(`[::1]:${port}`);
    expect(daemon.log.join()).toContain(`is not served: `);
    expect(daemon.log.join()).not.toContain('u{3a}');
  });
});
