// Rules that stand in another order. Order matters between an allow and what it lets pass, between
// a tag and what reads it, and between refusals of different kinds.
import type { Rule } from '@subluminal/contracts';
import { changeOf, combineEffects, type Effect, type PolicyChange, reversed } from './change.ts';
import { mayOverlap } from './names.ts';
import { isSteady, type Pairs, type RulePair, restricts } from './pairs.ts';

interface Placed {
  readonly pair: RulePair;
  readonly rule: Rule;
  readonly steady: boolean;
  /** Places in the two policies, from 0. */
  readonly before: number;
  readonly after: number;
}

/** Two rules that changed sides, and what that does. */
interface Flip {
  readonly upper: Placed;
  readonly lower: Placed;
  readonly effect: Effect;
}

function movesOf(pairs: Pairs): readonly PolicyChange[] {
  const placed = placedIn(pairs);
  const strays = outOfOrder(placed);
  if (strays.size === 0) return [];
  const owned = new Map<Placed, Flip[]>();
  const explained = new Set<Placed>();
  for (const flip of flipsOf(placed)) {
    for (const owner of ownersOf(flip, strays)) {
      const flips = owned.get(owner);
      if (flips === undefined) owned.set(owner, [flip]);
      else flips.push(flip);
    }
    explained.add(flip.upper).add(flip.lower);
  }
  return placed
    .filter((one) => owned.has(one) || (strays.has(one) && !explained.has(one)))
    .map((one) => moveOf(one, owned.get(one) ?? []));
}

function placedIn(pairs: Pairs): readonly Placed[] {
  const places = new Map(pairs.before.map((rule, place) => [rule.rule_id, place]));
  return pairs.after.flatMap((rule, after) => {
    const pair = pairs.byId.get(rule.rule_id);
    const before = places.get(rule.rule_id);
    if (pair === undefined || before === undefined) return [];
    return [{ pair, rule, steady: isSteady(pair), before, after }];
  });
}

/** The fewest rules that must have moved: all but the longest run that kept its order. */
function outOfOrder(placed: readonly Placed[]): ReadonlySet<Placed> {
  const tails: Placed[] = [];
  const previous = new Map<Placed, Placed | undefined>();
  for (const one of placed) {
    const found = tails.findIndex((tail) => tail.before >= one.before);
    const at = found === -1 ? tails.length : found;
    previous.set(one, tails[at - 1]);
    tails[at] = one;
  }
  const strays = new Set(placed);
  for (let kept = tails.at(-1); kept !== undefined; kept = previous.get(kept)) strays.delete(kept);
  return strays;
}

/** The pairs that changed sides where that matters. */
function flipsOf(placed: readonly Placed[]): readonly Flip[] {
  const flips: Flip[] = [];
  for (const [index, upper] of placed.entries()) {
    for (const lower of placed.slice(index + 1)) {
      if (upper.before < lower.before) continue;
      const effect = flipEffect(upper, lower);
      if (effect !== 'none') flips.push({ upper, lower, effect });
    }
  }
  return flips;
}

/** Both the old and the new rules may meet: what either would notice counts. */
function flipEffect(upper: Placed, lower: Placed): Effect {
  if (!upper.steady || !lower.steady) return 'none';
  return combineEffects([
    orderEffect(upper.pair.before, lower.pair.before),
    orderEffect(upper.pair.after, lower.pair.after),
  ]);
}

/** What it does that `upper` stands above `lower`, where it stood below. */
function orderEffect(upper: Rule, lower: Rule): Effect {
  const effect = effectIfBothMatch(upper, lower);
  return effect === 'none' || mayOverlap(upper.match, lower.match) ? effect : 'none';
}

function effectIfBothMatch(upper: Rule, lower: Rule): Effect {
  if (upper.kind === 'tag' || lower.kind === 'tag') {
    return combineEffects([
      upper.kind === 'tag' ? tagFirst(upper, lower) : 'none',
      lower.kind === 'tag' ? reversed(tagFirst(lower, upper)) : 'none',
    ]);
  }
  if (upper.kind === 'allow') return restricts(lower.kind) ? 'loosens' : 'none';
  if (lower.kind === 'allow') return 'tightens';
  return refusalsDiffer(upper, lower) ? 'alters' : 'none';
}

/** What a rule gains when a tag comes before it: more calls carry the class it looks for. */
function tagFirst(tag: Extract<Rule, { kind: 'tag' }>, reader: Rule): Effect {
  if (reader.when?.includes('risk_class')) return 'alters';
  const added = tag.effect.tag.add_risk_class;
  if (!reader.match.risk_class?.some((name) => added.includes(name))) return 'none';
  if (reader.kind === 'tag') return 'alters';
  return reader.kind === 'allow' ? 'loosens' : 'tightens';
}

/** Of two rules that refuse, the upper one chooses how; who asks a person gives way to both. */
function refusalsDiffer(upper: Rule, lower: Rule): boolean {
  if (upper.kind === 'approval' || lower.kind === 'approval') return upper.kind === lower.kind;
  return actionOf(upper) !== actionOf(lower);
}

function actionOf(rule: Rule): string {
  switch (rule.kind) {
    case 'budget':
      return rule.effect.budget.on_exceed;
    case 'rate_limit':
      return rule.effect.rate_limit.on_limit;
    case 'breaker':
      return rule.effect.breaker.on_trip;
    case 'dedupe':
      return rule.effect.dedupe.on_duplicate;
    case 'deny':
      return rule.effect.hint === undefined ? 'BLOCK' : 'REJECT_WITH_HINT';
    default:
      return 'ALLOW';
  }
}

/** Which rule a flip is told of: the one whose meaning changed, else the one that moved. */
function ownersOf({ upper, lower }: Flip, strays: ReadonlySet<Placed>): readonly Placed[] {
  const pair = [upper, lower];
  const tags = pair.filter(({ rule }) => rule.kind === 'tag');
  if (tags.length > 0) return tags;
  const allows = pair.filter(({ rule }) => rule.kind === 'allow');
  return allows.length > 0 ? allows : pair.filter((one) => strays.has(one));
}

function moveOf(one: Placed, flips: readonly Flip[]): PolicyChange {
  const { rule, before, after } = one;
  return changeOf({
    path: `rules[${rule.rule_id}]`,
    rule_id: rule.rule_id,
    change: 'moved',
    effect: combineEffects(flips.map(({ effect }) => effect)),
    summary: `the ${rule.kind} rule ${partnersOf(one, flips)}`,
    before: before + 1,
    after: after + 1,
  });
}

function partnersOf(one: Placed, flips: readonly Flip[]): string {
  const [first] = flips;
  if (first === undefined) return 'stands elsewhere, which changes nothing';
  const above = first.upper === one;
  const partner = above ? first.lower : first.upper;
  const more = flips.length > 1 ? ` (${flips.length - 1} more changed sides)` : '';
  return `now stands ${above ? 'above' : 'below'} \`${partner.rule.rule_id}\`${more}`;
}

export { movesOf };
