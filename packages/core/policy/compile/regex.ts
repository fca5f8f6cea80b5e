// Regular expressions from users: RE2 syntax, matched in linear time whatever the pattern.
// Loaded only when a bundle has one.
import { RE2JS } from 're2js';
import type { NameTest } from './glob.ts';

type RegexResult =
  | { readonly ok: true; readonly test: NameTest }
  | { readonly ok: false; readonly message: string };

/** Linear time still means time per instruction: `(a|b){1,1000}` fits, sixty of them do not. */
const PROGRAM_SIZE_MAX = 5_000;
/** The size is known only after compiling, so what could explode is refused before. */
const REPEATS_MAX = 8;

/** Compiles an expression that is searched anywhere in the text, unless it is anchored. */
function compileRegex(source: string): RegexResult {
  const repeats = source.match(/\{\d+,?\d*\}/g) ?? [];
  if (repeats.length > REPEATS_MAX) {
    return { ok: false, message: `more than ${REPEATS_MAX} counted repetitions` };
  }
  try {
    const compiled = RE2JS.compile(source);
    if (compiled.programSize() > PROGRAM_SIZE_MAX) {
      return { ok: false, message: 'the expression is too large; use smaller repetitions' };
    }
    return { ok: true, test: (text) => compiled.test(text) };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return { ok: false, message: message.replace(/^error parsing regexp: /, '') };
  }
}

export type { RegexResult };
export { compileRegex };
