// Waits for a login: for the browser to come back to this machine, or for a person to paste where it ended.
import { type Failure, failure } from '@subluminal/contracts';
import type { StartedLogin } from '@subluminal/plane/oauth';
import type { Person } from '../secrets/ask-person.ts';
import type { Io } from '../terminal/io.ts';

const PASTED_LENGTH_MAX = 16_384;

interface AnswerWay {
  readonly io: Io;
  readonly person: Person | undefined;
  readonly timeoutMs: number;
  /** Whether an address may be pasted. */
  readonly takesPaste: boolean;
}

export async function awaitAnswer(
  login: StartedLogin,
  { io, person, timeoutMs, takesPaste }: AnswerWay,
): Promise<URLSearchParams | Failure> {
  const signal = AbortSignal.timeout(timeoutMs);
  const back = login.redirected(signal);
  if (!takesPaste) return back;
  // The end of the input is no answer: the browser may still come back.
  const pasted = readPasted(io, person).then((text) =>
    text === '' ? back : pastedAnswer(login, text),
  );
  return Promise.race([back, pasted]);
}

async function readPasted(io: Io, person: Person | undefined): Promise<string> {
  if (person !== undefined) return (await person.shown('Paste that address here: ')).trim();
  let text = '';
  for await (const chunk of io.stdin) {
    text += Buffer.from(chunk).toString('latin1');
    if (text.includes('\n') || text.length > PASTED_LENGTH_MAX) break;
  }
  return (text.split('\n', 1)[0] ?? '').trim();
}

/** The whole address that the browser ended at, its query, or the code alone where that is enough. */
function pastedAnswer(login: StartedLogin, text: string): URLSearchParams | Failure {
  if (text.length > PASTED_LENGTH_MAX) return unusable();
  if (URL.canParse(text)) return new URL(text).searchParams;
  if (/^\??[\w.~-]+=/.test(text)) return new URLSearchParams(text.replace(/^\?/, ''));
  return (/\s/.test(text) ? undefined : login.answerOf(text)) ?? unusable();
}

function unusable(): Failure {
  const fix = 'Paste the whole address that the browser ended at, which begins with http://.';
  return failure('SUB_AUTH_RESPONSE', 'what was pasted is no answer to the login.', fix);
}
