// A small lexer for TypeScript: enough to tell code from comments, strings, templates and regular
// expressions. It never fails; what it can't read becomes punctuation and the next line is sane.

type TokenKind = 'word' | 'number' | 'string' | 'template' | 'regex' | 'punct' | 'comment';

export interface Token {
  readonly kind: TokenKind;
  /** For strings, the text between the quotes; for all others, the text as written. */
  readonly text: string;
  readonly line: number;
}

interface Cursor {
  readonly text: string;
  at: number;
  line: number;
  readonly tokens: Token[];
  /** What each open bracket was, so that a closing brace can go back into its template. */
  readonly open: ('template' | 'control' | 'plain')[];
  /** The last token that is no comment: it tells a division from a regular expression. */
  last: Token | undefined;
  /** Set when the last `)` closed the head of an `if`, `for` or `while`. */
  afterControl: boolean;
}

const WORD = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy;
const NUMBER = /(?:0[xob][\da-f_]+|\d[\d_]*(?:\.[\d_]*)?(?:e[+-]?\d+)?|\.\d[\d_]*)n?/iy;
const REGEX = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const STRING = /'((?:\\[\s\S]|[^'\\\n])*)'|"((?:\\[\s\S]|[^"\\\n])*)"/y;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
const TEMPLATE_PART = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*/y;
const CONTROL = new Set(['if', 'for', 'while', 'with']);
const BEFORE_REGEX = new Set(
  'return typeof case in of do else void delete throw new instanceof yield await'.split(' '),
);

/** All tokens of a source text, comments included. */
export function tokenize(text: string): readonly Token[] {
  const cursor: Cursor = {
    text,
    at: text.startsWith('#!') ? Math.max(text.indexOf('\n'), 0) : 0,
    line: 1,
    tokens: [],
    open: [],
    last: undefined,
    afterControl: false,
  };
  while (cursor.at < text.length) next(cursor);
  return cursor.tokens;
}

function next(cursor: Cursor): void {
  const char = cursor.text[cursor.at] ?? '';
  if (/\s/.test(char)) {
    if (char === '\n') cursor.line++;
    cursor.at++;
    return;
  }
  const taken =
    take(cursor, 'comment', COMMENT) ||
    take(cursor, 'string', STRING) ||
    (regexMayStart(cursor) && take(cursor, 'regex', REGEX)) ||
    take(cursor, 'word', WORD) ||
    take(cursor, 'number', NUMBER);
  if (!taken) punctuation(cursor, char);
}

function take(cursor: Cursor, kind: TokenKind, pattern: RegExp): boolean {
  pattern.lastIndex = cursor.at;
  const match = pattern.exec(cursor.text);
  if (match === null || match[0] === '') return false;
  push(cursor, kind, match[1] ?? match[2] ?? match[0]);
  advance(cursor, match[0]);
  return true;
}

function push(cursor: Cursor, kind: TokenKind, text: string): void {
  const token = { kind, text, line: cursor.line };
  cursor.tokens.push(token);
  if (kind !== 'comment') cursor.last = token;
}

function advance(cursor: Cursor, taken: string): void {
  cursor.at += taken.length;
  for (const char of taken) if (char === '\n') cursor.line++;
}

function punctuation(cursor: Cursor, char: string): void {
  if (char === '`') {
    advance(cursor, '`');
    template(cursor);
    return;
  }
  if (char === '}' && cursor.open.at(-1) === 'template') {
    cursor.open.pop();
    push(cursor, 'punct', '}');
    advance(cursor, '}');
    template(cursor);
    return;
  }
  const control = cursor.last?.kind === 'word' && CONTROL.has(cursor.last.text);
  if (char === '(') cursor.open.push(control ? 'control' : 'plain');
  else if (char === '{' || char === '[') cursor.open.push('plain');
  else if (')]}'.includes(char)) cursor.afterControl = cursor.open.pop() === 'control';
  const text = cursor.text.startsWith('=>', cursor.at) ? '=>' : char;
  push(cursor, 'punct', text);
  advance(cursor, text);
}

/** Reads template text up to its end or to the next `${`, whose code is read as any other. */
function template(cursor: Cursor): void {
  TEMPLATE_PART.lastIndex = cursor.at;
  const part = TEMPLATE_PART.exec(cursor.text)?.[0] ?? '';
  push(cursor, 'template', part);
  advance(cursor, part);
  if (cursor.text.startsWith('${', cursor.at)) {
    cursor.open.push('template');
    push(cursor, 'punct', '{');
    advance(cursor, '${');
  } else {
    advance(cursor, cursor.text[cursor.at] ?? '');
  }
}

function regexMayStart({ last, afterControl }: Cursor): boolean {
  if (last === undefined) return true;
  if (last.kind === 'word') return BEFORE_REGEX.has(last.text);
  if (last.kind !== 'punct') return false;
  if (last.text === ')') return afterControl;
  return last.text !== ']';
}
