import { type Bundle, isFailure, type Rule } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/runs.ts';
import { normalizeBundle } from '../compile/normalize.ts';
import { openSnapshot, sealSnapshot } from '../compile/seal.ts';
import {
  compileBundle,
  compileTightened,
  type Snapshot,
  withProfile,
} from '../compile/snapshot.ts';
import type { Call } from '../model/call.ts';
import {
  allow,
  breaker,
  budget,
  bundleOf,
  callOf,
  dedupe,
  deny,
  runOf,
} from '../testing/scenario.ts';
import { decide, recordResult } from './decide.ts';
import { strictnessOf } from './stricter.ts';
import { initialState } from './verdict.ts';

const sha256 = (text: string) => text.length.toString(16).padStart(64, '0');

function tightened(user: Bundle, project: Bundle): Promise<Snapshot> {
  return compileTightened(normalizeBundle(user), normalizeBundle(project), { sha256 });
}

function asking(rule_id: string): Rule {
  const frame = { enabled: true, match: {}, severity: 'warn' } as const;
  return { ...frame, rule_id, kind: 'approval', effect: { approval: { wait: 'hold' } } };
}

function decisionIn(snapshot: Snapshot, parts: Partial<Call> = {}) {
  return decide(snapshot, callOf(parts), initialState(snapshot), 0).decision;
}

const word = fc.constantFrom('a', 'b', 'a*', '*');
const names = fc.record({ glob: fc.array(word, { minLength: 1, maxLength: 2 }) });
const match = fc.record(
  {
    server_name: names,
    tool_name: names,
    risk_class: fc.constant(['read_like']),
    args: fc.record({ has_keys: fc.constant(['k']) }),
  },
  { requiredKeys: [] },
);
const scope = fc.constantFrom('run' as const, 'tool' as const, 'server_tool' as const);
const stop = fc.constantFrom('BLOCK' as const, 'REJECT_WITH_HINT' as const);
const effects = fc.oneof(
  fc.constant({ kind: 'allow', effect: { action: 'ALLOW' } } as const),
  fc.constant({ kind: 'deny', effect: { action: 'BLOCK' } } as const),
  fc.constant({ kind: 'deny', effect: { action: 'BLOCK', hint: { hint_text: 'x' } } } as const),
  fc.constant({ kind: 'approval', effect: { approval: { wait: 'hold' } } } as const),
  fc.constant({ kind: 'tag', effect: { tag: { add_risk_class: ['read_like'] } } } as const),
  fc.record({
    kind: fc.constant('budget' as const),
    effect: fc.record({
      budget: fc.record({
        scope,
        limit_calls: fc.integer({ min: 0, max: 2 }),
        on_exceed: fc.constantFrom('BLOCK' as const, 'TERMINATE_RUN' as const),
      }),
    }),
  }),
  fc.record({
    kind: fc.constant('rate_limit' as const),
    effect: fc.record({
      rate_limit: fc.record({
        scope,
        capacity: fc.constant(1),
        refill_tokens: fc.constant(1),
        refill_period_ms: fc.constant(10),
        on_limit: fc.constant('THROTTLE' as const),
        backoff_ms: fc.constant(5),
      }),
    }),
  }),
  fc.record({
    kind: fc.constant('breaker' as const),
    effect: fc.record({
      breaker: fc.record({
        scope,
        error_threshold: fc.constant(1),
        window_ms: fc.constant(20),
        on_trip: stop,
      }),
    }),
  }),
  fc.record({
    kind: fc.constant('dedupe' as const),
    effect: fc.record({
      dedupe: fc.record({
        scope,
        window_ms: fc.constant(15),
        key: fc.constant('args_hash' as const),
        on_duplicate: stop,
      }),
    }),
  }),
);
const rule: fc.Arbitrary<Rule> = fc
  .tuple(
    fc.record({
      rule_id: fc.constantFrom('r1', 'r2', 'r3', 'project:r1'),
      enabled: fc.constantFrom(true, true, false),
      severity: fc.constant('warn' as const),
      match,
    }),
    effects,
  )
  .map(([base, effect]) => ({ ...base, ...effect }));
