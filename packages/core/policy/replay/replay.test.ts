import type { Decision, Event, EventOf } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { compileBundle, type Snapshot } from '../compile/snapshot.ts';
import {
  decision,
  EMPTY_HASH,
  end,
  type Parts,
  sha256,
  start,
  WORDS,
  withArgs,
} from '../testing/recording.ts';
import {
  allow,
  breaker,
  budget,
  bundleOf,
  deny,
  rateLimit,
  snapshotOf,
} from '../testing/scenario.ts';
import { formatReplay } from './format-replay.ts';
import { replay } from './replay.ts';
import type { ReplayOptions } from './types.ts';

const again = (snapshot: Snapshot, events: Iterable<Event>, options: Partial<ReplayOptions> = {}) =>
  replay(snapshot, events, { sha256, ...options });
const BLOCKED = { action: 'BLOCK', rule_id: 'no' } as const;

describe('the verdict over a recorded call', () => {
  it.each<[string, Partial<Decision>]>([
    ['stricter', {}],
    ['same', BLOCKED],
    ['different_rule', { action: 'BLOCK', rule_id: 'other' }],
    ['stricter', { action: 'THROTTLE', rule_id: 'no', backoff_ms: 1 }],
    [
      'looser',
      {
        action: 'TERMINATE_RUN',
        rule_id: 'no',
        terminate: { terminate_code: 'c', terminate_message: 'm' },
      },
    ],
  ])('is %s for a block where %j was recorded', async (verdict, made) => {
    verifies('IP-1.6');
    const { calls, summary } = again(await snapshotOf([deny('no')]), [
      start('c', 1),
      decision('c', made),
    ]);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      run_id: 'run',
      call_id: 'c',
      seq: 1,
      server_name: 'git',
      tool_name: 'push',
      args: 'known',
      recorded: { action: made.action ?? 'ALLOW', rule_id: made.rule_id ?? null },
      replayed: { action: 'BLOCK', rule_id: 'no', reason_code: 'DENYLIST_MATCH' },
      verdict,
    });
    expect(summary.verdicts).toMatchObject({ unrecorded: 0, [verdict]: 1 });
  });

  it('is looser where a block was recorded and nothing stops the call', async () => {
    const { calls } = again(await snapshotOf([]), [start('c', 1), decision('c', BLOCKED)]);
    expect(calls[0]?.verdict).toBe('looser');
  });

  it.each(['gate:content', 'gate:taint', 'cedar:no-mail'])(
    'is undetermined where %s stopped the call, which is not replayed',
    async (rule_id) => {
      const stopped = [start('c', 1), decision('c', { action: 'BLOCK', rule_id })];
      const { calls, notes, summary } = again(await snapshotOf([]), stopped);
      expect(calls[0]).toMatchObject({ verdict: 'undetermined', replayed: { action: 'ALLOW' } });
      expect(notes.beside_rules).toBe(1);
      expect(summary.verdicts).toMatchObject({ looser: 0, undetermined: 1 });
      const { calls: both } = again(await snapshotOf([deny('no')]), stopped);
      expect(both[0]?.verdict).toBe('different_rule');
    },
  );

  it('comes with the sections that were left out', async () => {
    const bundle = { ...bundleOf([deny('no')]), content: {}, taint: {} };
    const snapshot = await compileBundle(bundle, { sha256 });
    const result = again(snapshot, [start('c', 1), decision('c', BLOCKED)]);
    expect(result.not_evaluated).toEqual(['content', 'taint']);
    expect(formatReplay(result)).toContain(
      'Not evaluated here: `content` and `taint`, which may stop more.',
    );
    expect(formatReplay(again(await snapshotOf([]), []))).not.toContain('Not evaluated');
  });

  it('is unrecorded without a decision to compare with', async () => {
    const { calls, summary } = again(await snapshotOf([deny('no')]), [start('c', 1)]);
    expect(calls[0]).toMatchObject({ recorded: null, verdict: 'unrecorded' });
    expect(summary.verdicts.unrecorded).toBe(1);
  });

  it('compares spared decisions only when `would` is compared', async () => {
    const would = { action: 'BLOCK', rule_id: 'no', ...WORDS } as const;
    const events = [start('c', 1), decision('c', { would })];
    const snapshot = await snapshotOf([deny('no')]);
    expect(again(snapshot, events).calls[0]?.verdict).toBe('stricter');
    expect(again(snapshot, events, { compare: 'would' }).calls[0]?.verdict).toBe('same');
    const observing = await snapshotOf([deny('no')], { mode: 'observe' });
    expect(again(observing, events).calls[0]?.verdict).toBe('different_rule');
    expect(again(observing, events, { compare: 'would' }).calls[0]?.verdict).toBe('same');
  });

  it('counts decisions by rule, recorded and replayed', async () => {
    const snapshot = await snapshotOf([
      deny('no', { tool_name: { glob: ['push'] } }),
      allow('yes'),
    ]);
    const events = [
      start('a', 1),
      decision('a', { action: 'BLOCK', rule_id: 'old' }),
      start('b', 2, { tool_name: 'pull' }),
      decision('b', { rule_id: 'yes' }),
    ];
    expect(again(snapshot, events).summary).toMatchObject({
      calls: 2,
      runs: 1,
      rules: [
        { rule_id: 'no', recorded: 0, replayed: 1 },
        { rule_id: 'old', recorded: 1, replayed: 0 },
        { rule_id: 'yes', recorded: 1, replayed: 1 },
      ],
    });
  });
});

