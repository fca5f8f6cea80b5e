// How values and keys are written, in the manner of what stands there already.

import type { Format } from '../types.ts';
import { headOf } from './lines.ts';
import type { ListNode, TextNode } from './tree.ts';

export type Writable = string | readonly string[];

/** What a new value is to look like. */
export interface Manner {
  readonly format: Format;
  /** TOML: whether strings are written between single quotes where they can be. */
  readonly isLiteral: boolean;
  readonly list: ListManner;
}

/** What stands behind the opening bracket, between the items, and before the closing bracket. */
interface ListManner {
  readonly open: string;
  readonly separator: string;
  readonly close: string;
}

export const TIGHT: ListManner = { open: '', separator: ',', close: '' };
export const SPACED: ListManner = { open: '', separator: ', ', close: '' };

export function writeValue(value: Writable, manner: Manner): string {
  if (typeof value === 'string') return writeString(value, manner);
  if (value.length === 0) return '[]';
  const { open, separator, close } = manner.list;
  const items = value.map((item) => writeString(item, manner));
  return `[${open}${items.join(separator)}${close}]`;
}

function writeString(value: string, manner: Pick<Manner, 'format' | 'isLiteral'>): string {
  if (manner.format !== 'toml') return JSON.stringify(value);
  if (/\p{Surrogate}/u.test(value)) throw new RangeError('TOML can not hold half a character.');
  if (manner.isLiteral && !NO_LITERAL.test(value)) return `'${value}'`;
  return `"${value.replace(ESCAPED, escapeOf)}"`;
}

// biome-ignore format: one per line reads worse
const SHORT: { readonly [character: string]: string } = {
  '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '"': '\\"', '\\': '\\\\',
};
// Controls, quotes, and what some programs take for a line end.
const ESCAPED = /[\p{Cc}"\\\u2028\u2029]/gu;
const NO_LITERAL = /['\p{Cc}\u2028\u2029]/u;

function escapeOf(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase();
  return SHORT[character] ?? `\\u${hex}`;
}

export function writeKey(key: string, format: Format): string {
  if (format === 'toml' && /^[A-Za-z0-9_-]+$/.test(key)) return key;
  return writeString(key, { format, isLiteral: false });
}

/** How a value is written: so is the one that takes its place. */
export function mannerOf(
  text: string,
  node: TextNode,
  base: Pick<Manner, 'format' | 'list'>,
): Manner {
  const first = node.kind === 'list' ? node.items[0] : node;
  const start = first?.span?.start;
  const isLiteral = start !== undefined && text[start] === "'" && !text.startsWith("'''", start);
  const list = node.kind === 'list' ? listMannerOf(text, node, base.list) : base.list;
  return { format: base.format, isLiteral, list };
}

/** One item a line when the first has a line of its own, else all in one line. */
function listMannerOf(text: string, node: ListNode, base: ListManner): ListManner {
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
