// What a task carries to servers of others once the model knows what is the user's own: words that the user has not
// said may come from there. Which of them do cannot be known, since they can be encoded; how much there is can.
import { leavesOf } from '@subluminal/core/taint';
import { LOCAL_SERVERS, type OutgoingCall } from './recipients.ts';

/** A call of the task that may have left, with what was answered. */
interface EarlierCall extends OutgoingCall {
  readonly result: string | null;
}

export interface CarriedQuestion {
  readonly call: OutgoingCall;
  /** The calls of the task so far, in their order; also those that failed, which have left all the same. */
  readonly before: readonly EarlierCall[];
  /** Servers whose answers the model knows from elsewhere: earlier tasks, who has started it, its memory. */
  readonly knownServers: readonly string[];
  /** What the user said in this conversation. */
  readonly userWords: readonly string[];
}

/** Servers of our own whose answers hold nothing of the user's. */
const PUBLIC: ReadonlySet<string> = new Set([
  ...['', 'web', 'reminders', 'skills', 'servers', 'toolsmith', 'config', 'agents'],
]);
/** Servers of our own that send nothing, or whose messages a person sees. */
const OURS: ReadonlySet<string> = new Set([
  // A registry is somebody else's.
  ...LOCAL_SERVERS.filter((server) => server !== 'servers'),
  ...['email', 'calendar', 'shell'],
]);
/** A name and a place, but no password and no sentence. */
const UNSAID_MAX = 16;
/** Known words can be put into an order that says something else: each of them is a choice. */
const CHOICES_MAX = 40;
/** What was told to be asked for, such as a link, is one of many. */
const QUOTED_CHOICES = 4;
const LIMITS = { charsMax: 1_048_576, nodesMax: 10_000 };
const PARTS = /[\p{L}\p{N}]+|[^\p{L}\p{N}]+/gu;
const WORD = /^[\p{L}\p{N}]/u;
/** Parts of every address. */
const IDLE: readonly string[] = ['http', 'https', 'www'];

/** Why a person should look first; undefined when the user has said nearly all of it. */
export function carriedProblem(question: CarriedQuestion): string | undefined {
  const { call, before, knownServers } = question;
  if (OURS.has(call.server)) return undefined;
  // What a server has told may go back to it.
  const isPrivate = (server: string) => !PUBLIC.has(server) && server !== call.server;
  const isKnown = knownServers.some(isPrivate);
  const first = isKnown ? 0 : before.findIndex(({ server }) => isPrivate(server));
  if (first === -1) return undefined;
  const outside = before.slice(first).filter(({ server }) => !OURS.has(server));
  const { unsaid, choices } = carriedBy([...outside, call], question);
  if (unsaid <= UNSAID_MAX && choices <= CHOICES_MAX) return undefined;
  return `This task knows private data, and ${call.server} would get words that the user has not said.`;
}

interface Carried {
  /** Characters of words that the user has not said. */
  readonly unsaid: number;
  readonly choices: number;
}

function carriedBy(
  calls: readonly OutgoingCall[],
  { userWords, before }: CarriedQuestion,
): Carried {
  const said = userWords.join('\n');
  const known = new Set([...IDLE, ...partsOf(said).map((part) => part.toLowerCase())]);
  const seen = new Set<string>();
  let [unsaid, choices] = [0, 0];
  for (const call of calls) {
    const answers = answersBefore(call, before);
    for (const { text } of leavesOf(call.args, LIMITS).leaves) {
      if (seen.has(text)) continue;
      seen.add(text);
      if (isSaid(said, text)) choices += 1;
      else if (answers.some((answer) => answer.includes(text))) choices += QUOTED_CHOICES;
      else {
        const carried = carriedIn(text, known);
        unsaid += carried.unsaid;
        choices += carried.choices;
      }
    }
  }
  return { unsaid, choices };
}

/** What the same server has told before: to ask for a link that it has shown is no news to it. */
function answersBefore(call: OutgoingCall, before: readonly EarlierCall[]): readonly string[] {
  const at = before.findIndex((one) => one === call);
  return before
    .slice(0, at === -1 ? before.length : at)
    .flatMap(({ server, result }) => (server === call.server && result !== null ? [result] : []));
}

function isSaid(said: string, text: string): boolean {
  return said.includes(text) || (text === text.toLowerCase() && said.toLowerCase().includes(text));
}

/** Adds its words to those that are known: what was carried once is no news, but when it comes again may be. */
function carriedIn(text: string, known: Set<string>): Carried {
  let [unsaid, choices] = [0, 0];
  for (const part of partsOf(text)) {
    const word = part.toLowerCase();
    if (!WORD.test(part)) choices += part === '://' ? 0 : part.length - 1;
    else if (known.has(word)) choices += isPlain(part) ? 1 : part.length;
    else {
      known.add(word);
      unsaid += part.length;
    }
  }
  return { unsaid, choices };
}

function partsOf(text: string): readonly string[] {
  return text.match(PARTS) ?? [];
}

/** Not in letters of both cases at will. */
function isPlain(word: string): boolean {
  const rest = word.slice(1);
  return rest === rest.toLowerCase() || word === word.toUpperCase();
}
