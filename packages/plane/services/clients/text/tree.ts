// Where the values of a document stand in its text, the same for every format.

export type Format = 'json' | 'jsonc' | 'toml';

/** From the top of a document to one of its values. */
export type ValuePath = readonly (string | number)[];

/** A replacement in a text; the offsets are those of a string. */
export interface Edit extends TextSpan {
  readonly text: string;
}

/** Offsets in the text; the end is behind the last character. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

export type TextNode = ScalarNode | ListNode | TableNode;

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly span: TextSpan;
}

export interface ListNode {
  readonly kind: 'list';
  /** None for a TOML array of tables: it is written in several places. */
  span: TextSpan | undefined;
  readonly items: TextNode[];
  hasTrailingComma: boolean;
}

export interface TableNode {
  readonly kind: 'table';
  /** None for a TOML table of lines. */
  span: TextSpan | undefined;
  readonly members: Map<string, TableMember>;
}

export interface TableMember {
  readonly node: TextNode;
  /** None where only a header or a longer dotted key names it. */
  readonly key: KeySpan | undefined;
}

export interface KeySpan {
  readonly start: number;
  /** Where the last part of a dotted key starts; else the start. */
  readonly lastStart: number;
  readonly end: number;
  /** The separators around it between braces; none for a line of TOML. */
  readonly between: KeySeparators | undefined;
}

export interface KeySeparators {
  /** Where the brace or the comma before it stands. */
  readonly before: number;
  /** Where the comma behind it stands. */
  comma: number | undefined;
}

export const LIMITS = {
  bytesMax: 32 * 1024 * 1024,
  depthMax: 100,
  valuesMax: 250_000,
} as const;

/** What can't be read: stops a reader, which turns it into an answer. */
export class TextSyntaxError extends Error {
  readonly offset: number;
  readonly reason: BrokenReason;

  constructor(message: string, offset: number, reason: BrokenReason = 'syntax') {
    super(message);
    this.offset = offset;
    this.reason = reason;
  }
}

/** Clients read all but the first all the same: we are stricter, because we change the file. */
export type BrokenReason = 'syntax' | 'ambiguous' | 'uneditable' | 'limit';

export function tooDeep(offset: number): TextSyntaxError {
  return new TextSyntaxError('The file is nested too deeply.', offset, 'limit');
}

export function tooManyValues(offset: number): TextSyntaxError {
  return new TextSyntaxError('The file has too many values.', offset, 'limit');
}

export function makeTable(): TableNode {
  return { kind: 'table', span: undefined, members: new Map() };
}

export function makeList(): ListNode {
  return { kind: 'list', span: undefined, items: [], hasTrailingComma: false };
}

function childOf(node: TextNode, step: string | number): TextNode | undefined {
  if (node.kind === 'table' && typeof step === 'string') return node.members.get(step)?.node;
  if (node.kind === 'list' && typeof step === 'number') return node.items[step];
  return undefined;
}

export function nodeAt(root: TextNode, path: ValuePath): TextNode | undefined {
  let node: TextNode | undefined = root;
  for (const step of path) {
    if (node === undefined) return undefined;
    node = childOf(node, step);
  }
  return node;
}

export function memberAt(root: TextNode, path: ValuePath): TableMember | undefined {
  const last = path.at(-1);
  const parent = nodeAt(root, path.slice(0, -1));
  if (parent?.kind !== 'table' || typeof last !== 'string') return undefined;
  return parent.members.get(last);
}

/** Counted from 1; a mark of the byte order at the start is no column. */
export function lineColumn(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  return { line, column: Math.max(1, offset - lineStart + 1) };
}
