// The shapes in which a known value turns up in text, exactly as they stand. What escapes, separators
// and cuts make of them is found by pieces.
import type { Units } from './bytes.ts';
import { BASE64, digitsOf, hexOf, textOf, utf8, written } from './bytes.ts';
import { ENCODED_MIN } from './forms.ts';

/** One shape of a value. */
export interface Shape {
  readonly text: string;
  /** Upper and lower case are the same, as in hex; `text` is then in lower case. */
  readonly anyCase?: boolean;
  /** How many units before and behind hold a few bits of the value too. */
  readonly before?: number;
  readonly after?: number;
}

/** The encodings of more bytes are long enough, however many of their digits are signs. */
const SHORT_MAX = 64;
const ASCII = /^[\0-\x7f]*$/;
/** A shorter value may be a word that text has in another case. */
const ANY_CASE_FROM = 12;
/** What encoders keep: RFC 3986, JavaScript's for components, for forms, and for whole addresses. */
const KEPT = [
  /[A-Za-z0-9._~-]/,
  /[A-Za-z0-9._~!'()*-]/,
  /[A-Za-z0-9._*-]/,
  /[A-Za-z0-9._~/-]/,
  /[A-Za-z0-9._~!'()*;,/?:@&=+$#-]/,
];

/** The encodings that are too short to be looked for by pieces. */
function shortShapes(bytes: Units): Shape[] {
  if (bytes.units.length > SHORT_MAX) return [];
  const hex = { text: textOf(written(bytes, (byte) => hexOf(byte, 2))), anyCase: true };
  return [hex, ...base64Shapes(bytes)].filter(
    ({ text }) => text.replaceAll(/[^A-Za-z0-9]/g, '').length < ENCODED_MIN,
  );
}

function base64Shapes(bytes: Units): Shape[] {
  return BASE64.offsets.flatMap((offset) => {
    const text = textOf(digitsOf(bytes, BASE64, offset));
    const isWhole = (offset + bytes.units.length) % 3 === 0;
    const core = { text, before: offset === 0 ? 0 : 1, after: isWhole ? 0 : 1 };
    return [
      core,
      { ...core, text: text.replaceAll('+', '-').replaceAll('/', '_') },
      { ...core, text: text.replaceAll('/', '\\/') },
    ];
  });
}

/** Percent-encoded: what each of the usual encoders does not keep, in either case. */
function percentShapes({ units }: Units): Shape[] {
  const bytes = Array.from(units);
  const every = bytes.map((byte) => `%${hexOf(byte, 2)}`);
  const some = KEPT.flatMap((kept) => {
    const parts = bytes.map((byte, at) => {
      const char = String.fromCharCode(byte);
      return byte < 0x80 && kept.test(char) ? char : (every[at] ?? '');
    });
    const upper = parts.map((part) => (part.length === 1 ? part : part.toUpperCase())).join('');
    const lower = parts.join('');
    return [upper, lower].flatMap((text) => [text, text.replaceAll('%20', '+')]);
  });
  return some.map((text) => ({ text }));
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** Every unit that the test names, as `\uXXXX`. */
function escaped(text: string, isEscaped: (unit: number) => boolean): string {
  let out = '';
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    out += isEscaped(unit) ? `\\u${hexOf(unit, 4)}` : text[at];
  }
  return out;
}

/** As JSON writers escape it: the minimum, slashes too, ASCII only, safe for HTML, and twice. */
function jsonShapes(value: string): Shape[] {
  const least = inJson(value);
  const ascii = escaped(least, (unit) => unit > 0x7e);
  const html = escaped(least, (unit) => unit > 0x7e || "<>&+'".includes(String.fromCharCode(unit)));
  const upper = (text: string) =>
    text.replace(/\\u[0-9a-f]{4}/g, (one) => `\\u${one.slice(2).toUpperCase()}`);
  return [
    least,
    least.replaceAll('/', '\\/'),
    ascii,
    upper(ascii),
    html,
    upper(html),
    inJson(least),
  ].map((text) => ({ text }));
}

/** The value as it stands; a longer one in any case, where that is a matter of ASCII only. */
export function wholeShape(value: string): Shape {
  if (value.length < ANY_CASE_FROM || !ASCII.test(value)) return { text: value };
  return { text: value.toLowerCase(), anyCase: true };
}

/** The value itself, and its encodings as they stand in text. */
export function shapesOf(value: string): Shape[] {
  const bytes = utf8(value);
  const reversed = [...value].toReversed().join('');
  return [
    wholeShape(value),
    ...jsonShapes(value),
    ...percentShapes(bytes),
    ...shortShapes(bytes),
    { text: reversed },
    { text: inJson(reversed) },
  ];
}

/** The two halves, never through the middle of a character. */
export function halvesOf(value: string): Shape[] {
  const chars = [...value];
  const middle = Math.ceil(chars.length / 2);
  const halves = [chars.slice(0, middle).join(''), chars.slice(middle).join('')];
  return halves.flatMap((half) => [{ text: half }, { text: inJson(half) }]);
}
