import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { arbitraryOf } from '../testing/arbitrary.ts';
import { HASH, POLICY } from '../testing/samples.ts';
import {
  DECISION,
  type Decision,
  parseDecision,
  parseErrorData,
  REFUSAL_CODES,
} from './decision.ts';
import { type RefusalInput, refusal } from './refusal.ts';

const CALL = {
  run_id: 'r1',
  call_id: 'c1',
  server_name: 'git',
  tool_name: 'push',
  args_hash: HASH,
};
const BLOCKED: Decision = {
  action: 'BLOCK',
  rule_id: 'no-push',
  severity: 'warn',
  reason_code: 'DENYLIST_MATCH',
  summary: 'Pushing is not allowed.',
};
const HINTED: Decision = {
  ...BLOCKED,
  action: 'REJECT_WITH_HINT',
  hint: {
    hint_text: 'Push to a branch of your own.',
    suggested_args: { branch: 'agent/1' },
    retry_advice: 'Try once more.',
    hint_kind: 'ARG_FIX',
  },
};
const ENDED: Decision = {
  ...BLOCKED,
  action: 'TERMINATE_RUN',
  terminate: { terminate_code: 'LOOP', terminate_message: 'It went in circles.' },
};

function refuse(decision: Decision, era: RefusalInput['era'] = 'legacy') {
  return refusal({ decision, call: CALL, policy: POLICY, era });
}

function anyDecision(): fc.Arbitrary<Decision> {
  return arbitraryOf(DECISION).map((decision) => decision as Decision);
}

describe('refusal', () => {
  it('does not say twice what the hint repeats', () => {
    const { summary } = BLOCKED;
    const hint = {
      hint_text: summary,
      suggested_args: null,
      retry_advice: 'Ask first.',
      hint_kind: 'OTHER',
    } as const;
    const { message, data } = refuse({ ...HINTED, hint });
    expect(message).toBe(`${summary}\nAsk first.`);
    expect(data.subluminal.hint?.hint_text).toBe(summary);
  });

  it('goes without suggested arguments that a reader would refuse', () => {
    const suggested_args = { list: Array.from({ length: 100_000 }, () => 0) };
    const hint = {
      hint_text: 'Less.',
      suggested_args,
      retry_advice: null,
      hint_kind: 'OTHER',
    } as const;
    const { data } = refuse({ ...HINTED, hint });
    expect(parseErrorData(data).ok).toBe(true);
    expect(data.subluminal.hint).toEqual({ ...hint, suggested_args: null });
  });

  it('answers a blocked call with code, message and data', () => {
    verifies('IP-3.2', 'IP-3.2.1', 'IP-3.2.2');
    expect(refuse(BLOCKED)).toEqual({
      code: -32081,
      message: 'Pushing is not allowed.',
      data: {
        subluminal: {
          v: '0.2.0',
          action: 'BLOCK',
          rule_id: 'no-push',
          reason_code: 'DENYLIST_MATCH',
          summary: 'Pushing is not allowed.',
          ...CALL,
          policy: POLICY,
        },
      },
    });
  });

  it.each([
    ['BLOCK', -32081, -31081],
    ['THROTTLE', -32082, -31082],
    ['REJECT_WITH_HINT', -32083, -31083],
    ['TERMINATE_RUN', -32084, -31084],
  ] as const)('gives %s its code in each era', (action, legacy, modern) => {
    verifies('IP-3.2.1');
    const decision = { ...HINTED, ...ENDED, backoff_ms: 5, hint: HINTED.hint, action } as Decision;
    expect(refuse(decision, 'legacy').code).toBe(legacy);
    expect(refuse(decision, 'modern').code).toBe(modern);
    expect(refuse(decision, 'modern').data).toEqual(refuse(decision, 'legacy').data);
  });

  it('tells a throttled call how long to wait, in data and message', () => {
    verifies('IP-3.2.3');
    const { message, data } = refuse({ ...BLOCKED, action: 'THROTTLE', backoff_ms: 250 });
    expect(data.subluminal.backoff_ms).toBe(250);
    expect(data.subluminal.retry_advice).toContain('250 ms');
    expect(message).toContain('Wait 250 ms');
  });

  it('puts the hint where the model sees it, and whole into the data', () => {
    verifies('IP-3.2.4');
    const { message, data } = refuse(HINTED);
    expect(data.subluminal.hint).toEqual(HINTED.hint);
    expect(message).toContain('Pushing is not allowed.');
    expect(message).toContain('Push to a branch of your own.');
    expect(message).toContain('{"branch":"agent/1"}');
    expect(message).toContain('Try once more.');
  });

  it('says why the run is over', () => {
    expect(refuse(ENDED).message).toContain('It went in circles.');
  });

  it('keeps the message short, whatever the summary, and its characters whole', () => {
    const { message } = refuse({ ...BLOCKED, summary: `a${'😀'.repeat(10_000)}` });
    expect(message.length).toBeLessThanOrEqual(8_192);
    expect(message).toMatch(/😀…$/u);
    const large = { ...HINTED.hint, suggested_args: { text: 'x'.repeat(5_000) } };
    const hinted = refuse({ ...HINTED, hint: large } as Decision);
    expect(hinted.message).not.toContain('xxx');
    expect(hinted.data.subluminal.hint?.suggested_args).toEqual(large.suggested_args);
  });

  it('refuses nothing that is allowed or lacks what its action needs', () => {
    expect(() => refuse({ ...BLOCKED, action: 'ALLOW' })).toThrow('SUB_INTERNAL');
    for (const action of ['THROTTLE', 'REJECT_WITH_HINT', 'TERMINATE_RUN'] as const) {
      expect(() => refuse({ ...BLOCKED, action })).toThrow('SUB_INTERNAL');
    }
  });

  it('makes data that parses, from any decision but ALLOW', () => {
    verifies('IP-3.2', 'IP-3.2.2');
    const era = fc.constantFrom('legacy', 'modern');
    const property = fc.property(anyDecision(), era, (decision, chosen) => {
      fc.pre(decision.action !== 'ALLOW');
      const { code, message, data } = refuse(decision, chosen);
      expect(parseErrorData(JSON.parse(JSON.stringify(data))).ok).toBe(true);
      expect(Object.values(REFUSAL_CODES).map((codes) => codes[chosen])).toContain(code);
      expect(message).toContain(decision.summary);
    });
    fc.assert(property);
  });
});

describe('parseDecision', () => {
  it('takes what the contract requires and keeps what it does not know', () => {
    verifies('IP-3.1');
    const value = { ...BLOCKED, later: { field: 1 } };
    expect(parseDecision(value)).toEqual({ ok: true, value });
  });

  it('says what an action lacks, and why', () => {
    verifies('IP-3.1');
    const parsed = parseDecision({ ...BLOCKED, action: 'THROTTLE' });
    expect(parsed).toMatchObject({
      ok: false,
      mismatches: [{ path: ['backoff_ms'], problem: 'missing' }],
    });
    expect(parsed.ok || parsed.mismatches[0]?.expected).toContain('because `action` is `THROTTLE`');
  });
});
