// Questions that wait for a person on a channel, and what a press or a typed answer does to them.
import type { ButtonPress, ChatPerson, Confirmation } from '../shared/types.ts';
import { randomCode } from './pairing-codes.ts';

export interface PersonAnswer {
  readonly state: 'approved' | 'rejected';
  readonly by: string;
  readonly channel: string;
  /** What was seen. */
  readonly sha256: string;
}

export interface OpenQuestion {
  readonly code: string;
  readonly person: ChatPerson;
  readonly confirmation: Confirmation;
  /** What the one who answered is told. */
  readonly decide: (answer: PersonAnswer) => string;
}

export type PressResult =
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'details'; readonly question: OpenQuestion }
  /** Somebody has pressed who may not. */
  | { readonly kind: 'foreign'; readonly text: string };

const CODE_LENGTH = 6;
const OPEN_MAX = 300;
const TYPED = /^\s*(approve|reject|details)\s+([a-z0-9]{6})\s*[.!]?\s*$/i;

const GONE = 'This question is not open any more. Nothing was decided.';
const FOREIGN = 'Only the person who asked for this may decide it. Nothing was decided.';
const LATE = 'Too late: the time for an answer is over. Nothing was done.';

export class Questions {
  readonly #open = new Map<string, OpenQuestion>();

  newCode(): string {
    for (;;) {
      const code = randomCode(CODE_LENGTH);
      if (!this.#open.has(code)) return code;
    }
  }

  add(question: OpenQuestion): void {
    const [oldest] = this.#open.keys();
    if (this.#open.size >= OPEN_MAX && oldest !== undefined) this.#open.delete(oldest);
    this.#open.set(question.code, question);
  }

  /** The question about this approval or proposal is over. */
  remove(id: string): void {
    for (const [code, { confirmation }] of this.#open) {
      if (confirmation.id === id) this.#open.delete(code);
    }
  }

  press(press: ButtonPress, known: { readonly isKnown: boolean; readonly nowMs: number }) {
    const question = this.#open.get(press.code.toUpperCase());
    if (question === undefined) return answered(GONE);
    const { person, confirmation, decide } = question;
    const isTheirs =
      known.isKnown &&
      person.channel === press.channel &&
      person.conversation === press.conversation &&
      person.sender === press.sender;
    if (!isTheirs) return { kind: 'foreign', text: FOREIGN } as const;
    if (confirmation.expiresAtMs <= known.nowMs) return answered(LATE);
    if (press.verdict === 'details') return { kind: 'details', question } as const;
    if (press.verdict === 'approve' && !confirmation.isWhole) {
      const { showCommand } = confirmation;
      return answered(`Not all of it was shown here, so decide it on the machine: ${showCommand}`);
    }
    const state = press.verdict === 'approve' ? 'approved' : 'rejected';
    const name = press.senderName === '' ? '' : ` (${press.senderName.slice(0, 80)})`;
    const by = `${press.channel}:${press.sender}${name}`;
    const { sha256 } = confirmation;
    return answered(decide({ state, by, channel: press.channel, sha256 }));
  }
}

/** An answer that is typed, as it must be where there are no buttons. */
export function typedAnswer(text: string): Pick<ButtonPress, 'code' | 'verdict'> | undefined {
  const [, word = '', code] = TYPED.exec(text) ?? [];
  const verdict = word.toLowerCase();
  if (code === undefined) return undefined;
  if (verdict !== 'approve' && verdict !== 'reject' && verdict !== 'details') return undefined;
  return { verdict, code: code.toUpperCase() };
}

function answered(text: string): PressResult {
  return { kind: 'answered', text };
}
