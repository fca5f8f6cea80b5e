// JSON and JSONC with positions: `jsonc-parser` finds the words, this file keeps where they stand and
// refuses what clients read in different ways (keys that occur twice) or what is too much (depth, values).
import { type JSONVisitor, type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import {
  type KeySeparators,
  LIMITS,
  makeList,
  makeTable,
  type TextNode,
  TextSyntaxError,
  tooDeep,
  tooManyValues,
  type ValuePath,
} from './tree.ts';

/** A key that occurs again in its object; the last one counts, as for `JSON.parse`. */
export interface DuplicateKey {
  readonly path: ValuePath;
  readonly offset: number;
}

interface JsonRead {
  readonly root: TextNode;
  readonly value: unknown;
  readonly duplicates: readonly DuplicateKey[];
}

export const DUPLICATE_KEY = 'A key is there twice in the same object.';
const DUPLICATES_MAX = 100;
const COMPLAINTS: { readonly [error: string]: string } = {
  InvalidNumberFormat: 'This is no JSON number.',
  UnexpectedEndOfNumber: 'This is no JSON number.',
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
  InvalidUnicode: 'This is no valid escape.',
  InvalidEscapeCharacter: 'This is no valid escape.',
  InvalidCharacter: 'A control character must be escaped here.',
};

/** Throws `TextSyntaxError`. */
export function readJson(
  text: string,
  { allowsComments }: { readonly allowsComments: boolean },
): JsonRead {
  const shift = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const builder = new TreeBuilder(shift);
  const options = { disallowComments: !allowsComments, allowTrailingComma: allowsComments };
  visit(text.slice(shift), builder, options);
  if (!allowsComments) checkStrict(text.slice(shift));
  const { root, value, duplicates } = builder;
  if (root === undefined) throw new TextSyntaxError('This is no JSON value.', shift);
  return { root, value, duplicates };
}

/** The runtime has the last word on what strict JSON is. */
function checkStrict(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new TextSyntaxError('This is no strict JSON.', 0);
  }
}

interface OpenNode {
  readonly node: Extract<TextNode, { kind: 'table' | 'list' }>;
  readonly value: unknown[] | { [name: string]: unknown };
  /** The last key, and where the brace or comma before it stands. */
  key?: { readonly name: string; readonly start: number; readonly end: number };
  before: number;
  between?: KeySeparators;
}

class TreeBuilder implements JSONVisitor {
  root: TextNode | undefined;
  value: unknown;
  readonly duplicates: DuplicateKey[] = [];
  readonly #shift: number;
  readonly #open: OpenNode[] = [];
  #count = 0;

  constructor(shift: number) {
    this.#shift = shift;
  }

  onObjectBegin = (offset: number): void => this.#begin(offset, makeTable(), {});
  onArrayBegin = (offset: number): void => this.#begin(offset, makeList(), []);
  onObjectEnd = (offset: number): void => this.#end(offset);
  onArrayEnd = (offset: number): void => this.#end(offset);

  onObjectProperty = (name: string, offset: number, length: number): void => {
    const open = this.#open.at(-1);
    const start = offset + this.#shift;
    if (open?.node.kind !== 'table') return;
    if (open.node.members.has(name)) this.#noteDuplicate(name, start);
    open.key = { name, start, end: start + length };
  };

  onLiteralValue = (value: unknown, offset: number, length: number): void => {
    const start = offset + this.#shift;
    this.#add({ kind: 'scalar', span: { start, end: start + length } }, value);
  };

  onSeparator = (sign: string, offset: number): void => {
    const open = this.#open.at(-1);
    if (sign !== ',' || open === undefined) return;
    open.before = offset + this.#shift;
    if (open.between !== undefined) open.between.comma = open.before;
    if (open.node.kind === 'list') open.node.hasTrailingComma = true;
  };

  onError = (code: ParseErrorCode, offset: number): void => {
    const complaint = COMPLAINTS[printParseErrorCode(code)] ?? 'This is no JSON value.';
    throw new TextSyntaxError(complaint, offset + this.#shift);
  };

  #begin(offset: number, node: OpenNode['node'], value: OpenNode['value']): void {
    const start = offset + this.#shift;
    if (this.#open.length >= LIMITS.depthMax) throw tooDeep(start);
    this.#add(node, value);
    node.span = { start, end: start };
    this.#open.push({ node, value, before: start });
  }

  #end(offset: number): void {
    const { node } = this.#open.pop() ?? {};
    if (node?.span !== undefined) node.span = { ...node.span, end: offset + this.#shift + 1 };
  }

  #add(node: TextNode, value: unknown): void {
    this.#count += 1;
    const open = this.#open.at(-1);
    if (this.#count > LIMITS.valuesMax) throw tooManyValues(open?.before ?? 0);
    if (open === undefined) {
      this.root = node;
      this.value = value;
    } else if (open.node.kind === 'list') {
      open.node.items.push(node);
      open.node.hasTrailingComma = false;
      if (Array.isArray(open.value)) open.value.push(value);
    } else if (open.key !== undefined) {
      const { name, start, end } = open.key;
      open.between = { before: open.before, comma: undefined };
      const key = { start, lastStart: start, end, between: open.between };
      open.node.members.set(name, { node, key });
      // Not by assignment: `__proto__` is a name like any other.
      const property = { value, enumerable: true, configurable: true, writable: true };
      if (name === '__proto__') Object.defineProperty(open.value, name, property);
      else Reflect.set(open.value, name, value);
    }
  }

  #noteDuplicate(name: string, offset: number): void {
    const above = this.#open.slice(0, -1).map(({ node, key }) => {
      return node.kind === 'list' ? node.items.length - 1 : (key?.name ?? '');
    });
    this.duplicates.push({ path: [...above, name], offset });
    if (this.duplicates.length > DUPLICATES_MAX) {
      throw new TextSyntaxError(DUPLICATE_KEY, offset, 'ambiguous');
    }
  }
}
