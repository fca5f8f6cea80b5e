// Text as a reader, or a model, takes it: compatibility forms, look-alikes and accents brought to
// ASCII, what can't be seen dropped, Unicode tags decoded; and the way back to the original.
import { CONFUSABLES } from './rules/confusables.ts';
import type { Traced } from './trace.ts';
import { createTracer } from './trace.ts';

const NOT_ASCII = /[^\0-\x7f]+/g;
const TAG_MIN = 0xe_0020;
const TAG_MAX = 0xe_007e;
const TAG_BASE = 0xe_0000;
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u;
const SPACE = /^\p{Z}$/u;
const MARKS = /\p{M}+/gu;
const ASCII = /^[\0-\x7f]*$/;
/** Scripts that have nothing to fold: looking them up would cost and bring nothing. */
const PLAIN = /[\u3040-\u318f\u3400-\u4dbf\u4e00-\ua48f\uac00-\ud7a3]/;
const CACHE_MAX = 8_192;

const cache = new Map<string, string>();

/** The text with everything folded, or nothing when it is ASCII already. */
function fold(text: string): Traced | undefined {
  NOT_ASCII.lastIndex = 0;
  let done = 0;
  const tracer = createTracer();
  for (let run = NOT_ASCII.exec(text); run !== null; run = NOT_ASCII.exec(text)) {
    tracer.keep(text.slice(done, run.index), done);
    let at = run.index;
    for (const char of run[0]) {
      const folded = foldChar(char);
      if (folded === char) tracer.keep(char, at);
      else tracer.replace(folded, { start: at, end: at + char.length });
      at += char.length;
    }
    done = at;
  }
  if (done === 0) return undefined;
  tracer.keep(text.slice(done), done);
  return tracer.finish();
}

function foldChar(char: string): string {
  if (PLAIN.test(char)) return char;
  const known = cache.get(char);
  if (known !== undefined) return known;
  const folded = foldAnew(char);
  // A text of every character there is must not grow the process for good.
  if (cache.size >= CACHE_MAX) cache.clear();
  cache.set(char, folded);
  return folded;
}

function foldAnew(char: string): string {
  const point = char.codePointAt(0) ?? 0;
  if (point >= TAG_MIN && point <= TAG_MAX) return String.fromCharCode(point - TAG_BASE);
  if (UNSEEN.test(char)) return '';
  if (SPACE.test(char)) return ' ';
  const bare = char.normalize('NFKD').replace(MARKS, '');
  const read = Array.from(bare, (part) => CONFUSABLES.get(part) ?? part).join('');
  return ASCII.test(read) ? read : char.normalize('NFKC');
}

export { fold };
