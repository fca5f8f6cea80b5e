// Asks the person in front of the terminal; whoever says nothing has said no.
import { type Failure, failure } from '../failure.ts';
import type { Io } from '../io.ts';

interface Asker {
  /** Whether the answer is yes. */
  readonly ask: (question: string) => Promise<boolean | Failure>;
  /** An input that is still read would keep the process. */
  readonly close: () => Promise<void>;
}

const LINE_LENGTH_MAX = 1_024;

/** With `isYes` nobody is asked. */
function asker(io: Io, isYes: boolean): Asker {
  const decoder = new TextDecoder();
  let input: AsyncIterator<Uint8Array, unknown> | undefined;
  let text = '';
  const nextLine = async (): Promise<string> => {
    input ??= io.stdin[Symbol.asyncIterator]();
    while (!text.includes('\n') && text.length <= LINE_LENGTH_MAX) {
      const step = await input.next();
      // The end of the input is an answer, too: no.
      if (step.done === true) break;
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
      io.err.write(`${question} [y/N] `);
      return /^\s*y(?:es)?\s*$/i.test(await nextLine());
    },
    close: async () => {
      await input?.return?.();
    },
  };
}

export type { Asker };
export { asker };
