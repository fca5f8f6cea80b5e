// Asks the person at the terminal; no answer means no.
import { type Failure, failure } from '@subluminal/contracts';
import type { Io } from './io.ts';

export interface Asker {
  /** Whether the answer is yes. */
  readonly ask: (question: string) => Promise<boolean | Failure>;
  /** Something was changed before: Ctrl-C then says that nothing more was. */
  readonly noteChange: () => void;
  /** An input that is still read would keep the process. */
  readonly close: () => Promise<void>;
}

/** What Ctrl-C does while a question is open. */
export interface Interrupts {
  /** Gives the way to stop listening. */
  readonly listen: (onInterrupt: () => void) => () => void;
  /** Ends this process as the signal would have. */
  readonly die: () => void;
}

const OF_PROCESS: Interrupts = {
  listen: (onInterrupt) => {
    process.once('SIGINT', onInterrupt);
    return () => process.off('SIGINT', onInterrupt);
  },
  die: () => process.kill(process.pid, 'SIGINT'),
};

const LINE_LENGTH_MAX = 1_024;

/** With `isYes`, every answer is yes. */
export function asker(io: Io, isYes: boolean, interrupts: Interrupts = OF_PROCESS): Asker {
  const decoder = new TextDecoder();
  let input: AsyncIterator<Uint8Array, unknown> | undefined;
  let text = '';
  let hasAgreed = false;
  const nextLine = async (): Promise<string> => {
    input ??= io.stdin[Symbol.asyncIterator]();
    while (!text.includes('\n') && text.length <= LINE_LENGTH_MAX) {
      const step = await input.next();
      if (step.done === true) {
        // The end of the input means no. The cursor is still behind the question.
        io.err.write('\n');
        break;
      }
      text += decoder.decode(step.value, { stream: true });
    }
    const [line = ''] = text.split('\n', 1);
    text = text.slice(line.length + 1);
    return line;
  };
  return {
    ask: async (question) => {
      if (isYes) return true;
      if (!io.stdinIsTerminal || !io.err.isTerminal) {
        return failure('SUB_USAGE', 'not a terminal, cannot ask.', 'Use --yes or --dry-run.');
      }
      const ignore = interrupts.listen(() => {
        const what = hasAgreed ? 'nothing more' : 'nothing';
        io.err.write(`\nsub: ${what} was changed.\n`);
        interrupts.die();
      });
      try {
        io.err.write(`${question} [y/N] `);
        const answer = /^\s*y(?:es)?\s*$/i.test(await nextLine());
        hasAgreed ||= answer;
        return answer;
      } finally {
        ignore();
      }
    },
    noteChange: () => {
      hasAgreed = true;
    },
    close: async () => {
      await input?.return?.();
    },
  };
}

/** A failure when there is no terminal to ask on and no --yes. */
export function cannotAsk(io: Io, isYes: boolean): Failure | undefined {
  if (isYes || (io.stdinIsTerminal && io.err.isTerminal)) return undefined;
  return failure('SUB_USAGE', 'not a terminal, cannot ask.', 'Add --yes.');
}

/** Asks one question. */
export async function confirm(
  question: string,
  io: Io,
  isYes: boolean,
): Promise<boolean | Failure> {
  const person = asker(io, isYes);
  try {
    return await person.ask(question);
  } finally {
    await person.close();
  }
}
