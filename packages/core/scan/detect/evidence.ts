// Adds the evidence up. One order may be an accident of wording; several different ones near each other
// are not. The weight of each piece of evidence stands beside its pattern.
import type { Range } from '../types.ts';
import type { Phrase } from './phrase.ts';

/** A phrase that was found, with its weight where it stands. */
export interface Evidence extends Range {
  readonly phrase: Phrase;
  readonly weight: number;
  /** Where it is only set off: its weight without that, and whether its sentence says what to do. */
  readonly setOff?: { readonly weight: number; readonly acts: boolean };
}

/** How near to each other two pieces of evidence support each other. */
const REACH = 320;
/** So many neighbours on either side are enough to tell. */
const NEIGHBOURS_MAX = 32;
const LIKELY = 2;
const CERTAIN = 3;
/** The sum of different evidence from which on nobody writes it by accident. */
const CERTAIN_SUM = 4;
/** Evidence that says what to do: a recipient, an address, a tool, a secret, silence. */
const ACTIONS: ReadonlySet<string> = new Set(
  `asks-for-secrets exfiltration-image exfiltration-link exfiltration-request keep-from-user
   redirected-recipient tool-order`.split(/\s+/),
);

/** Each piece of evidence with what it is worth together with its neighbours of other kinds. */
export function addUp(found: readonly Evidence[]): readonly Evidence[] {
  const sorted = found.toSorted((left, right) => left.start - right.start);
  let first = 0;
  return sorted.map((one, index) => {
    if (!isSupported(one) && one.setOff === undefined) return one;
    while ((sorted[first]?.end ?? 0) < one.start - REACH) first++;
    const from = Math.max(first, index - NEIGHBOURS_MAX);
    const near = sorted
      .slice(from, index + NEIGHBOURS_MAX + 1)
      .filter(({ start }) => start <= one.end + REACH);
    const weight =
      one.setOff === undefined
        ? sumOf(near.filter(isSupported))
        : setOffWeight(near, one.setOff.weight);
    return { ...one, weight: Math.max(one.weight, weight) };
  });
}

/** What evidence of different kinds is worth together; nothing more for one kind. */
function sumOf(near: readonly Evidence[]): number {
  const kinds = new Map<string, number>();
  for (const { phrase, weight, setOff } of near) {
    const most = Math.max(kinds.get(phrase.id) ?? 0, weight, setOff?.weight ?? 0);
    kinds.set(phrase.id, most);
  }
  if (kinds.size < 2) return 0;
  const sum = [...kinds.values()].reduce((total, weight) => total + weight, 0);
  return sum >= CERTAIN_SUM ? CERTAIN : sum >= LIKELY ? LIKELY : 1;
}

/**
 * A list, a fence and a few words about attacks are made by whoever writes the text. An order among
 * them that says what to do is worth one step less, and not nothing.
 */
function setOffWeight(near: readonly Evidence[], own: number): number {
  const counted = near.filter((one) => isSupported(one) || one.setOff !== undefined);
  const acts = counted.some(
    ({ phrase, setOff }) => ACTIONS.has(phrase.id) || setOff?.acts === true,
  );
  return acts ? Math.min(LIKELY, Math.max(own, sumOf(counted))) : 0;
}

/** A mention has no weight left to add. */
function isSupported({ phrase, weight }: Evidence): boolean {
  return phrase.isEvidence === true && weight > 0;
}
