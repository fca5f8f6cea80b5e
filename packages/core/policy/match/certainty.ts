// What a rule does with arguments that can be read in more than one way.
import type { RuleRole } from '../model/rule-role.ts';

/** `maybe`: some ways to read the arguments match and some don't, or they can't be read at all. */
export type Certainty = 'yes' | 'no' | 'maybe';

/** Doubt counts against the call: a rule that lets calls pass does not match, one that stops them does. */
export function settled(certainty: Certainty, role: RuleRole): 'yes' | 'no' | 'in_doubt' {
  if (certainty !== 'maybe') return certainty;
  if (role === 'allows') return 'no';
  // A class may serve both rules that let calls pass and rules that stop them.
  return role === 'tags' ? 'in_doubt' : 'yes';
}

/** One that surely matches is enough. */
export function anyOf<T>(items: Iterable<T>, judge: (item: T) => Certainty): Certainty {
  let found: Certainty = 'no';
  for (const item of items) {
    const one = judge(item);
    if (one === 'yes') return 'yes';
    if (one === 'maybe') found = 'maybe';
  }
  return found;
}

/** One that surely does not match is enough for a no. */
export function allOf<T>(items: Iterable<T>, judge: (item: T) => Certainty): Certainty {
  return negated(anyOf(items, (item) => negated(judge(item))));
}

/** All agree, or nobody knows. */
export function agreed(all: readonly Certainty[], whenEmpty: Certainty): Certainty {
  const [first = whenEmpty] = all;
  return all.every((one) => one === first) ? first : 'maybe';
}

export function negated(certainty: Certainty): Certainty {
  if (certainty === 'maybe') return 'maybe';
  return certainty === 'yes' ? 'no' : 'yes';
}
