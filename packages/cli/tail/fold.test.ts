import type { Event } from '@subluminal/contracts';
import { describe, expect, test } from 'vitest';
import { CallFold, type Folded, type FoldLimits } from './fold.ts';
import {
  blocked,
  decision,
  end,
  event,
  localTs,
  POLICY,
  runEnd,
  runStart,
  start,
} from './recorded.test-support.ts';

function told(events: readonly Event[], limits?: Partial<FoldLimits>): readonly Folded[] {
  const fold = new CallFold({ limits: limits ?? {} });
  return events.flatMap((one) => fold.push(one));
}

describe('a call', () => {
  test('a call is returned once, when it is decided and has ended', () => {
    const fold = new CallFold();
    expect(fold.push(start({}, { ts: localTs(1) }))).toEqual([]);
    expect(fold.push(decision({}, {}, { ts: localTs(2) }))).toEqual([]);
    expect(fold.push(end({}, {}, { ts: localTs(3) }))).toMatchObject([
      {
        kind: 'call',
        run_id: 'run-1',
        agent_id: 'ada',
        subject: { kind: 'tool_call', server_name: 'git', tool_name: 'push' },
        started_at: localTs(1),
        decided_at: localTs(2),
        ended_at: localTs(3),
        decision: 'ALLOW',
        status: 'OK',
        latency_ms: 12,
        error: null,
      },
    ]);
    expect(fold.rest()).toEqual([]);
  });

  test('a call is returned at once when it is refused, and its end adds nothing', () => {
    const fold = new CallFold();
    fold.push(start());
    expect(fold.push(blocked())).toMatchObject([
      { decision: 'BLOCK', rule_id: 'no-push', summary: 'Nobody pushes here.', ended_at: null },
    ]);
    const refused = { class: 'policy_block', message: 'no' };
    expect(fold.push(end({ status: 'ERROR', error: refused }))).toEqual([]);
    expect(fold.rest()).toEqual([]);
  });

  test('a call carries its hint once', () => {
    const hint = {
      hint_text: 'Open a pull request.',
      suggested_args: null,
      retry_advice: null,
      hint_kind: 'SAFETY',
    };
    const events = [
      start(),
      blocked({ action: 'REJECT_WITH_HINT', hint }),
      event('hint_issued', { call: { call_id: 'c1' }, hint }),
    ];
    expect(told(events)).toMatchObject([
      { decision: 'REJECT_WITH_HINT', hint: 'Open a pull request.' },
    ]);
  });

  test('a call whose start was not seen is returned at its end', () => {
    expect(told([end()])).toMatchObject([{ decision: null, started_at: null, status: 'OK' }]);
  });

  test('a call of another run is another call, whatever its id', () => {
    const other = { run_id: 'run-2' };
    const events = [start(), start({}, other), end({}, {}, other)];
    expect(told(events)).toMatchObject([{ run_id: 'run-2' }]);
    // `a` + `bc` and `ab` + `c` are different pairs.
    const fold = new CallFold();
    fold.push(start({ call_id: 'bc' }, { run_id: 'a' }));
    expect(fold.push(end({}, { call_id: 'c' }, { run_id: 'ab' }))).toMatchObject([
      { started_at: null },
    ]);
  });

  test('a call says why it failed, and what an enforcing policy would have done', () => {
    const would = { action: 'BLOCK', rule_id: 'w', reason_code: 'X', summary: 'No.' };
    const events = [
      decision({ would }),
      end({ status: 'TIMEOUT', error: { class: 'timeout', message: 'too slow' } }),
    ];
    expect(told(events)).toMatchObject([
      { status: 'TIMEOUT', error: 'too slow', would: { action: 'BLOCK', rule_id: 'w' } },
    ]);
  });
});

describe('what never ends', () => {
  test('a call is returned as it is when its shim ends, and the others go on', () => {
    const other = { source: { host_id: 'h', proc_id: 'p', shim_id: 'other' } };
    const fold = new CallFold();
    fold.push(start());
    fold.push(start({ call_id: 'c2' }, other));
    const lines = fold.push(runEnd());
    expect(lines).toMatchObject([{ kind: 'call', call_id: 'c1' }, { kind: 'notice' }]);
    expect(fold.rest()).toMatchObject([{ call_id: 'c2' }]);
  });

  test('the oldest call makes room for a new one', () => {
    const events = ['c1', 'c2', 'c3'].map((call_id) => start({ call_id }));
    expect(told(events, { pendingMax: 2 })).toMatchObject([{ call_id: 'c1', ended_at: null }]);
  });

  test('a refused call is forgotten when it ends', () => {
    const events = ['c1', 'c2'].map((call_id) => blocked({}, { call_id }));
    const late = end({}, { call_id: 'c1' });
    expect(told([...events, late], { toldMax: 1 })).toHaveLength(3);
    expect(told([...events, late], { toldMax: 2 })).toHaveLength(2);
  });

  test('a call takes little room, however long its names are', () => {
    const [call] = told([end({}, { tool_name: 'x'.repeat(60_000) })]);
    expect(call).toMatchObject({ subject: { tool_name: `${'x'.repeat(1_023)}…` } });
  });
});

test('notices are the beginnings and ends of runs, and what a person should know', () => {
  const breaker = {
    rule_id: 'loop',
    scope: 'run',
    cause: 'repeats',
    count: 3,
    window_ms: 1_000,
    action: 'BLOCK',
  };
  const secret = { inject_as: 'TOKEN', secret_ref: 'gh', source: 'env', success: true };
  const loaded = { policy: POLICY, mode: 'control' };
  const health = (status: string) => event('shim_health', { health: { status, uptime_ms: 1 } });
  const events = [
    runStart(),
    event('policy_loaded', loaded),
    event('policy_loaded', { ...loaded, reload: true }),
    event('breaker_trip', { breaker }),
    event('secret_injection', { secret }),
    health('ok'),
    health('degraded'),
    runEnd(),
  ];
  const types = told(events).map((one) => (one.kind === 'notice' ? one.event.type : one.kind));
  expect(types).toEqual([
    'run_start',
    'policy_loaded',
    'breaker_trip',
    'secret_injection',
    'shim_health',
    'run_end',
  ]);
});

test('the fold remembers the servers of a bounded number of shims', () => {
  const shim = (shim_id: string) => ({ source: { host_id: 'h', proc_id: 'p', shim_id } });
  const reloaded = (shim_id: string) =>
    event('policy_loaded', { policy: POLICY, mode: 'control', reload: true }, shim(shim_id));
  const secret = { inject_as: 'A', secret_ref: 'a', source: 'env', success: true };
  const events = [
    end({}, { server_name: 'git' }, shim('one')),
    event('secret_injection', { secret: { ...secret, server_name: 'files' } }, shim('two')),
    reloaded('one'),
    reloaded('two'),
  ];
  const names = (shimsMax: number) =>
    told(events, { shimsMax }).flatMap((one) =>
      one.kind === 'notice' && one.event.type === 'policy_loaded' ? [one.server_name] : [],
    );
  expect(names(2)).toEqual(['git', 'files']);
  expect(names(1)).toEqual([null, 'files']);
});
