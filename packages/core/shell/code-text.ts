// Code in other languages: the paths that it names, and whether it does more than filter text.

const LITERALS_MAX = 64;
const LITERAL = /(["'`])((?:(?!\1)[^\\\n]|\\.){1,512})\1/g;
/** A text that may be a file: it has a slash, begins with a dot, or ends like the name of a file. */
const PATHISH = /^(?:[^\s<>|;]*\/[^\s<>|;]*|\.[\w.-]+|~[^\s]*|[\w.-]+\.[A-Za-z]\w{0,7})$/;
/** What awk uses to run programs and to reach other files. */
const OUTSIDE =
  /\b(?:system|getline|close)\b|(?<!\|)\|(?!\|)|\bprintf?\b[^\n};]*>|@(?:load|include)/;
const QUOTED = /"(?:[^"\\\n]|\\.)*"|\/(?:[^/\\\n]|\\.)*\//g;

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
export function awkReachesOutside(script: string): boolean {
  return OUTSIDE.test(script.replace(QUOTED, '""'));
}
