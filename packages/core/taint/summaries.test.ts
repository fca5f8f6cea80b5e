import { describe, expect, it } from 'vitest';
import { ruleOfTwoSummary, taintSummary } from './summaries.ts';
import type { RunFlag, TaintFinding } from './types.ts';

const source = { server: 'web', tool: 'fetch', callId: 'c1' };
const finding: TaintFinding = {
  arg: 'to',
  sink: 'recipient',
  match: 'exact',
  source,
  holds: true,
  shown: 'e…',
};

function said(...findings: readonly TaintFinding[]): string {
  return taintSummary({ findings, more: 0 });
}

describe('the words of taint', () => {
  it('say the same thing once', () => {
    const once =
      'The argument `to` (e…) came with the answer of web / fetch, which is not trusted.';
    expect(said(finding, { ...finding, sink: 'url' })).toBe(once);
  });

  it('name what was put together', () => {
    expect(said({ ...finding, arg: 'user + host', match: 'joined' })).toBe(
      'What `user + host` makes when it is put together (e…) came with the answer of web / fetch, which is not trusted.',
    );
  });

  it('count what they do not name', () => {
    const many = ['a', 'b', 'c', 'd'].map((arg) => ({ ...finding, arg }));
    expect(said(...many)).toMatch(/ And 1 more\.$/);
  });
});

describe('the words of the rule of two', () => {
  function third(adds: readonly RunFlag[], held: readonly RunFlag[]): string {
    const holding = held.map((flag) => ({ flag, source }));
    return ruleOfTwoSummary({ verdict: 'third', adds, held: holding });
  }

  it('say what the call brings and who brought the others', () => {
    expect(
      third(['untrusted_input', 'egress_or_change'], ['untrusted_input', 'private_data']),
    ).toBe(
      'The call brings egress or change, and the run already has untrusted input by web / fetch and private data by web / fetch: all three together are too much.',
    );
  });

  it('say so when it brings all three, and when the run has them all', () => {
    const all = ['untrusted_input', 'private_data', 'egress_or_change'] as const;
    expect(third(all, [])).toBe(
      'The call brings untrusted input and private data and egress or change: all three together are too much.',
    );
    expect(third(['egress_or_change'], all)).toMatch(/^The call brings egress or change, and /);
  });
});
