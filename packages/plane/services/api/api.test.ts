import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import {
  API_ENDPOINTS,
  API_ERROR,
  type ApiEndpoint,
  check,
  exactName,
} from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import type { StoreReader } from '../../stores/ledger/index.ts';
import { POLICY, POLICY_DOCUMENT, Shim, T0_MS } from '../../stores/ledger/testing/events.ts';
import { HINT } from '../../stores/ledger/testing/random-events.ts';
import { type ApiClient, AUTH, heavyCalls, liveLedger } from './testing/live-ledger.ts';
import type { ApiReader } from './types.ts';

const DAY_MS = 86_400_000;
const EVIL = '<script>alert(1)</script>\u202e\u001b[2J"\\\n/..?#%2F%25&=+\u{1f600}\u2028';

interface Page {
  readonly rows: readonly { readonly [field: string]: unknown }[];
  readonly next: string | null;
}

/** Four runs a day apart; in each a call that went well, one refused and one that failed. */
async function filled() {
  const live = await liveLedger();
  for (let n = 0; n < 4; n++) {
    const names = { run: `run-${n}`, agent: `agent-${n % 2}`, server: `server-${n % 2}` };
    const start = T0_MS + n * DAY_MS;
    const shim = new Shim(`s${n}`, { ...names, tool: `tool-${n}`, args: `${n}` }, start);
    const refused = { action: 'REJECT_WITH_HINT', rule_id: `rule-${n % 2}`, hint: HINT } as const;
    const error = { class: 'upstream_error', message: 'Broken Pipe' } as const;
    await live.ingest(
      shim.runStart(),
      ...shim.call(`ok-${n}`),
      shim.start(`no-${n}`),
      shim.decision(`no-${n}`, refused),
      shim.start(`bad-${n}`),
      shim.decision(`bad-${n}`),
      shim.end(`bad-${n}`, { status: 'ERROR', error }),
      ...(n === 3 ? [] : [shim.runEnd(3)]),
    );
  }
  return { live, client: await live.open() };
}

async function page(client: ApiClient, path: string): Promise<Page> {
  return (await client.json(path)) as Page;
}

async function ids(client: ApiClient, path: string, field: string): Promise<readonly unknown[]> {
  return (await page(client, path)).rows.map((row) => row[field]);
}

function lines(text: string): readonly { seq: number; event: { type: string } }[] {
  const parts = text.split('\n');
  expect(parts.pop()).toBe('');
  return parts.map((part) => JSON.parse(part) as { seq: number; event: { type: string } });
}

