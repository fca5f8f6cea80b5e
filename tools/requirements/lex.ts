// Enough of a TypeScript lexer to tell code from comments, strings, templates and regexes.
// The compiler offers no API for this, and a plain text search would count commented-out code.

export interface Token {
  /** `text` is a string whose value is known; `opaque` a regex or a template that computes. */
  readonly kind: 'word' | 'text' | 'opaque' | 'mark';
  readonly value: string;
  readonly at: number;
  readonly end: number;
}

const GAP = /\s+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
const STRING = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const WORD = /[\p{ID_Continue}$#@]+/uy;
const REGEX = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;

/** After one of these a slash begins a regex; after any other word it divides. */
const BEFORE_REGEX = new Set(
  'await case delete do else in instanceof new of return throw typeof void yield'.split(' '),
);

export function lex(source: string): readonly Token[] {
  return scan(source, 0, false).tokens;
}

/** Reads code up to the end, or inside a template up to the brace that closes it. */
function scan(source: string, from: number, inTemplate: boolean) {
  const tokens: Token[] = [];
  let at = from;
  let depth = 0;
  while (at < source.length) {
    const gap = matchAt(GAP, source, at);
    if (gap !== undefined) {
      at += gap.length;
      continue;
    }
    const token = nextToken(source, at, tokens.at(-1));
    if (inTemplate && isMark(token, '{')) depth += 1;
    if (inTemplate && isMark(token, '}')) {
      if (depth === 0) return { tokens, end: token.end };
      depth -= 1;
    }
    tokens.push(token);
    at = token.end;
  }
  return { tokens, end: at };
}

function nextToken(source: string, at: number, before: Token | undefined): Token {
  if (source[at] === '`') return template(source, at);
  const string = matchAt(STRING, source, at);
  if (string !== undefined) {
    return { kind: 'text', value: string.slice(1, -1), at, end: at + string.length };
  }
  const word = matchAt(WORD, source, at);
  if (word !== undefined) return { kind: 'word', value: word, at, end: at + word.length };
  const regex = mayBeRegex(before) ? matchAt(REGEX, source, at) : undefined;
  if (regex !== undefined) return { kind: 'opaque', value: regex, at, end: at + regex.length };
  return { kind: 'mark', value: source[at] ?? '', at, end: at + 1 };
}

function template(source: string, from: number): Token {
  let at = from + 1;
  let plain = true;
  while (at < source.length && source[at] !== '`') {
    if (source[at] === '\\') {
      at += 2;
    } else if (source.startsWith('${', at)) {
      plain = false;
      at = scan(source, at + 2, true).end;
    } else {
      at += 1;
    }
  }
  const value = source.slice(from + 1, at);
  return { kind: plain ? 'text' : 'opaque', value, at: from, end: at + 1 };
}

function mayBeRegex(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'mark') return !')]}'.includes(before.value);
  return before.kind === 'word' && BEFORE_REGEX.has(before.value);
}

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

export function isMark(token: Token | undefined, value: string): boolean {
  return token?.kind === 'mark' && token.value === value;
}

export function isWord(token: Token | undefined, value: string): boolean {
  return token?.kind === 'word' && token.value === value;
}
