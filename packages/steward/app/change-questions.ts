// Asks about proposed changes on the channel of the request. The page and the commands decide about the same changes.
import { type Failure, isFailure } from '@subluminal/contracts';
import { harmless } from '@subluminal/core/visible';
import { errorText } from '@subluminal/plane/os';
import type { ChannelDesk, ChatPerson, Confirmation } from '../channels/index.ts';
import type { ProposalView } from '../proposals/index.ts';
import type { ChangeRecord, ChangeSet, ChangeView } from '../staging/index.ts';
import type { ChangeDesks } from './change-handlers.ts';

export interface ChangeQuestionParts {
  readonly desks: ChangeDesks;
  readonly channels: Pick<ChannelDesk, 'ask' | 'reply'>;
  /** Who asked for what this run does; undefined where nobody is on a channel. */
  readonly personOf: (runId: string) => ChatPerson | undefined;
  readonly nowMs: () => number;
  readonly log: (line: string) => void;
}

type ChangeAnswer = Parameters<Parameters<ChannelDesk['ask']>[2]>[0];
interface AskedChange {
  readonly end: (words: string) => Promise<void>;
  readonly timer: NodeJS.Timeout;
}

/** Of a proposal, with what is said of it. */
type AskedView = ChangeView & Partial<Pick<ProposalView, 'loosens' | 'notes'>>;

const ANSWER_MS = 5 * 60_000;
const AGAIN_MS = 24 * 60 * 60_000;
const DIFF_LENGTH_MAX = 100_000;
const LONG_LINE = /[^\n]{1900}/;
const LATER = 'Nobody answered in time. It stays open:';

export class ChangeQuestions {
  readonly #parts: ChangeQuestionParts;
  readonly #open = new Map<string, AskedChange>();
  /** One after the other: a change that grows ends its first question before the next is asked. */
  #last: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(parts: ChangeQuestionParts) {
    this.#parts = parts;
  }

  /** A change was proposed, or has grown. */
  proposed(set: ChangeSet): void {
    this.#inTurn(() => this.#ask(set));
  }

  /** After a restart the buttons of earlier questions are dead. What is older waits in `sub steward review`. */
  resume(): void {
    const { desks, nowMs } = this.#parts;
    const sets = [...desks.files.list(), ...desks.proposals.list()];
    const isAsked = ({ state, proposed_at_ms }: ChangeSet) =>
      state === 'open' && proposed_at_ms > nowMs() - AGAIN_MS;
    const asked = sets
      .filter(isAsked)
      .toSorted((left, right) => left.proposed_at_ms - right.proposed_at_ms);
    for (const set of asked) this.proposed(set);
  }

  /** It was decided, here or elsewhere. */
  decided({ change: { id, state, by } }: ChangeRecord): void {
    this.#inTurn(() => this.#end(id, `${state.replaceAll('_', ' ')} by ${by}.`));
  }

  /** Does not wait for a question under way: its channel may be away, and is stopped next. */
  stop(): void {
    this.#isStopped = true;
    for (const { timer } of this.#open.values()) clearTimeout(timer);
  }

  #inTurn(work: () => Promise<void>): void {
    const next = this.#last.then(() => (this.#isStopped ? undefined : work()));
    this.#last = next.catch((cause: unknown) => this.#failed(cause));
  }

  #failed(cause: unknown): void {
    this.#parts.log(`A proposed change: ${errorText(cause)}.`);
  }

  async #ask(set: ChangeSet): Promise<void> {
    const { channels, personOf, nowMs, log } = this.#parts;
    const { id } = set;
    const person = personOf(set.run_id);
    if (person === undefined) return;
    await this.#end(id, 'There is more to it now; see below.');
    const view = await this.#show(id);
    if (isFailure(view)) return log(view.message);
    const confirmation = changeQuestion(view, nowMs() + ANSWER_MS);
    const asked = await channels.ask(person, confirmation, (answer) => {
      this.#decide(id, person, answer).catch((cause: unknown) => this.#failed(cause));
      return answer.state === 'approved' ? 'It is being done.' : 'It is being dropped.';
    });
    if (isFailure(asked)) return log(asked.message);
    const late = () => this.#inTurn(() => this.#end(id, `${LATER} sub steward review show ${id}`));
    this.#open.set(id, { end: asked.end, timer: setTimeout(late, ANSWER_MS).unref() });
  }

  async #end(id: string, words: string): Promise<void> {
    const question = this.#open.get(id);
    if (question === undefined) return;
    this.#open.delete(id);
    clearTimeout(question.timer);
    await question.end(words);
  }

  /** That it was decided is told by its record; here only why it was not. */
  async #decide(id: string, person: ChatPerson, answer: ChangeAnswer): Promise<void> {
    const { state, by, channel, sha256 } = answer;
    const { files, proposals } = this.#parts.desks;
    const seen = { id, sha256, by, channel };
    const isProposal = this.#isProposal(id);
    const approve = () => (isProposal ? proposals.merge(seen) : files.approve(seen));
    const reject = () => (isProposal ? proposals : files).reject({ id, by, channel });
    const done = await (state === 'approved' ? approve() : reject());
    if (isFailure(done)) await this.#parts.channels.reply(person, `${done.message} ${done.fix}`);
  }

  #isProposal(id: string): boolean {
    return this.#parts.desks.proposals.list().some((set) => set.id === id);
  }

  async #show(id: string): Promise<AskedView | Failure> {
    const { files, proposals } = this.#parts.desks;
    return this.#isProposal(id) ? proposals.show(id) : files.show(id);
  }
}

function changeQuestion(
  { set, sha256, files, loosens = [], notes = [] }: AskedView,
  expiresAtMs: number,
): Confirmation {
  const { id, why } = set;
  return {
    ...{ id, sha256, expiresAtMs },
    title: 'May I change this?',
    lines: [
      ...(why === '' ? [] : [`Why: ${harmless(why.replaceAll(/\s+/g, ' '))}`]),
      ...loosens.map((line) => `It loosens: ${line}`),
      ...notes,
      // A diff is safe to print as it is.
      ...files.flatMap(({ diff }) => diff.trimEnd().split('\n')).map((line) => `│ ${line}`),
    ],
    isWhole: files.every(isShownWhole),
    showCommand: `sub steward review show ${id}`,
  };
}

/** A binary file is not in its diff, and long lines and long diffs are cut there. */
function isShownWhole({ texts, diff }: ChangeView['files'][number]): boolean {
  if (texts === undefined || diff.length >= DIFF_LENGTH_MAX) return false;
  return !LONG_LINE.test(texts.before) && !LONG_LINE.test(texts.after);
}
