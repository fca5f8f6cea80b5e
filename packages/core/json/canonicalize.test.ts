import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { runs } from '../../../test/runs.ts';
import { canonicalize } from './canonicalize.ts';
import { DEPTH_MAX } from './units.ts';

function canonicalOf(text: string): string {
  const result = canonicalize(text);
  if (!result.ok) throw new Error(`${result.code} at ${result.offset} of ${text.slice(0, 200)}`);
  return result.canonical;
}

/** Any sequence of UTF-16 units, broken surrogate pairs included. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0, max: 0x7f }),
      fc.integer({ min: 0xd7fe, max: 0xe001 }),
    ),
    { maxLength: 40 },
  )
  .map((units) => String.fromCharCode(...units));

const jsonish = fc
  .array(
    fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '"',
        '\\',
        '/',
        'u',
        '0',
        '1',
        '9',
        '-',
        '+',
        '.',
        'e',
        'E',
      ],
      ...[' ', '\n', '\t', '\r', '\u0000', '\u001f', '\u00a0', '\ufeff', '\ud83d', '\ude00', 'é'],
      ...['true', 'false', 'null', 'b', 'f', 'n', 'r', 't', '"a"', '"b":', '\\u0061', '0.0', '1e5'],
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(''));

/** A valid text with a few places cut out, doubled or overwritten. */
const mutated = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), jsonish), { minLength: 1, maxLength: 3 }),
  )
  .map(([text, edits]) =>
    edits.reduce((current, [place, cut, inserted]) => {
      const at = place % (current.length + 1);
      return current.slice(0, at) + inserted.slice(0, 2) + current.slice(at + cut);
    }, text),
  );

function parsed(text: string): { valid: boolean; value: unknown } {
  try {
    return { valid: true, value: JSON.parse(text) };
  } catch {
    return { valid: false, value: undefined };
  }
}

