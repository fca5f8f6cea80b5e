// The shapes in which a known value turns up in text.

/** One shape of a value. */
interface Shape {
  readonly text: string;
  /** Upper and lower case are the same, as in hex; `text` is then in lower case. */
  readonly anyCase?: boolean;
  /** How many units before and behind hold a few bits of the value too. */
  readonly before?: number;
  readonly after?: number;
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** What encoders keep: RFC 3986, JavaScript's for components, for forms, and for whole addresses. */
const KEPT = [
  /[A-Za-z0-9._~-]/,
  /[A-Za-z0-9._~!'()*-]/,
  /[A-Za-z0-9._*-]/,
  /[A-Za-z0-9._~/-]/,
  /[A-Za-z0-9._~!'()*;,/?:@&=+$#-]/,
];

function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const char of text) {
    const point = char.codePointAt(0) ?? 0;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x1_0000) {
      bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    } else {
      bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63));
      bytes.push(0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    }
  }
  return bytes;
}

const hexOf = (number: number, width: number) => number.toString(16).padStart(width, '0');

/** The digits that only these bytes decide when `offset` other bytes stand before them. */
function base64Core(bytes: readonly number[], offset: number): Shape {
  const first = Math.ceil((offset * 8) / 6);
  const bits = (offset + bytes.length) * 8;
  const last = Math.floor(bits / 6);
  let text = '';
  for (let digit = first; digit < last; digit++) {
    const bit = digit * 6 - offset * 8;
    const high = bytes[bit >> 3] ?? 0;
    const low = bytes[(bit >> 3) + 1] ?? 0;
    text += BASE64[(((high << 8) | low) >> (10 - (bit & 7))) & 63];
  }
  return { text, before: offset === 0 ? 0 : 1, after: bits % 6 === 0 ? 0 : 1 };
}

function base64Shapes(bytes: readonly number[]): Shape[] {
  return [0, 1, 2].flatMap((offset) => {
    const core = base64Core(bytes, offset);
    return [
      core,
      { ...core, text: core.text.replaceAll('+', '-').replaceAll('/', '_') },
      { ...core, text: core.text.replaceAll('/', '\\/') },
    ];
  });
}

/** Percent-encoded: every byte, or what each of the usual encoders does not keep, in either case. */
function percentShapes(bytes: readonly number[]): Shape[] {
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
  return [...some.map((text) => ({ text })), { text: every.join(''), anyCase: true }];
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

/** The value itself, and every encoding in which it is looked for. */
function shapesOf(value: string): Shape[] {
  const bytes = utf8(value);
  const reversed = [...value].toReversed().join('');
  return [
    { text: value },
    ...jsonShapes(value),
    { text: escaped(value, () => true), anyCase: true },
    { text: bytes.map((byte) => hexOf(byte, 2)).join(''), anyCase: true },
    ...percentShapes(bytes),
    ...base64Shapes(bytes),
    { text: reversed },
    { text: inJson(reversed) },
  ];
}

/** The two halves, never through the middle of a character. */
function halvesOf(value: string): Shape[] {
  const chars = [...value];
  const middle = Math.ceil(chars.length / 2);
  const halves = [chars.slice(0, middle).join(''), chars.slice(middle).join('')];
  return halves.flatMap((half) => [{ text: half }, { text: inJson(half) }]);
}

export type { Shape };
export { halvesOf, shapesOf };
