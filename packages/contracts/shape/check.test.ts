import { expect, describe as group, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { BUNDLE, RULE } from '../bundle.ts';
import { damaged } from '../testing/damages.ts';
import { sampleOf } from '../testing/samples.ts';
import { check, describe } from './check.ts';
import { FORMATS } from './formats.ts';
import {
  closed,
  either,
  formatted,
  integer,
  json,
  open,
  optional,
  record,
  scalar,
  string,
} from './shape.ts';

function fits(shape: Parameters<typeof check>[0], value: unknown): boolean {
  return check(shape, value).length === 0;
}

group('check', () => {
  it('counts characters, not halves of them', () => {
    const shape = string({ lengthMax: 3 });
    expect(fits(shape, '😀😀😀')).toBe(true);
    expect(fits(shape, '😀😀😀😀')).toBe(false);
    expect(fits(shape, 'abcd')).toBe(false);
  });

  it('takes either of two leaves and says so', () => {
    const shape = either(string(), integer());
    expect([fits(shape, 'a'), fits(shape, 1), fits(shape, ''), fits(shape, null)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(describe(shape)).toBe(
      'a non-empty string of at most 65536 characters, or a whole number',
    );
  });

  it('wants what another field makes necessary, present and not null', () => {
    const fields = { mode: optional(string(), ''), port: optional(integer(), '') };
    const shape = open(fields, [{ field: 'mode', is: 'tcp', needs: ['port'] }]);
    expect(fits(shape, { mode: 'unix' })).toBe(true);
    expect(fits(shape, { mode: 'tcp', port: 1 })).toBe(true);
    expect(check(shape, { mode: 'tcp' })).toEqual([
      {
        path: ['port'],
        problem: 'missing',
        expected: '`port`, a whole number, because `mode` is `tcp`',
        got: 'nothing',
        choices: [],
      },
    ]);
    expect(fits(shape, { mode: 'tcp', port: null })).toBe(false);
  });

  it.each([
    ['2026-01-31T23:59:59Z', true],
    ['2026-12-01T00:00:00.123456789Z', true],
    ['2024-02-29T00:00:00Z', true],
    ['2000-02-29T00:00:00Z', true],
    ['2023-02-29T00:00:00Z', false],
    ['1900-02-29T00:00:00Z', false],
    ['2024-02-30T00:00:00Z', false],
    ['2026-02-30T00:00:00Z', false],
    ['2026-04-31T00:00:00Z', false],
    ['2026-00-01T00:00:00Z', false],
    ['2026-01-01T24:00:00Z', false],
    ['2026-01-01T00:00:60Z', false],
    ['2026-01-01T00:00:00', false],
    ['2026-01-01T00:00:00.Z', false],
    ['2026-01-01T00:00:00Z\n', false],
  ])('reads the time %j: %s', (time, right) => {
    expect(fits(formatted('rfc3339'), time)).toBe(right);
  });

  it('knows every day of the calendar and no other', () => {
    const two = (part: number) => String(part).padStart(2, '0');
    const wrong: string[] = [];
    for (let year = 1_900; year < 2_300; year++) {
      for (let month = 0; month <= 13; month++) {
        const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
        for (const day of [0, 1, 27, 28, 29, 30, 31, 32]) {
          const time = `${year}-${two(month)}-${two(day)}T12:00:00Z`;
          const exists = month >= 1 && month <= 12 && day >= 1 && day <= last;
          if (FORMATS.rfc3339.pattern.test(time) !== exists) wrong.push(time);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('bounds the texts of scalars and the keys of records, by characters', () => {
    expect([fits(scalar(), ''), fits(scalar(), 1), fits(scalar(), false)]).toEqual(
      Array.from({ length: 3 }, () => true),
    );
    expect(fits(scalar(), '😀'.repeat(4_096))).toBe(true);
    expect(check(scalar(), 'a'.repeat(4_097))).toMatchObject([{ problem: 'value' }]);
    const keyed = (key: string) =>
      check(open({ r: optional(record(scalar()), '') }), { r: { [key]: 1 } });
    expect(keyed('😀'.repeat(1_024))).toEqual([]);
    expect(keyed('k'.repeat(1_025))).toEqual([
      {
        path: ['r'],
        problem: 'value',
        expected: 'an object with keys of at most 1024 characters',
        got: 'a key of 1025 characters',
        choices: [],
      },
    ]);
  });

  it('bounds the parts of all free-form values together', () => {
    const shape = record(json());
    const list = (length: number) => Array.from({ length }, () => 0);
    expect(fits(shape, { a: list(49_999), b: list(49_999) })).toBe(true);
    expect(check(shape, { a: list(49_999), b: list(50_000) })).toMatchObject([
      { path: ['b'], problem: 'value' },
    ]);
  });

  it('takes only what JSON can say for free-form values', () => {
    for (const value of [new Date(0), new Map(), { a: { toJSON: () => 1 } }, [Number.NaN], 1n]) {
      expect(check(json(), value)).toMatchObject([{ problem: 'type' }]);
    }
    expect(fits(json(), { toJSON: 'a text' })).toBe(true);
  });

  it('stops listing unknown fields and long keys at its limit, and quotes none that is long', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${n}`.repeat(900), 1]));
    for (const shape of [closed({}), record(scalar())]) {
      const found = check(shape, many);
      expect(found.length).toBeLessThanOrEqual(100);
      expect(Math.max(...found.map(({ got }) => got.length))).toBeLessThan(100);
    }
  });

  it('bounds the depth of free-form values', () => {
    const nested = (depth: number): unknown =>
      JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
    expect(fits(json(), nested(256))).toBe(true);
    expect(fits(json(), nested(257))).toBe(false);
  });

  it('never takes an inherited field for a given one', () => {
    const shape = closed({ toString: optional(string(), '') });
    expect(fits(shape, {})).toBe(true);
  });

  it('refuses rules of an unknown kind and fields that no rule has', () => {
    verifies('IP-0.2');
    const bundle = sampleOf('bundle').value;
    expect(fits(BUNDLE, bundle)).toBe(true);
    const kind = damaged(bundle, { path: 'rules.0.kind', value: 'quota' });
    expect(check(BUNDLE, kind)).toMatchObject([
      { path: ['rules', 0, 'kind'], problem: 'value', choices: Object.keys(RULE.cases) },
    ]);
    const field = damaged(bundle, { path: 'rules.0.serverity', value: 'warn' });
    expect(check(BUNDLE, field)).toMatchObject([{ problem: 'unknown' }]);
  });
});
