import { describe, expect, it } from 'vitest';
import { compileTaint } from './compile-policy.ts';
import { newTaint } from './memory.ts';
import { observe } from './observe.ts';
import { recordCall, ruleOfTwo } from './rule-of-two.ts';
import type { TaintSource, TaintState } from './types.ts';

const POLICY = compileTaint({
  sources: [{ server: 'web', trust: 'untrusted' }],
  default_trust: 'trusted',
  rule_of_two: {
    mode: 'ask',
    tools: [
      { server: 'mail', tool: 'read*', adds: ['private_data'] },
      { server: 'mail', tool: 'send', adds: ['egress_or_change'] },
      { server: 'shell', adds: ['private_data', 'egress_or_change'] },
    ],
  },
});

const call = (server: string, tool: string): TaintSource => ({
  server,
  tool,
  callId: `${server}.${tool}`,
});

function after(...calls: readonly TaintSource[]): TaintState {
  return calls.reduce((state, one) => recordCall(state, one, POLICY), newTaint());
}

describe('the rule of two', () => {
  it('lets any two pass', () => {
    const state = after(call('web', 'fetch'), call('mail', 'read_all'));
    expect(ruleOfTwo(state, call('web', 'fetch'), POLICY)).toEqual({
      verdict: 'within',
      flags: ['untrusted_input', 'private_data'],
    });
    expect(ruleOfTwo(after(call('mail', 'read')), call('mail', 'send'), POLICY).verdict).toBe(
      'within',
    );
  });

  it.each([
    ['the sending', [call('web', 'fetch'), call('mail', 'read')], call('mail', 'send')],
    ['the reading', [call('web', 'fetch'), call('mail', 'send')], call('mail', 'read')],
    ['the page', [call('mail', 'read'), call('mail', 'send')], call('web', 'fetch')],
    ['a tool that does two at once', [call('web', 'fetch')], call('shell', 'run')],
  ])('stops the third, when it is %s', (_name, before, third) => {
    expect(ruleOfTwo(after(...before), third, POLICY).verdict).toBe('third');
  });

  it('says what the run holds already and what brought it', () => {
    const state = after(call('web', 'fetch'), call('mail', 'read'), call('mail', 'read_more'));
    expect(ruleOfTwo(state, call('mail', 'send'), POLICY)).toEqual({
      verdict: 'third',
      adds: ['egress_or_change'],
      held: [
        { flag: 'untrusted_input', source: call('web', 'fetch') },
        { flag: 'private_data', source: call('mail', 'read') },
      ],
    });
  });

  it('stops each egress once a run has all three, and no more reading', () => {
    const state = after(call('web', 'fetch'), call('mail', 'read'), call('mail', 'send'));
    expect(ruleOfTwo(state, call('mail', 'send'), POLICY).verdict).toBe('third');
    expect(ruleOfTwo(state, call('mail', 'read'), POLICY).verdict).toBe('within');
  });

  it('counts untrusted content that came by a tool of another class', () => {
    const seen = { ...call('mail', 'read'), trust: 'untrusted', content: 'hello' } as const;
    const state = observe(after(call('mail', 'read')), seen);
    expect(ruleOfTwo(state, call('mail', 'send'), POLICY).verdict).toBe('third');
  });

  it('takes tools that nothing is said of for untrusted input, unless the section trusts them', () => {
    const unknown = call('new', 'tool');
    expect(ruleOfTwo(newTaint(), unknown, compileTaint())).toEqual({
      verdict: 'within',
      flags: ['untrusted_input'],
    });
    expect(ruleOfTwo(newTaint(), unknown, POLICY)).toEqual({ verdict: 'within', flags: [] });
  });
});
