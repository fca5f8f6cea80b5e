// Judges what would leave: to whom, how much, and whether it looks like what such a call is for. It knows no more than
// it is given, and may only tighten: a person is asked, and a secret of Steward itself goes nowhere.
import { visible } from '@subluminal/core/visible';
import type { Judgement } from '@subluminal/plane/agent-run';
import { type CarriedQuestion, carriedProblem } from './carried-words.ts';
import { contentProblem } from './content-problem.ts';
import { type KnownPeople, knownPeople, type StewardContacts } from './known-people.ts';
import { personalProblem } from './personal-problem.ts';
import { type Outgoing, type OutgoingCall, outgoingOf } from './recipients.ts';

export interface EgressQuestion extends OutgoingCall, Omit<CarriedQuestion, 'call'> {
  readonly contacts: StewardContacts;
  /** Hosts that may be reached without being named: `example.com`, `*.example.com`, `*`. */
  readonly hosts: readonly string[];
  readonly limits: EgressLimits;
  /** Whether a text shows a secret that Steward itself uses. */
  readonly holdsSecret: (text: string) => boolean;
  /** What was sent in the last day. */
  readonly recent: readonly SentMessage[];
  readonly nowMs: number;
}

export interface EgressLimits {
  readonly messages_per_hour: number;
  readonly messages_per_day: number;
  readonly new_recipients_per_day: number;
  readonly body_chars: number;
}

export interface SentMessage {
  readonly atMs: number;
  readonly recipients: readonly string[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const SHOWN_MAX = 3;
const SHOWN_LENGTH_MAX = 80;

export function judgeEgress(question: EgressQuestion): Judgement {
  if (question.holdsSecret(JSON.stringify(question.args))) {
    const reason = 'It holds a secret that Steward uses itself.';
    return { by: 'egress', verdict: 'BLOCK', reason };
  }
  const outgoing = outgoingOf(question);
  const people = knownPeople(question);
  const problem =
    unseenProblem(outgoing) ??
    recipientProblem(outgoing, people) ??
    volumeProblem(question, outgoing, people) ??
    carriedProblem({ ...question, call: question }) ??
    personalProblem(outgoing, question.userWords) ??
    contentProblem(outgoing, question.limits.body_chars);
  if (problem !== undefined) {
    return { by: 'egress', verdict: 'ESCALATE_TO_HUMAN', reason: problem };
  }
  return { by: 'egress', verdict: 'ALLOW', reason: 'Nothing about what leaves is odd.' };
}

/** What to remember of a call that was sent; undefined for one that reaches nobody. */
export function sentMessage(call: OutgoingCall, atMs: number): SentMessage | undefined {
  const { recipients, isMessage } = outgoingOf(call);
  if (!isMessage) return undefined;
  return { atMs, recipients: [...new Set(recipients.map(({ value }) => value))] };
}

function unseenProblem({ isWhole }: Outgoing): string | undefined {
  return isWhole ? undefined : 'The arguments are too large to be looked at.';
}

function recipientProblem({ recipients }: Outgoing, people: KnownPeople): string | undefined {
  const unknown = recipients.filter((recipient) => !people.isKnown(recipient));
  if (unknown.length === 0) return undefined;
  const shown = unknown.slice(0, SHOWN_MAX).map(({ value }) => visible(value, SHOWN_LENGTH_MAX));
  const more = unknown.length > SHOWN_MAX ? ` and ${unknown.length - SHOWN_MAX} more` : '';
  return `The user has not named ${shown.join(', ')}${more}, and no contact has it.`;
}

function volumeProblem(
  { recent, limits, nowMs }: EgressQuestion,
  { isMessage, recipients }: Outgoing,
  people: KnownPeople,
): string | undefined {
  if (!isMessage) return undefined;
  const since = (ms: number) => recent.filter(({ atMs }) => atMs > nowMs - ms);
  const hour = since(HOUR_MS).length;
  const day = since(DAY_MS);
  if (hour >= limits.messages_per_hour) return `${hour} messages were sent in the last hour.`;
  if (day.length >= limits.messages_per_day) return `${day.length} messages were sent in a day.`;
  const values = [
    ...day.flatMap((sent) => sent.recipients),
    ...recipients.map(({ value }) => value),
  ];
  const fresh = new Set(values.filter((value) => !people.isContact(value)));
  if (fresh.size <= limits.new_recipients_per_day) return undefined;
  return `${fresh.size} recipients of a day are no contacts.`;
}
