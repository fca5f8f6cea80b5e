import type { TaintSection } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { compileTaint } from './compile-policy.ts';

const WHOLE: TaintSection = {
  on_taint: 'block',
  sources: [
    { server: 'web*', trust: 'untrusted' },
    { server: 'crm', tool: 'contacts', trust: 'trusted' },
  ],
  default_trust: 'untrusted',
  trusted_clears: 'any',
  sinks: [{ kind: 'recipient', args: ['to', '*.address'], server: 'mail' }],
  default_sinks: false,
  by_shape: ['url'],
  allow: { emails: ['*@corp.example'], paths: ['/srv/*'] },
  rule_of_two: {
    mode: 'ask',
    tools: [{ server: 'mail', tool: 'send', adds: ['egress_or_change'] }],
  },
};

describe('a compiled taint section', () => {
  it('holds what the section says', () => {
    const policy = compileTaint(WHOLE);
    expect(policy).toMatchObject({ onTaint: 'block', trustedClears: 'any', ruleOfTwo: 'ask' });
    expect(policy.trustOf({ server: 'website', tool: 'x' })).toBe('untrusted');
    expect(policy.trustOf({ server: 'crm', tool: 'contacts' })).toBe('trusted');
    expect(policy.trustOf({ server: 'crm', tool: 'notes' })).toBe('untrusted');
    expect([...policy.sinksAt({ server: 'mail', tool: 's' }, ['m', 'Address', 0])]).toEqual([
      'recipient',
    ]);
    expect([...policy.sinksAt({ server: 'web', tool: 's' }, ['to'])]).toEqual([]);
    expect([...policy.flagsOf({ server: 'mail', tool: 'send' })]).toEqual(['egress_or_change']);
    expect(policy.allows('email', 'bob@corp.example')).toBe(true);
  });

  it('asks and trusts nobody where nothing is said', () => {
    const policy = compileTaint({});
    expect(policy).toMatchObject({ onTaint: 'ask', trustedClears: 'earlier', ruleOfTwo: 'off' });
    expect(policy.trustOf({ server: 'a', tool: 'b' })).toBe('untrusted');
  });
});