describe('the answers', () => {
  it('fit the shapes of the contracts, each of them', async () => {
    const { live, client } = await filled();
    const loaded = { policy: POLICY, mode: 'guardrails', document: POLICY_DOCUMENT } as const;
    await live.ingest(new Shim('late', { run: 'run-0' }).line('policy_loaded', loaded));
    const paths: { readonly [name in keyof typeof API_ENDPOINTS]?: string } = {
      health: '/api/v1/health',
      session: '/api/v1/session',
      runs: '/api/v1/runs',
      run: '/api/v1/runs/run-0',
      summary: '/api/v1/runs/run-0/summary',
      events: '/api/v1/runs/run-0/events',
      calls: '/api/v1/calls',
      call: '/api/v1/calls/run-0/no-0',
      stats: '/api/v1/stats',
      histogram: '/api/v1/histogram?text=o&buckets=500',
      activity: '/api/v1/activity?run_ids=run-0&run_ids=run-1',
      cost: '/api/v1/cost?by=principal&bucket=hour',
      policies: '/api/v1/policies',
    };
    const endpoints: readonly [string, ApiEndpoint][] = Object.entries(API_ENDPOINTS);
    // Those that need more than a ledger are held to their shapes where it is.
    const asked = endpoints.filter(([one]) => one in paths);
    expect(asked).toHaveLength(Object.keys(paths).length);
    for (const [name, { kind, answer }] of asked) {
      const path = paths[name as keyof typeof paths] ?? '';
      const { status, headers, text } = await client.ask(path);
      expect(status, name).toBe(200);
      const type = kind === 'json' ? 'application/json' : 'application/x-ndjson';
      expect(headers['content-type']).toBe(`${type}; charset=utf-8`);
      const values = kind === 'json' ? [JSON.parse(text) as unknown] : lines(text);
      expect(values.length).toBeGreaterThan(0);
      for (const value of values) expect(check(answer, value), name).toEqual([]);
    }
  });

  it('are those of the ledger itself', async () => {
    const { live, client } = await filled();
    // The compiler says that a reader of the ledger is a reader of the API.
    const store: StoreReader & ApiReader = live.ledger.store;
    expect(await client.json('/api/v1/runs/run-2')).toEqual(await store.run('run-2'));
    expect(await client.json('/api/v1/calls/run-2/no-2')).toEqual(
      await store.call('run-2', 'no-2'),
    );
    expect(await client.json('/api/v1/calls/run-2/no-2')).toMatchObject({
      decision: 'REJECT_WITH_HINT',
      args_preview: '{"of":"no-2"}',
      hint: { hint_text: HINT.hint_text },
    });
    expect(await client.json('/api/v1/calls?run_id=run-2&limit=1')).toMatchObject({
      rows: [{ call_id: 'bad-2', argument: 'of=bad-2' }],
    });
    expect(await client.json('/api/v1/stats')).toEqual(await store.stats({}));
    const { seq: tip_seq } = await store.tip();
    expect(await client.json('/api/v1/health')).toEqual({
      status: 'ok',
      version: '1.2.3',
      v: '0.2.0',
      ledger_id: await store.ledgerId(),
      tip_seq,
      streams: 0,
      started_at_ms: T0_MS,
      now_ms: T0_MS,
    });
    expect(await client.json('/api/v1/runs/run-1/summary')).toMatchObject({
      run_id: 'run-1',
      status: 'SUCCEEDED',
      totals: { calls_total: 3, calls_allowed: 2, calls_blocked: 1, errors_total: 1 },
      incomplete: false,
    });
  });

  it('are 404 for anything that does not exist', async () => {
    const { client } = await filled();
    const paths = [
      '/',
      '/api/v1',
      '/api/v1/nothing',
      '/api/v1/runs/none',
      '/api/v1/runs/none/events',
      '/api/v1/runs/none/summary',
      '/api/v1/calls/run-0/none',
      '/api/v1/calls/run-0',
      '/api/v1/health/',
    ];
    for (const path of paths) {
      const body = await client.json(path, 404);
      expect(check(API_ERROR, body), path).toEqual([]);
      expect(body).toMatchObject({ error: { code: 'SUB_API_NOT_FOUND' } });
    }
    const upgrade = await client.json('/api/v1/stream', 426);
    expect(upgrade).toMatchObject({ error: { code: 'SUB_API_REQUEST' } });
  });
});

