// Whether a client may ask its user in our place: only where nothing else can answer the question.
import type { HookInput } from '@subluminal/core/hooks';
import type { ClientSession } from './client-session.ts';

interface ClientQuestionsOptions {
  /** A file of the client's settings that could answer. */
  readonly answerer: (session: ClientSession) => string | undefined;
  /** Puts it on record. */
  readonly note: (text: string) => void;
}

export class ClientQuestions {
  readonly #options: ClientQuestionsOptions;

  constructor(options: ClientQuestionsOptions) {
    this.#options = options;
  }

  /** Skills and sub-agents may bring along what answers in place of the user. */
  heard(session: ClientSession, { sender, event }: HookInput): void {
    const { question } = session.dialect;
    if (question === undefined) return;
    if (event.kind === 'session_start') session.isUsersAlone = !this.#hasAnswerer(session);
    if (sender.subAgent !== undefined || question.isOpenedBy(event)) session.isUsersAlone = false;
  }

  mayAsk(session: ClientSession): boolean {
    if (session.isUsersAlone && this.#hasAnswerer(session)) session.isUsersAlone = false;
    return session.isUsersAlone;
  }

  #hasAnswerer(session: ClientSession): boolean {
    const path = this.#options.answerer(session);
    if (path !== undefined) this.#options.note(`questions stay in the queue: ${path} could answer`);
    return path !== undefined;
  }
}
