// Finds the calls of `verifies` in a test source, and whether a test that runs makes them.
import { isMark, isWord, lex, type Token } from './lex.ts';

export interface Source {
  readonly path: string;
  readonly text: string;
}

export interface Citation {
  readonly path: string;
  readonly line: number;
  readonly ids: readonly string[];
  /** False when an argument is not a plain string, so that some id can't be known. */
  readonly readable: boolean;
  /** Only a citation inside a test that runs shows anything. */
  readonly place: 'test' | 'skipped' | 'outside';
}

/** A call such as `it.each(rows)('name', body)`: its tokens, and whether its body runs. */
interface Chain {
  readonly from: number;
  readonly to: number;
  readonly isTest: boolean;
  readonly runs: boolean;
}

/** What a name does when called: declare a test or a group, and whether that ever runs. */
interface Declarer {
  readonly isTest: boolean;
  readonly runs: boolean;
}

interface Code {
  readonly tokens: readonly Token[];
  /** From each opening bracket to its closing one. */
  readonly closes: ReadonlyMap<number, number>;
}

const VITEST: readonly (readonly [string, Declarer])[] = [
  ['it', { isTest: true, runs: true }],
  ['test', { isTest: true, runs: true }],
  ['describe', { isTest: false, runs: true }],
  ['suite', { isTest: false, runs: true }],
];

/** A test marked `fails` runs, but what it shows is that the requirement does not hold. */
const OFF = new Set(['skip', 'todo', 'fails']);

export function citationsOf(source: Source): readonly Citation[] {
  const tokens = lex(source.text);
  const code: Code = { tokens, closes: pairBrackets(tokens) };
  const chains = chainsOf(code, declarersOf(code));
  const found: Citation[] = [];
  for (const [index, token] of tokens.entries()) {
    if (!isWord(token, 'verifies') || !isMark(tokens[index + 1], '(')) continue;
    const before = tokens[index - 1];
    if (isMark(before, '.') || isWord(before, 'function')) continue;
    const line = source.text.slice(0, token.at).split('\n').length;
    const cited = readIds(code, index + 1);
    found.push({ path: source.path, line, ...cited, place: placeOf(index, chains) });
  }
  return found;
}

function readIds(code: Code, open: number): Pick<Citation, 'ids' | 'readable'> {
  const args = code.tokens.slice(open + 1, closeOf(code, open));
  const ids = args.filter(({ kind }) => kind === 'text').map(({ value }) => value);
  const plain = args.every((token) => token.kind === 'text' || isMark(token, ','));
  return { ids, readable: plain && ids.length > 0 };
}

function placeOf(index: number, chains: readonly Chain[]): Citation['place'] {
  const around = chains.filter(({ from, to }) => from < index && index <= to);
  if (around.some(({ runs }) => !runs)) return 'skipped';
  return around.some(({ isTest }) => isTest) ? 'test' : 'outside';
}

/** The names that declare tests here: vitest's own, and those made from them. */
function declarersOf(code: Code): ReadonlyMap<string, Declarer> {
  const declarers = new Map(VITEST);
  for (const [index, token] of code.tokens.entries()) {
    const name = code.tokens[index + 1];
    if (name?.kind !== 'word') continue;
    const known = code.tokens[index - 1];
    const renamed = isWord(token, 'as') && known !== undefined && declarers.get(known.value);
    const made =
      isWord(token, 'const') && isMark(code.tokens[index + 2], '=')
        ? declarerMadeAt(code, index + 3, declarers)
        : undefined;
    const declarer = renamed || made;
    if (declarer) declarers.set(name.value, declarer);
  }
  return declarers;
}

/** Reads `it.skip`, `it.skipIf(x)` or `x ? it : it.skip` on the right of a `const`. */
function declarerMadeAt(
  code: Code,
  from: number,
  declarers: ReadonlyMap<string, Declarer>,
): Declarer | undefined {
  const parts: Chain[] = [];
  let at = from;
  while (at < code.tokens.length && !isMark(code.tokens[at], ';')) {
    const chain = chainAt(code, at, declarers);
    if (chain !== undefined) parts.push(chain);
    at = (chain?.to ?? code.closes.get(at) ?? at) + 1;
  }
  const [first] = parts;
  return first && { isTest: first.isTest, runs: parts.some(({ runs }) => runs) };
}

function chainsOf(code: Code, declarers: ReadonlyMap<string, Declarer>): readonly Chain[] {
  return code.tokens.flatMap((_, index) => chainAt(code, index, declarers) ?? []);
}

function chainAt(
  code: Code,
  from: number,
  declarers: ReadonlyMap<string, Declarer>,
): Chain | undefined {
  const { tokens } = code;
  const root = tokens[from];
  if (root?.kind !== 'word' || isMark(tokens[from - 1], '.')) return undefined;
  const declarer = declarers.get(root.value);
  if (declarer === undefined) return undefined;
  let { runs } = declarer;
  let member = '';
  let at = from + 1;
  while (at < tokens.length) {
    if (isMark(tokens[at], '.')) {
      member = tokens[at + 1]?.value ?? '';
      if (OFF.has(member)) runs = false;
      at += 2;
    } else if (isMark(tokens[at], '(')) {
      if (callIsOff(code, at, member)) runs = false;
      at = closeOf(code, at) + 1;
    } else {
      // The table of `it.each` may be a tagged template, and its rows may have a type.
      const isTemplate = tokens[at]?.kind === 'text' || tokens[at]?.kind === 'opaque';
      const end = isTemplate ? at : typeArgumentsEnd(code, at);
      if (end === undefined) break;
      at = end + 1;
    }
  }
  return { from, to: at - 1, isTest: declarer.isTest, runs };
}

/** `skipIf(true)`, `runIf(false)`, or the options `{ skip: true }` as the second argument. */
function callIsOff(code: Code, open: number, member: string): boolean {
  const { tokens } = code;
  const close = closeOf(code, open);
  const only = close === open + 2 ? tokens[open + 1] : undefined;
  if (member === 'skipIf') return isWord(only, 'true');
  if (member === 'runIf') return isWord(only, 'false');
  let at = open + 1;
  while (at < close && !isMark(tokens[at], ',')) at = (code.closes.get(at) ?? at) + 1;
  if (!isMark(tokens[at + 1], '{')) return false;
  const options = tokens.slice(at + 2, closeOf(code, at + 1));
  return options.some(
    ({ value }, index) =>
      OFF.has(value) && isMark(options[index + 1], ':') && isWord(options[index + 2], 'true'),
  );
}

/** The `>` of `it.each<Row>`; an arrow inside the types is not it. */
function typeArgumentsEnd(code: Code, from: number): number | undefined {
  if (!isMark(code.tokens[from], '<')) return undefined;
  let depth = 0;
  let at = from;
  while (at < code.tokens.length && !isMark(code.tokens[at], ';')) {
    if (isMark(code.tokens[at], '<')) depth += 1;
    if (isMark(code.tokens[at], '>') && !isMark(code.tokens[at - 1], '=')) depth -= 1;
    if (depth === 0) return at;
    at = (code.closes.get(at) ?? at) + 1;
  }
  return undefined;
}

function pairBrackets(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const closes = new Map<number, number>();
  const open: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'mark') continue;
    if ('([{'.includes(token.value)) open.push(index);
    const opener = ')]}'.includes(token.value) ? open.pop() : undefined;
    if (opener !== undefined) closes.set(opener, index);
  }
  return closes;
}

/** A bracket that never closes reaches to the end. */
function closeOf(code: Code, open: number): number {
  return code.closes.get(open) ?? code.tokens.length;
}
