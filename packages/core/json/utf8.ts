// Strict UTF-8 in a package that has no TextDecoder: it must say where the bytes go wrong.

type Utf8Result =
  | { readonly ok: true; readonly text: string }
  /** The text before the first bad byte, so that its line and column can be told. */
  | { readonly ok: false; readonly textBefore: string; readonly badByte: number };

/** Small enough to be spread into the arguments of one call. */
const CHUNK_UNITS = 8_192;
const SURROGATE_BASE = 0x1_00_00;

/** Decodes bytes; overlong forms, surrogates and whatever lies beyond U+10FFFF are bad bytes. */
export function decodeUtf8(bytes: Uint8Array): Utf8Result {
  const units = new Uint16Array(CHUNK_UNITS + 1);
  let text = '';
  let used = 0;
  let index = 0;
  while (index < bytes.length) {
    if (used >= CHUNK_UNITS) {
      text += String.fromCharCode(...units.subarray(0, used));
      used = 0;
    }
    const lead = bytes[index] ?? 0;
    if (lead < 0x80) {
      units[used++] = lead;
      index++;
      continue;
    }
    const length = sequenceLength(lead);
    const point = length === 0 ? -1 : codePoint(bytes, index, length);
    if (point === -1) {
      text += String.fromCharCode(...units.subarray(0, used));
      return { ok: false, textBefore: text, badByte: lead };
    }
    if (point < SURROGATE_BASE) units[used++] = point;
    else {
      units[used++] = 0xd800 + ((point - SURROGATE_BASE) >> 10);
      units[used++] = 0xdc00 + ((point - SURROGATE_BASE) & 0x3ff);
    }
    index += length;
  }
  return { ok: true, text: text + String.fromCharCode(...units.subarray(0, used)) };
}

/** How many bytes a sequence with this first byte has; 0 when none starts like that. */
function sequenceLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

const LEAST_POINT = [0, 0, 0x80, 0x800, SURROGATE_BASE] as const;

function codePoint(bytes: Uint8Array, start: number, length: number): number {
  let point = (bytes[start] ?? 0) & (0xff >> (length + 1));
  for (let offset = 1; offset < length; offset++) {
    const next = bytes[start + offset];
    if (next === undefined || (next & 0xc0) !== 0x80) return -1;
    point = (point << 6) | (next & 0x3f);
  }
  const surrogate = point >= 0xd800 && point <= 0xdfff;
  const overlong = point < (LEAST_POINT[length] ?? 0);
  return surrogate || overlong || point > 0x10_ff_ff ? -1 : point;
}
