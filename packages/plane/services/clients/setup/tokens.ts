// The strings and comments of a config, one after the other. By hand: a string of some megabytes is
// more than a regular expression takes. Comments are found so that a quote in one begins no string.
import type { Format } from '../types.ts';

interface Token {
  readonly start: number;
  readonly end: number;
}

const JSON_START = /"|\/\/|\/\*/g;
const TOML_START = /"""|'''|"|'|#/g;

/** In the order of the text. What has no end ends with its line, or with the text. */
export function* tokensIn(text: string, format: Format): Generator<Token> {
  const starts = new RegExp(format === 'toml' ? TOML_START : JSON_START);
  for (let found = starts.exec(text); found !== null; found = starts.exec(text)) {
    const { index: start, 0: mark } = found;
    const end = endOf(text, start, mark);
    yield { start, end };
    starts.lastIndex = end;
  }
}

function endOf(text: string, start: number, mark: string): number {
  const from = start + mark.length;
  switch (mark) {
    case '#':
    case '//':
      return orEnd(text, text.indexOf('\n', from), 0);
    case '/*':
      return orEnd(text, text.indexOf('*/', from), 2);
    case '"""':
      return longEnd(text, from, { mark, escapes: true });
    case "'''":
      return longEnd(text, from, { mark, escapes: false });
    default:
      return lineEnd(text, from, mark);
  }
}

function orEnd(text: string, found: number, length: number): number {
  return found === -1 ? text.length : found + length;
}

const SPECIAL = /[\\\n]/;

/** Of a string on one line. Only between double quotes is a backslash more than itself. */
function lineEnd(text: string, from: number, quote: string): number {
  let [at, stop] = [from, from - 1];
  while (at < text.length) {
    // Looked for again only behind the last one, or a text full of escapes would take for ever.
    if (stop < at) stop = orEnd(text, text.indexOf(quote, at), 0);
    const part = text.slice(at, stop);
    const found = quote === '"' ? part.search(SPECIAL) : part.indexOf('\n');
    if (found === -1) return Math.min(stop + 1, text.length);
    at += found;
    if (text[at] === '\n') return at;
    at += text[at + 1] === '\n' ? 1 : 2;
  }
  return text.length;
}

/** Of a string over several lines: quotes of its own may stand right before those that end it. */
function longEnd(
  text: string,
  from: number,
  { mark, escapes }: { readonly mark: string; readonly escapes: boolean },
): number {
  for (let at = from; at < text.length; at += 1) {
    if (escapes && text[at] === '\\') at += 1;
    else if (text.startsWith(mark, at) && text[at + mark.length] !== mark[0]) {
      return at + mark.length;
    }
  }
  return text.length;
}

/** The text with each token as it is to be shown. */
export function replaceTokens(
  text: string,
  format: Format,
  shown: (token: string, end: number) => string,
): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of tokensIn(text, format)) {
    parts.push(text.slice(at, start), shown(text.slice(start, end), end));
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join('');
}
