// `dedupe`: stops a call that has passed a moment ago.
import type { RuleOf } from '@subluminal/contracts';
import { type RuleKind, withReason } from '../../rule-kind/rule-kind.ts';
import { checkDuplicate, type DedupeSlot, dedupeLimits, markPassed } from './decide.ts';
import { DEDUPE_FIELDS } from './diff.ts';
import { matchesReads } from './lint.ts';

export const dedupe: RuleKind<RuleOf<'dedupe'>, DedupeSlot> = {
  role: 'counts',
  actionField: 'on_duplicate',
  examples: {
    dedupe: '{ scope: run, window_ms: 60000, key: args_hash, on_duplicate: BLOCK }',
    scope: 'run',
    window_ms: '60000',
    key: 'args_hash',
    on_duplicate: 'BLOCK',
  },
  normalize: (rule) => ({ ...rule, effect: withReason(rule.effect, 'DUPLICATE_CALL') }),
  lint: matchesReads,
  tables: (rule) => ({ seen: dedupeLimits(rule) }),
  decide: checkDuplicate,
  passed: markPassed,
  countsAcrossServers: ({ effect }) => effect.dedupe.scope === 'tool',
  explainCount: () => 'the same call has not passed within its window',
  fields: DEDUPE_FIELDS,
};
