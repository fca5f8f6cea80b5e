// A change of a config for people to look at: a diff that shows no value but those that change.
import type { Format, ReadConfig, ValuePath } from '../index.ts';
import { unifiedDiff } from '../text/diff.ts';
import { documentIn } from '../text/document.ts';
import { stringEnd } from '../text/toml.ts';
import type { TextSpan } from '../text/tree.ts';
import { MASK, maskedWords } from './mask-words.ts';
import { entryKey, startedCommand } from './server-view.ts';

interface ConfigChange {
  readonly before: ReadConfig;
  readonly after: ReadConfig;
  readonly redact: (text: string) => string;
  /** Settings that change: their values are shown as well. */
  readonly shown?: readonly ValuePath[];
}

export function redactedDiff({ before, after, redact, shown: more = [] }: ConfigChange): string {
  const { path } = before.file;
  const touched = touchedIn(before, after);
  const names = new Set([
    ...[...before.entries, ...after.entries].map(({ name }) => name),
    ...more.flat().map(String),
  ]);
  const isRemote = remoteIn(before, after);
  const mask = (config: ReadConfig): string => {
    const shown = shownIn(config, { touched, isRemote, more });
    return maskConfig(config.text, { format: config.file.format, names, redact, shown });
  };
  return unifiedDiff({ before: mask(before), after: mask(after), name: path });
}

/** The entries that start something else than before. */
function touchedIn(before: ReadConfig, after: ReadConfig): ReadonlySet<string> {
  const old = new Map(before.entries.map((entry) => [entryKey(entry), startedCommand(entry)]));
  const changed = after.entries.filter(
    (entry) => old.get(entryKey(entry)) !== startedCommand(entry),
  );
  return new Set(changed.map(entryKey));
}

/** The entries that have an address, before or after: their `type` changes with it. */
function remoteIn(...configs: readonly ReadConfig[]): ReadonlySet<string> {
  const remote = configs.flatMap(({ entries }) => entries.filter((entry) => entry.remote));
  return new Set(remote.map(entryKey));
}

interface ShownEntries {
  readonly touched: ReadonlySet<string>;
  readonly isRemote: ReadonlySet<string>;
  readonly more: readonly ValuePath[];
}

/** Where the commands and addresses of these entries stand; nothing is shown of a text that cannot be read. */
function shownIn(
  { text, file, entries }: ReadConfig,
  { touched, isRemote, more }: ShownEntries,
): readonly TextSpan[] {
  const ofEntries = entries
    .filter((entry) => touched.has(entryKey(entry)))
    .flatMap((entry) => {
      const { at, path, remote } = entry;
      const type = isRemote.has(entryKey(entry)) ? [[...path, 'type']] : [];
      const changed = remote === undefined ? [at.command, at.args] : [[...path, remote.addressKey]];
      return [...type, ...changed];
    });
  const paths = [
    ...new Map([...ofEntries, ...more].map((path) => [JSON.stringify(path), path])).values(),
  ];
  const document = documentIn(text, file.format, paths);
  const spans = paths.map((path) => document?.spanAt(path));
  return spans
    .filter((span) => span !== undefined)
    .toSorted((left, right) => left.start - right.start);
}

// A config as it may be shown: its form and the values that are about to change, nothing else. What
// stands beside them is where clients keep their secrets.

interface MaskOptions {
  readonly format: Format;
  /** Shown, but for what looks like a secret in them; sorted, apart from each other. */
  readonly shown: readonly TextSpan[];
  /** Strings that are no secret: the names of servers. */
  readonly names: ReadonlySet<string>;
  readonly redact: (text: string) => string;
}

const JSON_KEY = /\s{0,64}:/y;
/** A key, or a part of one. */
const TOML_KEY = /[ \t]{0,64}[=.]/y;
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

function maskedPart(
  text: string,
  { start, end }: TextSpan,
  { format, names }: MaskOptions,
): string {
  const isKey = format === 'toml' ? TOML_KEY : JSON_KEY;
  return replaceTokens(text.slice(start, end), format, (token, tokenEnd) => {
    if (isComment(token)) return maskedComment(token);
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

const JSON_START = /"|\/\/|\/\*/g;
const TOML_START = /"""|'''|"|'|#/g;

/** In the order of the text. What has no end ends with its line, or with the text. */
function* tokensIn(text: string, format: Format): Generator<TextSpan> {
  const starts = new RegExp(format === 'toml' ? TOML_START : JSON_START);
  for (let found = starts.exec(text); found !== null; found = starts.exec(text)) {
    const { index: start, 0: mark } = found;
    const end = /["']/.test(mark) ? stringEnd(text, start, mark) : commentEnd(text, start, mark);
    yield { start, end };
    starts.lastIndex = end;
  }
}

function commentEnd(text: string, start: number, mark: string): number {
  const closer = mark === '/*' ? '*/' : '\n';
  const end = text.indexOf(closer, start + mark.length);
  if (end === -1) return text.length;
  return mark === '/*' ? end + closer.length : end;
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
