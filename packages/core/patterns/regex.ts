// Regular expressions from users: RE2 syntax, matched in linear time whatever the pattern.
// Loaded only when a bundle has one.
import { RE2JS } from 're2js';
import type { NameTest } from './glob.ts';
import { regexSize } from './regex-size.ts';

export type RegexResult =
  | { readonly ok: true; readonly test: NameTest; readonly find: Find }
  | { readonly ok: false; readonly message: string };

/** Where an expression matches, from the left, without overlaps. */
type Find = (text: string) => readonly { readonly start: number; readonly end: number }[];

/** Linear time still means time per instruction: `(a|b){1,1000}` fits, sixty of them do not. */
const PROGRAM_SIZE_MAX = 5_000;
/** Compiling takes time as well, so what would get too large is refused before. */
const REPEATS_MAX = 8;
const REPEATS_SUM_MAX = 1_000;
/** An estimate may be too high by half. */
const PARTS_MAX = 8_000;
const FOUND_MAX = 10_000;
const TOO_LARGE = 'the expression is too large; use smaller repetitions';

/**
 * Compiles an expression that is searched anywhere in the text, unless it is anchored. In a name,
 * `.` stands for every character: a deny on `^shell_.*$` must not be escaped by a line break.
 */
export function compileRegex(source: string, subject: 'name' | 'text' = 'name'): RegexResult {
  const repeats = source.match(/\{\d+,?\d*\}/g) ?? [];
  if (repeats.length > REPEATS_MAX) {
    return { ok: false, message: `more than ${REPEATS_MAX} counted repetitions` };
  }
  const size = regexSize(source);
  if (size.parts > PARTS_MAX || size.repeats > REPEATS_SUM_MAX) {
    return { ok: false, message: TOO_LARGE };
  }
  try {
    const compiled = RE2JS.compile(source, subject === 'name' ? RE2JS.DOTALL : 0);
    if (compiled.programSize() > PROGRAM_SIZE_MAX) {
      return { ok: false, message: TOO_LARGE };
    }
    return {
      ok: true,
      test: (text) => compiled.test(text),
      find: (text) => rangesOf(compiled, text),
    };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return { ok: false, message: message.replace(/^error parsing regexp: /, '') };
  }
}

function rangesOf(compiled: RE2JS, text: string): ReturnType<Find> {
  const matcher = compiled.matcher(text);
  const found: { start: number; end: number }[] = [];
  while (found.length < FOUND_MAX && matcher.find()) {
    // Nothing at all matches many an expression, and is nothing to take out.
    if (matcher.end() > matcher.start()) found.push({ start: matcher.start(), end: matcher.end() });
  }
  return found;
}
