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
} from './tree.ts';

const OPTIONS = { integersAsBigInt: 'asNeeded', maxDepth: LIMITS.depthMax } as const;

/** Throws `Unreadable`. */
export function readToml(text: string): { root: TextNode; value: unknown } {
  // First, because it bounds the depth.
  const scanned = scanToml(text);
  if (scanned.kind === 'broken' && scanned.isLimit) throw scanned.cause;
  const value = parseToml(text);
  if (scanned.kind === 'broken') throw scanned.cause;
  if (!hasShape(scanned.root, value)) {
    throw new TextSyntaxError('This TOML is written in a way that can not be edited safely.', 0);
  }
  return { root: scanned.root, value };
}

function parseToml(text: string): unknown {
  const shift = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  try {
    return parse(text.slice(shift), OPTIONS);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    throw new TextSyntaxError(complaintOf(cause), shift + offsetOf(text.slice(shift), cause));
  }
}

/** Without the lines of the file that the parser shows. */
function complaintOf(cause: TomlError): string {
  const first = cause.message.split('\n', 1)[0] ?? '';
  const words = first.replace(/^Invalid TOML document: /, '').replace(/\.$/, '');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function offsetOf(text: string, cause: TomlError): number {
  let start = 0;
  for (let line = 1; line < cause.line; line += 1) {
    const end = text.indexOf('\n', start);
    if (end === -1) break;
    start = end + 1;
  }
  return start + cause.column - 1;
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

type TomlScanResult =
  | { readonly kind: 'tree'; readonly root: TableNode }
  | { readonly kind: 'broken'; readonly isLimit: boolean; readonly cause: TextSyntaxError };

/** Too deep or too large, whatever the parser may say. */
class OverLimit extends TextSyntaxError {}

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

function scanToml(text: string): TomlScanResult {
  const scan: TomlScan = { text, at: text.charCodeAt(0) === 0xfeff ? 1 : 0, values: 0 };
  const root = makeTable();
  try {
    let here: TablePosition = { table: root, depth: 0 };
    for (;;) {
      scan.at = skipBlank(text, scan.at);
      if (scan.at >= text.length) return { kind: 'tree', root };
      if (text[scan.at] === '[') here = scanHeader(scan, root);
      else scanPair(scan, here, undefined);
      expectLineEnd(scan);
    }
  } catch (cause) {
    if (!(cause instanceof TextSyntaxError)) throw cause;
    return { kind: 'broken', isLimit: cause instanceof OverLimit, cause };
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

/** Stops at what stands behind the key. */
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
  if (text[at] === '"' || text[at] === "'") return scanString(text, at);
  BARE_KEY.lastIndex = at;
  return BARE_KEY.test(text) ? BARE_KEY.lastIndex : at;
}

const BARE_KEY = /[A-Za-z0-9_-]+/y;

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
  scan.at = isString ? scanString(text, at) : scanBare(text, at, isNested);
  if (scan.at === at) throw unclear(at);
  return { kind: 'scalar', span: { start: at, end: scan.at } };
}

function scanList(scan: TomlScan, depth: number): TextNode {
  const start = scan.at;
  const list = makeList();
  scan.at = skipBlank(scan.text, start + 1);
  while (scan.text[scan.at] !== ']') {
    list.items.push(scanValue(scan, depth + 1, true));
    list.hasTrailingComma = false;
    scan.at = skipBlank(scan.text, scan.at);
    if (scan.text[scan.at] === ']') break;
    if (scan.text[scan.at] !== ',') throw unclear(scan.at);
    list.hasTrailingComma = true;
    scan.at = skipBlank(scan.text, scan.at + 1);
  }
  scan.at += 1;
  list.span = { start, end: scan.at };
  return list;
}

/** `{ a = 1, b.c = 2 }` */
function scanBraces(scan: TomlScan, depth: number): TextNode {
  const start = scan.at;
  const table = makeTable();
  let before = start;
  scan.at = skipBlank(scan.text, start + 1);
  while (scan.text[scan.at] !== '}') {
    const between: KeySeparators = { before, comma: undefined };
    scanPair(scan, { table, depth }, between);
    scan.at = skipBlank(scan.text, scan.at);
    if (scan.text[scan.at] === '}') break;
    if (scan.text[scan.at] !== ',') throw unclear(scan.at);
    between.comma = scan.at;
    before = scan.at;
    scan.at = skipBlank(scan.text, scan.at + 1);
  }
  scan.at += 1;
  table.span = { start, end: scan.at };
  return table;
}

function expectLineEnd(scan: TomlScan): void {
  const at = skipSpace(scan.text, scan.at);
  const isEnd = at >= scan.text.length || /[\r\n#]/.test(scan.text.charAt(at));
  if (!isEnd) throw unclear(at);
  scan.at = at;
}

function count(scan: TomlScan, depth: number): void {
  scan.values += 1;
  if (depth > LIMITS.depthMax) throw tooDeep(scan.at);
  if (scan.values > LIMITS.valuesMax) {
    throw new OverLimit('The file has too many values.', scan.at);
  }
}

function tooDeep(offset: number): TextSyntaxError {
  return new OverLimit('The file is nested too deeply.', offset);
}

function unclear(offset: number): TextSyntaxError {
  return new TextSyntaxError(
    'This TOML is written in a way that can not be edited safely.',
    offset,
  );
}

// The smallest pieces of TOML: where a string, a bare value, a comment or a blank ends.

/** Spaces and tabs. */
function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

/** Spaces, line ends and comments. */
function skipBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    at = skipSpace(text, at);
    const next = text[at];
    if (next === '#') at = lineEnd(text, at);
    else if (next === '\n' || next === '\r') at += 1;
    else return at;
  }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  if (end === -1) return text.length;
  return text[end - 1] === '\r' ? end - 1 : end;
}

/** Where the string that starts here ends; the same offset when it doesn't. */
function scanString(text: string, start: number): number {
  const quote = text.charAt(start);
  const isMultiline = text.startsWith(quote.repeat(3), start);
  const isBasic = quote === '"';
  let at = start + (isMultiline ? 3 : 1);
  for (; at < text.length; at += 1) {
    const next = text[at];
    if (isBasic && next === '\\') at += 1;
    else if (!isMultiline && (next === '\n' || next === '\r')) return start;
    else if (next === quote && !isMultiline) return at + 1;
    else if (next === quote && text.startsWith(quote.repeat(3), at)) {
      return closeMultiline(text, at + 3, quote);
    }
  }
  return start;
}

/** One or two quotes before the closing three belong to the string. */
function closeMultiline(text: string, end: number, quote: string): number {
  let at = end;
  while (at < end + 2 && text[at] === quote) at += 1;
  return at;
}

/** A number, a date (which may hold one space), a boolean: up to what can't be part of it. */
function scanBare(text: string, start: number, isNested: boolean): number {
  let at = start;
  while (at < text.length && !isBareEnd(text.charAt(at), isNested)) at += 1;
  while (at > start && (text[at - 1] === ' ' || text[at - 1] === '\t')) at -= 1;
  return at;
}

function isBareEnd(character: string, isNested: boolean): boolean {
  if (character === '\n' || character === '\r' || character === '#') return true;
  return isNested && (character === ',' || character === ']' || character === '}');
}
