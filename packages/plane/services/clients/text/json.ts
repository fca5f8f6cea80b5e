// JSON and JSONC with positions. A text is walked through once, which finds its faults and where each
// object and array ends; the nodes of what somebody looks at are made then. Most of a config is none
// of our business, and a node for each of its values would cost more than all else.

import type { ValuePath } from '../types.ts';
import { Scanner } from './json-scan.ts';
import { type Between, LIMITS, type Member, type Span, type TextNode, Unreadable } from './tree.ts';

/** A key that is there again; the last one counts, as for `JSON.parse`. */
export interface Twice {
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

export const TWICE = 'A key is there twice in the same object.';
const TWICE_MAX = 100;
const MISSING_NAME = 'The name of a property is missing here, or a comma is one too many.';
const MISSING_VALUE = 'A value is missing here, or a comma is one too many.';
const MISSING_COMMA = 'A comma is missing here.';
const ENDS = {
  '}': 'A closing brace is missing here.',
  ']': 'A closing bracket is missing here.',
} as const;

/** Throws `Unreadable`. */
export function readJson(text: string, options: JsonOptions): JsonRead {
  const scanner = new Scanner(text, options);
  const walk = new Walk(scanner, options.allowsComments);
  scanner.skip();
  const start = scanner.at();
  walk.value();
  scanner.skip();
  if (!scanner.isOver()) scanner.fail('The file goes on behind its end.');
  const root = nodeFrom({ scanner, ends: walk.ends }, start);
  const strict = parsed(text);
  if (strict === undefined && !options.allowsComments) {
    throw new Unreadable('This is no strict JSON.', 0);
  }
  // Most texts that may have comments have none.
  const value = strict === undefined ? valueOf(root, scanner) : strict.value;
  return { root, value, twice: walk.twice };
}

/** By the second reader that every machine has, where the text is strict JSON. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as unknown };
  } catch {
    return undefined;
  }
}

/** Finds the faults. */
class Walk {
  readonly #scanner: Scanner;
  readonly #allowsTrailing: boolean;
  readonly #path: (string | number)[] = [];
  readonly twice: Twice[] = [];
  /** Where what begins here ends: objects and arrays. */
  readonly ends = new Map<number, number>();
  #values = 0;

  constructor(scanner: Scanner, allowsTrailing: boolean) {
    this.#scanner = scanner;
    this.#allowsTrailing = allowsTrailing;
  }

  value(): void {
    const scanner = this.#scanner;
    this.#values += 1;
    if (this.#values > LIMITS.valuesMax) scanner.fail('The file has too many values.');
    const isTable = scanner.sees('{');
    if (!isTable && !scanner.sees('[')) {
      scanner.scalar(MISSING_VALUE);
      return;
    }
    if (this.#path.length >= LIMITS.depthMax) scanner.fail('The file is nested too deeply.');
    const start = scanner.at();
    if (isTable) this.#members();
    else this.#items();
    this.ends.set(start, scanner.at());
  }

  #members(): void {
    const scanner = this.#scanner;
    const names = new Set<string>();
    this.#each('}', () => {
      const offset = scanner.at();
      const { name } = scanner.name(scanner.isOver() ? ENDS['}'] : MISSING_NAME);
      if (names.has(name)) this.#noteTwice(name, offset);
      names.add(name);
      scanner.colon();
      this.#deeper(name);
    });
  }

