import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatProblem } from '../../policy/problem.ts';
import { readTaint } from './read.ts';

function problemsOf(text: string): readonly string[] {
  const read = readTaint({ file: 'taint.yaml', text });
  return read.ok ? [] : read.problems.map(formatProblem);
}

const WHOLE = `
on_taint: block
sources:
  - { server: web*, trust: untrusted }
  - { server: crm, tool: contacts, trust: trusted }
default_trust: untrusted
trusted_clears: any
sinks:
  - { kind: recipient, args: [to, "*.address"], server: mail }
default_sinks: false
by_shape: [url]
allow:
  emails: ["*@corp.example"]
  paths: ["/work/*"]
rule_of_two:
  mode: ask
  tools:
    - { server: mail, tool: send, adds: [egress_or_change] }
`;

describe('a taint section', () => {
  it('is read with all its fields', () => {
    const read = readTaint({ file: 'taint.yaml', text: WHOLE });
    if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'));
    const { policy } = read;
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

  it('may be empty of rules: the defaults ask, and trust nobody', () => {
    const read = readTaint({ file: 'taint.yaml', text: '{}' });
    expect(read).toMatchObject({
      ok: true,
      policy: { onTaint: 'ask', trustedClears: 'earlier', ruleOfTwo: 'off' },
    });
    const trust = read.ok && read.policy.trustOf({ server: 'a', tool: 'b' });
    expect(trust).toBe('untrusted');
  });

  it.each([
    [
      'on_tain: ask',
      'taint.yaml:1:1: error: unknown field `on_tain`; did you mean `on_taint`? Rename it to `on_taint`. [SUB_TAINT_FIELD]',
    ],
    [
      'allowlist: {}',
      'taint.yaml:1:1: error: unknown field `allowlist`; did you mean `allow`? Rename it to `allow`. [SUB_TAINT_FIELD]',
    ],
    [
      'allow: { domains: [a] }',
      'taint.yaml:1:10: error: unknown field `domains`; did you mean `hosts`? Rename it to `hosts`. [SUB_TAINT_FIELD]',
    ],
    [
      'on_taint: asks',
      'taint.yaml:1:11: error: unknown on_taint `asks`; expected one of ask, block, tag. Write `ask`. [SUB_TAINT_VALUE]',
    ],
    [
      'sinks: [{ args: [to] }]',
      'taint.yaml:1:9: error: missing `kind`, one of recipient, url, path, command. Add `kind: recipient`. [SUB_TAINT_FIELD]',
    ],
    [
      'sinks: [{ kind: url, args: ["{a"] }]',
      'taint.yaml:1:29: error: the glob `{a` does not compile: a `{` without its `}`. Correct it; `*` matches any characters and `?` matches one. [SUB_TAINT_VALUE]',
    ],
    [
      '- a',
      'taint.yaml:1:1: error: a taint section is an object, but this file holds a list of 1. Start with `on_taint: ask`. [SUB_TAINT_VALUE]',
    ],
    [
      '',
      'taint.yaml:1:1: error: the file holds no taint section. Start with `on_taint: ask`. [SUB_TAINT_SYNTAX]',
    ],
    ['a: [', 'SUB_TAINT_SYNTAX'],
    ['on_taint: ask\non_taint: tag', 'SUB_TAINT_SYNTAX'],
  ])('%s is refused with its place and a fix', (text, expected) => {
    expect(problemsOf(text).join('\n')).toContain(expected);
  });

  it('never throws, whatever the text', () => {
    const words = fc.constantFrom(
      'sinks:',
      ' - ',
      'kind: url',
      'args:',
      '[',
      ']',
      '{',
      '}',
      '\n',
      '  ',
      'allow:',
      'hosts: ["[a"]',
      '*',
      '"',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
        expect(readTaint({ file: 'f', text: parts.join('') })).toHaveProperty('ok');
      }),
      { numRuns: 300 },
    );
  });
});
