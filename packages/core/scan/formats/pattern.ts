// A rule that is a regular expression. Every pattern is anchored at its keyword (sticky), has no
// quantifier inside a quantifier, and what follows an open-ended run can't be part of the run.
import type { KeywordPlace, Match, Rule } from '../types.ts';

export interface PatternRule {
  readonly name: string;
  readonly keywords: readonly string[];
  readonly anyCase?: boolean;
  /** The pattern begins with `EDGE`: a keyword inside of a word begins no secret. */
  readonly edge?: boolean;
  /**
   * From the keyword on. Group 1, where there is one, is the secret and the rest is kept; a group
   * `before`, in a look to the left, is what the secret begins with.
   */
  readonly pattern: string;
  /** What a cut text may end with; `$` is added. */
  readonly cut?: string;
  /** The keyword may stand often in one run of these, and only its first place counts. */
  readonly run?: string;
}

/** A cut secret is looked for only this close to the end, except by rules with a `run`. */
const CUT_WINDOW = 1_024;

export function patternRule(format: PatternRule): Rule {
  const { name, keywords, anyCase = false, edge = false } = format;
  const flags = anyCase ? 'dyi' : 'dy';
  const head = edge ? EDGE : '';
  const pattern = lazy(head + format.pattern, flags);
  const cut = format.cut === undefined ? undefined : lazy(`${head}(?:${format.cut})$`, flags);
  const run = format.run === undefined ? undefined : lazy(format.run, 'dy');
  const match = (place: KeywordPlace): Match | undefined =>
    execAt(pattern(), place) ??
    (isCut(place, run !== undefined) ? execAt(cut?.(), place) : undefined);
  const looksBack = format.pattern.includes('(?<=');
  const rule = { name, keywords, anyCase, edge, looksBack, match };
  return run === undefined
    ? rule
    : { ...rule, missedTo: (place) => execAt(run(), place)?.end ?? 0 };
}

/** Compiled on first use: most patterns are never tried, and a start-up should not wait for them. */
function lazy(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => (pattern ??= new RegExp(source, flags));
}

function isCut({ text, at, truncated }: KeywordPlace, anywhere: boolean): boolean {
  return truncated && (anywhere || text.length - at <= CUT_WINDOW);
}

function execAt(pattern: RegExp | undefined, { text, at }: KeywordPlace): Match | undefined {
  if (pattern === undefined) return undefined;
  pattern.lastIndex = at;
  const indices = pattern.exec(text)?.indices;
  const whole = indices?.[0];
  if (whole === undefined) return undefined;
  const before = indices?.groups?.['before'];
  if (before !== undefined) return { start: before[0], end: whole[1], readTo: whole[1] };
  const [start, end] = indices?.find((span, group) => group > 0 && span !== undefined) ?? whole;
  return { start, end, readTo: whole[1] };
}

export interface Token {
  readonly name: string;
  /** What the token begins with. */
  readonly prefixes: readonly string[];
  /** A class of characters, as regular expressions write it. */
  readonly chars: string;
  readonly lengthMin: number;
  /** The prefix is so telling that it counts inside of words as well. */
  readonly anywhere?: boolean;
}

/** A prefix and a run of characters of at least some length. */
export function tokenRule({ name, prefixes, chars, lengthMin, anywhere = false }: Token): Rule {
  const head = `(?:${prefixes.map(escaped).join('|')})`;
  return patternRule({
    name,
    keywords: prefixes,
    edge: !anywhere,
    pattern: `${head}${chars}{${lengthMin},}`,
    cut: `${head}${chars}{1,${lengthMin}}`,
  });
}

const escaped = (text: string) => text.replaceAll(/[.]/g, String.raw`\.`);

// What several formats are put together from, in the syntax of regular expressions.

const raw = String.raw;
export const ALNUM = '[A-Za-z0-9]';
export const WORD = raw`[\w-]`;
/** JSON writers may escape the slash. */
export const SLASH = raw`\\{0,7}/`;
/** Where a token may begin: not inside a word, but right behind an escape or a colour. */
export const EDGE = raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\[[\d;]{0,8}m)|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))`;
/** Between a key and its value: quotes at any depth of JSON in JSON, and the sign. */
export const BECOMES = raw`\\{0,7}["']?\s{0,4}[:=]\s{0,4}\\{0,7}["']?`;
// Two dashes end the body, so that a run of opening lines is read once.
const PEM_BODY = raw`(?:[A-Za-z0-9+/=\s:,.()#*|>]|\\+(?=[nrtu])|-(?!-)){0,32768}`;
export const PEM = raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----${PEM_BODY}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`;
