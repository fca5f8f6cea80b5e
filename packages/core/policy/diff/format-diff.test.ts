import { expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { changeOf, type PolicyChange, type PolicyDiff } from '../changes/change.ts';
import { formatDiff } from './format-diff.ts';

function diffOf(...changes: PolicyChange[]): PolicyDiff {
  const summary = { critical: 1, warn: 2, info: 0, loosens: 1, mixed: 0, tightens: 0 };
  return { changes, summary, same: changes.length === 0 };
}

const limit = changeOf({
  path: 'rules[b].effect.budget.limit_calls',
  rule_id: 'b',
  change: 'changed',
  effect: 'loosens',
  summary: 'the limit of calls is raised',
  before: 5,
  after: 10,
});
const rule = { path: 'rules[x]', rule_id: 'x', summary: 'the tag rule is added' } as const;

it('the text of an empty diff is `No changes.`', () => {
  expect(formatDiff(diffOf())).toBe('No changes.');
});

it('the text shows one line per change, old and new, and a summary', () => {
  verifies('SL-9.4');
  const added = changeOf({ ...rule, change: 'added', effect: 'alters', before: null, after: {} });
  const moved = changeOf({ ...rule, change: 'moved', effect: 'none', before: 3, after: 1 });
  const dropped = changeOf({ ...limit, change: 'removed', effect: 'loosens', after: null });
  expect(formatDiff(diffOf(limit, dropped, added, moved)).split('\n')).toEqual([
    '! rules[b].effect.budget.limit_calls: 5 → 10; the limit of calls is raised (loosens)',
    '! rules[b].effect.budget.limit_calls: 5 → –; the limit of calls is raised (loosens)',
    '~ rules[x]: the tag rule is added (alters)',
    '· rules[x]: place 3 → 1; the tag rule is added',
    '',
    '4 changes: 1 critical, 2 warn, 0 info; 1 loosens, 0 tighten.',
  ]);
});

it('the summary counts apart what both loosens and tightens', () => {
  const mixed = changeOf({ ...limit, effect: 'mixed' });
  const summary = { critical: 2, warn: 0, info: 0, loosens: 1, mixed: 1, tightens: 0 };
  const text = formatDiff({ changes: [limit, mixed], summary, same: false });
  expect(text).toContain('the limit of calls is raised (mixed)');
  expect(text).toContain('2 changes: 2 critical, 0 warn, 0 info; 1 loosens, 1 mixed, 0 tighten.');
});

it('the text makes hostile text harmless and long values short', () => {
  const path = 'rules[\u001b[2J].when';
  const text = formatDiff(diffOf(changeOf({ ...limit, path, after: `\u202e${'x'.repeat(500)}` })));
  expect(text).toContain('rules[\\u{1b}[2J].when');
  expect(text).toContain('\\u{202e}xxx');
  expect(text.length).toBeLessThan(400);
});
