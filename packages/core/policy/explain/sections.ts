// What a policy has beside its rules. It looks at what calls and answers hold, and at what the run has
// read before: neither is known when a call is explained or replayed.
import { policiesIn, type Snapshot } from '../compile/snapshot.ts';

export type Section = 'content' | 'taint';

/** The sections of a policy that an explanation or a replay leaves out. */
export function sectionsOf(snapshot: Snapshot): readonly Section[] {
  const sections: readonly Section[] = ['content', 'taint'];
  const policies = policiesIn(snapshot);
  return sections.filter((name) => policies.some(({ document }) => document[name] !== undefined));
}

/** Says so; no line when there is nothing to say. */
export function sectionLines(sections: readonly Section[]): readonly string[] {
  if (sections.length === 0) return [];
  const named = sections.map((section) => `\`${section}\``).join(' and ');
  return ['', `Not evaluated here: ${named}, which may stop more.`];
}
