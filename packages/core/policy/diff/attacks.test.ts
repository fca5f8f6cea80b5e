// Edits by which somebody might slip a weaker policy past a review, each shown with a call.
import type { Bundle, Decision, Match, Rule } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import type { Effect, PolicyDiff } from '../changes/change.ts';
import { normalizeBundle } from '../compile/normalize.ts';
import { compileBundle } from '../compile/snapshot.ts';
import { decide } from '../decide/decide.ts';
import { initialState } from '../decide/verdict.ts';
import type { Call } from '../model/call.ts';
import { allow, breaker, budget, bundleOf, callOf, deny } from '../testing/scenario.ts';
import { diffBundles } from './diff.ts';

type Options = Partial<Omit<Bundle, 'rules'>>;
interface Policy {
  readonly rules: readonly Rule[];
  readonly options?: Options;
}

const tools = (...glob: string[]): Match => ({ tool_name: { glob } });
const documentOf = ({ rules, options }: Policy) => normalizeBundle(bundleOf(rules, options));

function diffOf(before: Policy, after: Policy): PolicyDiff {
  return diffBundles(documentOf(before), documentOf(after));
}

/** The effects without the remark on the version, which these policies share. */
function effectsOf(before: Policy, after: Policy): readonly Effect[] {
  const { changes } = diffOf(before, after);
  return changes.filter(({ path }) => path !== 'version').map(({ effect }) => effect);
}

async function decisionOf({ rules, options }: Policy, call: Call): Promise<Decision> {
  const snapshot = await compileBundle(bundleOf(rules, options), { sha256: String });
  return decide(snapshot, call, initialState(snapshot), 0).decision;
}

async function actions(pair: readonly Policy[], call: Partial<Call> = {}) {
  const decided = pair.map((policy) => decisionOf(policy, callOf(call)));
  return (await Promise.all(decided)).map(({ action }) => action);
}

const ends = (match: Match = {}): Rule => ({
  ...budget('ends', { limit_calls: 0, on_exceed: 'TERMINATE_RUN' }),
  match,
});
const asks: Rule = {
  ...deny('asks'),
  kind: 'approval',
  effect: { approval: { wait: 'hold' } },
};
const hints: Rule = {
  ...deny('hints'),
  kind: 'deny',
  effect: { action: 'BLOCK', hint: { hint_text: 'Ask first.' } },
};
const { args: _none, ...UNSEEN } = callOf();

