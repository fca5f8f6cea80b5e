// What every engine must do, as tests. Each engine calls it with a way to get an empty store.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportRun } from '../export/index.ts';
import { type Ledger, type LedgerOptions, openLedger } from '../ledger.ts';
import type { CallFilter, CallRow } from '../query.ts';
import type { IncomingLine } from '../read-line.ts';
import type { Store, StoreReader, TableRow } from '../store.ts';
import { TABLES } from '../tables.ts';
import { verifyLedger } from '../verify/verify.ts';
import { POLICY, POLICY_DOCUMENT, Shim, T0_MS } from './events.ts';
import { memoryWitness } from './memory-witness.ts';
import { anyHistory, HINT } from './random-events.ts';
import { signer, verifier } from './temp-ledger.ts';

type OpenStore = () => Promise<Store>;

const DAY_MS = 86_400_000;

function storeSuite(name: string, openStore: OpenStore): void {
  describe(`the ${name} store`, () => {
    ingestSuite(openStore);
    querySuite(openStore);
    pruneSuite(openStore);
    historySuite(openStore);
  });
}

async function open(openStore: OpenStore, options: Partial<LedgerOptions> = {}): Promise<Ledger> {
  const fixed = { signer: signer(), witness: memoryWitness(), nowMs: () => T0_MS };
  return openLedger({ store: await openStore(), ...fixed, ...options });
}

async function tables(store: StoreReader): Promise<{ [name: string]: readonly TableRow[] }> {
  const rows = TABLES.map(async ({ name }) => [
    name,
    await store.rows({ table: name, limit: 1_000 }),
  ]);
  return Object.fromEntries(await Promise.all(rows)) as { [name: string]: readonly TableRow[] };
}

async function expectProven(store: StoreReader): Promise<void> {
  const report = await verifyLedger(store, { verifier: verifier(), deep: true });
  expect(report.findings.filter(({ level }) => level === 'error')).toEqual([]);
}

function ids(page: { readonly rows: readonly CallRow[] }): readonly string[] {
  return page.rows.map(({ call_id }) => call_id);
}

