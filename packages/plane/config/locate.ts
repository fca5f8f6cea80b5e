// Where a key stands in a TOML file. The parser keeps no positions, so this looks again, line by
// line; what it cannot find, it places at the nearest table it could.

interface Place {
  readonly line: number;
  readonly column: number;
}

const WORD = String.raw`(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')`;
const NAME = String.raw`${WORD}(?:[ \t]*\.[ \t]*${WORD})*`;
const TABLE = new RegExp(String.raw`^([ \t]*\[{1,2}[ \t]*)(${NAME})[ \t]*\]{1,2}`);
const KEY = new RegExp(String.raw`^([ \t]*)(${NAME})[ \t]*=`);
const LINES_MAX = 100_000;

/** Lines and columns count from 1. */
function locate(text: string, path: readonly string[]): Place {
  let table: readonly string[] = [];
  let best: Place = { line: 1, column: 1 };
  let bestLength = 0;
  for (const [index, line] of text.split('\n', LINES_MAX).entries()) {
    const header = TABLE.exec(line);
    const match = header ?? KEY.exec(line);
    if (match === null) continue;
    const [, indent = '', name = ''] = match;
    const words = wordsOf(name);
    if (header !== null) table = words;
    const here = header === null ? [...table, ...words] : words;
    const isPrefix = here.every((word, at) => word === path[at]);
    if (isPrefix && here.length > bestLength) {
      best = { line: index + 1, column: indent.length + 1 };
      bestLength = here.length;
    }
  }
  return best;
}

function wordsOf(name: string): readonly string[] {
  const words = name.match(new RegExp(WORD, 'g')) ?? [];
  return words.map((word) => (/^["']/.test(word) ? word.slice(1, -1) : word));
}

export type { Place };
export { locate };