describe('the diff is not fooled by', () => {
  it('two denies that change places around an allow', async () => {
    verifies('SL-9.4');
    const [rm, all, zz] = [deny('rm', tools('rm')), allow('all'), deny('zz', tools('zz'))];
    const [before, after] = [{ rules: [rm, all, zz] }, { rules: [zz, all, rm] }];
    expect(await actions([before, after], { tool_name: 'rm' })).toEqual(['BLOCK', 'ALLOW']);
    expect(diffOf(before, after).summary.critical).toBeGreaterThan(0);
    expect(effectsOf(before, after)).toContain('mixed');
  });

  it.each([asks, hints])(
    'a mode in which a refusal of kind $kind can be released',
    async (rule) => {
      const guardrails = { rules: [rule], options: { mode: 'guardrails' } } as const;
      const control = { rules: [rule], options: { mode: 'control' } } as const;
      expect(await actions([guardrails, control])).toEqual(['BLOCK', 'REJECT_WITH_HINT']);
      expect(effectsOf(guardrails, control)).toEqual(['mixed']);
      expect(effectsOf(control, guardrails)).toEqual(['mixed']);
      const observe = { rules: [rule], options: { mode: 'observe' } } as const;
      expect(effectsOf(observe, control)).toEqual(['tightens']);
      expect(effectsOf(guardrails, observe)).toEqual(['loosens']);
    },
  );

  it('a milder refusal put before one that ends the run', async () => {
    const [before, after] = [{ rules: [ends()] }, { rules: [deny('no'), ends()] }];
    expect(await actions([before, after])).toEqual(['TERMINATE_RUN', 'BLOCK']);
    expect(effectsOf(before, after)).toEqual(['mixed']);
    expect(effectsOf(after, before)).toEqual(['mixed']);
    const elsewhere = { rules: [deny('no', tools('rm')), ends(tools('mail'))] };
    expect(effectsOf({ rules: [ends(tools('mail'))] }, elsewhere)).toEqual(['tightens']);
  });

  it('a milder refusal widened over, or moved above, one that ends the run', async () => {
    const narrow = deny('no', tools('rm'));
    const [before, after] = [{ rules: [narrow, ends()] }, { rules: [deny('no'), ends()] }];
    expect(await actions([before, after])).toEqual(['TERMINATE_RUN', 'BLOCK']);
    expect(effectsOf(before, after)).toEqual(['mixed']);
    const moved = { rules: [ends(), deny('no')] };
    expect(await actions([moved, after])).toEqual(['TERMINATE_RUN', 'BLOCK']);
    expect(effectsOf(moved, after)).toEqual(['loosens']);
  });

  it('a lower limit before a rule that ends the run', async () => {
    const limit = (limit_calls: number) => budget('few', { limit_calls });
    const [before, after] = [{ rules: [limit(9), ends()] }, { rules: [limit(0), ends()] }];
    expect(await actions([before, after])).toEqual(['TERMINATE_RUN', 'BLOCK']);
    expect(effectsOf(before, after)).toEqual(['mixed']);
  });

  it('failures that now stop a call which would have ended the run', async () => {
    const rules = [deny('if', {}, 'args.a.b == 1'), ends()];
    const on = (decision_on_error: 'ALLOW' | 'BLOCK') => {
      return { rules, options: { defaults: { decision_on_error } } };
    };
    expect(await actions([on('ALLOW'), on('BLOCK')])).toEqual(['TERMINATE_RUN', 'BLOCK']);
    expect(effectsOf(on('ALLOW'), on('BLOCK'))).toEqual(['mixed']);
  });

  it.each([allow('if', { args: { has_keys: ['a'] } }), { ...allow('if'), when: 'args.a == 1' }])(
    'an allow above a rule that fails, or the end of one that fails itself',
    async (fails) => {
      const [before, after] = [{ rules: [fails] }, { rules: [allow('all'), fails] }];
      const pair = await Promise.all([before, after].map((one) => decisionOf(one, UNSEEN)));
      expect(pair.map(({ action }) => action)).toEqual(['BLOCK', 'ALLOW']);
      expect(effectsOf(before, after)).toEqual(['loosens']);
      expect((await decisionOf({ rules: [] }, UNSEEN)).action).toBe('ALLOW');
      expect(effectsOf(before, { rules: [] })).toEqual(['loosens']);
      const shields = { rules: [fails, deny('no')] };
      expect(effectsOf(shields, { rules: [deny('no')] })).toEqual(['mixed']);
    },
  );

  it('a key that every object seems to have', async () => {
    const on = (...has_keys: string[]) => ({ rules: [deny('no', { args: { has_keys } })] });
    const equals = (key: string) => {
      const key_equals = Object.fromEntries([[key, 1]]);
      return { rules: [deny('no', { args: { has_keys: ['a'], key_equals } })] };
    };
    for (const key of ['constructor', 'toString', '__proto__']) {
      expect(await actions([on('a'), equals(key)], { args: { a: 1 } })).toEqual(['BLOCK', 'ALLOW']);
      expect(effectsOf(on('a'), equals(key))).toEqual(['loosens']);
    }
  });

  it('a scope of a breaker that counts errors and repeats in different ways', () => {
    const both = { error_threshold: 3, window_ms: 9, repeat_threshold: 3, repeat_window_ms: 9 };
    const on = (scope: 'run' | 'tool') => ({ rules: [breaker('trips', { ...both, scope })] });
    expect(effectsOf(on('run'), on('tool'))).toEqual(['mixed']);
  });
});

