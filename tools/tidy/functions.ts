// Where the functions of a source begin and end, and how many parameters they take.
import { isToken, type Source } from './source.ts';
import type { Token } from './tokens.ts';

export interface FunctionShape {
  /** Empty for an anonymous function, such as a callback. */
  readonly name: string;
  readonly line: number;
  /** Lines from the first to the last, or 0 for a type or an expression body. */
  readonly lines: number;
  readonly parameters: number;
}

interface Reader {
  readonly tokens: readonly Token[];
  /** The index of the closing bracket, by the index of the opening one. */
  readonly closers: ReadonlyMap<number, number>;
}

interface Head {
  readonly kind: 'function' | 'arrow' | 'method';
  readonly name: string;
}

const NOT_METHODS = new Set([
  'if',
  'for',
  'while',
  'switch',
  'catch',
  'with',
  'function',
  'return',
]);
const MODIFIERS = new Set(
  'async get set static private protected public override readonly abstract'.split(' '),
);
const TYPE_GOES_ON = new Set(
  '| & < , ( [ : ? extends is keyof readonly infer'.split(' ').concat('=>'),
);

export function functionsOf({ tokens }: Source): readonly FunctionShape[] {
  const reader: Reader = { tokens, closers: matchBrackets(tokens) };
  const found: FunctionShape[] = [];
  for (const [open, close] of reader.closers) {
    if (!isToken(tokens[open], '(')) continue;
    const shape = readFunction(reader, open, close);
    if (shape !== undefined) found.push(shape);
  }
  return found.toSorted((left, right) => left.line - right.line);
}

function readFunction(reader: Reader, open: number, close: number): FunctionShape | undefined {
  const { tokens, closers } = reader;
  const head = readHead(reader, open, close);
  if (head === undefined) return undefined;
  const body = bodyStart(reader, close + 1, head.kind);
  if (body === undefined && head.kind !== 'arrow') return undefined;
  const line = tokens[open]?.line ?? 0;
  const end = body === undefined ? undefined : tokens[closers.get(body) ?? -1]?.line;
  const lines = end === undefined ? 0 : end - line + 1;
  return { name: head.name, line, lines, parameters: countParameters(reader, open, close) };
}

/** What the parenthesis at `open` belongs to, if it holds the parameters of a function. */
function readHead(reader: Reader, open: number, close: number): Head | undefined {
  const { tokens } = reader;
  const before = beforeGenerics(tokens, open);
  const name = tokens[before];
  if (
    isToken(name, 'function') ||
    (isToken(name, '*') && isToken(tokens[before - 1], 'function'))
  ) {
    return { kind: 'function', name: '' };
  }
  if (name?.kind === 'word' && isFunctionKeyword(tokens, before)) {
    return { kind: 'function', name: name.text };
  }
  if (arrowAfter(reader, close) !== undefined)
    return { kind: 'arrow', name: nameOf(tokens, before) };
  if (name?.kind === 'word' && !NOT_METHODS.has(name.text) && opensMember(tokens, before)) {
    return { kind: 'method', name: name.text };
  }
  return undefined;
}

function isFunctionKeyword(tokens: readonly Token[], nameAt: number): boolean {
  const before = tokens[nameAt - 1];
  return (
    isToken(before, 'function') || (isToken(before, '*') && isToken(tokens[nameAt - 2], 'function'))
  );
}

/** `x = (…) =>`, `x: (…) =>` and `x = async (…) =>` name their function; a callback has no name. */
function nameOf(tokens: readonly Token[], before: number): string {
  const at = isToken(tokens[before], 'async') ? before - 1 : before;
  if (!isToken(tokens[at], '=') && !isToken(tokens[at], ':')) return '';
  const name = tokens[at - 1];
  return name?.kind === 'word' ? name.text : '';
}

/** A method's name comes first in its member: after a brace, a separator or a modifier. */
function opensMember(tokens: readonly Token[], nameAt: number): boolean {
  const before = tokens[nameAt - 1];
  if (before === undefined) return false;
  if (before.kind === 'word') return MODIFIERS.has(before.text);
  return before.kind === 'punct' && '{};,*#'.includes(before.text);
}

/** Steps back over `<T, …>` before the parameters. */
function beforeGenerics(tokens: readonly Token[], open: number): number {
  if (!isToken(tokens[open - 1], '>')) return open - 1;
  let depth = 0;
  for (let at = open - 1; at >= 0; at--) {
    if (isToken(tokens[at], '>')) depth++;
    if (isToken(tokens[at], '<') && --depth === 0) return at - 1;
    if (isToken(tokens[at], ';')) break;
  }
  return open - 1;
}

/** The index of the `=>` that belongs to the parameters closed at `close`. */
function arrowAfter({ tokens, closers }: Reader, close: number): number | undefined {
  if (isToken(tokens[close + 1], '=>')) return close + 1;
  if (!isToken(tokens[close + 1], ':')) return undefined;
  let angles = 0;
  for (let at = close + 2; at < tokens.length; at++) {
    if (isToken(tokens[at], '=>')) return at;
    if (isOneOf(tokens[at], ';=)]}') || (isToken(tokens[at], ',') && angles === 0))
      return undefined;
    if (isToken(tokens[at], '<')) angles++;
    if (isToken(tokens[at], '>')) angles--;
    if (isToken(tokens[at], '{') && !typeGoesOn(tokens[at - 1])) return undefined;
    at = closers.get(at) ?? at;
  }
  return undefined;
}

/** The opening brace of the body; undefined for a signature or an expression body. */
function bodyStart(reader: Reader, from: number, kind: Head['kind']): number | undefined {
  const { tokens, closers } = reader;
  if (kind === 'arrow') {
    const arrow = arrowAfter(reader, from - 1) ?? -1;
    return isToken(tokens[arrow + 1], '{') ? arrow + 1 : undefined;
  }
  if (isToken(tokens[from], '{')) return from;
  if (!isToken(tokens[from], ':')) return undefined;
  for (let at = from + 1; at < tokens.length; at++) {
    if (isOneOf(tokens[at], ';=)]}')) return undefined;
    if (isToken(tokens[at], '{') && !typeGoesOn(tokens[at - 1])) return at;
    at = closers.get(at) ?? at;
  }
  return undefined;
}

/** After these a brace is a part of the type, not the body. */
function typeGoesOn(token: Token | undefined): boolean {
  return token !== undefined && token.kind !== 'string' && TYPE_GOES_ON.has(token.text);
}

function countParameters({ tokens, closers }: Reader, open: number, close: number): number {
  let [count, angles, pending] = [0, 0, false];
  for (let at = open + 1; at < close; at++) {
    const token = tokens[at];
    if (isToken(token, '<') && tokens[at - 1]?.kind === 'word') angles++;
    else if (isToken(token, '>') && angles > 0) angles--;
    if (isToken(token, ',') && angles === 0) {
      count++;
      pending = false;
    } else {
      pending = true;
    }
    at = closers.get(at) ?? at;
  }
  const receiver = isToken(tokens[open + 1], 'this') && isToken(tokens[open + 2], ':') ? 1 : 0;
  return count + (pending ? 1 : 0) - receiver;
}

function matchBrackets(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const closers = new Map<number, number>();
  const open: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (isOneOf(token, '([{')) open.push(index);
    if (!isOneOf(token, ')]}')) continue;
    const start = open.pop();
    if (start !== undefined) closers.set(start, index);
  }
  return closers;
}

function isOneOf(token: Token | undefined, signs: string): boolean {
  return token?.kind === 'punct' && token.text.length === 1 && signs.includes(token.text);
}
