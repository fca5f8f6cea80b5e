// Parameters under other names and lists in other forms: what a lenient server would take.
import type { JsonValue } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { enforceCall } from './enforce.ts';
import { manifestOf } from './gmail.test-support.ts';
import { initialSurfaceState } from './state.ts';

const MANIFEST = await manifestOf(`server: s
allowed_tools: [{ name: send }, { name: search }]
blocked_params: [{ pattern: "*.bcc" }, { pattern: "*_id" }]
schema_rewrites:
  send:
    strip_params: [forward_to]
    constrain_params: { to: { max_recipients: 2 } }
  search:
    constrain_params: { max_results: { maximum: 50 } }
`);

function refusal(args: { readonly [name: string]: JsonValue }, tool = 'send'): string | undefined {
  const moment = { state: initialSurfaceState(), nowMs: 0 };
  const { decision } = enforceCall(MANIFEST, { tool, args }, moment);
  return decision.kind === 'refuse' ? decision.reason_code : undefined;
}

describe('a parameter', () => {
  it.each([
    'bcc',
    'Bcc',
    'bcc ',
    'b\u200bcc',
    'bcc[]',
    'bcc[0]',
    'm[bcc]',
    'b_cc',
    '-bcc',
    'bcc\0',
  ])('that is blocked is so as %j', (name) =>
    expect(refusal({ [name]: 'x' })).toBe('PARAM_BLOCKED'),
  );

  it.each(['forward_to', 'forwardTo', 'FORWARD-TO', 'forward to', 'forward_to[]'])(
    'that is stripped is so as %j',
    (name) => expect(refusal({ m: [{ [name]: 'x' }] })).toBe('PARAM_STRIPPED'),
  );

  it.each(['max_results', 'maxResults', 'MAX_RESULTS'])('that is limited is so as %j', (name) => {
    expect(refusal({ [name]: 99 }, 'search')).toBe('PARAM_LIMIT');
    expect(refusal({ [name]: 9 }, 'search')).toBeUndefined();
  });

  it('of another name passes, also beside a pattern with a separator in it', () => {
    expect(refusal({ user_id: 1 })).toBe('PARAM_BLOCKED');
    expect(refusal({ valid: 1, abccd: 1, forward: 1, together: 1 })).toBeUndefined();
  });
});

describe('a tool that is forbidden', () => {
  it.each(['wipe', 'WIPE', 'w\u200bipe', 'w\u0456pe', 'wip\u0435', 'wi\u03c1e'])(
    'is so as %j, unless the server lists one of that name',
    async (tool) => {
      const manifest = await manifestOf(`server: s
allowed_tools: [{ name: wipe, allowed: false }, { name: "*" }]
`);
      const moment = { state: initialSurfaceState(), nowMs: 0 };
      const decided = (isOffered: boolean) =>
        enforceCall(manifest, { tool, args: {} }, { ...moment, isOffered }).decision.kind;
      expect(decided(false)).toBe('refuse');
      expect(decided(true)).toBe(tool === 'wipe' ? 'refuse' : 'pass');
    },
  );
});

describe('a name of no end', () => {
  const marks = '\u0315\u0316\u0323\u0301'.repeat(250_000);

  it('is refused where parameters are looked at', () => {
    expect(refusal({ [`b${marks}`]: 'x' })).toBe('ARGS_TOO_COMPLEX');
    const nested = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [index, 1]));
    expect(refusal({ ['k'.repeat(400_000)]: nested })).toBe('ARGS_TOO_COMPLEX');
  });

  it('is read as far as it may go, with what is hidden in marks', () => {
    expect(refusal({ [`b${marks.slice(0, 4_000)}cc`]: 'x' })).toBe('PARAM_BLOCKED');
    const keys = Array.from({ length: 250 }, (_, index) => `b${marks.slice(0, 3_900)}${index}`);
    expect(refusal(Object.fromEntries(keys.map((key) => [key, 'x'])))).toBeUndefined();
  });
});

describe('more recipients than allowed', () => {
  it.each([
    'a@b|c@d|e@f',
    'a@b，c@d，e@f',
    'a@b；c@d；e@f',
    'a@b、c@d、e@f',
    'a@b\0c@d\0e@f',
    'a@b\nc@d\ne@f',
    'a@b c@d e@f',
    'a@b / c@d / e@f',
    'ann|ben|cid',
    '"A" <a@b>, <c@d>, <e@f>',
  ])('are found in %j', (to) => expect(refusal({ to })).toBe('PARAM_LIMIT'));

  it('are not seen in a name of two words', () => {
    expect(refusal({ to: 'Ann Bell Clark <a@b>, Dan Eve Fox <c@d>' })).toBeUndefined();
  });
});
