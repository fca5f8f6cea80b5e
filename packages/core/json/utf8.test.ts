import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeUtf8 } from './text.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function platform(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

test('decodes and refuses the same bytes as the platform', () => {
  const lead = fc.constantFrom(0xc0, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0x80, 0xbf);
  const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), lead);
  const anyBytes = fc.array(byte, { maxLength: 60 }).map((list) => Uint8Array.from(list));
  const anyText = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => Buffer.from(text));
  fc.assert(
    fc.property(fc.oneof(anyBytes, anyText), (bytes) => {
      const decoded = decodeUtf8(bytes);
      expect(decoded.ok ? decoded.text : undefined).toBe(platform(bytes));
    }),
    { numRuns: 2_000 },
  );
});

test('keeps text whole across the borders of its chunks', () => {
  for (const length of [8_190, 8_191, 8_192, 8_193, 16_384]) {
    const text = `${'a'.repeat(length)}😀é€${'b'.repeat(length)}`;
    expect(decodeUtf8(Buffer.from(text))).toEqual({ ok: true, text });
  }
});

test.each([
  ['an overlong slash', [0x61, 0xc0, 0xaf]],
  ['a surrogate', [0x61, 0xed, 0xa0, 0x80]],
  ['a point beyond Unicode', [0x61, 0xf4, 0x90, 0x80, 0x80]],
  ['a lone continuation', [0x61, 0x80]],
  ['a sequence that ends too early', [0x61, 0xe2, 0x82]],
])('tells the text before %s', (_, bytes) => {
  const decoded = decodeUtf8(Uint8Array.from(bytes));
  expect(decoded).toEqual({ ok: false, textBefore: 'a', badByte: bytes[1] });
});
