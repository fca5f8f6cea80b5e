// A rule that is a regular expression. Every pattern is anchored at its keyword (sticky), has no
// quantifier inside a quantifier, and what follows an open-ended run can't be part of the run.
import type { Match, Place, Rule } from './types.ts';

interface PatternRule {
  readonly name: string;
  readonly keywords: readonly string[];
  readonly anyCase?: boolean;
  /** From the keyword on; group 1, where there is one, is the secret and the rest is kept. */
  readonly pattern: string;
  /** What a cut text may end with; `$` is added. */
  readonly cut?: string;
  /** The keyword may stand often in one run of these, and only its first place counts. */
  readonly run?: string;
}

/** A cut secret is looked for only this close to the end, except by rules with a `run`. */
const CUT_WINDOW = 1_024;

/** Where a token may begin: not inside a word, but right behind an escape. */
const EDGE = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))`;

function patternRule({ name, keywords, anyCase = false, ...sources }: PatternRule): Rule {
  const flags = anyCase ? 'dyi' : 'dy';
  const pattern = lazy(sources.pattern, flags);
  const cut = sources.cut === undefined ? undefined : lazy(`(?:${sources.cut})$`, flags);
  const run = sources.run === undefined ? undefined : lazy(sources.run, 'dy');
  const match = (place: Place): Match | undefined =>
    execAt(pattern(), place) ??
    (isCut(place, run !== undefined) ? execAt(cut?.(), place) : undefined);
  return run === undefined
    ? { name, keywords, anyCase, match }
    : { name, keywords, anyCase, match, missedTo: (place) => execAt(run(), place)?.end ?? 0 };
}

/** Most patterns are never asked; a start-up should not wait for them. */
function lazy(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => (pattern ??= new RegExp(source, flags));
}

function isCut({ text, at, truncated }: Place, anywhere: boolean): boolean {
  return truncated && (anywhere || text.length - at <= CUT_WINDOW);
}

function execAt(pattern: RegExp | undefined, { text, at }: Place): Match | undefined {
  if (pattern === undefined) return undefined;
  pattern.lastIndex = at;
  const indices = pattern.exec(text)?.indices;
  const whole = indices?.[0];
  if (whole === undefined) return undefined;
  const [start, end] = indices?.find((span, group) => group > 0 && span !== undefined) ?? whole;
  return { start, end, readTo: whole[1] };
}

interface TokenRule {
  readonly name: string;
  /** What the token begins with, in the pattern's syntax. */
  readonly prefix: string;
  readonly keywords: readonly string[];
  readonly chars: string;
  readonly lengthMin: number;
  /** The prefix is common inside of words. */
  readonly edge?: boolean;
}

/** A prefix and a run of characters of at least some length. */
function tokenRule({ name, prefix, keywords, chars, lengthMin, edge = false }: TokenRule): Rule {
  const head = `${edge ? EDGE : ''}(?:${prefix})`;
  return patternRule({
    name,
    keywords,
    pattern: `${head}${chars}{${lengthMin},}`,
    cut: `${head}${chars}{1,${lengthMin}}`,
  });
}

export { EDGE, patternRule, tokenRule };
