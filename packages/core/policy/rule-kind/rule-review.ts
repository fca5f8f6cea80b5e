// How a kind of rule serves people who review a policy. No decision depends on it.
import type { Bundle, Rule } from '@subluminal/contracts';
import type { Path } from '../../source/problem.ts';
import type { Field } from '../changes/field.ts';
import type { Advice } from '../model/advice.ts';
import type { Tally } from '../model/trip.ts';

/** Methods, not function fields: a review is called with rules of its own kind only. */
export interface RuleReview<R extends Rule = Rule> {
  /** The fields of the effect, and which way their changes go. */
  readonly fields: readonly Field[];
  /** Gives advice on a rule that is valid, but may surprise its author. */
  lint?(rule: R, path: Path, bundle: Bundle): readonly Advice[];
  /** A count in words, for an explanation. */
  explainCount?(tally: Tally): string;
}

export function countWords({ count, limit }: Tally, unit: string): string {
  return `${count} of ${Number.isFinite(limit) ? limit : 'no limit'} ${unit}`;
}