function ingestSuite(openStore: OpenStore): void {
  it('takes 10,000 events of many producers in without losing one', async () => {
    const ledger = await open(openStore);
    const shims = Array.from({ length: 10 }, (_, n) => new Shim(`s${n}`, { run: `run-${n % 4}` }));
    const lines = Array.from(
      { length: 3_334 },
      (_, n) => shims[n % 10]?.call(`c${n}`) ?? [],
    ).flat();
    const batches = Array.from({ length: 21 }, (_, n) => lines.slice(n * 500, (n + 1) * 500));
    // All at once: the ledger puts them in a row.
    const results = await Promise.all(batches.map((batch) => ledger.ingest(batch)));
    expect(results.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(10_002);
    expect(await ledger.store.counts()).toEqual({
      runs: 4,
      runEvents: 10_002,
      calls: 3_334,
      callEvents: 10_002,
    });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('stores what is sent twice once', async () => {
    const ledger = await open(openStore);
    const lines = new Shim('a').call('c');
    const first = lines.slice(0, 2);
    expect(await ledger.ingest([...first, ...first])).toEqual({
      accepted: 2,
      duplicates: 2,
      rejected: 0,
    });
    expect(await ledger.ingest(lines)).toEqual({ accepted: 1, duplicates: 2, rejected: 0 });
    expect(await ledger.ingest(lines)).toEqual({ accepted: 0, duplicates: 3, rejected: 0 });
    // The same numbers of another producer are other lines.
    expect(await ledger.ingest(new Shim('b').call('c'))).toMatchObject({ accepted: 3 });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('sets aside what it cannot read, with the reason, and keeps the rest', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('a');
    const wrong = [
      '',
      'text',
      '[]',
      '{}',
      '{"type":7}',
      '{"type":"run_start"}',
      '\ud800',
      '"'.repeat(10_000),
    ];
    const lines = [...wrong.map((line) => shim.raw(line)), shim.start('c')];
    expect(await ledger.ingest(lines)).toEqual({ accepted: 1, duplicates: 0, rejected: 8 });
    const rejects = await ledger.store.rejects(100);
    expect(rejects).toHaveLength(8);
    expect(rejects.every(({ line }) => line.length <= 2_048)).toBe(true);
    expect(rejects.at(-1)).toMatchObject({
      producer: 'a',
      producerSeq: 0,
      line: '',
      createdAtMs: T0_MS,
    });
    expect(rejects.at(-6)?.reason).toMatch(/^SUB_EVENT_MALFORMED: /);
    // The same again is not set aside again.
    await ledger.ingest(lines);
    expect(await ledger.store.rejects(100)).toHaveLength(8);
    await ledger.close();
  });

  it('takes nothing under its own name, and no line without a proper number', async () => {
    const ledger = await open(openStore);
    const [line = ''] = new Shim('a').call('c').map((one) => one.line);
    const lines: readonly IncomingLine[] = [
      { producer: 'subluminal.ledger', seq: 1, line },
      { producer: '', seq: 1, line },
      { producer: 'p'.repeat(257), seq: 1, line },
      { producer: 'a\ud800', seq: 1, line },
      { producer: 'a', seq: -1, line },
      { producer: 'a', seq: 0.5, line },
      { producer: 'a', seq: Number.NaN, line },
      { producer: 'a', seq: 2 ** 53, line },
    ];
    expect(await ledger.ingest(lines)).toEqual({ accepted: 0, duplicates: 0, rejected: 8 });
    expect((await ledger.store.tip()).seq).toBe(0);
    await ledger.close();
  });

  it('keeps events of types that it does not know, and makes no rows of them', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('a');
    const line =
      '{"type":"from_the_future","run_id":"r","ts":"2026-01-31T12:00:00Z","more":{"a":[1]}}';
    expect(await ledger.ingest([shim.raw(line)])).toMatchObject({ accepted: 1 });
    const [stored] = await ledger.store.events({ afterSeq: 0, limit: 10 });
    expect(stored).toMatchObject({ line, type: 'from_the_future', runId: 'r', tsMs: T0_MS });
    expect(await ledger.store.run('r')).toBeUndefined();
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('makes the same rows in whatever order and batches the events of a call arrive', async () => {
    const shim = new Shim('a');
    const [start, decision, end] = [shim.start('c'), shim.decision('c'), shim.end('c')];
    const orders = [
      [[start, decision, end]],
      [[start], [decision], [end]],
      [[end], [start], [decision]],
      [[decision, end], [start]],
      [[end, decision, start]],
    ];
    for (const batches of orders) {
      const ledger = await open(openStore);
      for (const batch of batches) await ledger.ingest(batch);
      expect(await ledger.store.call('run-1', 'c')).toMatchObject({
        decision: 'ALLOW',
        status: 'OK',
        latency_ms: 12,
        bytes_in: 100,
        bytes_out: 34,
        args_preview: '{"of":"c"}',
        result_preview: 'result of c',
        created_at_ms: T0_MS,
      });
      await ledger.close();
    }
  });

  it('lets a later decision replace an earlier one as a whole', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('a');
    await ledger.ingest([shim.start('c'), shim.decision('c', { action: 'BLOCK', rule_id: 'r' })]);
    await ledger.ingest([shim.decision('c')]);
    expect(await ledger.store.call('run-1', 'c')).toMatchObject({
      decision: 'ALLOW',
      rule_id: null,
    });
    await ledger.close();
  });

  it('keeps texts with whatever characters they have', async () => {
    const ledger = await open(openStore);
    const id = 'b\'";--\u2028\ud83d\ude00%_\\\\u0000\\';
    const shim = new Shim('a', { run: id, tool: id });
    const lone = shim.start('\ud800').line.replace(String.raw`\ud800`, '\ud800');
    await ledger.ingest([...shim.call(id), shim.start('\udfff'), shim.raw(lone)]);
    expect(await ledger.store.call(id, id)).toMatchObject({
      run_id: id,
      call_id: id,
      tool_name: id,
    });
    expect(ids(await ledger.store.calls({ runId: id, toolName: id }, {}))).toContain(id);
    // A NUL fits into no column; the line keeps it.
    await ledger.ingest(new Shim('b', { run: 'x\0y' }).call('z\0\\\0'));
    expect(ids(await ledger.store.calls({ runId: 'x\ufffdy' }, {}))).toEqual(['z\ufffd\\\ufffd']);
    const [stored] = await ledger.store.events({ afterSeq: 0, limit: 1, runId: 'x\ufffdy' });
    expect(stored?.line).toContain(String.raw`"run_id":"x\u0000y"`);
    await expectProven(ledger.store);
    expect(await ledger.prune({ keepRuns: 0 })).toEqual({ runs: 2, events: 8 });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('fails as a whole or not at all', async () => {
    const ledger = await open(openStore);
    await ledger.ingest(new Shim('a').call('c'));
    const before = await tables(ledger.store);
    const failing = ledger.store.transaction(async (transaction) => {
      await transaction.clearProjections();
      throw new Error('in between');
    });
    await expect(failing).rejects.toThrow('in between');
    expect(await tables(ledger.store)).toEqual(before);
    await ledger.ingest(new Shim('b').call('d'));
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('notices that something else has written to the store', async () => {
    const ledger = await open(openStore);
    await ledger.ingest(new Shim('a').call('c'));
    const [row] = await ledger.store.events({ afterSeq: 2, limit: 1 });
    await ledger.store.transaction(async (transaction) => {
      if (row !== undefined) await transaction.addEvents([{ ...row, seq: 4, producerSeq: 99 }]);
    });
    await expect(ledger.ingest(new Shim('b').call('d'))).rejects.toMatchObject({
      code: 'SUB_LEDGER_TAMPERED',
    });
    await ledger.store.close();
  });
}

function querySuite(openStore: OpenStore): void {
  /** Four runs a day apart; in each a call that went well, one refused and one that failed. */
  async function filled(): Promise<Ledger> {
    const ledger = await open(openStore);
    for (let n = 0; n < 4; n++) {
      const names = { run: `run-${n}`, agent: `agent-${n % 2}`, server: `server-${n % 2}` };
      const shim = new Shim(
        `s${n}`,
        { ...names, tool: `tool-${n}`, args: `${n}` },
        T0_MS + n * DAY_MS,
      );
      const refused = {
        action: 'BLOCK',
        rule_id: `rule-${n % 2}`,
        summary: `50%_off \\${n}`,
      } as const;
      const error = { class: 'upstream_error', message: 'Broken Pipe' } as const;
      await ledger.ingest([
        shim.runStart(),
        ...shim.call(`ok-${n}`),
        shim.start(`no-${n}`),
        shim.decision(`no-${n}`, refused),
        shim.start(`bad-${n}`),
        shim.decision(`bad-${n}`),
        shim.end(`bad-${n}`, { status: 'ERROR', error }),
        ...(n === 3 ? [] : [shim.runEnd(3)]),
      ]);
    }
    return ledger;
  }

  it('finds calls by every filter, newest first', async () => {
    const ledger = await filled();
    const argsHash = new Shim('x', { args: '2' }).ref('').args_hash;
    const cases: readonly [CallFilter, readonly string[]][] = [
      [{ runId: 'run-1' }, ['bad-1', 'no-1', 'ok-1']],
      [{ agentId: 'agent-1', status: 'OK' }, ['ok-3', 'ok-1']],
      [{ serverName: 'server-0', decision: 'REFUSED' }, ['no-2', 'no-0']],
      [{ serverName: 'server-1' }, ['bad-3', 'no-3', 'ok-3', 'bad-1', 'no-1', 'ok-1']],
      [{ serverName: 'server-2' }, []],
      [{ toolName: 'tool-2' }, ['bad-2', 'no-2', 'ok-2']],
      [{ serverName: 'server-0', toolName: 'tool-2' }, ['bad-2', 'no-2', 'ok-2']],
      [{ serverName: 'server-1', toolName: 'tool-2' }, []],
      [{ decision: 'BLOCK' }, ['no-3', 'no-2', 'no-1', 'no-0']],
      [{ decision: 'THROTTLE' }, []],
      [{ decision: 'ALLOW', runId: 'run-0' }, ['bad-0', 'ok-0']],
      [{ decision: 'ALLOW', status: 'ERROR' }, ['bad-3', 'bad-2', 'bad-1', 'bad-0']],
      [{ status: 'ERROR', toolName: 'tool-1' }, ['bad-1']],
      [{ status: 'FAILED' }, ['bad-3', 'bad-2', 'bad-1', 'bad-0']],
      [{ status: 'PENDING' }, ['no-3', 'no-2', 'no-1', 'no-0']],
      [{ status: 'OK' }, ['ok-3', 'ok-2', 'ok-1', 'ok-0']],
      [{ ruleId: 'rule-1' }, ['no-3', 'no-1']],
      [{ argsHash }, ['bad-2', 'no-2', 'ok-2']],
      [{ fromMs: T0_MS + DAY_MS, toMs: T0_MS + 2 * DAY_MS }, ['bad-1', 'no-1', 'ok-1']],
      [{ text: '50%_off', runId: 'run-2' }, ['no-2']],
      [{ text: '50%%' }, []],
      [{ text: '\\3' }, ['no-3']],
      [{ text: 'broken pipe', agentId: 'agent-0' }, ['bad-2', 'bad-0']],
      [{ text: 'RESULT OF ok-1' }, ['ok-1']],
      [{ text: '"of":"no-2"' }, ['no-2']],
      [{ text: "' OR 1=1 --" }, []],
    ];
    for (const [filter, expected] of cases) {
      expect(ids(await ledger.store.calls(filter, {})), JSON.stringify(filter)).toEqual(expected);
    }
    await ledger.close();
  });

  it('gives every call once, page after page, also while others are added', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('a');
    // Many calls of the same millisecond: the time alone does not order them.
    const lines = Array.from({ length: 25 }, (_, n) => new Shim(`s${n}`).call(`c${n}`)).flat();
    await ledger.ingest(lines);
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 20; pages++) {
      const page = await ledger.store.calls(
        {},
        cursor === undefined ? { limit: 4 } : { limit: 4, cursor },
      );
      seen.push(...ids(page));
      await ledger.ingest([shim.start(`late-${pages}`)]);
      if (page.next === null) break;
      cursor = page.next;
    }
    expect(seen.filter((id) => id.startsWith('c'))).toHaveLength(25);
    expect(new Set(seen).size).toBe(seen.length);
    await ledger.close();
  });

  it.each([
    [{}, { limit: 0 }],
    [{}, { limit: 1_001 }],
    [{}, { limit: 1.5 }],
    [{}, { cursor: 'x' }],
    [{}, { cursor: Buffer.from('["a",1]').toString('base64url') }],
    [{ text: '' }, {}],
    [{ text: 'x'.repeat(201) }, {}],
  ])('refuses a malformed question: %j %j', async (filter, page) => {
    const store = await openStore();
    await expect(store.calls(filter, page)).rejects.toMatchObject({ code: 'SUB_LEDGER_QUERY' });
    await store.close();
  });

  it('lists runs with what they did', async () => {
    const ledger = await filled();
    const { rows, next } = await ledger.store.runs({}, { limit: 3 });
    expect(rows.map(({ run_id }) => run_id)).toEqual(['run-3', 'run-2', 'run-1']);
    expect(rows[1]).toMatchObject({
      agent_id: 'agent-0',
      status: 'SUCCEEDED',
      mode: 'guardrails',
      started_at_ms: T0_MS + 2 * DAY_MS,
      metadata_json: '{"meta":{"issue":7}}',
      ...POLICY_COLUMNS,
      calls: { total: 3, allowed: 2, blocked: 1, throttled: 0, undecided: 0, errors: 1 },
    });
    const rest = await ledger.store.runs({}, { limit: 3, cursor: next ?? '' });
    expect(rest.rows.map(({ run_id }) => run_id)).toEqual(['run-0']);
    const names = async (filter: Parameters<StoreReader['runs']>[0]) =>
      (await ledger.store.runs(filter, {})).rows.map(({ run_id }) => run_id);
    expect(await names({ agentId: 'agent-1' })).toEqual(['run-3', 'run-1']);
    expect(await names({ status: 'RUNNING' })).toEqual(['run-3']);
    expect(await names({ status: 'FAILED' })).toEqual([]);
    expect(await names({ fromMs: T0_MS + DAY_MS, toMs: T0_MS + 2 * DAY_MS })).toEqual(['run-1']);
    await ledger.close();
  });

  it('shows one call with its previews and its hint', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('a');
    const hinted = { action: 'REJECT_WITH_HINT', rule_id: 'r', hint: HINT } as const;
    const parts = {
      preview: { truncated: true, previews_dropped: true },
      risk_class: ['write_like'],
    };
    await ledger.ingest([shim.start('c', parts), shim.decision('c', hinted)]);
    expect(await ledger.store.call('run-1', 'c')).toMatchObject({
      preview_truncated: true,
      risk_class: ['write_like'],
      args_preview: null,
      redaction_flags: 5,
      hint: {
        hint_text: 'Ask for less.',
        suggested_args_json: '{"limit":1}',
        hint_kind: 'ARG_FIX',
      },
    });
    expect(await ledger.store.call('run-1', 'd')).toBeUndefined();
    await ledger.close();
  });

  it('counts', async () => {
    const ledger = await filled();
    expect(await ledger.store.stats({})).toMatchObject({
      calls: { total: 12, allowed: 8, blocked: 4, throttled: 0, undecided: 0, errors: 4 },
      runs: 4,
      decisions: [
        { decision: 'ALLOW', count: 8 },
        { decision: 'BLOCK', count: 4 },
      ],
      rules: [
        { rule_id: 'rule-0', count: 2 },
        { rule_id: 'rule-1', count: 2 },
      ],
    });
    const day = await ledger.store.stats({ fromMs: T0_MS, toMs: T0_MS + DAY_MS });
    expect(day).toMatchObject({ calls: { total: 3 }, runs: 1 });
    expect(day.tools).toEqual([{ server_name: 'server-0', tool_name: 'tool-0', count: 3 }]);
    await ledger.close();
  });

  it('keeps the policies that runs had, with their rules once they are known', async () => {
    const ledger = await filled();
    const { policy_id, policy_version: version, policy_hash: rules_hash } = POLICY;
    const known = { policy_id, version, rules_hash, mode: 'guardrails' };
    expect(await ledger.store.policies(10)).toMatchObject([{ ...known, rules_json: null }]);
    const shim = new Shim('policy');
    const told = { policy: POLICY, mode: 'guardrails' } as const;
    // Not what the hash names: the rules could be anybody's.
    const forged = { ...POLICY_DOCUMENT, mode: 'observe' };
    await ledger.ingest([shim.line('policy_loaded', { ...told, document: forged })]);
    expect(await ledger.store.policies(10)).toMatchObject([{ ...known, rules_json: null }]);
    const reordered = Object.fromEntries(Object.entries(POLICY_DOCUMENT).toReversed());
    await ledger.ingest([shim.line('policy_loaded', { ...told, document: reordered })]);
    const rules_json = '{"mode":"guardrails","policy_id":"team","rules":[]}';
    expect(await ledger.store.policies(10)).toMatchObject([{ ...known, rules_json }]);
    await expectProven(ledger.store);
    // They stay when what told of them is pruned.
    await ledger.prune({ keepRuns: 0 });
    expect(await ledger.store.policies(10)).toMatchObject([{ ...known, rules_json }]);
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('exports a run as it was recorded', async () => {
    const ledger = await filled();
    const run = await exportRun(ledger.store, 'run-1');
    const lines: string[] = [];
    for await (const line of run?.lines() ?? []) lines.push(line);
    expect(lines).toHaveLength(10);
    expect(lines[0]).toContain('"type":"run_start"');
    expect(run?.summary.totals).toMatchObject({
      calls_total: 3,
      calls_blocked: 1,
      errors_total: 1,
    });
    expect(await exportRun(ledger.store, 'run-9')).toBeUndefined();
    await ledger.close();
  });
}

const POLICY_COLUMNS = {
  policy_id: POLICY.policy_id,
  policy_version: POLICY.policy_version,
  policy_hash: POLICY.policy_hash,
};

function pruneSuite(openStore: OpenStore): void {
  async function filled(): Promise<Ledger> {
    const ledger = await open(openStore);
    for (let n = 0; n < 4; n++) {
      const shim = new Shim(`s${n}`, { run: `run-${n}` }, T0_MS + n * DAY_MS);
      await ledger.ingest([shim.runStart(), ...shim.call(`c${n}`), shim.runEnd(1)]);
    }
    return ledger;
  }

  it('removes old runs, and everything left can still be proven', async () => {
    const ledger = await filled();
    expect(await ledger.prune({ olderThanMs: T0_MS + 2 * DAY_MS })).toEqual({
      runs: 2,
      events: 10,
    });
    expect(ids(await ledger.store.calls({}, {}))).toEqual(['c3', 'c2']);
    const events = await ledger.store.events({ afterSeq: 0, limit: 10 });
    expect(
      events.every(({ line, runId, type }) => line === null && runId === null && type === null),
    ).toBe(true);
    await expectProven(ledger.store);
    // What was pruned is not taken in again.
    const again = new Shim('s0', { run: 'run-0' }, T0_MS);
    expect(await ledger.ingest([again.runStart()])).toMatchObject({ accepted: 0, duplicates: 1 });
    await ledger.close();
  });

  it('keeps the newest runs, and runs again without doing anything', async () => {
    const ledger = await filled();
    expect(await ledger.prune({ keepRuns: 1 })).toEqual({ runs: 3, events: 15 });
    const { seq } = await ledger.store.tip();
    expect(await ledger.prune({ keepRuns: 1 })).toEqual({ runs: 0, events: 0 });
    expect((await ledger.store.tip()).seq).toBe(seq);
    expect(await ledger.prune({})).toEqual({ runs: 0, events: 0 });
    expect(await ledger.prune({ keepRuns: 0, olderThanMs: T0_MS })).toEqual({ runs: 0, events: 0 });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('removes previews alone, and the rest of the calls stays', async () => {
    const ledger = await filled();
    const request = { olderThanMs: T0_MS + 2 * DAY_MS, what: 'previews' } as const;
    expect(await ledger.prune(request)).toEqual({ runs: 2, events: 4 });
    expect(await ledger.store.call('run-1', 'c1')).toMatchObject({
      decision: 'ALLOW',
      status: 'OK',
      args_preview: null,
      result_preview: null,
      redaction_flags: 48,
    });
    expect(await ledger.store.call('run-2', 'c2')).toMatchObject({ args_preview: '{"of":"c2"}' });
    expect(await ledger.prune(request)).toEqual({ runs: 0, events: 0 });
    await expectProven(ledger.store);
    // What has lost its previews can lose the rest.
    expect(await ledger.prune({ keepRuns: 0 })).toEqual({ runs: 4, events: 20 });
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('keeps the policies that only pruned runs told of', async () => {
    const ledger = await filled();
    await ledger.prune({ keepRuns: 0 });
    expect(await ledger.store.policies(10)).toMatchObject([{ created_at_ms: T0_MS }]);
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('removes old events that belong to no run', async () => {
    const ledger = await filled();
    const shim = new Shim('x');
    const line = (ts: string) => shim.raw(`{"type":"other","ts":"${ts}"}`);
    await ledger.ingest([
      line('2020-01-01T00:00:00Z'),
      line('2026-02-28T00:00:00Z'),
      line('never'),
    ]);
    expect(await ledger.prune({ olderThanMs: T0_MS })).toEqual({ runs: 0, events: 2 });
    await expectProven(ledger.store);
    await ledger.close();
  });
}

function historySuite(openStore: OpenStore): void {
  it('rebuilds the same rows from the events of any history, however it was batched', async () => {
    const property = fc.asyncProperty(
      anyHistory(),
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(undefined, 'all' as const, 'previews' as const),
      async (lines, size, what) => {
        const [ledger, single] = [await open(openStore), await open(openStore)];
        for (let at = 0; at < lines.length; at += size) {
          await ledger.ingest(lines.slice(at, at + size));
        }
        for (const line of lines) await single.ingest([line]);
        expect(await tables(ledger.store)).toEqual(await tables(single.store));
        if (what !== undefined) await ledger.prune({ olderThanMs: T0_MS + DAY_MS, what });
        const before = await tables(ledger.store);
        await expectProven(ledger.store);
        await ledger.rebuild();
        expect(await tables(ledger.store)).toEqual(before);
        await Promise.all([ledger.close(), single.close()]);
      },
    );
    await fc.assert(property, { numRuns: 25 });
  });
}

export { storeSuite };
