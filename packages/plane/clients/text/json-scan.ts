// The words of JSON: strings, numbers and the space between them, found by native searches. A config
// of some hundred kilobytes is read once by code that has not been optimised yet.

import { type Span, Unreadable } from './tree.ts';

interface Scanner {
  at(): number;
  moveTo(offset: number): void;
  isOver(): boolean;
  /** Whether this character stands here. */
  sees(character: string): boolean;
  /** Goes behind the character that stands here. */
  step(): void;
  /** Goes behind white space, and comments where they are allowed. */
  skip(): void;
  /** A string as the name of a property; `missing` is the complaint where there is none. */
  name(missing: string): { readonly name: string; readonly span: Span };
  /** Goes behind the colon, and the space around it. */
  colon(): void;
  scalar(missing: string): { readonly span: Span; readonly value: () => unknown };
  fail(message: string, offset?: number): never;
}

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what ends it.
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const LINE_END = /[\r\n]|$/g;
const WORDS: { readonly [word: string]: boolean | null } = { true: true, false: false, null: null };

function createScanner(
  text: string,
  { allowsComments }: { readonly allowsComments: boolean },
): Scanner {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;

  function fail(message: string, offset = at): never {
    throw new Unreadable(message, offset);
  }

  /** Where what this pattern matches here ends; -1 when it does not. */
  function endOf(pattern: RegExp, from: number): number {
    pattern.lastIndex = from;
    return pattern.test(text) ? pattern.lastIndex : -1;
  }

  function skip(): void {
    at = endOf(SPACE, at);
    while (text[at] === '/') {
      const isLine = text[at + 1] === '/';
      if (!isLine && text[at + 1] !== '*') fail('This is no JSON value.');
      if (!allowsComments) fail('Comments are not allowed in this file.');
      if (isLine) {
        LINE_END.lastIndex = at;
        at = LINE_END.exec(text)?.index ?? text.length;
      } else {
        const end = text.indexOf('*/', at + 2);
        if (end === -1) fail('A comment does not end.');
        at = end + 2;
      }
      at = endOf(SPACE, at);
    }
  }

  /** The string that begins here. Complaints about it stand at its start. */
  function string(): Span {
    const start = at;
    let end = endOf(PLAIN, start + 1);
    while (text[end] !== '"') {
      if (end >= text.length) fail('A string does not end.');
      if (text[end] !== '\\') fail('A control character must be escaped here.');
      const next = endOf(ESCAPE, end);
      if (next === -1) fail('This is no valid escape.');
      end = endOf(PLAIN, next);
    }
    at = end + 1;
    return { start, end: at };
  }

  function textOf({ start, end }: Span): string {
    const inner = text.slice(start + 1, end - 1);
    return inner.includes('\\') ? String(JSON.parse(text.slice(start, end))) : inner;
  }

  function scalar(missing: string): ReturnType<Scanner['scalar']> {
    const start = at;
    if (text[at] === '"') {
      const span = string();
      return { span, value: () => textOf(span) };
    }
    const isNumber = /[-0-9]/.test(text[at] ?? '');
    const end = endOf(isNumber ? NUMBER : WORD, at);
    if (end === -1 && isNumber) fail('This is no JSON number.');
    if (end === -1) fail(/[\]},]/.test(text[at] ?? ',') ? missing : 'This is no JSON value.');
    at = end;
    const span = { start, end };
    const written = text.slice(start, end);
    return { span, value: () => (isNumber ? Number(written) : WORDS[written]) };
  }

  return {
    at: () => at,
    moveTo: (offset) => {
      at = offset;
    },
    isOver: () => at >= text.length,
    sees: (character) => text[at] === character,
    step: () => {
      at += 1;
    },
    skip,
    name: (missing) => {
      if (text[at] !== '"') fail(missing);
      const span = string();
      return { name: textOf(span), span };
    },
    colon: () => {
      skip();
      if (text[at] !== ':') fail('A colon is missing here.');
      at += 1;
      skip();
    },
    scalar,
    fail,
  };
}

export type { Scanner };
export { createScanner };