  #items(): void {
    let index = 0;
    this.#each(']', () => this.#deeper(index++));
  }

  #deeper(step: string | number): void {
    this.#path.push(step);
    this.value();
    this.#path.pop();
  }

  /** From the opening sign to behind the closing one. */
  #each(close: keyof typeof ENDS, one: () => void): void {
    const scanner = this.#scanner;
    scanner.step();
    scanner.skip();
    let isNext = false;
    while (!scanner.sees(close) || (isNext && !this.#allowsTrailing)) {
      one();
      scanner.skip();
      isNext = scanner.sees(',');
      if (!isNext) break;
      scanner.step();
      scanner.skip();
    }
    if (!scanner.sees(close)) scanner.fail(scanner.isOver() ? ENDS[close] : MISSING_COMMA);
    scanner.step();
  }

  #noteTwice(name: string, offset: number): void {
    this.twice.push({ path: [...this.#path, name], offset });
    if (this.twice.length > TWICE_MAX) throw new Unreadable(TWICE, offset);
  }
}

/** A text without faults. */
interface Walked {
  readonly scanner: Scanner;
  readonly ends: ReadonlyMap<number, number>;
}

function nodeFrom(walked: Walked, start: number): TextNode {
  const { scanner, ends } = walked;
  const end = ends.get(start);
  scanner.moveTo(start);
  if (end === undefined) return { kind: 'scalar', span: scanner.scalar(MISSING_VALUE).span };
  const span = { start, end };
  return scanner.sees('{') ? new JsonTable(walked, span) : new JsonList(walked, span);
}

/** Goes behind a value whose end is known. */
function pass({ scanner, ends }: Walked): void {
  const end = ends.get(scanner.at());
  if (end === undefined) scanner.scalar(MISSING_VALUE);
  else scanner.moveTo(end);
}

class JsonTable {
  readonly kind = 'table';
  readonly span: Span;
  readonly #walked: Walked;
  #members: Map<string, Member> | undefined;

  constructor(walked: Walked, span: Span) {
    this.#walked = walked;
    this.span = span;
  }

  get members(): Map<string, Member> {
    this.#members ??= this.#read();
    return this.#members;
  }

  #read(): Map<string, Member> {
    const { scanner } = this.#walked;
    const members = new Map<string, Member>();
    let before = this.span.start;
    for (scanner.moveTo(before + 1), scanner.skip(); !scanner.sees('}'); scanner.skip()) {
      const { name, span } = scanner.name(MISSING_NAME);
      scanner.colon();
      const valueStart = scanner.at();
      pass(this.#walked);
      scanner.skip();
      const between: Between = { before, comma: undefined };
      if (scanner.sees(',')) {
        before = scanner.at();
        between.comma = before;
        scanner.step();
      }
      const behind = scanner.at();
      const node = nodeFrom(this.#walked, valueStart);
      scanner.moveTo(behind);
      members.set(name, { node, key: { ...span, lastStart: span.start, between } });
    }
    return members;
  }
}

class JsonList {
  readonly kind = 'list';
  readonly span: Span;
  readonly #walked: Walked;
  #read: { readonly items: TextNode[]; readonly hasTrailingComma: boolean } | undefined;

  constructor(walked: Walked, span: Span) {
    this.#walked = walked;
    this.span = span;
  }

  get items(): TextNode[] {
    this.#read ??= this.#readItems();
    return this.#read.items;
  }

  get hasTrailingComma(): boolean {
    this.#read ??= this.#readItems();
    return this.#read.hasTrailingComma;
  }

  #readItems(): { items: TextNode[]; hasTrailingComma: boolean } {
    const { scanner } = this.#walked;
    const items: TextNode[] = [];
    let hasTrailingComma = false;
    for (scanner.moveTo(this.span.start + 1), scanner.skip(); !scanner.sees(']'); scanner.skip()) {
      const node = nodeFrom(this.#walked, scanner.at());
      items.push(node);
      scanner.moveTo(node.span?.end ?? this.span.end);
      scanner.skip();
      hasTrailingComma = scanner.sees(',');
      if (hasTrailingComma) scanner.step();
    }
    return { items, hasTrailingComma };
  }
}

/** What stands in a text with comments, which the runtime does not read. */
function valueOf(node: TextNode, scanner: Scanner): unknown {
  if (node.kind === 'list') return node.items.map((item) => valueOf(item, scanner));
  if (node.kind === 'scalar') {
    scanner.moveTo(node.span.start);
    return scanner.scalar(MISSING_VALUE).value();
  }
  const made: { [name: string]: unknown } = {};
  for (const [name, member] of node.members) {
    const value = valueOf(member.node, scanner);
    const how = { value, enumerable: true, configurable: true, writable: true };
    // Not by assignment, which is faster: here it is a name like any other.
    if (name === '__proto__') Object.defineProperty(made, name, how);
    else made[name] = value;
  }
  return made;
}
