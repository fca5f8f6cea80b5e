import { describe, expect, it } from 'vitest';
import { argsHash } from './args-hash.ts';
import { ByteScanner } from './byte-scanner.ts';
import { canonicalize } from './canonicalize.ts';
import { foldKey } from './fold-key.ts';

/** Whether a scanner takes these bytes for an object in canonical form. */
function isCanonicalObject(bytes: Uint8Array): boolean {
  const scan = new ByteScanner(bytes, true);
  return scan.skipCanonical(0) === 'canonical' && scan.at === bytes.length;
}

const sha256 = (text: string): string => text;

describe('foldKey', () => {
  it.each([
    ['name', 'NAME', 'nAmE'],
    ['params', 'paramſ', 'PARAMS'],
    ['key', '\u212aey'],
    ['id', 'ıd', 'İD', 'ID'],
    ['straße', 'STRASSE', 'straẞe'],
    ['ΣΑΣ', 'σας', 'σασ'],
    ['name', 'name\0', 'Name\0x'],
  ])('gives one text for %s and its spellings', (...spellings) => {
    expect(new Set(spellings.map(foldKey)).size).toBe(1);
  });

  it.each([
    ['name', 'names'],
    ['user_id', 'userid'],
    ['a', 'á'],
  ])('keeps %s and %s apart', (one, other) => {
    expect(foldKey(one)).not.toBe(foldKey(other));
  });

  it('folds together all that Unicode simple case folding does', () => {
    const cased = Array.from({ length: 0x1_0000 }, (_, point) =>
      String.fromCodePoint(point),
    ).filter(
      (one) =>
        !/[\ud800-\udfff]/.test(one) && (one.toLowerCase() !== one || one.toUpperCase() !== one),
    );
    const all = cased.join('\n');
    for (const one of cased) {
      const same =
        all.match(new RegExp(`^\\u{${one.codePointAt(0)?.toString(16)}}$`, 'gimu')) ?? [];
      for (const other of same) expect([other, foldKey(other)]).toEqual([other, foldKey(one)]);
    }
  });
});

describe('keys of arguments that differ only in case', () => {
  const many = Array.from({ length: 40 }, (_, at) => `"k${at}":0`).join(',');
  const clashes = [
    ['{"Path":1,"path":2}', '"Path"', '"path"'],
    ['{"path":1,"Path":2}', '"path"', '"Path"'],
    ['{"a":[{"x":{"K":1,"M":2,"k":3}}]}', '"K"', '"k"'],
    ['{"p\\u0061th":1,"PATH":2}', '"path"', '"PATH"'],
    ['{"paſs":1,"pass":2}', '"paſs"', '"pass"'],
    ['{"pass":1,"paſs":2}', '"pass"', '"paſs"'],
    ['{"É":1,"é":2}', '"É"', '"é"'],
    [`{${many},"K7":1}`, '"k7"', '"K7"'],
    [`{"K7":1,${many}}`, '"K7"', '"k7"'],
  ] as const;

  it.each(clashes)('are refused by name: %s', (text, one, other) => {
    const hashed = argsHash(text, sha256);
    const message: unknown = expect.stringContaining(`${one} and ${other}`);
    expect(hashed).toMatchObject({ ok: false, code: 'SUB_CANON_DUPLICATE_KEY', message });
    const bytes = Buffer.from(text);
    expect(isCanonicalObject(bytes)).toBe(false);
  });

  it.each([
    '{"A":{"a":1},"b":{"A":2}}',
    '{"PATH":1,"paths":2}',
    '{"Content":1,"filePath":2,"maxResults":3}',
    '{"naïve":1,"naive":2}',
    '{"HTTP_PROXY":1,"httpProxy":2}',
  ])('are fine when each stands alone: %s', (text) => {
    expect(argsHash(text, sha256).ok).toBe(true);
  });

  it.each(['{"Content":1,"filePath":2}', '{"A":[{"B":1,"a":2}],"c":{"A":1}}'])(
    'do not cost a call its short way: %s',
    (text) => {
      const bytes = Buffer.from(text);
      expect(isCanonicalObject(bytes)).toBe(true);
    },
  );

  it('concern arguments only, and no other canonical text', () => {
    expect(canonicalize('{"A":1,"a":2}').ok).toBe(true);
  });
});
