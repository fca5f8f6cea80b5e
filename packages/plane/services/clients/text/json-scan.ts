// The words of JSON: strings, numbers and the space between them, found by native searches. A config
// of some hundred kilobytes is read once by code that has not been optimised yet.

import { type Span, Unreadable } from './tree.ts';

interface Scalar {
  readonly span: Span;
  readonly value: () => unknown;
}

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what ends it.
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const LINE_END = /[\r\n]|$/g;
const WORDS: { readonly [word: string]: boolean | null } = { true: true, false: false, null: null };

export class Scanner {
  readonly #text: string;
  readonly #allowsComments: boolean;
  #at: number;

  constructor(text: string, { allowsComments }: { readonly allowsComments: boolean }) {
    this.#text = text;
    this.#allowsComments = allowsComments;
    this.#at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  at(): number {
    return this.#at;
  }

  moveTo(offset: number): void {
    this.#at = offset;
  }

  isOver(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Whether this character stands here. */
  sees(character: string): boolean {
    return this.#text[this.#at] === character;
  }

  /** Goes behind the character that stands here. */
  step(): void {
    this.#at += 1;
  }

  /** Goes behind white space, and comments where they are allowed. */
  skip(): void {
    this.#at = this.#endOf(SPACE, this.#at);
    while (this.#text[this.#at] === '/') {
      this.#comment();
      this.#at = this.#endOf(SPACE, this.#at);
    }
  }

  /** A string as the name of a property; `missing` is the complaint where there is none. */
  name(missing: string): { readonly name: string; readonly span: Span } {
    if (!this.sees('"')) this.fail(missing);
    const span = this.#string();
    return { name: this.#textOf(span), span };
  }

  /** Goes behind the colon, and the space around it. */
  colon(): void {
    this.skip();
    if (!this.sees(':')) this.fail('A colon is missing here.');
    this.step();
    this.skip();
  }

  scalar(missing: string): Scalar {
    const start = this.#at;
    const first = this.#text[start] ?? '';
    if (first === '"') {
      const span = this.#string();
      return { span, value: () => this.#textOf(span) };
    }
    const isNumber = /[-0-9]/.test(first);
    const end = this.#endOf(isNumber ? NUMBER : WORD, start);
    if (end === -1 && isNumber) this.fail('This is no JSON number.');
    if (end === -1) this.fail(/^[\]},]?$/.test(first) ? missing : 'This is no JSON value.');
    this.#at = end;
    const written = this.#text.slice(start, end);
    return { span: { start, end }, value: () => (isNumber ? Number(written) : WORDS[written]) };
  }

  fail(message: string): never {
    throw new Unreadable(message, this.#at);
  }

  /** Where what this pattern matches here ends; -1 when it does not. */
  #endOf(pattern: RegExp, from: number): number {
    pattern.lastIndex = from;
    return pattern.test(this.#text) ? pattern.lastIndex : -1;
  }

  #comment(): void {
    const text = this.#text;
    const isLine = text[this.#at + 1] === '/';
    if (!isLine && text[this.#at + 1] !== '*') this.fail('This is no JSON value.');
    if (!this.#allowsComments) this.fail('Comments are not allowed in this file.');
    if (isLine) {
      LINE_END.lastIndex = this.#at;
      this.#at = LINE_END.exec(text)?.index ?? text.length;
      return;
    }
    const end = text.indexOf('*/', this.#at + 2);
    if (end === -1) this.fail('A comment does not end.');
    this.#at = end + 2;
  }

  /** The string that begins here. Complaints about it stand at its start. */
  #string(): Span {
    const text = this.#text;
    const start = this.#at;
    let end = this.#endOf(PLAIN, start + 1);
    while (text[end] !== '"') {
      if (end >= text.length) this.fail('A string does not end.');
      if (text[end] !== '\\') this.fail('A control character must be escaped here.');
      const next = this.#endOf(ESCAPE, end);
      if (next === -1) this.fail('This is no valid escape.');
      end = this.#endOf(PLAIN, next);
    }
    this.#at = end + 1;
    return { start, end: this.#at };
  }

  #textOf({ start, end }: Span): string {
    const inner = this.#text.slice(start + 1, end - 1);
    return inner.includes('\\') ? String(JSON.parse(this.#text.slice(start, end))) : inner;
  }
}