const bundle: fc.Arbitrary<Bundle> = fc.record({
  policy_id: fc.constant('p'),
  version: fc.constant('1'),
  mode: fc.constantFrom('observe', 'guardrails', 'control', 'control'),
  defaults: fc.record({
    decision_on_error: fc.constantFrom('ALLOW', 'BLOCK'),
    fail_open_read_tools: fc.boolean(),
  }),
  selectors: fc.record({ env: fc.constantFrom(['dev'], ['ci']) }, { requiredKeys: [] }),
  rules: fc.uniqueArray(rule, { maxLength: 4, selector: ({ rule_id }) => rule_id }),
});
const call = fc.record(
  {
    server_name: fc.constantFrom('a', 'b'),
    tool_name: fc.constantFrom('a', 'ab', 'c', ''),
    args_hash: fc.constantFrom('h1', 'h2'),
    risk_class: fc.constant(['read_like']),
    approved: fc.subarray(['r1', 'r2', 'project:r1', 'project:r3', 'project2:r1']),
  },
  { requiredKeys: ['server_name', 'tool_name', 'args_hash'] },
);
const step = fc.record({
  call,
  uninspected: fc.boolean(),
  laterMs: fc.integer({ min: 0, max: 12 }),
  fails: fc.boolean(),
});

/** Allows everything, so that beside it a second policy decides alone. */
const NOTHING: Bundle = bundleOf([], { mode: 'observe', selectors: { env: ['nobody'] } });

describe('a policy that is tightened by another', () => {
  it('is never looser than one of the two alone, for any policies and calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        bundle,
        bundle,
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.constantFrom('production' as const, 'development' as const),
        async (user, project, steps, profile) => {
          const both = withProfile(await tightened(user, project), profile);
          const [first] = [{ ...both, tightenedBy: undefined }];
          const second = both.tightenedBy;
          if (second === undefined) throw new Error('there is no second policy');
          let [state, nowMs] = [initialState(both), 0];
          for (const { call: parts, uninspected, laterMs, fails } of steps) {
            nowMs += laterMs;
            const { args: _args, ...rest } = callOf(parts);
            const asked: Call = uninspected ? rest : callOf(parts);
            const outcome = decide(both, asked, state, nowMs);
            const least = strictnessOf(outcome.decision);
            for (const alone of [first, second]) {
              const { decision } = decide(alone, asked, state, nowMs);
              expect(least).toBeGreaterThanOrEqual(strictnessOf(decision));
            }
            const { trace } = outcome;
            const ended = { call: asked, result: 'error', trace, nowMs } as const;
            state = fails ? recordResult(both, ended, outcome.state) : outcome.state;
          }
        },
      ),
      runs(2_000),
    );
  });

  it('refuses a call that the project denies, and names its rule', async () => {
    const snapshot = await tightened(bundleOf([allow('all')]), bundleOf([deny('no')]));
    const outcome = decide(snapshot, callOf(), initialState(snapshot), 0);
    expect(outcome.decision).toMatchObject({ action: 'BLOCK', rule_id: 'project:no' });
    expect(outcome.trace).toMatchObject([
      { rule_id: 'all', outcome: 'would_decide' },
      { rule_id: 'project:no', outcome: 'decided' },
    ]);
  });

  it('refuses a call that the user denies, whatever the project allows', async () => {
    const snapshot = await tightened(bundleOf([deny('no')]), bundleOf([allow('all')]));
    expect(decisionIn(snapshot)).toMatchObject({ action: 'BLOCK', rule_id: 'no' });
  });

  it('names the rule of the user where both refuse alike', async () => {
    const snapshot = await tightened(bundleOf([deny('mine')]), bundleOf([deny('theirs')]));
    expect(decisionIn(snapshot).rule_id).toBe('mine');
  });

  it('needs both approvals, and one for a rule of the project satisfies no rule of the user', async () => {
    const mode = 'control' as const;
    const snapshot = await tightened(
      bundleOf([asking('project:a')], { mode }),
      bundleOf([asking('a')], { mode }),
    );
    expect(decisionIn(snapshot)).toMatchObject({ rule_id: 'project:a' });
    expect(decisionIn(snapshot, { approved: ['project:a'] })).toMatchObject({
      rule_id: 'project2:a',
      approval: { wait: 'hold' },
    });
    expect(decisionIn(snapshot, { approved: ['project2:a'] }).rule_id).toBe('project:a');
    const approved = ['project:a', 'project2:a'];
    expect(decisionIn(snapshot, { approved }).action).toBe('ALLOW');
  });

  it('records what an observing project would refuse, and lets it pass', async () => {
    const observing = bundleOf([deny('no')], { mode: 'observe' });
    const snapshot = await tightened(bundleOf([]), observing);
    expect(decisionIn(snapshot)).toMatchObject({
      action: 'ALLOW',
      would: { rule_id: 'project:no' },
    });
  });

  it('applies a project that is for this agent where the policy of the user is not', async () => {
    const elsewhere = bundleOf([], { selectors: { env: ['nobody'] } });
    const snapshot = await tightened(elsewhere, bundleOf([deny('no')]));
    expect(decisionIn(snapshot).action).toBe('BLOCK');
  });

  it('counts for both, each by its own limit', async () => {
    const limited = (limit_calls: number) => bundleOf([budget('b', { limit_calls })]);
    const run = runOf(await tightened(limited(3), limited(1)));
    expect(run.call({}, 0).decision.action).toBe('ALLOW');
    expect(run.call({}, 0).decision.rule_id).toBe('project:b');
  });

  it('does not take a call for a repetition that the other policy has refused', async () => {
    const project = bundleOf([budget('none', { limit_calls: 0 })]);
    const snapshot = await tightened(bundleOf([dedupe('once', {})]), project);
    const first = decide(snapshot, callOf(), initialState(snapshot), 0);
    expect(first.decision.rule_id).toBe('project:none');
    const alone = { ...snapshot, tightenedBy: undefined };
    expect(decide(alone, callOf(), first.state, 1).decision.action).toBe('ALLOW');
  });

  it('ends the run for both', async () => {
    const limits = { repeat_threshold: 2, repeat_window_ms: 1_000 } as const;
    const ending = bundleOf([breaker('end', { ...limits, on_trip: 'TERMINATE_RUN' })]);
    const run = runOf(await tightened(bundleOf([]), ending));
    run.call({}, 0);
    expect(run.call({}, 1).decision).toMatchObject({
      action: 'TERMINATE_RUN',
      rule_id: 'project:end',
    });
    expect(run.call({ tool_name: 'other' }, 2).decision).toMatchObject({
      reason_code: 'RUN_TERMINATED',
      rule_id: 'project:end',
    });
  });

  it('reports an error to the breakers of both', async () => {
    const limits = { error_threshold: 1, window_ms: 1_000 } as const;
    const run = runOf(await tightened(bundleOf([]), bundleOf([breaker('b', limits)])));
    run.call({}, 0, 'error');
    expect(run.call({}, 1).decision.rule_id).toBe('project:b');
  });

  it('keeps the counters of the user where the project comes later', async () => {
    const user = bundleOf([budget('b', { limit_calls: 1 })]);
    const alone = await compileBundle(user, { sha256 });
    const run = runOf(alone);
    run.call({}, 0);
    const both = await tightened(user, bundleOf([]));
    expect(decide(both, callOf(), run.state, 0).decision.rule_id).toBe('b');
  });

  it('decides the same beside a policy that selects no agent', async () => {
    const snapshot = await tightened(NOTHING, bundleOf([deny('no')]));
    expect(decisionIn(snapshot)).toMatchObject({ action: 'BLOCK', rule_id: 'project:no' });
  });
});

