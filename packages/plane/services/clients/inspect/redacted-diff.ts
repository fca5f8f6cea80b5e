// A change of a config for people to look at: a diff that shows no value but those that change.
import type { Format, ReadConfig, ServerEntry } from '../index.ts';
import { unifiedDiff } from '../text/diff.ts';
import { readDocument } from '../text/document.ts';
import { MASK, maskedWords } from './mask-words.ts';
import { entryKey, startedCommand } from './server-view.ts';

interface ConfigChange {
  readonly before: ReadConfig;
  readonly after: ReadConfig;
  readonly redact: (text: string) => string;
}

export function redactedDiff({ before, after, redact }: ConfigChange): string {
  const { path } = before.file;
  const touched = touchedIn(before, after);
  const names = new Set([...before.entries, ...after.entries].map(({ name }) => name));
  const known = new Map<string, string>();
  const mask = ({ text, file, entries }: ReadConfig): string =>
    maskConfig(text, {
      format: file.format,
      names,
      redact,
      known,
      shown: rangesOf(
        { text, format: file.format },
        entries.filter((entry) => touched.has(entryKey(entry))),
      ),
    });
  return unifiedDiff({ before: mask(before), after: mask(after), name: path.replace(/^\//, '') });
}

/** The entries that start something else than before. */
function touchedIn(before: ReadConfig, after: ReadConfig): ReadonlySet<string> {
  const old = new Map(before.entries.map((entry) => [entryKey(entry), startedCommand(entry)]));
  const changed = after.entries.filter(
    (entry) => old.get(entryKey(entry)) !== startedCommand(entry),
  );
  return new Set(changed.map(entryKey));
}

function rangesOf(
  { text, format }: { readonly text: string; readonly format: Format },
  entries: readonly ServerEntry[],
): readonly ShownRange[] {
  const paths = entries.flatMap(({ at }) => [at.command, at.args]);
  const read = readDocument(text, format, paths);
  // Then nothing is shown at all.
  if (read.kind === 'broken') return [];
  const { document } = read;
  const spans = paths.map((path) => document.spanAt(path));
  return spans
    .filter((span) => span !== undefined)
    .toSorted((left, right) => left.start - right.start);
}

// A config as it may be shown: its form and the values that are about to change, nothing else. What
// stands beside them is where clients keep their secrets.

interface ShownRange {
  readonly start: number;
  readonly end: number;
}

interface MaskOptions {
  readonly format: Format;
  /** Shown, but for what looks like a secret in them; sorted, apart from each other. */
  readonly shown: readonly ShownRange[];
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
export function maskConfig(text: string, options: MaskOptions): string {
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

function maskedPart(text: string, range: ShownRange, options: MaskOptions): string {
  const { known } = options;
  // What follows decides whether a last word is a key.
  const key = text.slice(range.start, range.end + KEY_LOOK);
  const part = known?.get(key) ?? newlyMasked(text, range, options);
  known?.set(key, part);
  return part;
}

function newlyMasked(
  text: string,
  { start, end }: ShownRange,
  { format, names }: MaskOptions,
): string {
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

// The strings and comments of a config, one after the other. By hand: a string of some megabytes is
// more than a regular expression takes. Comments are found so that a quote in one begins no string.

interface TextToken {
  readonly start: number;
  readonly end: number;
}

const JSON_START = /"|\/\/|\/\*/g;
const TOML_START = /"""|'''|"|'|#/g;

/** In the order of the text. What has no end ends with its line, or with the text. */
function* tokensIn(text: string, format: Format): Generator<TextToken> {
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
function replaceTokens(
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
