// Changes of single values that leave every other byte of a config as it is.
import type { ConfigDocument } from './document.ts';
import { sameData } from './plain-data.ts';
import { skipSpace } from './toml.ts';
import {
  type Edit,
  type Format,
  type KeySpan,
  type ListNode,
  memberAt,
  nodeAt,
  type TextNode,
  type TextSpan,
  type ValuePath,
} from './tree.ts';

interface PlacedProperty {
  readonly key: KeySpan;
  readonly value: TextSpan;
}

/** Writes another value in the manner of the one that is there. Throws when there is none. */
export function replaceValue(document: ConfigDocument, path: ValuePath, value: Writable): Edit {
  const span = document.spanAt(path);
  const node = nodeAt(document.root, path);
  if (span === undefined || node === undefined) throw new Error('There is no value to replace.');
  const { text, format } = document;
  const isSame = sameData(document.valueAt(path), value);
  const key = memberAt(document.root, path)?.key;
  const list = key === undefined ? SPACED : listStyle(text, key, span);
  const manner = styleOfValue(text, node, { format, list });
  return { ...span, text: isSame ? text.slice(span.start, span.end) : writeValue(value, manner) };
}

/** Adds a property right behind another. Throws when that isn't there, or the new one is. */
export function insertAfter(
  document: ConfigDocument,
  siblingPath: ValuePath,
  { key, value }: { readonly key: string; readonly value: Writable },
): Edit {
  const { text, format, root } = document;
  const sibling = placeOf(document, siblingPath);
  if (memberAt(root, [...siblingPath.slice(0, -1), key]) !== undefined) {
    throw new Error('The property is there already.');
  }
  const property = writeProperty(document, sibling, { path: siblingPath, key, value });
  const { between } = sibling.key;
  if (between === undefined) return insertLine(document, sibling, property);
  const behind = between.comma === undefined ? sibling.value.end : between.comma + 1;
  const head = headOf(text, sibling.key.start);
  const lineEnd = restOfLine(text, behind, format);
  if (head?.breakBefore === undefined || lineEnd === undefined) {
    const space = listStyle(text, sibling.key, sibling.value) === TIGHT ? '' : ' ';
    const added = between.comma === undefined ? `,${space}${property}` : `${space}${property},`;
    return { start: behind, end: behind, text: added };
  }
  const line = `${head.breakBefore.text}${head.indent}${property}`;
  if (between.comma !== undefined) return { start: lineEnd, end: lineEnd, text: `${line},` };
  // The comma goes behind the sibling, the line behind the comment that may follow it.
  return { start: behind, end: lineEnd, text: `,${text.slice(behind, lineEnd)}${line}` };
}

/** TOML, outside of braces. */
function insertLine(
  { text, format }: ConfigDocument,
  sibling: PlacedProperty,
  property: string,
): Edit {
  const at = restOfLine(text, sibling.value.end, format) ?? sibling.value.end;
  const head = headOf(text, sibling.key.start);
  const next = /^(?:\r\n|\n)/.exec(text.slice(at, at + 2))?.[0];
  const lineBreak = next ?? head?.breakBefore?.text ?? lineBreakOf(text);
  return { start: at, end: at, text: `${lineBreak}${head?.indent ?? ''}${property}` };
}

function writeProperty(
  document: ConfigDocument,
  sibling: PlacedProperty,
  added: { readonly path: ValuePath; readonly key: string; readonly value: Writable },
): string {
  const { text, format } = document;
  const node = nodeAt(document.root, added.path);
  const list = listStyle(text, sibling.key, sibling.value);
  const plain: ValueStyle = { format, isLiteral: false, list };
  const manner = node?.kind === 'scalar' ? styleOfValue(text, node, plain) : plain;
  const prefix = text.slice(sibling.key.start, sibling.key.lastStart);
  const sign = signOf(text, sibling.key, sibling.value) ?? (format === 'toml' ? ' = ' : ': ');
  return `${prefix}${writeKey(added.key, format)}${sign}${writeValue(added.value, manner)}`;
}

/** The text between key and value, when it is a plain colon or equals sign. */
function signOf(text: string, key: KeySpan, value: TextSpan): string | undefined {
  const sign = text.slice(key.end, value.start);
  return /^[ \t]*[:=][ \t]*$/.test(sign) ? sign : undefined;
}

/** A file without a blank behind its colons has none behind its commas. */
function listStyle(text: string, key: KeySpan, value: TextSpan): typeof TIGHT {
  return /[:=]$/.test(signOf(text, key, value) ?? '') ? TIGHT : SPACED;
}

