// Secrets known by the name in front of them, in the notations that people use: `"db_password": "…"`,
// `?token=…`, `API_KEY=…`, `var key string = "…"`, `--password …`, `<token>…</token>`,
// `set("TOKEN", "…")`, `PASSWORD '…'`. The name is kept, the value goes.
import { isRandom } from '../text/randomness.ts';
import type { KeywordPlace, Match, Range, Rule } from '../types.ts';

const LENGTH_MIN = 6;
/** Short names are looked for with what follows them: by themselves they are in many words. */
const SHORT = ['pass', 'pw'].flatMap((name) =>
  [':', '=', ' =', ' :', ' !', '"', "'", '\\', '_'].map((sign) => name + sign),
);
const KEYS =
  'api access private auth authentication activation license encryption signing master secret shared service account deploy';
const NAMES = 'password passwd paswd psswd passphrase secret token credential creds pwd psw';
/** A gate reads no more than the beginnings of very many keywords: hence several lists. */
const KEYWORDS = [
  [...NAMES.split(' '), ...SHORT],
  ...['', '_', '-', ' '].map((sign) => KEYS.split(' ').map((kind) => `${kind}${sign}key`)),
];

const raw = String.raw;
const WORD = raw`(?:(?:pas?s?|pss)w(?:or)?d|passphrase|secrete?|token|credentials?|creds|(?:${KEYS.replaceAll(' ', '|')})[ _-]?key|(?:pass|pwd|psw|pw)(?![A-Za-z]))`;
/** What often stands behind such a word. */
const ENDING = raw`(?: key|[_-]?(?:key|value|text|plain|secure|prod|dev|old|new|\d{1,3})){0,2}`;
/** Other endings count before a value that looks drawn by lot, unless they name what is no secret. */
const LOOSE_ENDING = raw`[_-](?!id|name|ur[li]|endpoint|file|path|type|hash|arn|sha|digest|checksum|version|ref|uuid|public)[\w-]{1,24}`;
const NAME = raw`${WORD}(?:${ENDING}(?![\w-])|${LOOSE_ENDING})`;
/** A quote, with the backslashes of JSON in JSON. */
const OPENING = raw`\\{0,7}["'\x60]`;
/** The groups: the quote behind the name, spaces, the sign, spaces. A type may stand between. */
const HEAD = sticky(
  raw`(${OPENING})?\]?(?::?[ \t]{1,4}str(?:ing)?(?=[ \t]{0,8}=))?([ \t]{0,8})(=>|:{1,3}=|[?.+]?={1,3}|!={1,2}|:|%3D)([ \t]{0,8})`,
);
/** `<token>…</token>`, behind `<`. */
const ELEMENT = sticky(raw`>\s{0,64}([^<>\s]{6,512})\s{0,64}</`);
const VALUE_ATTRIBUTE = raw`[ \t]{1,8}value[ \t]{0,4}=[ \t]{0,4}`;
/** `set("TOKEN", "…")`, behind a parenthesis. */
const PAIR_START = /[(\s]\\{0,7}["'`]$/;
const PAIR = sticky(raw`${OPENING}(?:[ \t]{0,4},[ \t]{0,4}|${VALUE_ATTRIBUTE})`);
/** `key="password" value="…"`, behind the sign and the quote. */
const ATTRIBUTE_START = /=\\{0,7}["']$/;
const ATTRIBUTES = sticky(raw`${OPENING}${VALUE_ATTRIBUTE}`);
/** `--password …`, behind dashes. */
const FLAG = sticky(raw`[ \t]{1,4}(?=[^\s-])`);
/** `string secret("…")`, `secret.assign("…")`. */
const CALLED = sticky(raw`(?:\.assign|(?<=string[ \t]{1,4}\w{1,48}))\((?=\\{0,7}["'])`);
/** `PASSWORD '…'` of SQL, `#define TOKEN "…"`. */
const SPACED = sticky(raw`[ \t]{1,4}(?=\\{0,7}["'])`);

/** What stands behind a name. */
function sticky(behind: string): RegExp {
  return new RegExp(NAME + behind, 'iy');
}

/** At the end of a word (`compass`), a short name counts only before a value that looks drawn by lot. */
const GLUED =
  /(?<=[a-z])(?:pass|pwd|psw|pw)(?![A-Za-z])|(?<=[A-Z])(?:PASS|PWD|PSW|PW)(?![A-Za-z])/y;
const NAMED = new RegExp(raw`${WORD}${ENDING}(?![\w-])`, 'iy');
const DRAWN_MIN = 14;
const DRAWN_READ = 64;
/** `#define TOKEN …`, `%define token …`. */
const DEFINE = /[#%]define[ \t]{1,4}$/;
const COMPARED = /(\\{0,7}["'])([^"'\\\n]{6,128})\1 ?[!=]={1,2} ?$/;
const COMPARED_REACH = 140;
/** What stands between two strings of JSON, whose quotes look like a pair. */
const BETWEEN_STRINGS = /^\s*[:,}\]].*[:,{[]\s*$/;
/** As far as a quote goes with its backslashes and a sign before them. */
const QUOTE_REACH = 9;
const QUOTE = /\\{0,7}["'`]/y;
const NUMBER = /-?\d[\d.eE+-]{0,64}/y;
const BARE = /[^\s"'`,;&<>\\]+/y;
const BARE_AFTER_COLON = /[^\s"'`,;&<>\\(){}[\]]+/y;
const HAS_DIGIT = /[^\s"'`,;&<>\\]{0,63}?\d/y;
/** What stands for a value: types, variables and stars. */
const STAND_IN =
  /(?:(?:string|number|boolean|undefined|unknown|object|buffer|uint8array|required|optional|default|password|secret)|\$\{[\w.:-]{1,80}\}|\$[A-Za-z_]{1,64}|\{\{[^{}"'\\]{1,80}\}\}|%[A-Za-z_]{1,64}%|\*{1,64})(?=$|[\s"'`,;&<>\\(){}[\]|?])/iy;
/** A path with at least two parts, or a substitution of the shell. */
const PATH = /(?:~|\.{1,2})?\/[\w.-]{1,64}\/|[A-Za-z]:\\|\$\(/y;
const CODE =
  /(?:await|new|typeof|return)\s|(?:process|os|this|self|options|opts|config|settings|env|req|request|params|props|args|ctx|context)\.|[A-Za-z_$][\w$.]{0,80}[([]/y;
/** Behind a quote that closes a JSON string. */
const STRUCTURE = /\s{0,8}(?:[:,}\]]|$)/y;
const JSON_START = /\s{0,64}[{["]/y;
const KEY_REACH = 48;
const KEY_CHAR = /[\w.-]/;
const LINE_START = /(?:^|[\n{,"'`]|\\n)[ \t]{0,32}(?:- |export |set )?$/;

/** The quotes around the key's end and at the value's beginning, with their backslashes. */
interface Quotes {
  readonly key: string | undefined;
  readonly value: string;
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

function endOf(pattern: RegExp, text: string, at: number): number {
  return isAt(pattern, text, at) ? pattern.lastIndex : at;
}

/** Where the key begins that has a name at its end. */
function keyStart(text: string, at: number): number {
  let start = at;
  while (at - start < KEY_REACH && KEY_CHAR.test(text[start - 1] ?? ' ')) start--;
  return start;
}

/** Whether the key is the first word of its line or of its member, and so no part of a sentence. */
function opensLine(text: string, at: number): boolean {
  const start = keyStart(text, at);
  // The `n` of an escaped newline looks like a letter of the key.
  const before = text.slice(Math.max(0, start - KEY_REACH), start);
  const key = text.slice(start, at);
  return LINE_START.test(before) || (before.endsWith('\\') && key.startsWith('n'));
}

/**
 * The closing quote of a string, or of one that it is in. With `depth` backslashes at the opening
 * quote, an escaped quote has twice as many and one more, and backslashes before it come in pairs.
 */
function closingQuote(text: string, from: number, quote: string): number | undefined {
  const mark = quote.at(-1) ?? '"';
  const depth = quote.length - 1;
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1)) {
    let start = at;
    while (start > from && text[start - 1] === '\\') start--;
    const slashes = (at - start) % (2 * depth + 2);
    if (slashes <= 2 * depth) return at - (slashes <= depth ? slashes : slashes % 2);
  }
  return undefined;
}

/** A quote behind an even number of backslashes is not escaped: they belong to the string. */
function closerOf(quote: string | undefined): string | undefined {
  return quote === undefined || quote.length % 2 === 0 ? quote : quote.at(-1);
}

/** Whether the quote behind the sign ends a string that merely ended with the sign. */
function closesString(text: string, opened: number, quotes: Quotes): boolean {
  const { key, value } = quotes;
  if (key === value || !value.endsWith('"')) return false;
  if (key?.endsWith('"') === true && value.length < key.length) return true;
  return isAt(STRUCTURE, text, opened);
}

/** In JSON, no other quotes reach beyond the string that they are in. */
function leavesString(text: string, { start, end }: Range, quote: string): boolean {
  if (quote.endsWith('"') || !isAt(JSON_START, text, 0)) return false;
  return closingQuote(text.slice(start, end), 0, '"') !== undefined;
}

function quoted(
  { text, truncated }: KeywordPlace,
  from: number,
  quotes: Quotes,
): Match | undefined {
  if (closesString(text, from, quotes)) return undefined;
  const closing = closingQuote(text, from, quotes.value);
  let end = closing ?? (truncated ? text.length : endOf(BARE, text, from));
  if (leavesString(text, { start: from, end }, quotes.value)) end = endOf(BARE, text, from);
  if (end - from < (truncated && end === text.length ? 1 : LENGTH_MIN)) return undefined;
  if (endOf(STAND_IN, text, from) === end) return undefined;
  return { start: from, end, readTo: end };
}

/** The end of a bare value, before the brackets that it stands in. */
function withoutClosers(text: string, from: number): number {
  let end = endOf(BARE, text, from);
  if (/[([{]/.test(text.slice(from, end))) return end;
  while (end > from && /[)\]}]/.test(text[end - 1] ?? '')) end--;
  return end;
}

function bare(place: KeywordPlace, from: number, head: RegExpExecArray): Match | undefined {
  const { text, at, truncated } = place;
  const [, , before = '', sign = '', behind = ''] = head;
  const keyQuote = closerOf(head[1]);
  const spanTo = (end: number) => {
    const lengthMin = truncated && end === text.length ? 1 : LENGTH_MIN;
    return end - from < lengthMin ? undefined : { start: from, end, readTo: end };
  };
  if (keyQuote !== undefined) {
    const span = spanTo(endOf(NUMBER, text, from));
    return span && { ...span, quote: keyQuote };
  }
  if (isAt(STAND_IN, text, from) || isAt(PATH, text, from)) return undefined;
  const tight = sign !== ':' && before === '' && behind === '';
  const opens = opensLine(text, at);
  if (!tight) {
    if (isAt(CODE, text, from)) return undefined;
    if (!opens && !isAt(HAS_DIGIT, text, from)) return undefined;
  }
  if (!tight && !opens) return spanTo(endOf(BARE_AFTER_COLON, text, from));
  return spanTo(tight ? endOf(BARE, text, from) : withoutClosers(text, from));
}

/** The notations that have no sign between the name and its value. */
function matchWithoutSign(place: KeywordPlace): Match | undefined {
  const { text, at } = place;
  const start = keyStart(text, at);
  const before = text[start - 1] ?? '';
  if (before === '<') {
    ELEMENT.lastIndex = at;
    const value = ELEMENT.exec(text)?.[1];
    if (value === undefined || isAt(STAND_IN, value, 0)) return undefined;
    const from = text.indexOf(value, at);
    return { start: from, end: from + value.length, readTo: from + value.length };
  }
  const isFlag =
    /^--?[A-Za-z]/.test(text.slice(start, start + 3)) ||
    DEFINE.test(text.slice(Math.max(0, start - KEY_REACH), start));
  const behind = isFlag ? endOf(FLAG, text, at) : endOf(SPACED, text, at);
  const from = behind > at ? behind : endOf(pairBehind(text, start), text, at);
  if (from === at) return comparedBefore(place, start);
  const opened = endOf(QUOTE, text, from);
  if (opened > from)
    return quoted(place, opened, { key: undefined, value: text.slice(from, opened) });
  if (!isFlag || isAt(STAND_IN, text, from) || isAt(CODE, text, from)) return undefined;
  const end = endOf(BARE, text, from);
  return end - from < LENGTH_MIN ? undefined : { start: from, end, readTo: end };
}

/** What stands between a name and its value, by what stands before the name. */
function pairBehind(text: string, start: number): RegExp {
  const before = text.slice(Math.max(0, start - QUOTE_REACH), start);
  if (PAIR_START.test(before)) return PAIR;
  return ATTRIBUTE_START.test(before) ? ATTRIBUTES : CALLED;
}

/** `"…" == password`: the value stands before the name. */
function comparedBefore({ text, at }: KeywordPlace, start: number): Match | undefined {
  const left = text.slice(Math.max(0, start - COMPARED_REACH), start);
  const value = COMPARED.exec(left)?.[2];
  if (value === undefined || BETWEEN_STRINGS.test(value)) return undefined;
  const from = start - left.length + left.lastIndexOf(value);
  return { start: from, end: from + value.length, readTo: at };
}

function matchAssignment(place: KeywordPlace): Match | undefined {
  const match = matchNamed(place);
  const { text, at, truncated } = place;
  if (match === undefined || (isAt(NAMED, text, at) && !isAt(GLUED, text, at))) return match;
  const isCut = truncated && match.end === text.length;
  const value = text.slice(match.start, Math.min(match.end, match.start + DRAWN_READ));
  return isCut || (value.length >= DRAWN_MIN && isRandom(value)) ? match : undefined;
}

function matchNamed(place: KeywordPlace): Match | undefined {
  HEAD.lastIndex = place.at;
  const head = HEAD.exec(place.text);
  if (head === null) return matchWithoutSign(place);
  const from = HEAD.lastIndex;
  const opened = endOf(QUOTE, place.text, from);
  if (opened > from) {
    const value = place.text.slice(from, opened);
    return quoted(place, opened, { key: closerOf(head[1]), value });
  }
  return bare(place, from, head);
}

/** Last of all rules: a value that is known by its looks is called by that name. */
export const ASSIGNMENTS: readonly Rule[] = KEYWORDS.map((keywords) => {
  return { name: 'assignment', keywords, anyCase: true, match: matchAssignment };
});