/** Without what JSON.parse keeps and no canonical form can: the sign of zero. */
function settled(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Whether the verdict is that of JSON.parse, and the canonical text the same value. */
function isAgreed(text: string): boolean {
  const result = canonicalize(text);
  const { valid, value } = parsed(text);
  if (!valid) return !result.ok;
  if (!result.ok) return result.code !== 'SUB_CANON_SYNTAX';
  return isDeepStrictEqual(settled(JSON.parse(result.canonical)), settled(value));
}

function agreesWithParse(text: string): void {
  expect(isAgreed(text), text).toBe(true);
}

describe('valid JSON', () => {
  it('agrees with JSON.parse on garbage', () => {
    fc.assert(fc.property(jsonish, agreesWithParse), runs(5_000));
  });

  it('agrees with JSON.parse on valid texts that were damaged', () => {
    fc.assert(fc.property(mutated, agreesWithParse), runs(5_000));
  });

  it('agrees with JSON.parse on any units between quotes', () => {
    const property = fc.property(anyText, (text) => agreesWithParse(`"${text}"`));
    fc.assert(property, runs(3_000));
  });

  it.each([
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['[1 2]', 3],
    ['{"a":tru}', 5],
    ['[1.x]', 3],
    ['[00]', 2],
    ['{"a":"b\nc"}', 7],
    ['{"a":"\\q"}', 7],
    ['{"a":"\\u00g0"}', 8],
    ['{"a":"\\/\\q"}', 9],
    ['{"a":"\\u0041', 12],
    ['{"a":"b', 7],
    ['{} x', 3],
    ['', 0],
  ])('says where %j is wrong', (text, offset) => {
    expect(canonicalize(text)).toMatchObject({ ok: false, code: 'SUB_CANON_SYNTAX', offset });
  });

  it('names the expected and the found character', () => {
    expect(canonicalize('{"a":1;')).toMatchObject({ message: 'expected `,` or `}`, found ";"' });
    expect(canonicalize('[')).toMatchObject({ message: 'expected a value, found the end' });
  });

  it('points at the first repeated key in the text', () => {
    const failure = { ok: false, code: 'SUB_CANON_DUPLICATE_KEY', offset: 13 };
    expect(canonicalize('{"b":1,"a":2,"b":3,"a":4}')).toMatchObject(failure);
  });

  it('points at the bracket that goes too deep', () => {
    const text = '[1,'.repeat(DEPTH_MAX + 1);
    const failure = { ok: false, code: 'SUB_CANON_DEPTH', offset: DEPTH_MAX * 3 };
    expect(canonicalize(text)).toMatchObject(failure);
  });

  it('refuses a million open brackets without running out of stack', () => {
    expect(canonicalize('['.repeat(1_000_000))).toMatchObject({ code: 'SUB_CANON_DEPTH' });
    expect(canonicalize('{"a":'.repeat(1_000_000))).toMatchObject({ code: 'SUB_CANON_DEPTH' });
  });
});

describe('white space', () => {
  const tokens = ['{', '"a"', ':', '[', '1', ',', '"b"', ',', '{', '}', ',', '[', ']', ']', ','];
  const all = [...tokens, '"c"', ':', '{', '"d"', ':', 'null', '}', '}'];

  it.each([...all.keys(), all.length])('does not matter before token %i', (place) => {
    verifies('IP-1.9.1');
    for (const space of [' ', '\n', '\r', '\t', ' \n  ']) {
      const text = [...all.slice(0, place), space, ...all.slice(place)].join('');
      expect(canonicalOf(text)).toBe(all.join(''));
    }
  });
});

describe('strings', () => {
  it.each([
    ['"\\/\\\\"', '"/\\\\"'],
    ['["\\/\\\\","\\/"]', '["/\\\\","/"]'],
    ['["\\/\\\\\\"","\\/"]', '["/\\\\\\"","/"]'],
  ])('finds the end of %s behind backslashes', (text, canonical) => {
    expect(canonicalOf(text)).toBe(canonical);
  });

  it('writes strings as JSON.stringify does, however the input escapes', () => {
    verifies('IP-1.9.1');
    const styles = fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 8 });
    const property = fc.property(anyText, styles, (text, choices) => {
      expect(canonicalOf(spell(text, choices))).toBe(JSON.stringify(text));
    });
    fc.assert(property, runs(3_000));
  });

  it('writes text that has one UTF-8 form', () => {
    verifies('IP-1.9.1');
    const property = fc.property(anyText, anyText, (key, value) => {
      const canonical = canonicalOf(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`);
      expect(Buffer.from(canonical, 'utf8').toString('utf8')).toBe(canonical);
    });
    fc.assert(property);
  });

  it('reads very long strings in every style', () => {
    const long = 'line "of" text\n\u001b/é😀'.repeat(100_000);
    expect(canonicalOf(spell(long, [0]))).toBe(JSON.stringify(long));
    expect(canonicalOf(spell(long, [1]))).toBe(JSON.stringify(long));
    expect(canonicalOf(spell(long, [0, 1, 2]))).toBe(JSON.stringify(long));
  });
});

/** Writes a string literal; the choices, taken in turn, say how each unit is written. */
function spell(text: string, choices: readonly number[]): string {
  const parts: string[] = [];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const hex = unit.toString(16).padStart(4, '0');
    const choice = choices[index % choices.length] ?? 0;
    if (choice === 1) parts.push(`\\u${hex}`);
    else if (choice === 2) parts.push(unit === 0x2f ? '\\/' : `\\u${hex.toUpperCase()}`);
    else
      parts.push(
        unit < 0x80 ? JSON.stringify(text.charAt(index)).slice(1, -1) : text.charAt(index),
      );
  }
  return `"${parts.join('')}"`;
}

describe('numbers', () => {
  it('writes every double as JSON.stringify does', () => {
    verifies('IP-1.9.1');
    const doubles = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer().map((value) => value / 1000),
      fc.maxSafeInteger(),
    );
    const property = fc.property(doubles, (value) => {
      expect(canonicalOf(JSON.stringify(value))).toBe(JSON.stringify(value));
    });
    fc.assert(property, runs(5_000));
  });

  it('has one form for a value, however its digits are shifted and padded', () => {
    verifies('IP-1.9.1');
    const property = fc.property(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
      fc.integer({ min: -60, max: 60 }),
      fc.array(fc.integer({ min: -60, max: 60 }), { minLength: 2, maxLength: 2 }),
      (digits, exponent, shifts) => {
        const forms = shifts.map((shift) => canonicalOf(spellNumber(digits, exponent, shift)));
        expect(forms[0]).toBe(forms[1]);
        expect(canonicalOf(forms[0] ?? '')).toBe(forms[0]);
      },
    );
    fc.assert(property, runs(3_000));
  });

  it('never grows beyond the digits that were written', () => {
    const canonical = canonicalOf('[1e999999999,1e-999999999]');
    expect(canonical).toBe('[1e+999999999,1e-999999999]');
    const digits = '7'.repeat(200_000);
    expect(canonicalOf(digits)).toBe(`7.${digits.slice(1)}e+199999`);
  });
});

/** `digits × 10^exponent`, written with its point moved by `shift` and zeros around it. */
function spellNumber(digits: bigint, exponent: number, shift: number): string {
  const sign = digits < 0n ? '-' : '';
  const magnitude = (digits < 0n ? -digits : digits).toString();
  if (digits === 0n) return `0.${'0'.repeat(Math.abs(shift) + 1)}e${exponent}`;
  if (shift <= 0) return `${sign}${magnitude}${'0'.repeat(-shift)}.00E${exponent + shift}`;
  const padded = magnitude.padStart(shift + 1, '0');
  const integer = padded.slice(0, -shift).replace(/^0+(?=\d)/, '');
  return `${sign}${integer}.${padded.slice(-shift)}0e${exponent + shift}`;
}
