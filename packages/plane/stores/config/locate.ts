// Where a key stands in a TOML file. The parser keeps no positions, so this looks again, line by
// line; what it cannot find, it places at the nearest table it could.

export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

const WORD = String.raw`(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')`;
const NAME = String.raw`${WORD}(?:[ \t]*\.[ \t]*${WORD})*`;
const TABLE = new RegExp(String.raw`^([ \t]*\[{1,2}[ \t]*)(${NAME})[ \t]*\]{1,2}`);
const KEY = new RegExp(String.raw`^([ \t]*)(${NAME})[ \t]*=`);
const LINES_MAX = 100_000;

/**
 * Lines and columns count from 1. An element of a list of tables stands in the path by its index,
 * from 0.
 */
export function locate(text: string, path: readonly string[]): TextPlace {
  const lists = new Map<string, number>();
  let table: readonly string[] = [];
  let best: TextPlace = { line: 1, column: 1 };
  let bestRank = 0;
  for (const [index, line] of text.split('\n', LINES_MAX).entries()) {
    const header = TABLE.exec(line);
    const match = header ?? KEY.exec(line);
    if (match === null) continue;
    const [, indent = '', name = ''] = match;
    const words = wordsOf(name);
    if (header !== null) table = opened(words, indent.includes('[['), lists);
    const here = header === null ? [...table, ...words] : table;
    // What stands inside of a table or a list is its place too, where it has no line of its own.
    const known = here.slice(0, path.length);
    const rank = 2 * known.length + (here.length <= path.length ? 1 : 0);
    if (rank > bestRank && known.every((word, at) => word === path[at])) {
      best = { line: index + 1, column: indent.length + 1 };
      bestRank = rank;
    }
  }
  return best;
}

/** The path of a table; `[[name]]` opens the next element of a list, and later names go into it. */
function opened(words: readonly string[], isElement: boolean, lists: Map<string, number>) {
  const path: string[] = [];
  for (const [at, word] of words.entries()) {
    path.push(word);
    const key = JSON.stringify(path);
    const isLast = at === words.length - 1;
    if (isLast && isElement) lists.set(key, (lists.get(key) ?? -1) + 1);
    const index = lists.get(key);
    if (index !== undefined) path.push(String(index));
  }
  return path;
}

function wordsOf(name: string): readonly string[] {
  const words = name.match(new RegExp(WORD, 'g')) ?? [];
  return words.map((word) => (/^["']/.test(word) ? word.slice(1, -1) : word));
}