describe('counters', () => {
  it('are kept per run, however runs are interleaved', async () => {
    verifies('T-B.2');
    const snapshot = await snapshotOf([budget('b', { limit_calls: 1 })]);
    const runs = ['x', 'y', 'x', 'y'];
    const { calls, summary } = again(
      snapshot,
      runs.map((run, index) => start(`c${index}`, index < 2 ? 1 : 2, { run })),
    );
    expect(calls.map(({ run_id, replayed }) => `${run_id} ${replayed?.action}`)).toEqual([
      'x ALLOW',
      'y ALLOW',
      'x BLOCK',
      'y BLOCK',
    ]);
    expect(summary.runs).toBe(2);
  });

  it('run on the recorded time', async () => {
    verifies('T-B.1');
    const snapshot = await snapshotOf([rateLimit('r', { refill_period_ms: 10_000 })]);
    const seconds = [0, 9, 10];
    const { calls } = again(
      snapshot,
      seconds.map((second, index) => start(`c${index}`, index + 1, { second })),
    );
    expect(calls.map(({ replayed }) => replayed?.action)).toEqual(['ALLOW', 'BLOCK', 'ALLOW']);
  });

  it.each<[string, EventOf<'tool_call_end'>['status'], Parts, string]>([
    ['an error', 'ERROR', { error: { class: 'upstream_error', message: '' } }, 'BLOCK'],
    ['a time-out', 'TIMEOUT', {}, 'BLOCK'],
    ['success', 'OK', {}, 'ALLOW'],
    ['a cancellation', 'CANCELLED', {}, 'ALLOW'],
    [
      'a refusal by the old policy',
      'ERROR',
      { error: { class: 'policy_block', message: '' } },
      'ALLOW',
    ],
  ])('of a breaker hear of %s', async (_name, status, parts, action) => {
    verifies('T-B.3', 'IP-1.7');
    const snapshot = await snapshotOf([breaker('b', { error_threshold: 1, window_ms: 60_000 })]);
    const events = [start('c1', 1), decision('c1'), end('c1', status, parts), start('c2', 2)];
    expect(again(snapshot, events).calls[1]?.replayed?.action).toBe(action);
  });

  it('of a breaker do not hear of a call that this policy would have refused', async () => {
    const stops = deny('no', { args: { has_keys: ['x'] } });
    const snapshot = await snapshotOf([
      breaker('b', { error_threshold: 1, window_ms: 60_000 }),
      stops,
    ]);
    const events = [start('c1', 1, withArgs('{"x":1}')), end('c1', 'ERROR'), start('c2', 2)];
    const { calls } = again(snapshot, events);
    expect(calls.map(({ replayed }) => replayed?.action)).toEqual(['BLOCK', 'ALLOW']);
  });

  it('end a run for good once this policy has ended it', async () => {
    const snapshot = await snapshotOf([
      budget('b', { limit_calls: 1, on_exceed: 'TERMINATE_RUN' }),
    ]);
    const { calls } = again(snapshot, [start('c1', 1), start('c2', 2), start('c3', 3)]);
    expect(calls.map(({ replayed }) => replayed?.reason_code)).toEqual([
      'DEFAULT_ALLOW',
      'BUDGET_EXCEEDED',
      'RUN_TERMINATED',
    ]);
  });
});

