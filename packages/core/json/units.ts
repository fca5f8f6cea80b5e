// The UTF-16 units that JSON gives a meaning to, and the limits of its canonical form.

/** How deep the arrays and objects of a text with a canonical form may nest. */
export const DEPTH_MAX = 256;
/** The unit behind the end of a text. */
export const END = -1;
export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const DOT = 0x2e;
export const ZERO = 0x30;
export const NINE = 0x39;
export const COLON = 0x3a;
export const UPPER_A = 0x41;
export const UPPER_E = 0x45;
export const UPPER_Z = 0x5a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const LOWER_E = 0x65;
export const LOWER_F = 0x66;
export const LOWER_N = 0x6e;
export const LOWER_T = 0x74;
export const LOWER_U = 0x75;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const LEAD_FIRST = 0xd800;
export const TRAIL_FIRST = 0xdc00;
export const TRAIL_LAST = 0xdfff;

/** Integers of more digits are written with an exponent, as in ECMAScript. */
export const PLAIN_INTEGER_DIGITS_MAX = 21;
/** Fractions with more zeros after the point are written with an exponent, as in ECMAScript. */
export const PLAIN_LEADING_ZEROS_MAX = 5;
/** 1 for characters that may follow a backslash; 2 if canonical JSON writes that escape, too. */
export const ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  return '"\\bfnrt'.includes(char) ? 2 : char === '/' ? 1 : 0;
});
