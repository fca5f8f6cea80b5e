import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { runs } from '../../../test/runs.ts';
import { compileRegex } from './regex.ts';
import { regexSize } from './regex-size.ts';

function testOf(source: string): (text: string) => boolean {
  const compiled = compileRegex(source);
  if (!compiled.ok) throw new Error(`${source}: ${compiled.message}`);
  return compiled.test;
}

describe('compileRegex', () => {
  it.each([
    ['del', 'undelete', true],
    ['^del$', 'undelete', false],
    ['(?i)DEL', 'delete', true],
    ['^\\p{Greek}+$', 'αβγ', true],
    ['^.$', '😀', true],
    ['a.c', 'a\nc', true],
    ['', 'anything', true],
  ])('%j in %j: %s', (source, text, found) => {
    expect(testOf(source)(text)).toBe(found);
  });

  it.each(['(a', '[z-a]', '*a', '(?=a)', '(a)\\1', 'a{2,1}', '\\', '(?<!a)b'])(
    'refuses %j, which is no RE2',
    (source) => {
      const compiled = compileRegex(source);
      expect(compiled).toMatchObject({ ok: false });
      expect(compiled.ok || compiled.message.length).toBeGreaterThan(0);
    },
  );

  it('gives the same answer for every call of one test', () => {
    const test = testOf('a');
    expect([test('a'), test('a'), test('b'), test('xa'), test('a')]).toEqual([
      true,
      true,
      false,
      true,
      true,
    ]);
  });

  it('ends on patterns that make others backtrack for ever', () => {
    verifies('IP-2.4');
    const text = `${'a'.repeat(50_000)}!`;
    expect(testOf('^(a+)+$')(text)).toBe(false);
    expect(testOf('^(a|aa)+$')(text)).toBe(false);
    expect(testOf('^(a*)*b$')(text)).toBe(false);
    expect(testOf('(.*)(.*)(.*)(.*)x$')('a'.repeat(5_000))).toBe(false);
  });

  it('takes eight counted repetitions, and not nine', () => {
    expect(testOf('a{2}'.repeat(8))('a'.repeat(16))).toBe(true);
    expect(compileRegex('a{2}'.repeat(9))).toMatchObject({ ok: false });
  });

  it.each([
    '(a{1000}){1000}',
    '((a{100}){100}){100}',
    '(\\pL{1,500}x){1,500}',
    'a{1000}'.repeat(8),
    'a{1,499}'.repeat(3),
    `(${'abc'.repeat(300)}){1,900}`,
    `(${'a|b|'.repeat(50)}(c[{2}]){5}){500}`,
  ])('refuses %j, which is too large', (source) => {
    expect(compileRegex(source)).toMatchObject({ ok: false });
  });

  it.each(['(a|b){1,1000}x', '^[a-z0-9]{1,63}(\\.[a-z0-9]{1,63}){0,8}$', '[{900}]{2}\\{900}'])(
    'takes %j, which is large enough for anyone',
    (source) => {
      expect(compileRegex(source)).toMatchObject({ ok: true });
    },
  );

  it('estimates the size of an expression before it is compiled', () => {
    const piece = fc.constantFrom(
      ...['a', '[a{9}]', '\\pL', '\\x{61}', '(a|b)', '(?:ab)', '(a{3}b){4}', 'a{7}', '.{2,5}'],
      ...['\\{', 'a*', '(a+b?)', '[]{9}x]', '(a(b(c{2}){3}){4})', '[[:alpha:]{5}]'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        const source = pieces.join('');
        fc.pre(compileRegex(source).ok);
        const { parts } = regexSize(source);
        const compiled = RE2JS.compile(source).programSize();
        // Neither lets something through that takes long, nor refuses what is small.
        expect(parts).toBeGreaterThanOrEqual(compiled / 3 - 5);
        expect(parts).toBeLessThanOrEqual(compiled * 2 + 5);
      }),
    );
  });

  it('gives a test or an error for whatever text', () => {
    const source = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'ab|()[]{}*+?.^$\\,-:<=!P1'), maxLength: 20 }),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    fc.assert(
      fc.property(source, (value) => {
        const compiled = compileRegex(value);
        expect(compiled.ok ? typeof compiled.test('ab') : typeof compiled.message).toBe(
          compiled.ok ? 'boolean' : 'string',
        );
      }),
      runs(2_000),
    );
  });
});
