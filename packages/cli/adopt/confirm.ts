// Asks the person in front of the terminal; whoever says nothing has said no.
import { type Failure, failure } from '../failure.ts';
import type { Io } from '../io.ts';

const ANSWER_LENGTH_MAX = 64;

interface Question {
  readonly io: Io;
  readonly text: string;
  /** The answer was given with the command. */
  readonly isYes: boolean;
}

async function confirmed({ io, text, isYes }: Question): Promise<boolean | Failure> {
  if (isYes) return true;
  if (!io.stdinIsTerminal || !io.err.isTerminal) {
    const message = 'there is nobody to ask: this is no terminal.';
    return failure('SUB_USAGE', message, 'Add --yes to do it, or --dry-run to look only.');
  }
  io.err.write(`${text} [y/N] `);
  return /^\s*y(?:es)?\s*$/i.test(await firstLine(io.stdin));
}

/** The end of the input is an answer, too: no. */
async function firstLine(input: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of input) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('\n') || text.length > ANSWER_LENGTH_MAX) break;
  }
  return text.split('\n', 1)[0] ?? '';
}

export { confirmed };
