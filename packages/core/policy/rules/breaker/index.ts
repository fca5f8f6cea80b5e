// `breaker`: stops calls that keep failing, or that keep coming again.
import type { RuleOf } from '@subluminal/contracts';
import { countWords, type RuleKind } from '../../rule-kind/rule-kind.ts';
import { checkBreaker } from './check.ts';
import {
  type BreakerSlot,
  breakerLimits,
  countBreaker,
  recordError,
  reportTrip,
} from './decide.ts';
import { BREAKER_FIELDS } from './diff.ts';

export const breaker: RuleKind<RuleOf<'breaker'>, BreakerSlot> = {
  role: 'counts',
  actionField: 'on_trip',
  examples: {
    breaker: '{ scope: run, error_threshold: 5, window_ms: 60000, on_trip: BLOCK }',
    scope: 'run',
    window_ms: '60000',
    on_trip: 'BLOCK',
  },
  check: checkBreaker,
  /** It has two reasons of its own, so it takes none by default. */
  normalize: (rule) => {
    const { breaker: section } = rule.effect;
    if (section.on_trip !== 'TERMINATE_RUN') return rule;
    const full = { terminate_code: 'BREAKER_TRIPPED', ...section };
    return { ...rule, effect: { ...rule.effect, breaker: full } };
  },
  tables: breakerLimits,
  decide: countBreaker,
  failed: recordError,
  countsAcrossServers: ({ effect }) => {
    const { scope, error_threshold } = effect.breaker;
    return scope === 'tool' || (scope === 'run' && error_threshold !== undefined);
  },
  explainCount: (tally) => countWords(tally, 'towards tripping'),
  report: reportTrip,
  fields: BREAKER_FIELDS,
};
