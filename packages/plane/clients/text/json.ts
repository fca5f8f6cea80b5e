// JSON and JSONC with positions. The parser is told to tolerate nothing and is stopped at its first
// complaint, so that garbage costs no memory.

import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import type { ValuePath } from '../types.ts';
import { sameData } from './same.ts';
import {
  type Between,
  type KeyPlace,
  LIMITS,
  type ListNode,
  makeList,
  makeTable,
  type Span,
  type TableNode,
  type TextNode,
  Unreadable,
} from './tree.ts';

/** A key that is there again; the last one counts, as for `JSON.parse`. */
interface Twice {
  readonly path: ValuePath;
  readonly offset: number;
}

interface JsonRead {
  readonly root: TextNode;
  readonly value: unknown;
  readonly twice: readonly Twice[];
}

interface JsonOptions {
  readonly allowsComments: boolean;
}

const COMPLAINTS: { readonly [code: string]: string } = {
  InvalidSymbol: 'This is no JSON value.',
  InvalidNumberFormat: 'This is no JSON number.',
  PropertyNameExpected: 'The name of a property is missing here, or a comma is one too many.',
  ValueExpected: 'A value is missing here, or a comma is one too many.',
  ColonExpected: 'A colon is missing here.',
  CommaExpected: 'A comma is missing here.',
  CloseBraceExpected: 'A closing brace is missing here.',
  CloseBracketExpected: 'A closing bracket is missing here.',
  EndOfFileExpected: 'The file goes on behind its end.',
  InvalidCommentToken: 'Comments are not allowed in this file.',
  UnexpectedEndOfComment: 'A comment does not end.',
  UnexpectedEndOfString: 'A string does not end.',
  UnexpectedEndOfNumber: 'A number does not end.',
  InvalidUnicode: 'This is no valid \\u escape.',
  InvalidEscapeCharacter: 'This is no valid escape.',
  InvalidCharacter: 'A control character must be escaped here.',
};

const TWICE = 'A key is there twice in the same object.';
const TWICE_MAX = 100;

/** An object or array that is being read. */
interface Frame {
  readonly node: TableNode | ListNode;
  readonly value: { [key: string]: unknown } | unknown[];
  readonly start: number;
  /** The brace or comma last seen. */
  mark: number;
  between: Between | undefined;
  key: { readonly name: string; readonly place: KeyPlace } | undefined;
  hasComma: boolean;
}

/** Throws `Unreadable`. */
function readJson(text: string, options: JsonOptions): JsonRead {
  const shift = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const body = text.slice(shift);
  const reader = createReader(shift);
  visit(body, reader.visitor, {
    disallowComments: !options.allowsComments,
    allowTrailingComma: options.allowsComments,
    allowEmptyContent: false,
  });
  const read = reader.finish();
  if (!options.allowsComments) compareWithRuntime(body, read.value);
  return read;
}

/** The strict format has a second reader on every machine: both must see the same. */
function compareWithRuntime(body: string, value: unknown): void {
  let again: unknown;
  try {
    again = JSON.parse(body);
  } catch {
    throw new Unreadable('This is no strict JSON.', 0);
  }
  if (!sameData(again, value)) throw new Unreadable('This JSON can be read in two ways.', 0);
}

function createReader(shift: number) {
  const frames: Frame[] = [];
  const twice: Twice[] = [];
  let read: JsonRead | undefined;
  let values = 0;

  function add(node: TextNode, value: unknown, offset: number): void {
    values += 1;
    if (values > LIMITS.valuesMax) throw new Unreadable('The file has too many values.', offset);
    const frame = frames.at(-1);
    if (frame === undefined) read = { root: node, value, twice };
    else put(frame, node, value);
  }

  function begin(node: TableNode | ListNode, value: Frame['value'], offset: number): void {
    if (frames.length >= LIMITS.depthMax) {
      throw new Unreadable('The file is nested too deeply.', offset);
    }
    add(node, value, offset);
    const rest = { between: undefined, key: undefined, hasComma: false };
    frames.push({ node, value, start: offset, mark: offset, ...rest });
  }

  function end(offset: number, length: number): void {
    const frame = frames.pop();
    if (frame === undefined) return;
    frame.node.span = { start: frame.start, end: offset + shift + length };
    if (frame.node.kind === 'list') frame.node.hasTrailingComma = frame.hasComma;
  }

  const visitor = {
    onObjectBegin: (offset: number) => begin(makeTable(), {}, offset + shift),
    onArrayBegin: (offset: number) => begin(makeList(), [], offset + shift),
    onObjectEnd: end,
    onArrayEnd: end,
    onObjectProperty: (...[name, offset, length, , , pathOf]: PropertyArguments) => {
      const frame = frames.at(-1);
      if (frame?.node.kind !== 'table') return;
      if (frame.node.members.has(name)) {
        twice.push({ path: [...pathOf(), name], offset: offset + shift });
        if (twice.length > TWICE_MAX) throw new Unreadable(TWICE, offset + shift);
      }
      nameNext(frame, name, { start: offset + shift, end: offset + shift + length });
    },
    onLiteralValue: (value: unknown, offset: number, length: number) => {
      const start = offset + shift;
      const span = { start, end: start + length };
      add({ kind: 'scalar', span }, value, start);
    },
    onSeparator: (character: string, offset: number) => {
      const frame = frames.at(-1);
      if (frame === undefined || character !== ',') return;
      frame.mark = offset + shift;
      frame.hasComma = true;
      if (frame.between !== undefined) frame.between.comma = offset + shift;
    },
    onError: (code: ParseErrorCode, offset: number) => {
      const message = COMPLAINTS[printParseErrorCode(code)] ?? 'This is no valid JSON.';
      throw new Unreadable(message, offset + shift);
    },
  };

  function finish(): JsonRead {
    if (read === undefined || frames.length > 0) throw new Unreadable('A value is missing.', 0);
    return read;
  }

  return { visitor, finish };
}

type PropertyArguments = [
  name: string,
  offset: number,
  length: number,
  line: number,
  character: number,
  pathOf: () => (string | number)[],
];

/** What the next value of an object is called, and where that stands. */
function nameNext(frame: Frame, name: string, span: Span): void {
  const between: Between = { before: frame.mark, comma: undefined };
  frame.between = between;
  const { start, end } = span;
  frame.key = { name, place: { start, end, lastStart: start, between } };
}

function put(frame: Frame, node: TextNode, value: unknown): void {
  frame.hasComma = false;
  if (frame.node.kind === 'list') {
    frame.node.items.push(node);
    if (Array.isArray(frame.value)) frame.value.push(value);
    return;
  }
  if (frame.key === undefined) throw new Unreadable('A value has no name.', frame.start);
  const { name, place } = frame.key;
  frame.node.members.set(name, { node, key: place });
  const how = { value, enumerable: true, configurable: true, writable: true };
  // Not by assignment, which is faster: here it is a name like any other.
  if (name === '__proto__') Object.defineProperty(frame.value, name, how);
  else if (!Array.isArray(frame.value)) frame.value[name] = value;
}

export type { Twice };
export { readJson, TWICE };
