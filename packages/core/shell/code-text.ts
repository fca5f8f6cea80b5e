// Code in other languages: the paths that it names, and whether it does more than filter text.

const LITERALS_MAX = 64;
const LITERAL = /(["'`])((?:(?!\1)[^\\\n]|\\.){1,512})\1/g;
/** A text that may be a file: it has a slash, begins with a dot, or ends like the name of a file. */
const PATHISH = /^(?:[^\s<>|;]*\/[^\s<>|;]*|\.[\w.-]+|~[^\s]*|[\w.-]+\.[A-Za-z]\w{0,7})$/;
/** Names that awk runs programs and reaches other files by; a text or an expression may hide none of them. */
const OUTSIDE_NAME = /\b(?:system|getline|close|ARGV|ARGC)\b/;
const OUTSIDE = /(?<!\|)\|(?!\|)|\bprintf?\b[^};]*>|@/;
/** An expression stands where no value has just ended: `1/2` is a division. */
const QUOTED =
  /"(?:[^"\\\n]|\\.)*"|(?<=(?:^|[({,;!~&|?:=\n]|\b(?:print|return|in))\s{0,8})\/(?:[^/\\\n]|\\.)*\//g;
/** A division or an expression; a slash inside of brackets ends it for some and not for others. */
const UNSURE = /\)\s{0,8}\/|\[[^\]\n]{0,64}\//;

/** The texts between quotes that look like paths or addresses. */
export function literalPaths(code: string): readonly string[] {
  const found = new Set<string>();
  for (const [, , text = ''] of code.matchAll(LITERAL)) {
    if (found.size >= LITERALS_MAX) break;
    if (PATHISH.test(text)) found.add(text);
  }
  return [...found];
}

/** Whether a script of awk may do more than print what it reads. */
export function awkReachesOutside(given: string): boolean {
  const script = given.replaceAll('\\\n', ' ');
  if (OUTSIDE_NAME.test(script) || (UNSURE.test(script) && script.includes('"'))) return true;
  return OUTSIDE.test(script.replace(QUOTED, '""'));
}
