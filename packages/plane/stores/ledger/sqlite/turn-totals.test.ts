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
