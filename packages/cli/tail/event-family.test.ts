import { createTailRenderer } from './recorded.test-support.ts';
// One event type more, and one kind of call more, on their way from a line to a query and a line of
// `sub tail`: each needs its shape, its member and a line in the registries, nothing else.

import {
  EVENT,
  EVENT_BODIES,
  type EventType,
  eventShape,
  isFailure,
  parseEventLine,
} from '@subluminal/contracts';
import { EVENT_MEMBERS, exportRun, openLedger, openSqliteStore } from '@subluminal/plane/ledger';
import picocolors from 'picocolors';
import { expect, onTestFinished, test } from 'vitest';
import { open, required, string } from '../../contracts/shape/shape.ts';
import { openApi } from '../../plane/services/api/index.ts';
import { Shim, T0_MS } from '../../plane/stores/ledger/testing/events.ts';
import { memoryWitness } from '../../plane/stores/ledger/testing/memory-witness.ts';
import { LedgerHome, signer } from '../../plane/stores/ledger/testing/temp-ledger.ts';
import { CallFold } from './fold.ts';
import { jsonLine } from './screen.ts';

const TOKEN = 'a'.repeat(40);
const LINES = { colors: picocolors.createColors(false), width: 120, nowMs: T0_MS };
const TURN = { call_id: 't1', provider: 'anthropic', model: 'claude-opus' };

async function ledgerWith(lines: Parameters<Awaited<ReturnType<typeof openLedger>>['ingest']>[0]) {
  const store = await openSqliteStore({ file: new LedgerHome().file });
  const ledger = await openLedger({
    store,
    signer: signer(),
    witness: memoryWitness(),
    nowMs: () => T0_MS,
  });
  const taken = await ledger.ingest(lines);
  expect(taken).toMatchObject({ accepted: lines.length, rejected: 0 });
  return ledger;
}

async function storedEvents(ledger: Awaited<ReturnType<typeof ledgerWith>>) {
  const rows = await ledger.store.events({ afterSeq: 0, limit: 100 });
  return rows.flatMap(({ line }) => {
    const parsed = parseEventLine(line ?? '');
    return parsed.ok ? [parsed.event] : [];
  });
}

function turnLines(shim: Shim) {
  const preview = { truncated: false, args_preview: 'Hello' };
  const usage = { tokens_in: 11, tokens_out: 7, cost_micros: 420 };
  const decided = JSON.parse(shim.decision('x').line) as { decision: never };
  return [
    shim.line('turn_start', {
      call: { ...TURN, transport: 'messages_api', bytes_in: 5, seq: 1, preview },
    }),
    shim.line('turn_decision', { call: TURN, decision: decided.decision }),
    shim.line('turn_end', {
      call: TURN,
      status: 'OK',
      latency_ms: 1_200,
      bytes_out: 9,
      preview: { truncated: false, result_preview: 'Hi' },
      usage,
    }),
  ];
}

test('a turn is found by query, tail and API, beside the tool calls of its run', async () => {
  const shim = new Shim('a');
  const ledger = await ledgerWith([...turnLines(new Shim('proxy')), ...shim.call('c1')]);
  const turn = { kind: 'turn', provider: 'anthropic', model: 'claude-opus', tokens_in: 11 };
  const { store } = ledger;
  expect((await store.calls({ kind: 'turn' }, {})).rows).toMatchObject([turn]);
  expect(
    (await store.calls({ provider: 'anthropic', model: 'claude-opus' }, {})).rows,
  ).toHaveLength(1);
  expect((await store.calls({ model: 'other' }, {})).rows).toEqual([]);
  expect((await store.calls({ kind: 'tool_call' }, {})).rows).toMatchObject([{ tool_name: 'log' }]);
  expect((await store.calls({}, {})).rows).toHaveLength(2);
  expect((await store.stats({})).tools).toMatchObject([{ server_name: 'git', tool_name: 'log' }]);
  expect(await store.call('run-1', 't1')).toMatchObject({ ...turn, args_preview: 'Hello' });
  const exported = await exportRun(store, 'run-1');
  const { calls } = (await store.run('run-1')) ?? {};
  expect(exported?.summary.totals.calls_total).toBe(calls?.total);
  expect(exported?.summary.totals.calls_allowed).toBe(calls?.allowed);
  expect(exported?.summary.tools).toContainEqual(
    expect.objectContaining({ server_name: 'anthropic', tool_name: 'claude-opus', calls: 1 }),
  );

  const events = await storedEvents(ledger);
  const tail = createTailRenderer(LINES);
  const lines = events.flatMap((event) => tail.push(event));
  expect(lines.join('\n')).toMatch(
    /ALLOW +anthropic\/claude-opus +11 in, 7 out, \$0\.0004 +1\.2 s/,
  );
  const fold = new CallFold();
  const printed = events.flatMap((event) => fold.push(event)).map(jsonLine);
  expect(printed.map((line) => JSON.parse(line) as object)).toMatchObject([
    { kind: 'call', subject: 'turn', provider: 'anthropic' },
    { kind: 'call', subject: 'tool_call', server_name: 'git' },
  ]);

  const opened = await openApi({
    reader: store,
    take: async () => ({ accepted: 0, duplicates: 0, rejected: 0 }),
    feed: { subscribe: () => () => undefined, tip: () => ledger.lastSeq },
    token: TOKEN,
    user: 'ada',
    version: '0',
    nowMs: () => T0_MS,
  });
  if (isFailure(opened)) throw new Error(opened.message);
  const response = await fetch(`${opened.url}/api/v1/calls?provider=anthropic`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(await response.json()).toMatchObject({ rows: [{ ...turn, cost_micros: 420 }] });
  await opened.close();
  await ledger.close();
});

test('a made-up event type is parsed, projected, queried and shown', async () => {
  const body = { probe: required(open({ word: required(string(), 'A word.') }), 'A probe.') };
  // Other tests in this process must not see it.
  onTestFinished(() => {
    for (const registry of [EVENT_BODIES, EVENT.cases, EVENT_MEMBERS]) {
      Reflect.deleteProperty(registry, 'probe');
    }
  });
  Reflect.set(EVENT_BODIES, 'probe', body);
  Reflect.set(EVENT.cases, 'probe', eventShape('probe', body));
  Reflect.set(EVENT_MEMBERS, 'probe', {
    project: (_into: unknown, event: { probe: { word: string } }, { run }: { run: object }) =>
      Object.assign(run, { status: event.probe.word, summary_json: null, ended_at: null }),
    notice: ({ probe }: { probe: { word: string } }) => ({
      mark: '*',
      text: probe.word,
      isBad: false,
    }),
  });
  const line = new Shim('a').line('probe' as EventType, { probe: { word: 'PROBED' } } as never);
  const ledger = await ledgerWith([line]);
  expect((await ledger.store.runs({}, {})).rows).toMatchObject([{ status: 'PROBED' }]);
  const tail = createTailRenderer(LINES);
  const lines = (await storedEvents(ledger)).flatMap((event) => tail.push(event));
  expect(lines.join('\n')).toContain('* PROBED');
  await ledger.close();
});
