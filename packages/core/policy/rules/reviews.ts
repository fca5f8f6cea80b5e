// The registry of what only people read about rule kinds: lint, diff and explanations. It stands apart from
// `index.ts` so that a shim, which only decides, loads none of it.
import type { RuleKindName, RuleOf } from '@subluminal/contracts';
import type { RuleReview } from '../rule-kind/rule-review.ts';
import { allowReview } from './allow/review.ts';
import { approvalReview } from './approval/review.ts';
import { breakerReview } from './breaker/review.ts';
import { budgetReview } from './budget/review.ts';
import { dedupeReview } from './dedupe/review.ts';
import { denyReview } from './deny/review.ts';
import { rateLimitReview } from './rate_limit/review.ts';
import { tagReview } from './tag/review.ts';

export const RULE_REVIEWS: { readonly [K in RuleKindName]: RuleReview<RuleOf<K>> } = {
  allow: allowReview,
  deny: denyReview,
  budget: budgetReview,
  rate_limit: rateLimitReview,
  breaker: breakerReview,
  dedupe: dedupeReview,
  approval: approvalReview,
  tag: tagReview,
};

const byName: { readonly [K in RuleKindName]: RuleReview } = RULE_REVIEWS;

export function ruleReview(name: RuleKindName): RuleReview {
  return byName[name];
}
