// Random JSON texts of every style, with some of their strings changed.
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { rewritten } from '../json/patch-text.ts';
import { parsed } from './json.test-support.ts';

/** A text, and what should become of it when some of its strings are changed. */
interface Sample {
  readonly before: string;
  readonly after: string;
  /** The value of `after`, made by changing that of `before`. */
  readonly changed: unknown;
  /** How the scalars are written that have not changed, in order. */
  readonly kept: readonly string[];
}

const blank = fc.constantFrom('', '', '', ' ', '\t', ' \r\n  ');
const oddNumbers = [
  '12345678901234567890',
  '-9007199254740993',
  '1.0',
  '-0',
  '0e5',
  '1e400',
  '1E+2',
  '0.10',
  '3.141592653589793238462643',
];
const number = fc.oneof(
  fc.constantFrom(...oddNumbers),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const plainText = fc.string({ unit: 'binary', maxLength: 8 }).map((text) => JSON.stringify(text));
const escape = fc.constantFrom('\\"', '\\\\', '\\/', '\\n', '\\u0041', '\\ud83d\\ude42', '\\ud800');
const escapedText = fc
  .array(fc.oneof(escape, fc.constantFrom('a', ' ', '[', '}', ',', ':', 'é', '🙂')), {
    maxLength: 6,
  })
  .map((parts) => `"${parts.join('')}"`);
const string = fc.oneof(plainText, escapedText);
const key = fc.oneof(
  string,
  fc.constantFrom('"10"', '"9"', '"__proto__"', '"constructor"', '"toJSON"', '"length"', '""'),
);

const same = (text: string): Sample => {
  const changed: unknown = JSON.parse(text);
  return { before: text, after: text, changed, kept: [text] };
};

const changedString = fc
  .tuple(string, fc.string({ unit: 'binary', maxLength: 8 }))
  .map(([before, changed]): Sample => {
    if (JSON.parse(before) === changed) return same(before);
    return { before, after: JSON.stringify(changed), changed, kept: [] };
  });

/** Brackets around what has been joined, with blanks wherever there may be some. */
function wrapped(
  [open, close]: readonly [string, string],
  parts: readonly { readonly lead: string; readonly sample: Sample }[],
  [first, last]: readonly [string, string],
): Omit<Sample, 'changed'> {
  const text = (which: 'before' | 'after') => {
    const inner = parts.map(({ lead, sample }) => `${lead}${sample[which]}${last}`).join(',');
    return `${open}${first}${inner}${close}`;
  };
  const kept = parts.flatMap(({ sample }) => sample.kept);
  return { before: text('before'), after: text('after'), kept };
}

const blanks = fc.tuple(blank, blank);

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(number, string, fc.constantFrom('true', 'false', 'null')).map(same),
    changedString,
    fc.tuple(fc.array(tie('sample'), { maxLength: 5 }), blanks).map(([items, around]): Sample => {
      const parts = items.map((one) => ({ lead: around[0], sample: one }));
      return { ...wrapped(['[', ']'], parts, around), changed: items.map((one) => one.changed) };
    }),
    fc
      .tuple(
        fc.uniqueArray(fc.tuple(key, tie('sample')), {
          maxLength: 5,
          selector: ([written]): unknown => JSON.parse(written),
        }),
        blanks,
      )
      .map(([members, around]): Sample => {
        const parts = members.map(([written, one]) => ({
          lead: `${around[1]}${written}${around[0]}:${around[1]}`,
          sample: one,
        }));
        const changed = Object.fromEntries(
          members.map(([written, one]) => [String(JSON.parse(written)), one.changed]),
        );
        return { ...wrapped(['{', '}'], parts, around), changed };
      }),
  ),
}));

/** What JSON can say of a value. */
const sayable = (value: unknown) => parsed(JSON.stringify(value));

describe('any text', () => {
  it('differs in the changed strings only', () => {
    fc.assert(
      fc.property(sample, ({ before, after, changed, kept }) => {
        const result = rewritten(before, changed) ?? '';
        expect(result).toBe(after);
        expect(isDeepStrictEqual(parsed(result), changed)).toBe(true);
        let from = 0;
        for (const written of kept) {
          const at = result.indexOf(written, from);
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + written.length;
        }
      }),
      runs(1_000),
    );
  });

  it('stays as it is when nothing has changed', () => {
    fc.assert(
      fc.property(sample, ({ before }) => {
        expect(rewritten(before, parsed(before))).toBe(before);
      }),
      runs(500),
    );
  });

  it('parses to the changed value, whatever the value was before', () => {
    const other = fc.oneof(
      sample.map(({ changed }) => changed),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(sample, sample, other, ({ before }, { before: more }, changed) => {
        // The same key twice, and more items or fewer than before.
        for (const text of [before, `{"a":${more},"a":${before}}`, `[${before},${more}]`]) {
          for (const value of [changed, { a: changed }, [changed], [parsed(before), changed, 1]]) {
            const result = parsed(rewritten(text, value) ?? '');
            expect(isDeepStrictEqual(sayable(result), sayable(value))).toBe(true);
          }
        }
      }),
      runs(500),
    );
  });
});
