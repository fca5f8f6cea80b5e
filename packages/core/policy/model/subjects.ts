// What rules may see besides the calls of tools, by the method of the request.
import type { Match } from '@subluminal/contracts';

export type RuleSubject = NonNullable<Match['subjects']>[number];
/** What is governed only where a rule asks for it. */
export type OtherSubject = Exclude<RuleSubject, 'tool'>;

/** A rule sees the method as the name of the tool, and the params as arguments. */
const SUBJECTS: ReadonlyMap<string, OtherSubject> = new Map([
  ['resources/read', 'resource'],
  ['prompts/get', 'prompt'],
]);

export function subjectOf(method: string): OtherSubject | undefined {
  return SUBJECTS.get(method);
}
