// Whether a client may ask its user in our place: only where nothing else can answer the question.
import type { HookInput } from '@subluminal/core/hooks';
import type { ClientSession } from './client-session.ts';

interface ClientQuestionsOptions {
  /** A file of the client's settings that could answer. */
  readonly answerer: (session: ClientSession) => string | undefined;
  /** Puts it on record. */
  readonly note: (text: string) => void;
}

const SESSIONS_MAX = 10_000;

export class ClientQuestions {
  readonly #options: ClientQuestionsOptions;
  /**
   * Whether only the user can answer, by session. It outlives the session and is never raised: what the agent runs
   * could send the end and the start of one.
   */
  readonly #isUsersAlone = new Map<string, boolean>();

  constructor(options: ClientQuestionsOptions) {
    this.#options = options;
  }

  /** Skills and sub-agents may bring along what answers in place of the user. */
  heard(session: ClientSession, { sender, event }: HookInput): void {
    const { question } = session.dialect;
    if (question === undefined) return;
    const isKnown = this.#isUsersAlone.has(session.id);
    if (!isKnown && this.#isUsersAlone.size >= SESSIONS_MAX) return;
    const isOpened = sender.subAgent !== undefined || question.isOpenedBy(event);
    // A session that was not seen from its start may have had any of it.
    const isSeen = isKnown || event.kind === 'session_start';
    if (!isSeen || isOpened) this.#isUsersAlone.set(session.id, false);
    else if (!isKnown) this.#isUsersAlone.set(session.id, !this.#hasAnswerer(session));
  }

  mayAsk(session: ClientSession): boolean {
    if (this.#isUsersAlone.get(session.id) !== true) return false;
    const isUsersAlone = !this.#hasAnswerer(session);
    this.#isUsersAlone.set(session.id, isUsersAlone);
    return isUsersAlone;
  }

  #hasAnswerer(session: ClientSession): boolean {
    const path = this.#options.answerer(session);
    if (path !== undefined) this.#options.note(`questions stay in the queue: ${path} could answer`);
    return path !== undefined;
  }
}
