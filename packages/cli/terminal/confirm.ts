// Asks the person in front of the terminal; whoever says nothing has said no.
import { type Failure, failure } from '@subluminal/contracts';
import type { Io } from './io.ts';

export interface Asker {
  /** Whether the answer is yes. */
  readonly ask: (question: string) => Promise<boolean | Failure>;
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

/** With `isYes` nobody is asked. */
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
        // The end of the input is an answer, too: no. It leaves the cursor behind the question.
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
        const message = 'there is nobody to ask: this is no terminal.';
        return failure('SUB_USAGE', message, 'Add --yes to do it, or --dry-run to look only.');
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
    close: async () => {
      await input?.return?.();
    },
  };
}