describe('arguments', () => {
  const needs = deny('no', { args: { key_equals: { force: true } } });

  it('are taken from a complete preview with the recorded hash', async () => {
    verifies('IP-1.9.1');
    const snapshot = await snapshotOf([needs]);
    const same = withArgs('{ "b": 1, "force": true }', '{"b":1,"force":true}');
    const { calls } = again(snapshot, [start('c', 1, same)]);
    expect(calls[0]).toMatchObject({ args: 'known', replayed: { action: 'BLOCK' } });
  });

  it.each<[string, Parts]>([
    ['redacted', withArgs('{"force":"[REDACTED]"}', '{"force":true}')],
    ['cut', { preview: { truncated: true, args_preview: '{"force":tr' } }],
    ['cut, though it reads well', { preview: { truncated: true, args_preview: '{}' } }],
    ['absent', { preview: { truncated: false } }],
    ['no JSON', withArgs('force')],
    ['no object', withArgs('[true]')],
  ])('leave the outcome open when the preview is %s', async (_name, parts) => {
    const { calls, summary } = again(await snapshotOf([needs]), [
      start('c', 1, parts),
      decision('c'),
    ]);
    expect(calls[0]).toMatchObject({ args: 'unknown', replayed: null, verdict: 'undetermined' });
    expect(calls[0]?.recorded).toEqual({ action: 'ALLOW', rule_id: null });
    expect(summary.verdicts.undetermined).toBe(1);
  });

  const unknown = { preview: { truncated: true } };

  it('leave it open when a condition reads them', async () => {
    const snapshot = await snapshotOf([deny('no', {}, 'has(args.force)')]);
    expect(again(snapshot, [start('c', 1, unknown)]).calls[0]?.verdict).toBe('undetermined');
  });

  it('leave it open even where the policy fails open', async () => {
    const defaults = { decision_on_error: 'ALLOW', fail_open_read_tools: true } as const;
    const snapshot = await snapshotOf([needs], { defaults });
    const read = start('c', 1, { ...unknown, risk_class: ['read_like'] });
    expect(again(snapshot, [read]).calls[0]?.verdict).toBe('undetermined');
  });

  it('do not matter when no rule needs them, or one decides before', async () => {
    const first = await snapshotOf([allow('yes'), needs]);
    expect(again(first, [start('c', 1, unknown)]).calls[0]?.replayed?.action).toBe('ALLOW');
    const elsewhere = await snapshotOf([
      { ...needs, match: { ...needs.match, tool_name: { glob: ['x'] } } },
    ]);
    expect(again(elsewhere, [start('c', 1, unknown)]).calls[0]?.replayed?.action).toBe('ALLOW');
  });

  it('leave nothing open when the shim could not read them either', async () => {
    verifies('IP-1.10');
    const large = { ...unknown, args_stream_hash: EMPTY_HASH };
    const { calls } = again(await snapshotOf([needs]), [start('c', 1, large)]);
    expect(calls[0]).toMatchObject({
      args: 'uninspected',
      replayed: { reason_code: 'ARGS_NOT_INSPECTED' },
    });
  });

  it('leave a failure open only for the rules that read them', async () => {
    const fails = deny('no', {}, 'identity.workload.x.y == 1');
    const { calls } = again(await snapshotOf([fails]), [start('c', 1, unknown)]);
    expect(calls[0]?.replayed).toMatchObject({ action: 'BLOCK', reason_code: 'POLICY_ERROR' });
  });

  it('belong to the right call whatever the ids hold', async () => {
    const { calls, notes } = again(await snapshotOf([deny('no')]), [
      start('b\u0000c', 1, { run: 'a' }),
      start('c', 1, { run: 'a\u0000b' }),
      decision('c', BLOCKED, { run: 'a\u0000b' }),
    ]);
    expect(notes.repeated_starts).toBe(0);
    expect(calls.map(({ verdict }) => verdict)).toEqual(['unrecorded', 'same']);
  });

  it('do not matter for an invalid name, which is refused without matching', async () => {
    const snapshot = await snapshotOf([allow('all')]);
    const tool_name = 'x'.repeat(1_025);
    const { calls } = again(snapshot, [start('c', 1, { tool_name })]);
    expect(calls[0]?.replayed).toEqual({
      action: 'BLOCK',
      rule_id: null,
      reason_code: 'INVALID_NAME',
    });
    expect(snapshot.candidates.size).toBe(0);
  });
});