describe('a snapshot file of two policies', () => {
  it('opens as it was sealed, with one hash over both', async () => {
    const snapshot = await tightened(bundleOf([allow('all')]), bundleOf([deny('no')]));
    const file: unknown = JSON.parse(JSON.stringify(sealSnapshot(snapshot)));
    const opened = await openSnapshot(file, { sha256 });
    if (isFailure(opened)) throw new Error(opened.message);
    expect(opened.ref).toEqual(snapshot.ref);
    expect(decisionIn(opened).rule_id).toBe('project:no');
  });

  it('is refused when its second policy is not valid', async () => {
    const snapshot = await tightened(bundleOf([]), bundleOf([deny('no')]));
    const twice = normalizeBundle(bundleOf([deny('no'), deny('no')]));
    const document = { ...snapshot.document, tightened_by: twice };
    const text = sha256('');
    const opened = await openSnapshot(
      { snapshot: document, policy_hash: text },
      { sha256: () => text },
    );
    expect(opened).toMatchObject({ kind: 'failure', code: 'SUB_SNAPSHOT_FORMAT' });
  });

  it('cannot be combined with a third', async () => {
    const two = await tightened(bundleOf([]), bundleOf([]));
    const third = normalizeBundle(bundleOf([]));
    expect(() => compileTightened(two.document, third, { sha256 })).toThrow('holds two policies');
  });
});
