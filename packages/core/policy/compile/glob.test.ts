import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { compileGlob, normalizeGlob } from './glob.ts';

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'star' }
  | { readonly kind: 'any' }
  | { readonly kind: 'class'; readonly negated: boolean; readonly chars: readonly string[] }
  | { readonly kind: 'braces'; readonly options: readonly (readonly Part[])[] };

const SPECIAL = new Set('*?[]{},\\');

function render(parts: readonly Part[]): string {
  return parts.map(renderPart).join('');
}

function renderPart(part: Part): string {
  switch (part.kind) {
    case 'text':
      return [...part.text].map((char) => (SPECIAL.has(char) ? `\\${char}` : char)).join('');
    case 'star':
      return '*';
    case 'any':
      return '?';
    case 'class':
      return `[${part.negated ? '!' : ''}${part.chars.join('')}]`;
    case 'braces':
      return `{${part.options.map(render).join(',')}}`;
  }
}

/** The obvious matcher: try everything. */
function fits(parts: readonly Part[], name: string): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return name === '';
  switch (part.kind) {
    case 'text':
      return name.startsWith(part.text) && fits(rest, name.slice(part.text.length));
    case 'star':
      return fits(rest, name) || (name !== '' && fits(parts, name.slice(1)));
    case 'any':
      return name !== '' && fits(rest, name.slice(1));
    case 'class':
      if (name === '' || part.chars.includes(name.charAt(0)) === part.negated) return false;
      return fits(rest, name.slice(1));
    case 'braces':
      return part.options.some((option) => fits([...option, ...rest], name));
  }
}

const letters = 'ab./*?\\{},[]';
const text = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 3 });
const simple: fc.Arbitrary<Part> = fc.oneof(
  text.map((value) => ({ kind: 'text' as const, text: value })),
  fc.constant({ kind: 'star' as const }),
  fc.constant({ kind: 'any' as const }),
  fc
    .tuple(fc.boolean(), fc.uniqueArray(fc.constantFrom('a', 'b', '.', '/'), { minLength: 1 }))
    .map(([negated, chars]) => ({ kind: 'class' as const, negated, chars })),
);
const braces: fc.Arbitrary<Part> = fc
  .array(fc.array(simple, { maxLength: 2 }), { minLength: 1, maxLength: 3 })
  .map((options) => ({ kind: 'braces' as const, options }));
const globParts = fc.array(fc.oneof({ weight: 6, arbitrary: simple }, braces), { maxLength: 5 });
const names = fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 });

/** A text that surely fits the parts. */
function instance(parts: readonly Part[], filler: string): string {
  return parts
    .map((part) => {
      if (part.kind === 'text') return part.text;
      if (part.kind === 'star') return filler;
      if (part.kind === 'any') return filler.charAt(0) || 'x';
      if (part.kind === 'class') return part.negated ? 'x' : (part.chars[0] ?? '');
      return instance(part.options.at(-1) ?? [], filler);
    })
    .join('');
}

function testOf(glob: string): (name: string) => boolean {
  const compiled = compileGlob(glob);
  if (!compiled.ok) throw new Error(`${glob}: ${compiled.message}`);
  return compiled.test;
}

describe('compileGlob', () => {
  it('agrees with a matcher that tries everything', () => {
    verifies('IP-2.4');
    fc.assert(
      fc.property(globParts, fc.array(names, { minLength: 1, maxLength: 20 }), (parts, tried) => {
        const test = testOf(render(parts));
        for (const name of tried) expect([name, test(name)]).toEqual([name, fits(parts, name)]);
      }),
      { numRuns: 500 },
    );
  });

  it('finds every text that was made to fit', () => {
    fc.assert(
      fc.property(globParts, names, (parts, filler) => {
        expect(testOf(render(parts))(instance(parts, filler))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['[a', 'a `[` without its `]`', 0],
    ['x[]', 'a `[` without its `]`', 1],
    ['x[!]', 'a `[` without its `]`', 1],
    ['x{a,b', 'a `{` without its `}`', 1],
    ['a}', 'a `}` without its `{`', 1],
    ['{a,{b,c}}', 'braces inside braces', 3],
    ['ab\\', 'a `\\` with nothing behind it', 2],
    ['x[z-a]', 'a range that runs backwards, `z-a`', 1],
    ['{a,b}'.repeat(7), 'more than 64 alternatives', 30],
  ])('refuses %j: %s', (glob, message, offset) => {
    expect(compileGlob(glob)).toEqual({ ok: false, message, offset });
  });

  it('takes as many alternatives as it may', () => {
    expect(testOf('{a,b}'.repeat(6))('ababab')).toBe(true);
  });

  it('knows a bracket at the start of a class for a member, and ranges to the last', () => {
    expect(['[]]', '[!]]', '[a-]', '[0-9-]'].map((glob) => testOf(glob)(']'))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(['-', 'a', '5'].map(testOf('[a-]'))).toEqual([true, true, false]);
    expect(['-', '0', '9', ':'].map(testOf('[0-9-]'))).toEqual([true, true, true, false]);
  });

  it('ends on hostile patterns and names', () => {
    const name = 'a'.repeat(50_000);
    expect(testOf(`${'*a'.repeat(500)}*b`)(name)).toBe(false);
    expect(testOf(`${'*?a'.repeat(100)}*[b]`)(name)).toBe(false);
    expect(testOf('*'.repeat(1_000))(name)).toBe(true);
  });
});

describe('whatever the text', () => {
  const anything = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'ab*?[]!^-{},\\+'), maxLength: 12 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );

  it('gives a test or an error with a place in it', () => {
    fc.assert(
      fc.property(anything, (glob) => {
        const compiled = compileGlob(glob);
        if (compiled.ok) return;
        expect(compiled.offset).toBeGreaterThanOrEqual(0);
        expect(compiled.offset).toBeLessThanOrEqual(glob.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it('normalising changes the spelling and never the meaning', () => {
    const tried = ['', 'a', 'b', '*', '?', '-', '+', '\\', 'ab', 'a*b', 'aab', '[a]', '{a}', '!'];
    fc.assert(
      fc.property(anything, (glob) => {
        const normal = normalizeGlob(glob);
        expect(normalizeGlob(normal)).toBe(normal);
        const [before, after] = [compileGlob(glob), compileGlob(normal)];
        expect(after.ok).toBe(before.ok);
        if (!before.ok || !after.ok) return;
        expect(tried.map(after.test)).toEqual(tried.map(before.test));
      }),
      { numRuns: 5_000 },
    );
  });

  it('writes runs of stars as one', () => {
    expect(['a**b', '***', '\\**', '\\***', '**\\*'].map(normalizeGlob)).toEqual([
      'a*b',
      '*',
      '\\**',
      '\\**',
      '*\\*',
    ]);
  });
});
