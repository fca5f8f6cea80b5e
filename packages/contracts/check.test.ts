import { expect, describe as group, it } from 'vitest';
import { verifies } from '../../test/requirements.ts';
import { BUNDLE, RULE } from './bundle.ts';
import { check, describe } from './check.ts';
import { closed, either, formatted, integer, json, open, optional, string } from './shape.ts';
import { damaged, sampleOf } from './testing/samples.ts';

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
