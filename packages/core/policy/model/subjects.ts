// What rules may see besides the calls of tools, by the method of the request.
import type { Match } from '@subluminal/contracts';

export type RuleSubject = NonNullable<Match['subjects']>[number];
/** The subject of a call that is no call of a tool. */
export type CallSubject = Exclude<RuleSubject, 'tool'>;
/** What a server is asked for besides its tools; governed only where a rule asks for it. */
export type OtherSubject = Exclude<CallSubject, 'turn'>;

/** A rule sees the method as the name of the tool, and the params as arguments. */
const METHODS: { readonly [S in OtherSubject]: string } = {
  resource: 'resources/read',
  prompt: 'prompts/get',
};
const SUBJECTS: ReadonlyMap<string, OtherSubject> = new Map([
  [METHODS.resource, 'resource'],
  [METHODS.prompt, 'prompt'],
]);

export function subjectOf(method: string): OtherSubject | undefined {
  return SUBJECTS.get(method);
}

/** Whether a rule is for turns. Such a rule sees nothing else. */
export function isForTurns({ subjects }: Match): boolean {
  return subjects?.includes('turn') === true;
}

export function methodOf(subject: OtherSubject): string {
  return METHODS[subject];
}
