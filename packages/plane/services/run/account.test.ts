import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShimSummary } from '@subluminal/contracts';
import { describe, expect, test } from 'vitest';
import { homePaths, loadConfig } from '../../stores/config/index.ts';
import { RunSummarizer } from '../../stores/ledger/export/index.ts';
import { Shim } from '../../stores/ledger/testing/events.ts';
import { accountOf, type GatheredRead, gatherEvents } from './account.ts';

const TWO: ShimSummary = {
  calls_total: 2,
  calls_allowed: 2,
  calls_blocked: 0,
  calls_throttled: 0,
  errors_total: 0,
};

const NONE: ShimSummary = { ...TWO, calls_total: 0, calls_allowed: 0 };

/** The events of calls that were allowed and went well. */
function read(
  kind: 'all' | 'on_disk',
  calls: number,
  errors = 0,
  unheard: ShimSummary = NONE,
): GatheredRead {
  const summarizer = new RunSummarizer();
  const shim = new Shim('one');
  for (let at = 0; at < calls; at++) {
    for (const { line } of shim.call(`call-${at}`)) summarizer.addLine(line);
  }
  const rest = { policies: [], unheard, torn: 0, loads: [], heldBack: 0 };
  return { kind, gathered: { summarizer, errors, ...rest } };
}

const all = { totals: TWO, unended: [] };

describe('the account of a run', () => {
  test('is that of its events when the hub says the same', () => {
    expect(accountOf(read('all', 2), all, false)).toMatchObject({
      kind: 'events',
      summary: { totals: TWO },
    });
  });

  test.each<[string, Partial<ShimSummary>]>([
    ['the events of 1 calls are missing', { calls_total: 3 }],
    ['calls_blocked: 0 instead of 1', { calls_allowed: 2, calls_blocked: 1 }],
    ['calls_throttled: 0 instead of 1', { calls_throttled: 1 }],
    ['calls_allowed: 2 instead of 1', { calls_allowed: 1, calls_blocked: 1 }],
    ['calls_total: 2 instead of 1', { calls_total: 1 }],
    ['errors_total: 0 instead of 1', { errors_total: 1 }],
    ['calls_spared: 0 instead of 1', { calls_spared: 1 }],
    ['answers_held_back: 0 instead of 1', { answers_held_back: 1 }],
  ])('is the one of the hub when the events say otherwise: %s', (reason, change) => {
    const totals = { ...TWO, ...change };
    const account = accountOf(read('all', 2), { totals, unended: [] }, false);
    expect(account).toMatchObject({ kind: 'counted', totals });
    expect(account).toHaveProperty('reason', expect.stringContaining(reason));
  });

  test('does not count a call that was given up as an error', () => {
    expect(accountOf(read('all', 2, 0), all, false).kind).toBe('events');
    expect(accountOf(read('all', 2, 1), all, false).kind).toBe('counted');
  });

  test('has the turns that came through the proxy, of which the hub has not heard', () => {
    const unheard = { ...NONE, calls_total: 1, calls_allowed: 1 };
    expect(accountOf(read('all', 3, 0, unheard), all, false)).toMatchObject({
      kind: 'events',
      summary: { totals: { calls_total: 3 } },
    });
    expect(accountOf(read('all', 2, 0, unheard), all, false)).toMatchObject({ kind: 'counted' });
  });

  test('is the most that is known when a shim has not reported its counts', () => {
    const totals = { ...TWO, calls_total: 1, calls_allowed: 1 };
    const account = accountOf(read('all', 2), { totals, unended: ['files'] }, false);
    expect(account).toMatchObject({ kind: 'at_least', totals: TWO });
    expect(account).toHaveProperty('reason', expect.stringContaining('server files'));
  });

  test.each<[number, readonly string[], boolean, string]>([
    [2, [], false, 'its events wait in the spool'],
    [1, [], false, 'the events of 1 calls were lost'],
    [2, [], true, 'events were lost'],
    [2, ['files'], false, 'events may be lost'],
  ])('without a ledger says where %i calls are, %j and %j', (calls, unended, isLossy, words) => {
    const account = accountOf(read('on_disk', calls), { totals: TWO, unended }, isLossy);
    expect(account).toHaveProperty(
      'reason',
      expect.stringMatching(`^no ledger answers, and .*${words}$`),
    );
  });

  test('is the one of the hub when there are no events', () => {
    const account = accountOf({ kind: 'none', reason: 'no events were kept' }, all, false);
    expect(account).toEqual({ kind: 'counted', totals: TWO, reason: 'no events were kept' });
  });

  test('is at least the one of the hub when there are no events and a shim told no counts', () => {
    const heard = { totals: TWO, unended: ['files'] };
    const account = accountOf({ kind: 'none', reason: 'no events were kept' }, heard, false);
    expect(account).toMatchObject({ kind: 'at_least', totals: TWO });
  });
});

test('the events of a run are not read from the spool while a ledger listens that is busy', async () => {
  const home = mkdtempSync(join(tmpdir(), 'sub-account-'));
  const env = { SUB_HOME: home };
  const paths = homePaths(env);
  const loaded = await loadConfig({ env, flags: {}, cwd: home });
  if (!loaded.ok) throw new Error('the configuration of an empty home can be loaded');
  mkdirSync(paths.run, { recursive: true });
  // It takes connections, and says nothing.
  const server = createServer((socket) => socket.resume()).listen(paths.socket);
  try {
    await once(server, 'listening');
    const { config } = loaded;
    const trace = { place: { kind: 'ledger' } } as const;
    const options = { config, env, paths, syncMs: 20 };
    const gathered = await gatherEvents('run-1', trace, options);
    expect(gathered).toMatchObject({ kind: 'none' });
    expect(gathered).toHaveProperty('reason', expect.stringContaining('in time'));
  } finally {
    server.close();
    rmSync(home, { recursive: true });
  }
});
