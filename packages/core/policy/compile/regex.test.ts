import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { compileRegex } from './regex.ts';

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
    ['a.c', 'a\nc', false],
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

  it('says the same each time it is asked', () => {
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
  ])('refuses %j, which is too large', (source) => {
    expect(compileRegex(source)).toMatchObject({ ok: false });
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
      { numRuns: 2_000 },
    );
  });
});