describe('pages', () => {
  it.each([1, 2, 5, 12, 1_000])('of %i rows come to all calls, each once', async (limit) => {
    const { client } = await filled();
    const all = await ids(client, '/api/v1/calls?limit=1000', 'call_id');
    expect(all).toHaveLength(12);
    const seen: unknown[] = [];
    for (let cursor = ''; ; ) {
      const { rows, next } = await page(client, `/api/v1/calls?limit=${limit}${cursor}`);
      seen.push(...rows.map((row) => row['call_id']));
      if (next === null) break;
      cursor = `&cursor=${encodeURIComponent(next)}`;
    }
    expect(seen).toEqual(all);
  });

  it('of runs go on where the one before ended, whatever the runs are called', async () => {
    const live = await liveLedger();
    const names = [EVIL, '..', '%', 'a b', '+', 'é'.repeat(20_000), 'z'];
    for (const [n, run] of names.entries()) {
      await live.ingest(...new Shim(`s${n}`, { run }, T0_MS + n).call('c'));
    }
    const client = await live.open();
    const seen: unknown[] = [];
    for (let cursor = ''; ; ) {
      const { rows, next } = await page(client, `/api/v1/runs?limit=1${cursor}`);
      seen.push(...rows.map((row) => row['run_id']));
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(seen).toEqual(names.toReversed());
  });
});

describe('filters', () => {
  it.each([
    ['run_id=run-1', ['bad-1', 'no-1', 'ok-1']],
    ['agent_id=agent-1&status=OK', ['ok-3', 'ok-1']],
    ['server_name=server-0&decision=REFUSED', ['no-2', 'no-0']],
    ['tool_name=tool-2&decision=ALLOW', ['bad-2', 'ok-2']],
    ['decision=REJECT_WITH_HINT', ['no-3', 'no-2', 'no-1', 'no-0']],
    ['decision=THROTTLE', []],
    ['status=PENDING&limit=2', ['no-3', 'no-2']],
    ['status=FAILED&run_id=run-0', ['bad-0']],
    ['rule_id=rule-1', ['no-3', 'no-1']],
    ['arg=of%3Dok-*', ['ok-3', 'ok-2', 'ok-1', 'ok-0']],
    [`args_hash=${new Shim('x', { args: '2' }).ref('').args_hash}`, ['bad-2', 'no-2', 'ok-2']],
    [`from_ms=${T0_MS + DAY_MS}&to_ms=${T0_MS + 2 * DAY_MS}`, ['bad-1', 'no-1', 'ok-1']],
    ['text=broken+pipe&agent_id=agent-0', ['bad-2', 'bad-0']],
    ['text=RESULT%20OF%20ok-1', ['ok-1']],
    ['text=%25', []],
  ])('of calls: %s', async (query, expected) => {
    const { client } = await filled();
    expect(await ids(client, `/api/v1/calls?${query}`, 'call_id')).toEqual(expected);
  });

  it.each([
    ['path=/repo/src/x.ts', ['m1']],
    ['path=/repo', ['m2', 'm1']],
    ['path=/elsewhere', []],
    ['principal=mia@a', ['m2', 'm1']],
    ['principal=ci:7', ['b1']],
    ['principal=ci:*', ['b1']],
    ['principal=ci:\\*', []],
    ['path=src/x.ts', ['b1', 'm1']],
    ['path=./src/', ['b1', 'm1']],
    ['path=rc/x.ts', []],
    ['path=y.ts&tool_name=*&server_name=*', ['m2']],
    ['arg=path%3D/repo/*&arg=path%3D*x.ts', ['m1']],
    ['arg=path%3D/repo/*&arg=other%3D*', []],
    ['run_id=last', ['b1']],
    ['decision=ASKED&run_id=run-m', ['m2', 'm1']],
    ['approved_by=ada', ['m1']],
    ['approved_by=ada&principal=ci:7', []],
  ])(
    'of calls by what they touched, who made them and who approved: %s',
    async (query, expected) => {
      const live = await liveLedger();
      const mia = new Shim('m', { run: 'run-m', principal: 'mia@a' });
      const bot = new Shim('b', { run: 'run-b', principal: 'ci:7' }, T0_MS + DAY_MS);
      const touching = (path: string) => ({
        preview: { truncated: false, args_preview: JSON.stringify({ path }) },
      });
      const by = { rule_id: 'ask', by: 'ada', channel: 'terminal' } as const;
      await live.ingest(
        mia.start('m1', touching('/repo/src/x.ts')),
        mia.approval('m1', { ...by, state: 'approved' }),
        mia.start('m2', touching('/repo/y.ts')),
        mia.approval('m2', { ...by, state: 'rejected' }),
        bot.start('b1', touching('/other/src/x.ts')),
      );
      const client = await live.open();
      expect(await ids(client, `/api/v1/calls?${query}`, 'call_id')).toEqual(expected);
    },
  );

  it.each([
    ['agent_id=agent-0', ['run-2', 'run-0']],
    ['status=RUNNING', ['run-3']],
    ['client=claude', ['run-3', 'run-2', 'run-1', 'run-0']],
    ['client=codex', []],
    ['status=SUCCEEDED&limit=1', ['run-2']],
    [`from_ms=${T0_MS + 2 * DAY_MS}`, ['run-3', 'run-2']],
    [`to_ms=${T0_MS + DAY_MS}`, ['run-0']],
  ])('of runs: %s', async (query, expected) => {
    const { client } = await filled();
    expect(await ids(client, `/api/v1/runs?${query}`, 'run_id')).toEqual(expected);
  });

  it('of totals: a range of time', async () => {
    const { client } = await filled();
    const query = `from_ms=${T0_MS}&to_ms=${T0_MS + DAY_MS}`;
    expect(await client.json(`/api/v1/stats?${query}`)).toMatchObject({
      runs: 1,
      calls: { total: 3 },
    });
  });
});

describe('the events of one call', () => {
  it('are those of its run that are about it, behind `after`', async () => {
    const { client } = await filled();
    const typesOf = async (query: string) => {
      const { text } = await client.ask(`/api/v1/runs/run-1/events?${query}`);
      return lines(text).map(({ event }) => event.type);
    };
    const all = ['tool_call_start', 'tool_call_decision', 'tool_call_end'];
    expect(await typesOf('call_id=ok-1')).toEqual(all);
    const { text } = await client.ask('/api/v1/runs/run-1/events?call_id=ok-1');
    const { seq = 0 } = lines(text)[0] ?? {};
    expect(await typesOf(`call_id=ok-1&after=${seq}`)).toEqual(all.slice(1));
    expect((await client.ask('/api/v1/runs/run-1/events?call_id=ok-2')).status).toBe(404);
  });
});

describe('a wrong parameter', () => {
  it.each([
    ['runs?limit=0', 'limit'],
    ['runs?limit=1001', 'limit'],
    ['runs?limit=1e3', 'limit'],
    ['runs?limit=-1', 'limit'],
    ['runs?limit=', 'limit'],
    ['runs?limit=5&limit=6', 'limit'],
    ['runs?limits=5', 'limits'],
    ['runs?__proto__=5', '__proto__'],
    ['runs?status=running', 'status'],
    ['runs?agent_id=', 'agent_id'],
    ['runs?cursor=nonsense', 'cursor'],
    [`runs?cursor=${'a'.repeat(100_001)}`, 'cursor'],
    ['runs?from_ms=99999999999999999', 'from_ms'],
    ['runs?from_ms=yesterday', 'from_ms'],
    ['runs?agent_id=%00', 'agent_id'],
    ['runs?agent_id=%ff', 'agent_id'],
    ['runs?agent_id=%', 'agent_id'],
    ['runs/run-0?x=1', 'x'],
    ['runs/run-0/events?after=x', 'after'],
    ['calls?args_hash=abc', 'args_hash'],
    ['calls?decision=BLOCKED', 'decision'],
    ['calls?tool_name=a%1b[', 'a\\u{1b}['],
    ['calls?arg=x', 'NAME=GLOB'],
    ['activity', 'run_ids'],
    ['histogram?buckets=501', 'buckets'],
    ['histogram?from_ms=5&to_ms=5', 'not after'],
    ['cost?from_ms=0&bucket=hour', '750'],
    ['cost?from_ms=99999999999999&to_ms=5', 'not after'],
    ['calls?path=../x', 'relative path'],
    [`calls?${'arg=a%3Db&'.repeat(11)}`, 'arg'],
    [`calls?text=${'x'.repeat(201)}`, 'text'],
    ['health?token=secret', 'token'],
    ['policies?limit=101', 'limit'],
    [`calls?${'text=a&'.repeat(129)}`, 'parameters'],
  ])('is refused and named: %.40s', async (path, name) => {
    const { client } = await filled();
    const { status, text } = await client.ask(`/api/v1/${path}`);
    expect(status).toBe(400);
    const body = JSON.parse(text) as { error: { code: string; message: string } };
    expect(check(API_ERROR, body)).toEqual([]);
    expect(body.error.code).toMatch(/^SUB_(API_REQUEST|LEDGER_QUERY)$/);
    expect(body.error.message).toContain(name);
    expect(body.error.message.length).toBeLessThan(400);
  });

  it('is shown in a harmless form', async () => {
    const { client } = await filled();
    const { text } = await client.ask(`/api/v1/runs?${encodeURIComponent(EVIL)}=1`);
    const { error } = JSON.parse(text) as { error: { message: string } };
    expect(error.message).toContain('\\u{202e}');
    expect(error.message).not.toMatch(/[\u0000-\u001f\u202e\u2028]/u);
  });
});

describe('hostile text', () => {
  it('is found by its path and comes back as it is, as data', async () => {
    const live = await liveLedger();
    const names = { run: EVIL, agent: EVIL, server: EVIL, tool: EVIL };
    await live.ingest(...new Shim('a', names).call(EVIL));
    const client = await live.open();
    const id = encodeURIComponent(EVIL);
    expect(await client.json(`/api/v1/runs/${id}`)).toMatchObject({ run_id: EVIL });
    expect(await client.json(`/api/v1/calls/${id}/${id}`)).toMatchObject({ tool_name: EVIL });
    expect(await client.json(`/api/v1/runs/${id}/summary`)).toMatchObject({ run_id: EVIL });
    const { text } = await client.ask(`/api/v1/runs/${id}/events`);
    expect(lines(text).map(({ event }) => event)).toMatchObject([
      { run_id: EVIL },
      { run_id: EVIL },
      { run_id: EVIL },
    ]);
    const exact = encodeURIComponent(exactName(EVIL));
    const query = `run_id=${id}&tool_name=${exact}&server_name=${exact}&agent_id=${id}`;
    expect(await ids(client, `/api/v1/calls?${query}`, 'call_id')).toEqual([EVIL]);
  });

  it('in a path that is no text is refused', async () => {
    const { client } = await filled();
    for (const path of [
      '/api/v1/runs/%ff',
      '/api/v1/runs/%',
      '/api/v1/runs/a%00b',
      '*',
      'http://x/',
    ]) {
      const { status, text } = await client.ask(path);
      expect([path, status]).toEqual([path, 400]);
      expect(text).toContain('SUB_API_REQUEST');
    }
  });
});

describe('the events of a run', () => {
  it('come in order, from a seq on, with types that are not known', async () => {
    const { live, client } = await filled();
    await live.ingest(new Shim('later').raw('{"type":"from_the_future","run_id":"run-0"}'));
    const all = lines((await client.ask('/api/v1/runs/run-0/events')).text);
    expect(all.map(({ event }) => event.type)).toEqual([
      'run_start',
      'tool_call_start',
      'tool_call_decision',
      'tool_call_end',
      'tool_call_start',
      'tool_call_decision',
      'tool_call_start',
      'tool_call_decision',
      'tool_call_end',
      'run_end',
      'from_the_future',
    ]);
    const [, , third] = all;
    const rest = await client.ask(`/api/v1/runs/run-0/events?after=${third?.seq}`);
    expect(lines(rest.text)).toEqual(all.slice(3));
    const none = await client.ask('/api/v1/runs/run-0/events?after=999999');
    expect([none.status, none.text]).toEqual([200, '']);
  });

  it('leave out pruned events', async () => {
    const { live, client } = await filled();
    await live.ledger.prune({ keepRuns: 3 });
    expect((await client.ask('/api/v1/runs/run-0')).status).toBe(404);
    const { status, text } = await client.ask('/api/v1/runs/run-0/events');
    expect(status).toBe(404);
    expect(text).toContain('pruned is gone');
    const { text: kept } = await client.ask('/api/v1/runs/run-1/events');
    expect(lines(kept)).toHaveLength(10);
  });

  it('come by the thousand', async () => {
    const live = await liveLedger();
    const shim = new Shim('a');
    const calls = Array.from({ length: 2_000 }, (_, n) => shim.call(`c${n}`));
    for (let n = 0; n < 2_000; n += 500) await live.ingest(...calls.slice(n, n + 500).flat());
    const client = await live.open();
    const all = lines((await client.ask('/api/v1/runs/run-1/events')).text);
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 6_000 }, (_, n) => n + 1));
    const limited = await live.open({ limits: { summaryEventsMax: 1_000 } });
    expect(await limited.json('/api/v1/runs/run-1/summary')).toMatchObject({ incomplete: true });
  });

  it('do not end as if they were whole when the ledger fails half-way', async () => {
    const live = await liveLedger();
    const shim = new Shim('a');
    for (let n = 0; n < 10; n++) await live.ingest(...heavyCalls(shim, 100));
    const client = await live.open();
    const { hostname: host, port } = new URL(client.api.url);
    const headers = { ...AUTH, host: client.host };
    const sent = get({ host, port, path: '/api/v1/runs/run-1/events', headers, agent: false });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await live.ledger.close();
    const ended = new Promise((resolve) => {
      response.on('end', () => resolve('end'));
      response.on('error', (cause: NodeJS.ErrnoException) => resolve(cause.code));
    });
    response.resume();
    expect([response.statusCode, await ended]).toEqual([200, 'ECONNRESET']);
    expect(live.warnings).toHaveLength(1);
  });
});