/** Takes a property out; what `insertAfter` has added is gone to the last byte. */
export function removeValue(document: ConfigDocument, path: ValuePath): Edit {
  const { text, format } = document;
  const placed = placeOf(document, path);
  const { key, value } = placed;
  const head = headOf(text, key.start);
  const behind = key.between?.comma === undefined ? value.end : key.between.comma + 1;
  const lineEnd = restOfLine(text, behind, format);
  if (head?.breakBefore === undefined && key.between === undefined) {
    return removeFirstLine(text, placed, lineEnd);
  }
  const isAlone = head?.breakBefore !== undefined && lineEnd !== undefined;
  const lineStart = isAlone ? head.breakBefore.start : undefined;
  if (key.between?.comma === undefined && key.between !== undefined) {
    return removeLast(text, placed, { before: key.between.before, lineStart });
  }
  if (lineStart !== undefined) return { start: lineStart, end: behind, text: '' };
  const before = key.between?.before ?? 0;
  const isFirstOfLine = head !== undefined;
  const start = isFirstOfLine ? key.start : skipSpaceBack(text, key.start, before + 1);
  return { start, end: isFirstOfLine ? skipSpace(text, behind) : behind, text: '' };
}

/** No comma behind it: the one before it goes too, comments in between stay. */
function removeLast(
  text: string,
  { key, value }: PlacedProperty,
  { before, lineStart }: { before: number; lineStart: number | undefined },
): Edit {
  const until = lineStart ?? skipSpaceBack(text, key.start, before + 1);
  if (text[before] !== ',') return { start: until, end: value.end, text: '' };
  return { start: before, end: value.end, text: text.slice(before + 1, until) };
}

/** TOML: no line break stands before it, so the one behind it goes. */
function removeFirstLine(
  text: string,
  { key, value }: PlacedProperty,
  lineEnd: number | undefined,
): Edit {
  const start = skipSpaceBack(text, key.start);
  const isBlank = lineEnd !== undefined && text.slice(value.end, lineEnd).trim() === '';
  if (!isBlank) return { start, end: value.end, text: '' };
  const lineBreak = /^(?:\r\n|\n)/.exec(text.slice(lineEnd, lineEnd + 2))?.[0] ?? '';
  return { start, end: lineEnd + lineBreak.length, text: '' };
}

function placeOf(document: ConfigDocument, path: ValuePath): PlacedProperty {
  const key = memberAt(document.root, path)?.key;
  const value = document.spanAt(path);
  if (key === undefined || value === undefined) throw new Error('There is no such property.');
  return { key, value };
}

/** The text with all edits made. Edits that overlap are a mistake of the caller. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const sorted = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  const pieces: string[] = [];
  let at = 0;
  for (const [index, edit] of sorted.entries()) {
    const last = sorted[index - 1];
    const isSamePlace = last !== undefined && last.start === edit.start && last.end === edit.end;
    if (edit.start < at || edit.end < edit.start || edit.end > text.length || isSamePlace) {
      throw new RangeError('Edits overlap, or lie outside of the text.');
    }
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

// Writes values and keys in the style of the text that is there.

export type Writable = string | readonly string[];

interface ValueStyle {
  readonly format: Format;
  /** TOML: whether strings are written between single quotes where they can be. */
  readonly isLiteral: boolean;
  readonly list: ListStyle;
}

/** The text behind the opening bracket, between the items, and before the closing bracket. */
interface ListStyle {
  readonly open: string;
  readonly separator: string;
  readonly close: string;
}

export const TIGHT: ListStyle = { open: '', separator: ',', close: '' };
export const SPACED: ListStyle = { open: '', separator: ', ', close: '' };

export function writeValue(value: Writable, manner: ValueStyle): string {
  if (typeof value === 'string') return writeString(value, manner);
  if (value.length === 0) return '[]';
  const { open, separator, close } = manner.list;
  const items = value.map((item) => writeString(item, manner));
  return `[${open}${items.join(separator)}${close}]`;
}

