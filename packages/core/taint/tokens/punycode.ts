// RFC 3492, decoding only: one spelling for `xn--…` and for the letters it stands for.

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const BIAS_FIRST = 72;
const POINT_FIRST = 128;
const POINT_MAX = 0x10_ff_ff;

/** The letters of a label without its `xn--`; undefined when it is not punycode. */
export function decodePunycode(encoded: string): string | undefined {
  const split = encoded.lastIndexOf('-');
  const points = Array.from(split > 0 ? encoded.slice(0, split) : '', (char) => char.charCodeAt(0));
  if (points.some((point) => point >= POINT_FIRST)) return undefined;
  let at = split > 0 ? split + 1 : 0;
  let point = POINT_FIRST;
  let index = 0;
  let bias = BIAS_FIRST;
  while (at < encoded.length) {
    const before = index;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digitOf(encoded.charCodeAt(at++));
      if (digit === undefined) return undefined;
      index += digit * weight;
      if (index > Number.MAX_SAFE_INTEGER / BASE) return undefined;
      const threshold = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const count = points.length + 1;
    bias = adapted(index - before, count, before === 0);
    point += Math.floor(index / count);
    index %= count;
    if (point > POINT_MAX || (point >= 0xd800 && point <= 0xdfff)) return undefined;
    points.splice(index++, 0, point);
  }
  return String.fromCodePoint(...points);
}

function adapted(delta: number, count: number, first: boolean): number {
  let left = Math.floor(delta / (first ? DAMP : 2));
  left += Math.floor(left / count);
  let k = 0;
  for (; left > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) left = Math.floor(left / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * left) / (left + SKEW));
}

function digitOf(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 26;
  if (code >= 0x61 && code <= 0x7a) return code - 0x61;
  if (code >= 0x41 && code <= 0x5a) return code - 0x41;
  return undefined;
}
