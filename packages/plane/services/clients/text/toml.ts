// TOML with positions: smol-toml says what the values are, our scanner where they stand, and what
// the two don't agree on is refused.
import { parse, TomlError } from 'smol-toml';
import { sameData } from './plain-data.ts';
import {
  type KeySeparators,
  type KeySpan,
  LIMITS,
  makeList,
  makeTable,
  type TableNode,
  type TextNode,
  TextSyntaxError,
  tooDeep,
  tooManyValues,
} from './tree.ts';

const OPTIONS = { integersAsBigInt: 'asNeeded', maxDepth: LIMITS.depthMax } as const;

/** Throws `TextSyntaxError`. */
export function readToml(text: string): { root: TextNode; value: unknown } {
  // First, because it bounds the depth. Of all else that is wrong the parser tells more.
  const scanned = scanToml(text);
  if (scanned instanceof TextSyntaxError && scanned.reason === 'limit') throw scanned;
  const value = parseToml(text);
  if (scanned instanceof TextSyntaxError) throw scanned;
  if (!hasShape(scanned, value)) throw unclear(0);
  return { root: scanned, value };
}

function parseToml(text: string): unknown {
  const shift = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  try {
    return parse(text.slice(shift), OPTIONS);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    // Without the lines of the file that the parser shows.
    const [first = ''] = cause.message.split('\n', 1);
    const words = first.replace(/^Invalid TOML document: /, '').replace(/\.$/, '');
    const above = text.slice(shift).split('\n', cause.line - 1);
    const lineStart = above.reduce((sum, line) => sum + line.length + 1, shift);
    const complaint = `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
    throw new TextSyntaxError(complaint, lineStart + cause.column - 1);
  }
}

/** Whether the tree has the keys and lengths of the value; both are of bounded depth. */
function hasShape(node: TextNode, value: unknown): boolean {
  const isNested = typeof value === 'object' && value !== null && !(value instanceof Date);
  if (node.kind === 'scalar') return !isNested;
  if (!isNested) return false;
  if (node.kind === 'list') {
    if (!Array.isArray(value) || value.length !== node.items.length) return false;
    return node.items.every((item, index) => hasShape(item, value[index]));
  }
  if (Array.isArray(value)) return false;
  const entries = Object.entries(value);
  if (entries.length !== node.members.size) return false;
  return entries.every(([key, inner]) => {
    const member = node.members.get(key);
    return member !== undefined && hasShape(member.node, inner);
  });
}

/** Whether a piece of text, read alone, is this value. */
export function standsAlone(piece: string, value: unknown): boolean {
  try {
    const read = parse(`x = ${piece}`, OPTIONS);
    return Object.keys(read).length === 1 && sameData(read['x'], value);
  } catch (cause) {
    if (cause instanceof TomlError) return false;
    throw cause;
  }
}

// Finds where the keys and values of a TOML text stand. It checks no more than it needs to find its
// way: whether the text is right, and what it means, is the parser's to say.

interface TomlScan {
  readonly text: string;
  at: number;
  values: number;
}

interface DottedKey {
  readonly parts: readonly string[];
  readonly start: number;
  readonly lastStart: number;
  readonly end: number;
}

/** A table to put keys in, and how deep it lies. */
interface TablePosition {
  readonly table: TableNode;
  readonly depth: number;
}

function scanToml(text: string): TableNode | TextSyntaxError {
  const scan: TomlScan = { text, at: text.charCodeAt(0) === 0xfeff ? 1 : 0, values: 0 };
  const root = makeTable();
  let here: TablePosition = { table: root, depth: 0 };
  try {
    for (;;) {
      scan.at = skipBlank(text, scan.at);
      if (scan.at >= text.length) return root;
      if (text[scan.at] === '[') here = scanHeader(scan, root);
      else scanPair(scan, here, undefined);
      scan.at = skipSpace(text, scan.at);
      if (!/^[\r\n#]?$/.test(text.charAt(scan.at))) throw unclear(scan.at);
    }
  } catch (cause) {
    if (!(cause instanceof TextSyntaxError)) throw cause;
    return cause;
  }
}

/** A header, or a key with its value: where it stands, and the path of what it names. */
export interface TomlStatement {
  readonly kind: 'header' | 'pair';
  readonly path: readonly string[];
  readonly start: number;
  /** Where the last part of its key starts. */
  readonly lastStart: number;
  readonly end: number;
}

/** Of a text that was read without a complaint. */
export function tomlStatements(text: string): readonly TomlStatement[] {
  const scan: TomlScan = { text, at: text.charCodeAt(0) === 0xfeff ? 1 : 0, values: 0 };
  const statements: TomlStatement[] = [];
  let above: readonly string[] = [];
  for (;;) {
    scan.at = skipBlank(text, scan.at);
    const start = scan.at;
    if (start >= text.length) return statements;
    const brackets = /^\[{0,2}/.exec(text.slice(start, start + 2))?.[0].length ?? 0;
    scan.at += brackets;
    const { parts, lastStart } = scanKey(scan);
    // An item of an array of tables is no property of anything.
    if (brackets > 0) above = brackets === 2 ? [...parts, '[]'] : parts;
    const path = brackets > 0 ? above : [...above, ...parts];
    scan.at = brackets > 0 ? scan.at + brackets : skipSpace(text, scan.at + 1);
    if (brackets === 0) scanValue(scan, 1, false);
    const kind = brackets > 0 ? 'header' : 'pair';
    statements.push({ kind, path, start, lastStart, end: scan.at });
  }
}

/** `[a.b]` or `[[a.b]]` */
function scanHeader(scan: TomlScan, root: TableNode): TablePosition {
  const isList = scan.text[scan.at + 1] === '[';
  count(scan, 0);
  scan.at += isList ? 2 : 1;
  const key = scanKey(scan);
  const closer = isList ? ']]' : ']';
  if (!scan.text.startsWith(closer, scan.at)) throw unclear(scan.at);
  scan.at += closer.length;
  const here = descend({ table: root, depth: 0 }, key.parts.slice(0, -1), key.start);
  const name = key.parts.at(-1) ?? '';
  if (!isList) return descend(here, [name], key.start);
  const member = here.table.members.get(name);
  const list = member === undefined ? makeList() : member.node;
  if (list.kind !== 'list' || list.span !== undefined) throw unclear(key.start);
  if (member === undefined) here.table.members.set(name, { node: list, key: undefined });
  const table = makeTable();
  list.items.push(table);
  return { table, depth: here.depth + 2 };
}

/** Goes down by names, makes the tables that are missing, takes the last of an array of tables. */
function descend(from: TablePosition, names: readonly string[], offset: number): TablePosition {
  let { table, depth } = from;
  for (const name of names) {
    const found = table.members.get(name)?.node;
    const isList = found?.kind === 'list' && found.span === undefined;
    const next = isList ? found.items.at(-1) : (found ?? makeTable());
    if (next?.kind !== 'table' || next.span !== undefined) throw unclear(offset);
    if (found === undefined) table.members.set(name, { node: next, key: undefined });
    table = next;
    depth += isList ? 2 : 1;
  }
  return { table, depth };
}

/** `a.b = value`, a line or between braces */
function scanPair(scan: TomlScan, here: TablePosition, between: KeySeparators | undefined): void {
  const key = scanKey(scan);
  if (scan.text[scan.at] !== '=') throw unclear(scan.at);
  scan.at = skipSpace(scan.text, scan.at + 1);
  const inner = descend(here, key.parts.slice(0, -1), key.start);
  const name = key.parts.at(-1) ?? '';
  const node = scanValue(scan, inner.depth + 1, between !== undefined);
  if (inner.table.members.has(name)) throw unclear(key.start);
  const { start, lastStart, end } = key;
  const place: KeySpan = { start, lastStart, end, between };
  inner.table.members.set(name, { node, key: place });
}

/** Stops behind the key and its spaces. */
function scanKey(scan: TomlScan): DottedKey {
  const { text } = scan;
  const start = skipSpace(text, scan.at);
  const parts: string[] = [];
  let at = start;
  for (;;) {
    if (parts.length >= LIMITS.depthMax) throw tooDeep(at);
    const end = keyPartEnd(text, at);
    if (end === at) throw unclear(at);
    parts.push(nameOf(text.slice(at, end), at));
    scan.at = skipSpace(text, end);
    if (text[scan.at] !== '.') return { parts, start, lastStart: at, end };
    at = skipSpace(text, scan.at + 1);
  }
}

function keyPartEnd(text: string, at: number): number {
  const isQuoted = text[at] === '"' || text[at] === "'";
  return isQuoted ? closedStringEnd(text, at) : endOf(BARE_KEY, text, at);
}

const BARE_KEY = /[A-Za-z0-9_-]*/y;

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return pattern.lastIndex;
}

function nameOf(written: string, offset: number): string {
  if (!/^["']/.test(written)) return written;
  try {
    const { x } = parse(`x = ${written}`);
    if (typeof x === 'string') return x;
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
  }
  throw unclear(offset);
}

function scanValue(scan: TomlScan, depth: number, isNested: boolean): TextNode {
  count(scan, depth);
  const { text, at } = scan;
  const first = text[at];
  if (first === '[') return scanList(scan, depth);
  if (first === '{') return scanBraces(scan, depth);
  const isString = first === '"' || first === "'";
  scan.at = isString ? closedStringEnd(text, at) : bareEnd(text, at, isNested);
  if (scan.at === at) throw unclear(at);
  return { kind: 'scalar', span: { start: at, end: scan.at } };
}

function scanList(scan: TomlScan, depth: number): TextNode {
  const list = makeList();
  const start = scan.at;
  list.hasTrailingComma = scanItems(scan, ']', () => {
    list.items.push(scanValue(scan, depth + 1, true));
  });
  list.span = { start, end: scan.at };
  return list;
}

/** `{ a = 1, b.c = 2 }` */
function scanBraces(scan: TomlScan, depth: number): TextNode {
  const table = makeTable();
  const start = scan.at;
  scanItems(scan, '}', (between) => scanPair(scan, { table, depth }, between));
  table.span = { start, end: scan.at };
  return table;
}

/** Everything up to the closing bracket or brace; whether a comma stands before that. */
function scanItems(
  scan: TomlScan,
  closer: ']' | '}',
  scanItem: (between: KeySeparators) => void,
): boolean {
  const { text } = scan;
  let before = scan.at;
  let hasTrailingComma = false;
  scan.at = skipBlank(text, scan.at + 1);
  while (text[scan.at] !== closer) {
    const between: KeySeparators = { before, comma: undefined };
    scanItem(between);
    scan.at = skipBlank(text, scan.at);
    hasTrailingComma = text[scan.at] === ',';
    if (!hasTrailingComma && text[scan.at] !== closer) throw unclear(scan.at);
    if (!hasTrailingComma) break;
    before = scan.at;
    between.comma = before;
    scan.at = skipBlank(text, scan.at + 1);
  }
  scan.at += 1;
  return hasTrailingComma;
}

function count(scan: TomlScan, depth: number): void {
  scan.values += 1;
  if (depth > LIMITS.depthMax) throw tooDeep(scan.at);
  if (scan.values > LIMITS.valuesMax) throw tooManyValues(scan.at);
}

function unclear(offset: number): TextSyntaxError {
  const message = 'This TOML is written in a way that can not be edited safely.';
  return new TextSyntaxError(message, offset, 'uneditable');
}

// The smallest pieces of TOML: where a string, a bare value, a comment or a blank ends.

/** Spaces and tabs. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

const COMMENT = /[^\n]*/y;

/** Spaces, line ends and comments. */
function skipBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    at = skipSpace(text, at);
    const next = text[at];
    if (next === '#') at = endOf(COMMENT, text, at);
    else if (next === '\n' || next === '\r') at += 1;
    else return at;
  }
}

/**
 * Where the string ends that starts with this mark: behind its quotes, or, where it has no end, with
 * its line or the text. One or two quotes before the closing three belong to the string.
 */
export function stringEnd(text: string, start: number, mark: string): number {
  const isShort = mark.length === 1;
  for (let at = start + mark.length; at < text.length; at += 1) {
    const next = text[at];
    if (isShort && next === '\n') return at;
    if (next === '\\' && mark.startsWith('"')) at += isShort && text[at + 1] === '\n' ? 0 : 1;
    else if (next === mark[0] && isShort) return at + 1;
    else if (text.startsWith(mark, at) && text[at + mark.length] !== mark[0]) {
      return at + mark.length;
    }
  }
  return text.length;
}

/** The same offset when the string is not closed. */
function closedStringEnd(text: string, start: number): number {
  const quote = text.charAt(start);
  const mark = text.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  const end = stringEnd(text, start, mark);
  return end >= start + 2 * mark.length && text.endsWith(mark, end) ? end : start;
}

/** A number, a date (which may hold one space), a boolean: up to what can't be part of it. */
function bareEnd(text: string, start: number, isNested: boolean): number {
  const end = endOf(isNested ? BARE_NESTED : BARE, text, start);
  return start + text.slice(start, end).trimEnd().length;
}

const BARE = /[^\r\n#]*/y;
const BARE_NESTED = /[^\r\n#,\]}]*/y;