function writeString(value: string, manner: Pick<ValueStyle, 'format' | 'isLiteral'>): string {
  if (manner.format !== 'toml') return JSON.stringify(value);
  if (/\p{Surrogate}/u.test(value)) throw new RangeError('TOML can not hold half a character.');
  if (manner.isLiteral && !NO_LITERAL.test(value)) return `'${value}'`;
  // JSON escapes the same, but for more controls and what some programs take for a line end.
  return JSON.stringify(value).replace(
    /[\p{Cc}\u2028\u2029]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const NO_LITERAL = /['\p{Cc}\u2028\u2029]/u;

export function writeKey(key: string, format: Format): string {
  if (format === 'toml' && /^[A-Za-z0-9_-]+$/.test(key)) return key;
  return writeString(key, { format, isLiteral: false });
}

/** How a value is written: so is the one that takes its place. */
function styleOfValue(
  text: string,
  node: TextNode,
  base: Pick<ValueStyle, 'format' | 'list'>,
): ValueStyle {
  const first = node.kind === 'list' ? node.items[0] : node;
  const start = first?.span?.start;
  const isLiteral = start !== undefined && text[start] === "'" && !text.startsWith("'''", start);
  const list = node.kind === 'list' ? styleOfList(text, node, base.list) : base.list;
  return { format: base.format, isLiteral, list };
}

/** One item a line when the first has a line of its own, else all in one line. */
function styleOfList(text: string, node: ListNode, base: ListStyle): ListStyle {
  const [first, second] = node.items;
  const last = node.items.at(-1);
  if (node.span === undefined || first?.span === undefined || last?.span === undefined) return base;
  const { start, end } = node.span;
  const head = headOf(text, first.span.start);
  const isLines = head?.breakBefore !== undefined && head.breakBefore.start > start;
  const comma = node.hasTrailingComma ? ',' : '';
  if (isLines) {
    const line = `${head.breakBefore.text}${head.indent}`;
    const closing = headOf(text, end - 1);
    const close = closing?.breakBefore === undefined ? '' : closing.breakBefore.text;
    return { open: line, separator: `,${line}`, close: `${comma}${close}${closing?.indent ?? ''}` };
  }
  const between = second?.span && text.slice(first.span.end, second.span.start);
  const after = text.slice(last.span.end, end - 1).replace(/^,/, '');
  return {
    open: onlySpace(text.slice(start + 1, first.span.start)),
    separator: between !== undefined && /^,[ \t]*$/.test(between) ? between : base.separator,
    close: `${comma}${onlySpace(after)}`,
  };
}

function onlySpace(text: string): string {
  return /^[ \t]*$/.test(text) ? text : '';
}

// Lines of a text: where one starts, how it ends, and whether something stands alone on it.

/** A line that holds something first: its indentation, and the line break before it. */
interface LineHead {
  readonly indent: string;
  /** Undefined on the first line. */
  readonly breakBefore: { readonly start: number; readonly text: string } | undefined;
}

/** The head of the line when only blanks stand before the offset. */
export function headOf(text: string, offset: number): LineHead | undefined {
  const start = skipSpaceBack(text, offset);
  const indent = text.slice(start, offset);
  const before = text.charAt(start - 1);
  if (start === 0 || (start === 1 && before === '\uFEFF')) {
    return { indent, breakBefore: undefined };
  }
  if (before !== '\n' && before !== '\r') return undefined;
  const isPair = before === '\n' && text[start - 2] === '\r';
  const breakStart = isPair ? start - 2 : start - 1;
  return { indent, breakBefore: { start: breakStart, text: text.slice(breakStart, start) } };
}

/** Spaces and tabs before the offset, not further back than the floor. */
function skipSpaceBack(text: string, offset: number, floor = 0): number {
  let at = offset;
  while (at > floor && (text[at - 1] === ' ' || text[at - 1] === '\t')) at -= 1;
  return at;
}

/** Where the line ends, when only blanks and comments that end on it follow; else undefined. */
export function restOfLine(text: string, offset: number, format: Format): number | undefined {
  let at = offset;
  for (;;) {
    const next = text.charAt(at);
    if (next === '' || next === '\n' || next === '\r') return at;
    if (next === ' ' || next === '\t') at += 1;
    else {
      const end = commentEnd(text, at, format);
      if (end === undefined) return undefined;
      at = end;
    }
  }
}

function commentEnd(text: string, at: number, format: Format): number | undefined {
  const lineMark = format === 'toml' ? '#' : '//';
  if (text.startsWith(lineMark, at)) {
    const found = /[\r\n]/g;
    found.lastIndex = at;
    return found.exec(text)?.index ?? text.length;
  }
  if (format === 'toml' || !text.startsWith('/*', at)) return undefined;
  const end = text.indexOf('*/', at + 2);
  if (end === -1 || /[\r\n]/.test(text.slice(at, end))) return undefined;
  return end + 2;
}

/** The first line break of the text, to write others like it. */
export function lineBreakOf(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
}
