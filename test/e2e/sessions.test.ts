// Sessions without `sub run`: a client starts the shims of an imported config by itself, and ends them in
// its own way. The client is the official SDK, in a process of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Event, parseEventLine } from '@subluminal/contracts';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bundled } from '../bundled.ts';
import { endBearing, noneBearing, until } from '../contract/proc.ts';
import { ensureBuilt, SUB, subEnvironment } from './sub.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const SMALL = [process.execPath, here('small-server.mjs')];
/** A server that goes by force only: it ignores the end of its input and the signals. */
const STUBBORN = ['sh', '-c', `trap "" INT TERM; ${SMALL.join(' ')}; exec sleep 600`];

let folder = '';
let mark = '';
beforeAll(ensureBuilt);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-sessions-'));
  mark = `SUB_TEST_MARK=${randomUUID()}`;
  mkdirSync(join(folder, 'home'));
});
afterEach(() => {
  endBearing([mark, folder]);
  rmSync(folder, { recursive: true, force: true });
});

interface OrderDetail {
  readonly tool?: string;
  readonly signal?: string;
}

interface SessionClient {
  /** Gives an order, and waits until it is carried out. */
  readonly order: (what: string, server: string, more?: OrderDetail) => Promise<void>;
  readonly exit: () => Promise<void>;
  readonly child: ChildProcess;
}

function startClient(servers: { readonly [name: string]: readonly string[] }): SessionClient {
  const shim = [process.execPath, SUB, 'shim', '--events', `file:${join(folder, 'events')}`];
  const program = bundled(here('session-agent.mjs'));
  const [name = '', value = ''] = mark.split('=');
  const home = join(folder, 'home');
  const env = { HOME: home, SUB_HOME: join(home, 'sub'), [name]: value };
  const child = spawn(process.execPath, [program, JSON.stringify({ shim, servers })], {
    cwd: folder,
    env: subEnvironment(env),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout });
  return {
    child,
    async order(what, server, more = {}) {
      child.stdin.write(`${JSON.stringify({ do: what, server, ...more })}\n`);
      await once(answers, 'line');
    },
    async exit() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

function events(): readonly Event[] {
  const path = join(folder, 'events');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  return lines.flatMap((line) => {
    const parsed = parseEventLine(line);
    return parsed.ok ? [parsed.event] : [];
  });
}

const ends = () => events().flatMap((event) => (event.type === 'run_end' ? [event.run] : []));
const starts = () => events().filter(({ type }) => type === 'run_start');
/** The files of runs that are left. */
const left = () =>
  readdirSync(join(folder, 'home', 'sub', 'run')).filter((name) => name.startsWith('agent-'));

/** The one end of the one run, when everything that the test started is gone. */
async function endOf() {
  await noneBearing([mark]);
  expect(starts()).toHaveLength(1);
  const [end, ...others] = ends();
  expect(others).toEqual([]);
  expect(left()).toEqual([]);
  return end;
}

describe.skipIf(process.platform !== 'linux')('a session of a client without `sub run`', () => {
  test.each<[string, (client: SessionClient, server: string) => Promise<void>]>([
    ['closes the session', ({ order }, server) => order('close', server)],
    ['sends SIGINT', ({ order }, server) => order('kill', server, { signal: 'SIGINT' })],
    ['sends SIGTERM', ({ order }, server) => order('kill', server, { signal: 'SIGTERM' })],
    ['just exits', async () => undefined],
  ])('has succeeded with the calls of all servers when the client %s', async (_, end) => {
    const client = startClient({ one: SMALL, two: SMALL, three: SMALL });
    for (const server of ['one', 'two', 'three']) await client.order('open', server);
    for (const server of ['one', 'one', 'two']) await client.order('call', server);
    for (const server of ['one', 'two', 'three']) await end(client, server);
    await client.exit();
    expect(await endOf()).toMatchObject({
      status: 'SUCCEEDED',
      summary: { calls_total: 3, calls_allowed: 3, errors_total: 0 },
    });
  });

  test('goes on when one of its servers ends, and counts that one as well', async () => {
    const client = startClient({ one: SMALL, two: SMALL, three: SMALL });
    for (const server of ['one', 'two']) {
      await client.order('open', server);
      await client.order('call', server);
    }
    await client.order('close', 'one');
    expect(ends()).toEqual([]);
    await client.order('open', 'three');
    await client.order('kill', 'two', { signal: 'SIGTERM' });
    await client.order('call', 'three');
    await client.exit();
    expect(await endOf()).toMatchObject({ status: 'SUCCEEDED', summary: { calls_total: 3 } });
  });

  // The client waits 500 ms, which a busy machine may miss once.
  test('is on record before the client kills a shim whose server does not end', {
    retry: 2,
  }, async () => {
    const client = startClient({ one: SMALL, slow: STUBBORN });
    for (const server of ['one', 'slow']) await client.order('open', server);
    await client.order('call', 'slow');
    await client.order('call', 'slow', { tool: 'hang' });
    const isCalled = () =>
      events().some((one) => one.type === 'tool_call_start' && one.call.tool_name === 'hang');
    await until(() => isCalled() || undefined, 'the call');
    await client.order('kill', 'one', { signal: 'SIGINT' });
    // As Claude Code does it: SIGINT, SIGTERM after 100 ms, SIGKILL after another 400.
    await client.order('kill', 'slow', { signal: 'SIGINT' });
    await pause(100);
    await client.order('kill', 'slow', { signal: 'SIGTERM' });
    await pause(400);
    await client.order('kill', 'slow', { signal: 'SIGKILL' });
    await client.exit();
    expect(ends()).toMatchObject([{ status: 'SUCCEEDED', summary: { calls_total: 2 } }]);
    const statuses = events().flatMap((one) => (one.type === 'tool_call_end' ? [one.status] : []));
    expect(statuses.toSorted()).toEqual(['CANCELLED', 'OK']);
  });

  test.each([
    ['has failed when all of its servers have', ['bad'], 'FAILED'],
    ['has not failed when one of its servers has', ['bad', 'good'], 'SUCCEEDED'],
  ])('%s', async (_, servers, status) => {
    const client = startClient({ bad: SMALL, good: SMALL });
    for (const server of servers) await client.order('open', server);
    await client.order('call', 'bad', { tool: 'crash' });
    await client.exit();
    expect(await endOf()).toMatchObject({ status, summary: { calls_total: 1, errors_total: 1 } });
  });
});
