// A config as it may be shown: its form and the values that are about to change, nothing else. What
// stands beside them is where clients keep their secrets.
import type { Format } from '../types.ts';
import { MASK, maskedWords } from './masked-words.ts';
import { replaceTokens, tokensIn } from './tokens.ts';

export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface MaskOptions {
  readonly format: Format;
  /** Shown, but for what looks like a secret in them; sorted, apart from each other. */
  readonly shown: readonly Range[];
  /** Strings that are no secret: the names of servers. */
  readonly names: ReadonlySet<string>;
  readonly redact: (text: string) => string;
  /** What was masked already: most of a config is the same before and after. */
  readonly known?: Map<string, string>;
}

const JSON_KEY = /\s{0,64}:/y;
/** A key, or a part of one. */
const TOML_KEY = /[ \t]{0,64}[=.]/y;
/** As far as the two look behind a word. */
const KEY_LOOK = 65;
/** Nobody reads more of a word, and looking for secrets in it takes its time. */
const WORD_LENGTH_MAX = 8_192;

/** Every string that is no key, and every comment, becomes an ellipsis. */
export function masked(text: string, options: MaskOptions): string {
  const { shown } = options;
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of shown) {
    parts.push(maskedPart(text, { start: at, end: start }, options));
    parts.push(shownPart(text.slice(start, end), options));
    at = end;
  }
  parts.push(maskedPart(text, { start: at, end: text.length }, options));
  return parts.join('');
}

function maskedPart(text: string, range: Range, options: MaskOptions): string {
  const { known } = options;
  // What follows decides whether a last word is a key.
  const key = text.slice(range.start, range.end + KEY_LOOK);
  const part = known?.get(key) ?? newlyMasked(text, range, options);
  known?.set(key, part);
  return part;
}

function newlyMasked(text: string, { start, end }: Range, { format, names }: MaskOptions): string {
  const isToml = format === 'toml';
  const part = text.slice(start, end);
  return replaceTokens(part, format, (token, tokenEnd) => {
    if (isComment(token)) return maskedComment(token);
    const isKey = isToml ? TOML_KEY : JSON_KEY;
    isKey.lastIndex = start + tokenEnd;
    if (isKey.test(text)) return token;
    return names.has(token.slice(1, -1)) ? token : maskedString(token);
  });
}

/** A command, or the list of its arguments. */
function shownPart(part: string, { format, redact }: MaskOptions): string {
  const mask = maskedWords();
  const shown = replaceTokens(part, format, (token) => {
    if (isComment(token)) return maskedComment(token);
    if (token.length > WORD_LENGTH_MAX) return maskedString(token);
    const word = wordOf(token);
    if (word === undefined) return maskedString(token);
    const hidden = mask(word);
    // First what has a known form: of a part of it the redactor would know nothing.
    const clean = redact(word);
    const safe = clean === word || hidden === MASK ? hidden : maskedWords()(clean);
    return safe === word ? token : JSON.stringify(safe);
  });
  return redact(shown);
}

/** Whether a value has comments among its parts. */
export function hasComment(text: string, format: Format): boolean {
  for (const { start } of tokensIn(text, format)) if (isComment(text.slice(start))) return true;
  return false;
}

function isComment(token: string): boolean {
  return token.startsWith('#') || token.startsWith('/');
}

/** What a token says; undefined where that takes more than a look. */
function wordOf(token: string): string | undefined {
  if (token.startsWith('"""') || token.startsWith("'''")) return undefined;
  if (token.startsWith("'")) return token.slice(1, -1);
  try {
    const word: unknown = JSON.parse(token);
    return typeof word === 'string' ? word : undefined;
  } catch {
    return undefined;
  }
}

/** As many lines as before, or a diff would show lines that nobody changes. */
function maskedString(token: string): string {
  return token.includes('\n') ? `"…"${'\n'.repeat(token.split('\n').length - 1)}` : '"…"';
}

/** Notes hold what people paste, and an entry that was commented out has its secrets in it still. */
function maskedComment(token: string): string {
  if (token.startsWith('#')) return '# …';
  if (token.startsWith('//')) return '// …';
  return `/* …${'\n'.repeat(token.split('\n').length - 1)} */`;
}
