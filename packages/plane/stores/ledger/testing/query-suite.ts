// Finding runs and calls again, as tests.
import { expect, it } from 'vitest';
import { exportRun } from '../export/index.ts';
import type { StoreReader } from '../sqlite/sqlite-store.ts';
import type { CallFilter } from '../store/query.ts';
import type { Ledger } from '../write/ledger.ts';
import { POLICY, POLICY_DOCUMENT, Shim, T0_MS } from './events.ts';
import { HINT } from './random-events.ts';
import { DAY_MS, expectProven, ids, type OpenStore, open } from './suite-tools.ts';

const POLICY_COLUMNS = {
  policy_id: POLICY.policy_id,
  policy_version: POLICY.policy_version,
  policy_hash: POLICY.policy_hash,
};

export function querySuite(openStore: OpenStore): void {
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

  it('lists the runs that were decided by less than they should be, with the last reason', async () => {
    const ledger = await open(openStore);
    const [fine, silent] = ['fine', 'silent'].map((run) => new Shim(`of ${run}`, { run }));
    if (fine === undefined || silent === undefined) throw new Error('no shims');
    const degraded = (reason: string) =>
      silent.line('shim_health', { health: { status: 'degraded', reason, uptime_ms: 1 } });
    const ok = { health: { status: 'ok', uptime_ms: 1 } } as const;
    await ledger.ingest([fine.runStart(), fine.line('shim_health', ok)]);
    await ledger.ingest([silent.runStart(), degraded('a host was lost')]);
    await ledger.ingest([degraded('1 use reached no hook'), silent.line('shim_health', ok)]);
    const reasons = async (filter: Parameters<StoreReader['runs']>[0]) =>
      (await ledger.store.runs(filter, {})).rows.map(({ run_id, degraded_reason }) => [
        run_id,
        degraded_reason,
      ]);
    const marked = ['silent', '1 use reached no hook'];
    expect(await reasons({ isDegraded: true })).toEqual([marked]);
    expect(await reasons({})).toEqual([marked, ['fine', null]]);
    await ledger.close();
  });

  it('counts an answer that a gate held back as no error of the server', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('s');
    const held = { class: 'policy_block', message: 'A secret was found.' } as const;
    const broken = { class: 'upstream_error', message: 'Broken pipe' } as const;
    await ledger.ingest([
      ...shim.call('ok'),
      ...[shim.start('held'), shim.decision('held')],
      shim.end('held', { status: 'ERROR', error: held }),
      ...[shim.start('bad'), shim.decision('bad')],
      shim.end('bad', { status: 'ERROR', error: broken }),
      ...[shim.start('late'), shim.decision('late'), shim.end('late', { status: 'TIMEOUT' })],
    ]);
    const counts = { total: 4, allowed: 4, blocked: 0, undecided: 0, errors: 2 };
    expect((await ledger.store.run('run-1'))?.calls).toMatchObject(counts);
    expect((await ledger.store.stats({})).calls).toMatchObject(counts);
    await ledger.close();
  });

  it('says that a preview was cut only where one was', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('s');
    // As a shim writes the end of a call that it refused.
    const refusal = {
      status: 'ERROR',
      preview: { truncated: true },
      error: { class: 'policy_block', message: 'No.' },
    } as const;
    const cut = { truncated: true, args_preview: '{"of"' };
    await ledger.ingest([
      ...[shim.start('no'), shim.decision('no', { action: 'BLOCK' }), shim.end('no', refusal)],
      ...[shim.start('cut', { preview: cut }), shim.decision('cut', { action: 'BLOCK' })],
      shim.end('cut', refusal),
      ...[shim.start('long'), shim.decision('long')],
      shim.end('long', { preview: { truncated: true, result_preview: 'resul' } }),
      ...shim.call('ok'),
    ]);
    const { rows } = await ledger.store.calls({}, {});
    const truncated = rows.filter(({ preview_truncated }) => preview_truncated);
    expect(truncated.map(({ call_id }) => call_id)).toEqual(['long', 'cut']);
    expect(await ledger.store.call('run-1', 'no')).toMatchObject({
      preview_truncated: false,
      redaction_flags: 0,
    });
    await ledger.close();
  });

  it('gives what was found in the content of a call', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('a');
    const found = { action: 'redact', findings: ['secret:aws-access-key'] } as const;
    const answered = { action: 'tag', findings: ['injection:override'] } as const;
    await ledger.ingest([
      ...[shim.start('c'), shim.decision('c', {}, { content: found })],
      shim.end('c', { call: { ...shim.ref('c'), content: answered } }),
      ...shim.call('d'),
      shim.line('surface', {
        surface: {
          what: 'tool_hidden',
          enforced: true,
          server_name: 'git',
          reason_code: 'TOOL_FORBIDDEN',
          detail: 'The manifest forbids it.',
        },
      }),
    ]);
    const { rows } = await ledger.store.calls({}, {});
    const byId = new Map(rows.map((row) => [row.call_id, row]));
    expect(byId.get('c')).toMatchObject({ args_content: found, result_content: answered });
    expect(byId.get('d')).not.toHaveProperty('args_content');
    expect(byId.get('d')).not.toHaveProperty('result_content');
    const lines = await ledger.store.events({ afterSeq: 0, limit: 9 });
    expect(lines.at(-1)?.type).toBe('surface');
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
