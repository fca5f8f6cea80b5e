import { join } from 'node:path';
import { type Decision, eventDecision } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { POLICY, Shim, T0_MS } from '../testing/events.ts';
import { DAY_MS, open } from '../testing/suite-tools.ts';
import { tempFolder } from '../testing/temp-ledger.ts';
import { openSqliteStore } from './sqlite-store.ts';

const ALLOWED: Decision = {
  action: 'ALLOW',
  rule_id: null,
  severity: 'info',
  reason_code: 'DEFAULT_ALLOW',
  summary: 'No rule decided.',
};

interface Turn {
  readonly id: string;
  readonly model: string;
  readonly decision?: Partial<Decision>;
  readonly usage?: {
    readonly tokens_in: number;
    readonly tokens_out: number;
    readonly cost_micros?: number;
  };
}

function turnLines(shim: Shim, { id, model, decision = {}, usage }: Turn) {
  const call = { call_id: id, provider: 'anthropic', model };
  const preview = { truncated: true };
  const start = { ...call, transport: 'messages_api', bytes_in: 1, preview, seq: 1 } as const;
  return [
    shim.line('turn_start', { call: start }),
    shim.line('turn_decision', {
      call,
      decision: eventDecision({ ...ALLOWED, ...decision }, POLICY),
    }),
    shim.line('turn_end', {
      call,
      status: decision.action === 'BLOCK' ? 'ERROR' : 'OK',
      latency_ms: 5,
      bytes_out: 1,
      preview,
      ...(usage !== undefined && { usage }),
    }),
  ];
}

test('turns are added up by model, agent and run, the dearest first', async () => {
  const ledger = await open(() => openSqliteStore({ file: join(tempFolder(), 'ledger.db') }));
  const first = new Shim('s1', { run: 'run-1', agent: 'fixer' });
  const second = new Shim('s2', { run: 'run-2', agent: 'writer' }, T0_MS + DAY_MS);
  await ledger.ingest([
    ...first.call('tool-call'),
    ...turnLines(first, {
      id: 'a',
      model: 'opus',
      usage: { tokens_in: 100, tokens_out: 10, cost_micros: 700 },
    }),
    ...turnLines(first, { id: 'b', model: 'opus', decision: { action: 'BLOCK', rule_id: 'r' } }),
    ...turnLines(second, {
      id: 'c',
      model: 'haiku',
      usage: { tokens_in: 50, tokens_out: 5, cost_micros: 20 },
    }),
    ...turnLines(second, { id: 'd', model: 'new', usage: { tokens_in: 7, tokens_out: 1 } }),
  ]);
  const { store } = ledger;
  const opus = { turns: 2, refused: 1, failed: 0, tokens_in: 100, tokens_out: 10 };
  expect(await store.turnTotals({ by: 'model' })).toEqual([
    { name: 'anthropic/opus', ...opus, cost_micros: 700, unpriced: 0 },
    expect.objectContaining({ name: 'anthropic/haiku', cost_micros: 20 }),
    expect.objectContaining({ name: 'anthropic/new', cost_micros: 0, unpriced: 1 }),
  ]);
  expect(await store.turnTotals({ by: 'agent' })).toEqual([
    { name: 'fixer', ...opus, cost_micros: 700, unpriced: 0 },
    expect.objectContaining({ name: 'writer', turns: 2, cost_micros: 20, unpriced: 1 }),
  ]);
  expect(await store.turnTotals({ by: 'run', fromMs: T0_MS + DAY_MS / 2 })).toEqual([
    expect.objectContaining({ name: 'run-2', turns: 2 }),
  ]);
  await ledger.close();
});

test('turns are added up by the principal and the repository of their run', async () => {
  const ledger = await open(() => openSqliteStore({ file: join(tempFolder(), 'ledger.db') }));
  const usage = { tokens_in: 100, tokens_out: 10, cost_micros: 700 };
  const known = new Shim('s1', { run: 'run-1', principal: 'ada', folder: '/src/payments' });
  const unknown = new Shim('s2', { run: 'run-2' });
  await ledger.ingest([
    known.runStart(),
    ...turnLines(known, { id: 'a', model: 'opus', usage }),
    ...turnLines(unknown, { id: 'b', model: 'opus' }),
  ]);
  const names = async (by: 'user' | 'repo') =>
    (await ledger.store.turnTotals({ by })).map(({ name, turns }) => [name, turns]);
  expect(await names('user')).toEqual([
    ['ada', 1],
    ['', 1],
  ]);
  expect(await names('repo')).toEqual([
    ['/src/payments', 1],
    ['', 1],
  ]);
  await ledger.close();
});

test('turns cost by name and by time, and what is not listed is one row', async () => {
  const ledger = await open(() => openSqliteStore({ file: join(tempFolder(), 'ledger.db') }));
  const usage = (cost_micros: number) => ({ tokens_in: 10, tokens_out: 1, cost_micros });
  const first = new Shim('s1', { run: 'run-1', principal: 'ada' });
  const second = new Shim('s2', { run: 'run-2' }, T0_MS + DAY_MS);
  await ledger.ingest([
    ...turnLines(first, { id: 'a', model: 'opus', usage: usage(700) }),
    ...turnLines(first, { id: 'b', model: 'haiku', usage: usage(5) }),
    ...turnLines(second, { id: 'c', model: 'opus', usage: usage(300) }),
    ...turnLines(second, { id: 'd', model: 'sonnet', usage: usage(20) }),
    ...turnLines(second, { id: 'e', model: 'opus', decision: { action: 'BLOCK', rule_id: 'r' } }),
  ]);
  const times = { fromMs: T0_MS, toMs: T0_MS + 2 * DAY_MS, bucketMs: DAY_MS };
  const { total, rows } = await ledger.store.turnCosts({ by: 'model', ...times, rowsMax: 1 });
  expect(total).toMatchObject({ turns: 5, refused: 1, tokens_in: 40, cost_micros: 1_025 });
  const named = (one: string | null, turns: number[], cost: number[]) => ({
    name: one,
    turns_by_time: turns,
    cost_micros_by_time: cost,
  });
  expect(rows).toMatchObject([
    { ...named('anthropic/opus', [1, 2], [700, 300]), turns: 3, refused: 1, cost_micros: 1_000 },
    { ...named(null, [1, 1], [5, 20]), turns: 2, refused: 0, tokens_out: 2, cost_micros: 25 },
  ]);
  const by = async (group: 'provider' | 'rule' | 'user') =>
    (await ledger.store.turnCosts({ by: group, ...times, rowsMax: 9 })).rows.map(
      ({ name, cost_micros }) => [name, cost_micros],
    );
  expect(await by('provider')).toEqual([['anthropic', 1_025]]);
  expect(await by('rule')).toEqual([
    ['', 1_025],
    ['r', 0],
  ]);
  expect(await by('user')).toEqual([
    ['ada', 705],
    ['', 320],
  ]);
  expect(await ledger.store.run('run-2')).toMatchObject({
    turns: 3,
    tokens_in: 20,
    tokens_out: 2,
    cost_micros: 320,
    hints: 0,
  });
  await ledger.close();
});
