// Changes of single values that leave every other byte of a config as it is.

import type { Edit, ValuePath } from '../types.ts';
import type { Document } from './document.ts';
import { headOf, lineBreakOf, restOfLine, skipSpaceBack } from './lines.ts';
import { sameData } from './same.ts';
import { type Between, type KeyPlace, memberAt, nodeAt, type Span } from './tree.ts';
import {
  type Manner,
  mannerOf,
  SPACED,
  TIGHT,
  type Writable,
  writeKey,
  writeValue,
} from './write.ts';

/** A property with its place in the text. */
interface Placed {
  readonly key: KeyPlace;
  readonly value: Span;
}

/** Writes another value in the manner of the one that is there. Throws when there is none. */
export function replaceValue(document: Document, path: ValuePath, value: Writable): Edit {
  const span = document.spanAt(path);
  const node = nodeAt(document.root, path);
  if (span === undefined || node === undefined) throw new Error('There is no value to replace.');
  const { text, format } = document;
  const isSame = sameData(document.valueAt(path), value);
  const key = memberAt(document.root, path)?.key;
  const list = key === undefined ? SPACED : listStyle(text, key, span);
  const manner = mannerOf(text, node, { format, list });
  return { ...span, text: isSame ? text.slice(span.start, span.end) : writeValue(value, manner) };
}

/** Adds a property right behind another. Throws when that isn't there, or the new one is. */
export function insertAfter(
  document: Document,
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
    return insertInline(text, { sibling, between, property });
  }
  const line = `${head.breakBefore.text}${head.indent}${property}`;
  if (between.comma !== undefined) return { start: lineEnd, end: lineEnd, text: `${line},` };
  // The comma goes behind the sibling, the line behind the comment that may follow it.
  return { start: behind, end: lineEnd, text: `,${text.slice(behind, lineEnd)}${line}` };
}

function insertInline(
  text: string,
  { sibling, between, property }: { sibling: Placed; between: Between; property: string },
): Edit {
  const isTight = listStyle(text, sibling.key, sibling.value) === TIGHT;
  const space = isTight ? '' : ' ';
  if (between.comma === undefined) {
    const at = sibling.value.end;
    return { start: at, end: at, text: `,${space}${property}` };
  }
  const at = between.comma + 1;
  return { start: at, end: at, text: `${space}${property},` };
}

/** TOML, outside of braces. */
function insertLine({ text, format }: Document, sibling: Placed, property: string): Edit {
  const at = restOfLine(text, sibling.value.end, format) ?? sibling.value.end;
  const head = headOf(text, sibling.key.start);
  const next = /^(?:\r\n|\n)/.exec(text.slice(at, at + 2))?.[0];
  const lineBreak = next ?? head?.breakBefore?.text ?? lineBreakOf(text);
  return { start: at, end: at, text: `${lineBreak}${head?.indent ?? ''}${property}` };
}

function writeProperty(
  document: Document,
  sibling: Placed,
  added: { readonly path: ValuePath; readonly key: string; readonly value: Writable },
): string {
  const { text, format } = document;
  const node = nodeAt(document.root, added.path);
  const list = listStyle(text, sibling.key, sibling.value);
  const plain: Manner = { format, isLiteral: false, list };
  const manner = node?.kind === 'scalar' ? mannerOf(text, node, plain) : plain;
  const prefix = text.slice(sibling.key.start, sibling.key.lastStart);
  const sign = signOf(text, sibling.key, sibling.value) ?? (format === 'toml' ? ' = ' : ': ');
  return `${prefix}${writeKey(added.key, format)}${sign}${writeValue(added.value, manner)}`;
}

/** What stands between key and value, when it is a plain colon or equals sign. */
function signOf(text: string, key: KeyPlace, value: Span): string | undefined {
  const sign = text.slice(key.end, value.start);
  return /^[ \t]*[:=][ \t]*$/.test(sign) ? sign : undefined;
}

/** A file without a blank behind its colons has none behind its commas. */
function listStyle(text: string, key: KeyPlace, value: Span): typeof TIGHT {
  return /[:=]$/.test(signOf(text, key, value) ?? '') ? TIGHT : SPACED;
}

/** Takes a property out; what `insertAfter` has added is gone to the last byte. */
export function removeValue(document: Document, path: ValuePath): Edit {
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
  return { start, end: isFirstOfLine ? skipSpaceOn(text, behind) : behind, text: '' };
}

/** No comma behind it: the one before it goes too, comments in between stay. */
function removeLast(
  text: string,
  { key, value }: Placed,
  { before, lineStart }: { before: number; lineStart: number | undefined },
): Edit {
  const until = lineStart ?? skipSpaceBack(text, key.start, before + 1);
  if (text[before] !== ',') return { start: until, end: value.end, text: '' };
  return { start: before, end: value.end, text: text.slice(before + 1, until) };
}

/** TOML: no line break stands before it, so the one behind it goes. */
function removeFirstLine(text: string, { key, value }: Placed, lineEnd: number | undefined): Edit {
  const start = skipSpaceBack(text, key.start);
  const isBlank = lineEnd !== undefined && text.slice(value.end, lineEnd).trim() === '';
  if (!isBlank) return { start, end: value.end, text: '' };
  const lineBreak = /^(?:\r\n|\n)/.exec(text.slice(lineEnd, lineEnd + 2))?.[0] ?? '';
  return { start, end: lineEnd + lineBreak.length, text: '' };
}

function skipSpaceOn(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

function placeOf(document: Document, path: ValuePath): Placed {
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
