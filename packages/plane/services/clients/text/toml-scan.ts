// Finds where the keys and values of a TOML text stand. It checks no more than it needs to find its
// way: whether the text is right, and what it means, is the parser's to say.

import { parse, TomlError } from 'smol-toml';
import { scanBare, scanString, skipBlank, skipSpace } from './toml-lex.ts';
import {
  type Between,
  type KeyPlace,
  LIMITS,
  makeList,
  makeTable,
  type TableNode,
  type TextNode,
  Unreadable,
} from './tree.ts';

type Scanned =
  | { readonly kind: 'tree'; readonly root: TableNode }
  | { readonly kind: 'broken'; readonly isLimit: boolean; readonly cause: Unreadable };

/** Too deep or too large, whatever the parser may say. */
class OverLimit extends Unreadable {}

interface Scan {
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
interface Here {
  readonly table: TableNode;
  readonly depth: number;
}

export function scanToml(text: string): Scanned {
  const scan: Scan = { text, at: text.charCodeAt(0) === 0xfeff ? 1 : 0, values: 0 };
  const root = makeTable();
  try {
    let here: Here = { table: root, depth: 0 };
    for (;;) {
      scan.at = skipBlank(text, scan.at);
      if (scan.at >= text.length) return { kind: 'tree', root };
      if (text[scan.at] === '[') here = scanHeader(scan, root);
      else scanPair(scan, here, undefined);
      expectLineEnd(scan);
    }
  } catch (cause) {
    if (!(cause instanceof Unreadable)) throw cause;
    return { kind: 'broken', isLimit: cause instanceof OverLimit, cause };
  }
}

/** `[a.b]` or `[[a.b]]` */
function scanHeader(scan: Scan, root: TableNode): Here {
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
function descend(from: Here, names: readonly string[], offset: number): Here {
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
function scanPair(scan: Scan, here: Here, between: Between | undefined): void {
  const key = scanKey(scan);
  if (scan.text[scan.at] !== '=') throw unclear(scan.at);
  scan.at = skipSpace(scan.text, scan.at + 1);
  const inner = descend(here, key.parts.slice(0, -1), key.start);
  const name = key.parts.at(-1) ?? '';
  const node = scanValue(scan, inner.depth + 1, between !== undefined);
  if (inner.table.members.has(name)) throw unclear(key.start);
  const { start, lastStart, end } = key;
  const place: KeyPlace = { start, lastStart, end, between };
  inner.table.members.set(name, { node, key: place });
}

/** Stops at what stands behind the key. */
function scanKey(scan: Scan): DottedKey {
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

function scanValue(scan: Scan, depth: number, isNested: boolean): TextNode {
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

function scanList(scan: Scan, depth: number): TextNode {
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
function scanBraces(scan: Scan, depth: number): TextNode {
  const start = scan.at;
  const table = makeTable();
  let before = start;
  scan.at = skipBlank(scan.text, start + 1);
  while (scan.text[scan.at] !== '}') {
    const between: Between = { before, comma: undefined };
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

function expectLineEnd(scan: Scan): void {
  const at = skipSpace(scan.text, scan.at);
  const isEnd = at >= scan.text.length || /[\r\n#]/.test(scan.text.charAt(at));
  if (!isEnd) throw unclear(at);
  scan.at = at;
}

function count(scan: Scan, depth: number): void {
  scan.values += 1;
  if (depth > LIMITS.depthMax) throw tooDeep(scan.at);
  if (scan.values > LIMITS.valuesMax) {
    throw new OverLimit('The file has too many values.', scan.at);
  }
}

function tooDeep(offset: number): Unreadable {
  return new OverLimit('The file is nested too deeply.', offset);
}

function unclear(offset: number): Unreadable {
  return new Unreadable('This TOML is written in a way that can not be edited safely.', offset);
}
