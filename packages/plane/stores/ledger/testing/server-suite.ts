// What servers were asked and what was told of them, as tests.
import { expect, it } from 'vitest';
import { pendingChanges } from '../export/index.ts';
import type { Ledger } from '../write/ledger.ts';
import { Shim, T0_MS } from './events.ts';
import { expectProven, type OpenStore, open } from './suite-tools.ts';

const MINUTE_MS = 60_000;
const FAILED = { status: 'ERROR', error: { class: 'upstream_error', message: 'gone' } } as const;
const HELD = { status: 'ERROR', error: { class: 'policy_block', message: 'held' } } as const;

export function serverSuite(openStore: OpenStore): void {
  /** Ten minutes of one call each, with latencies of 10, 20, … ms; one more is refused, fails, is held back. */
  async function filled(): Promise<Ledger> {
    const ledger = await open(openStore);
    for (let n = 0; n < 10; n++) {
      const names = { run: `run-${n % 2}`, server: 'mail', tool: n < 5 ? 'send' : 'read' };
      const client = n % 2 === 0 ? 'claude' : 'codex';
      const shim = new Shim(`m${n}`, { ...names, client }, T0_MS + n * MINUTE_MS);
      await ledger.ingest([
        shim.runStart(),
        shim.start(`ok-${n}`, { risk_class: [`class-${n}`] }),
        shim.decision(`ok-${n}`),
        shim.end(`ok-${n}`, { latency_ms: 10 * (n + 1) }),
      ]);
    }
    const again = { run: 'run-1', server: 'mail', tool: 'send', client: 'codex' } as const;
    const last = new Shim('last', again, T0_MS + 1_000);
    const other = new Shim('other', { run: 'run-9', server: 'web', client: 'custom' });
    await ledger.ingest([
      last.start('refused'),
      last.decision('refused', { action: 'BLOCK', rule_id: 'no' }),
      last.end('refused', { status: 'ERROR', latency_ms: 0 }),
      last.start('failed'),
      last.decision('failed'),
      last.end('failed', { ...FAILED, latency_ms: 500 }),
      last.start('held'),
      last.decision('held'),
      last.end('held', { ...HELD, latency_ms: 1 }),
      other.runStart(),
      ...other.call('elsewhere'),
    ]);
    return ledger;
  }

  it('adds up the calls of each tool of a server, in a time or in all', async () => {
    const ledger = await filled();
    const [read, send, web] = await ledger.store.serverUse({});
    expect(read).toEqual({
      server_name: 'mail',
      tool_name: 'read',
      calls: 5,
      refused: 0,
      errors: 0,
      last_call_at_ms: T0_MS + 9 * MINUTE_MS + 1,
    });
    // What a gate held back is no error of the server.
    expect(send).toMatchObject({ tool_name: 'send', calls: 8, refused: 1, errors: 1 });
    expect(web).toMatchObject({ server_name: 'web', calls: 1 });
    const range = { fromMs: T0_MS + 4 * MINUTE_MS, toMs: T0_MS + 6 * MINUTE_MS };
    const some = await ledger.store.serverUse(range);
    expect(some.map(({ tool_name, calls }) => [tool_name, calls])).toEqual([
      ['read', 1],
      ['send', 1],
    ]);
    expect(await ledger.store.serverClients({})).toEqual(
      new Map([
        ['mail', ['claude', 'codex']],
        ['web', ['custom']],
      ]),
    );
    expect(await ledger.store.serverClients({ fromMs: T0_MS + 99 * MINUTE_MS })).toEqual(new Map());
    expect(await ledger.store.riskClasses('mail', 'read')).toEqual(['class-9']);
    expect(await ledger.store.riskClasses('mail', 'none')).toEqual([]);
    await expectProven(ledger.store);
    await ledger.close();
  });

  it('gives calls, failures and latencies of a server over time', async () => {
    const ledger = await filled();
    const query = { serverName: 'mail', fromMs: T0_MS, toMs: T0_MS + 10 * MINUTE_MS, buckets: 2 };
    expect(await ledger.store.serverSeries(query)).toEqual({
      from_ms: T0_MS,
      bucket_ms: 5 * MINUTE_MS,
      calls: [8, 5],
      refused: [1, 0],
      errors: [1, 0],
      // Of 1, 10, 20, 30, 40, 50 and 500; of 60 to 100.
      p50_ms: [30, 80],
      p95_ms: [500, 100],
    });
    const one = await ledger.store.serverSeries({ ...query, toolName: 'read', buckets: 3 });
    expect(one).toMatchObject({ calls: [0, 2, 3], p50_ms: [null, 60, 90] });
    const none = await ledger.store.serverSeries({ ...query, serverName: 'none' });
    expect(none).toMatchObject({ calls: [0, 0], p95_ms: [null, null] });
    await ledger.close();
  });

  it('finds what was told of servers, the newest first, and which changes nobody has accepted', async () => {
    const ledger = await open(openStore);
    const shim = new Shim('s', { server: 'mail' });
    const changed = (name: string, detail: string) =>
      shim.line('surface', {
        surface: {
          what: 'tool_changed',
          enforced: true,
          server_name: 'mail',
          name,
          reason_code: 'PIN_CHANGED',
          detail,
        },
      });
    const secret = { inject_as: 'T', secret_ref: 't', source: 'env', success: true } as const;
    await ledger.ingest([
      shim.runStart(),
      changed('send', 'first'),
      changed('send', 'second'),
      changed('read', 'accepted'),
      changed('gone', 'not pinned'),
      shim.line('secret_injection', { secret }),
    ]);
    const seen = await ledger.store.serverNotices({
      type: 'surface',
      words: ['"second"', '"first"'],
      fromMs: T0_MS,
      limit: 10,
    });
    expect(seen.map(({ seq }) => seq)).toEqual(
      seen.map(({ seq }) => seq).toSorted((a, b) => b - a),
    );
    expect(seen).toHaveLength(2);
    const secrets = { type: 'secret_injection', words: [], limit: 10 } as const;
    expect(await ledger.store.serverNotices({ ...secrets, fromMs: T0_MS })).toHaveLength(1);
    expect(await ledger.store.serverNotices({ ...secrets, fromMs: T0_MS + 99 })).toEqual([]);
    const pin = { hash: '', seenAtMs: 1 };
    const tools = new Map([
      ['send', { ...pin, acceptedAtMs: null }],
      ['read', { ...pin, acceptedAtMs: T0_MS + MINUTE_MS }],
    ]);
    const pins = { servers: new Map([['mail', { instructions: undefined, tools }]]) };
    const pending = await pendingChanges(ledger.store, pins, T0_MS + MINUTE_MS);
    expect(pending.map(({ change, detail }) => [change.tool_name, detail])).toEqual([
      ['send', 'second'],
    ]);
    await ledger.close();
  });
}
