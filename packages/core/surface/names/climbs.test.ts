import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { climbs } from './climbs.ts';

describe('an address', () => {
  it.each([
    '../secret',
    '%2e%2e/secret',
    '..;/secret',
    '..;a=b/secret',
    'x/..%c0%afsecret',
    'x?../../secret',
    'x?path=../secret',
    'x\\..\\secret',
    '%252e%252e/s',
    '%25252e%25252e/s',
    '%25252525252e%25252525252e/s',
    '\uff0e\uff0e/secret',
    '%ef%bc%8e%ef%bc%8e/secret',
    '\u2025/secret',
    '..\u2215secret',
    '\t../s',
    '.\t./secret',
    '.%09./secret',
    '.\u200b./s',
    '\n@evil',
    '..%00/x',
    'x%00',
    'x%2500',
    '%2e%2e%5csecret',
    'x/%u002e%u002e/secret',
    '.. /secret',
    '..',
    'x/..#y',
  ])('climbs by %j', (tail) => {
    expect(climbs(`mail://labels/${tail}`)).toBe(true);
  });

  it.each([
    'x',
    'a/b.c/d',
    'a..b/c',
    '...',
    '.hidden',
    'my file.txt',
    'caf%C3%A9',
    'über/straße',
    '100%',
    'q?range=1..5&x=%2525',
    'v1.2;rev=3',
    'two%0Alines',
  ])('stays where it is with %j', (tail) => {
    expect(climbs(`mail://labels/${tail}`)).toBe(false);
  });

  it('that climbs does so however often it is encoded', () => {
    const encoded = (text: string, rounds: number): string => {
      const once = [...text].map((char) => `%${(char.codePointAt(0) ?? 0).toString(16)}`).join('');
      return rounds === 1 ? once : encoded(once, rounds - 1);
    };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.boolean(), (rounds, isBack) => {
        const dots = encoded('..', rounds);
        expect(climbs(`mail://labels/${dots}${isBack ? '\\' : '/'}secret`)).toBe(true);
      }),
    );
  });

  it('with no end of marks is read at once, or taken for one that climbs', () => {
    const marks = '\u0315\u0316\u0323\u0301'.repeat(250_000);
    expect(climbs(`mail://labels/x${marks}`)).toBe(true);
    expect(climbs(`mail://labels/x${marks.slice(0, 60_000)}`)).toBe(false);
    expect(climbs(`mail://labels/x${marks.slice(0, 60_000)}/../y`)).toBe(true);
  });

  it('of any kind is read without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (uri) => typeof climbs(uri) === 'boolean'),
    );
  });
});
