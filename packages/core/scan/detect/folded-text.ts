// Text as a reader, or a model, takes it: compatibility forms, look-alikes and accents brought to
// ASCII, what can't be seen dropped, Unicode tags decoded; and the way back to the original.
import { foldChar } from '../text/look-alikes.ts';
import { type Traced, Tracer } from '../text/traced-text.ts';

const NOT_ASCII = /[^\0-\x7f]+/g;

/** The text with everything folded, or nothing when it stays as it is. */
export function fold(text: string): Traced | undefined {
  NOT_ASCII.lastIndex = 0;
  let done = 0;
  let isChanged = false;
  const tracer = new Tracer();
  for (let run = NOT_ASCII.exec(text); run !== null; run = NOT_ASCII.exec(text)) {
    tracer.keep(text.slice(done, run.index), done);
    let at = run.index;
    for (const char of run[0]) {
      const folded = foldChar(char);
      if (folded === char) tracer.keep(char, at);
      else {
        tracer.replace(folded, { start: at, end: at + char.length });
        isChanged = true;
      }
      at += char.length;
    }
    done = at;
  }
  if (!isChanged) return undefined;
  tracer.keep(text.slice(done), done);
  return tracer;
}