describe('a tag', () => {
  const tag = (match: Match = {}, name = 'house'): Rule => ({
    ...deny('tag', match),
    kind: 'tag',
    effect: { tag: { add_risk_class: [name] } },
  });
  const reads: Match = { risk_class: ['house'] };

  it('loosens when an allow below reads its class, and tightens when a deny does', async () => {
    const allows = [allow('reads', reads), deny('no')];
    expect(await actions([{ rules: allows }, { rules: [tag(), ...allows] }])).toEqual([
      'BLOCK',
      'ALLOW',
    ]);
    expect(effectsOf({ rules: allows }, { rules: [tag(), ...allows] })).toEqual(['loosens']);
    expect(effectsOf({ rules: [tag(), ...allows] }, { rules: allows })).toEqual(['tightens']);
    const denies = [deny('reads', reads)];
    expect(effectsOf({ rules: [tag(), ...denies] }, { rules: denies })).toEqual(['loosens']);
    expect(
      effectsOf({ rules: [tag(tools('rm')), ...denies] }, { rules: [tag(), ...denies] }),
    ).toEqual(['tightens']);
    const two = [deny('reads too', { ...reads, ...tools('rm') }), ...allows];
    expect(effectsOf({ rules: two }, { rules: [tag(), ...two] })).toEqual(['mixed']);
  });

  it('with another class takes the old one away', () => {
    const denies = [deny('reads', reads)];
    const [before, after] = [{ rules: [tag(), ...denies] }, { rules: [tag({}, 'b'), ...denies] }];
    expect(effectsOf(before, after)).toEqual(['loosens']);
    expect(effectsOf(after, before)).toEqual(['tightens']);
    const condition = [deny('if', {}, 'call["risk_class"].exists(c, c == "house")')];
    expect(effectsOf({ rules: condition }, { rules: [tag(), ...condition] })).toEqual(['alters']);
  });

  it('that calls something a read lets failures pass where reads fail open', async () => {
    const fails = deny('if', {}, 'args.a.b == 1');
    const defaults = { decision_on_error: 'BLOCK', fail_open_read_tools: true } as const;
    const on = (...rules: Rule[]) => ({ rules, options: { defaults } });
    const [before, after] = [on(fails), on(fails, tag({}, 'read_like'))];
    expect(await actions([before, after])).toEqual(['BLOCK', 'ALLOW']);
    expect(effectsOf(before, after)).toEqual(['loosens']);
    expect(effectsOf(before, on(fails, tag({}, 'write_like')))).toEqual(['tightens']);
  });
});

describe('very large policies', () => {
  const many = (glob: (rule: number, at: number) => string): readonly Rule[] =>
    Array.from({ length: 1_000 }, (_, rule) => {
      const globs = Array.from({ length: 80 }, (_unused, at) => glob(rule, at));
      const id = `r${rule}`;
      return rule % 2 === 0 ? allow(id, tools(...globs)) : deny(id, tools(...globs));
    });

  it('are not compared pair by pair when too many rules moved, and that is critical', () => {
    const rules = many((rule, at) => `t${rule}_${at}*`);
    const { changes } = diffOf({ rules }, { rules: rules.toReversed() });
    expect(changes[0]).toEqual({
      path: 'rules',
      rule_id: null,
      change: 'moved',
      effect: 'alters',
      severity: 'critical',
      summary: 'too many rules moved to compare them one by one',
      before: 1_000,
      after: 1_000,
    });
    expect(changes).toHaveLength(2);
  });

  it('are not compared pair by pair when too many rules changed, and that is critical', () => {
    const before = many((rule, at) => `a${rule}_${at}*`);
    const after = many((rule, at) => `b${rule}_${at}*`);
    const { changes, summary } = diffOf({ rules: before }, { rules: after });
    expect(changes).toHaveLength(1_002);
    expect(changes[1_000]).toMatchObject({
      severity: 'critical',
      summary: 'too many rules changed to compare them one by one',
    });
    expect(summary.critical).toBe(1);
  });
});
