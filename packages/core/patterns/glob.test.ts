import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { runs } from '../../../test/runs.ts';
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
      return fits(rest, name) || (name !== '' && fits(parts, withoutFirst(name)));
    case 'any':
      return name !== '' && fits(rest, withoutFirst(name));
    case 'class':
      if (name === '' || part.chars.includes(firstOf(name)) === part.negated) return false;
      return fits(rest, withoutFirst(name));
    case 'braces':
      return part.options.some((option) => fits([...option, ...rest], name));
  }
}

function firstOf(name: string): string {
  return Array.from(name)[0] ?? '';
}

function withoutFirst(name: string): string {
  return name.slice(firstOf(name).length);
}

const letters = 'ab./*?\\{},[]😀😁';
const text = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 3 });
const simple: fc.Arbitrary<Part> = fc.oneof(
  text.map((value) => ({ kind: 'text' as const, text: value })),
  fc.constant({ kind: 'star' as const }),
  fc.constant({ kind: 'any' as const }),
  fc
    .tuple(
      fc.boolean(),
      fc.uniqueArray(fc.constantFrom('a', 'b', '.', '/', '😀'), { minLength: 1 }),
    )
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
      if (part.kind === 'any') return firstOf(filler) || 'x';
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
      runs(500),
    );
  });

  it('finds every text that was made to fit', () => {
    fc.assert(
      fc.property(globParts, names, (parts, filler) => {
        expect(testOf(render(parts))(instance(parts, filler))).toBe(true);
      }),
      runs(500),
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
    ['{aaa,b}[x', 'a `[` without its `]`', 7],
    ['{aaa,b[z-a]}', 'a range that runs backwards, `z-a`', 6],
    ['x{a,b}y{c,dd[]}z', 'a `[` without its `]`', 12],
    ['{a,b}\\', 'a `\\` with nothing behind it', 5],
  ])('refuses %j: %s', (glob, message, offset) => {
    expect(compileGlob(glob)).toEqual({ ok: false, message, offset });
  });

  it.each([
    ['[A-_]*', 'Shell', true],
    ['[A-_]*', 'shell', true],
    ['[A-_]*', '^x', true],
    ['[A-_]*', '1x', false],
    ['[Z-a]', 'Y', false],
    ['[Z-a]', 'A', true],
    ['[!A-C]x', 'bX', false],
    ['[!A-C]x', 'dX', true],
    ['*DROP table', 'x; drop TABLE', true],
    ['?x', 'İX', true],
    ['\\Q{É,b}', 'qé', true],
  ])('without case, %j and %j: %s', (glob, name, expected) => {
    const compiled = compileGlob(glob, { ignoresCase: true });
    expect(compiled.ok && compiled.test(name)).toBe(expected);
  });

  it('accepts as many alternatives as the limit allows', () => {
    expect(testOf('{a,b}'.repeat(6))('ababab')).toBe(true);
  });

  it('reads a bracket at the start of a class as a member, and a range up to the last character', () => {
    expect(['[]]', '[!]]', '[a-]', '[0-9-]'].map((glob) => testOf(glob)(']'))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(['-', 'a', '5'].map(testOf('[a-]'))).toEqual([true, true, false]);
    expect(['-', '0', '9', ':'].map(testOf('[0-9-]'))).toEqual([true, true, true, false]);
  });

  it.each([
    ['a?', 'a😀', true],
    ['a??', 'a😀', false],
    ['*?', '😀', true],
    ['[😀]', '😀', true],
    ['[😀]', '😁', false],
    ['[😀]*', '\ud83d', false],
    ['[!😀]', '😁', true],
    ['[😀-😂]x', '😁x', true],
    ['\\😀?', '😀b', true],
    ['*\ude00', '😀', false],
    ['\ud83d*', '😀', false],
    ['?', '\ud83d', true],
  ])('takes characters whole: %j in %j is %s', (glob, name, expected) => {
    expect(testOf(glob)(name)).toBe(expected);
  });

  it('finds long parts in long names as a backtracking matcher does', () => {
    const units = fc.constantFrom('a', 'a', 'a', '?', '[ab]', '[!b]', '[a😀]', '😀');
    const part = fc.array(units, { minLength: 30, maxLength: 100 }).map((all) => all.join(''));
    const long = fc
      .array(fc.constantFrom('a', 'a', 'a', 'a', 'a', 'a', 'a', 'b', '😀'), {
        minLength: 300,
        maxLength: 400,
      })
      .map((all) => all.join(''));
    const filler = fc.constantFrom('', 'a'.repeat(100), 'a'.repeat(70));
    fc.assert(
      fc.property(part, long, filler, (middle, name, run) => {
        const expected = new RegExp(middle.replaceAll('?', '.').replaceAll('[!', '[^'), 'su');
        const tried = name + run + name;
        expect(testOf(`*${middle}*`)(tried)).toBe(expected.test(tried));
      }),
      runs(300),
    );
  });

  it('ends on long parts that fit almost everywhere', () => {
    const globs = ['?'.repeat(990), `?${'a'.repeat(500)}`, '[!b]'.repeat(250), '[ab]'.repeat(250)];
    for (const glob of globs) {
      const tests = Array.from({ length: 300 }, () => testOf(`*${glob}[b]*`));
      expect(tests.some((test) => test('a'.repeat(1_024)))).toBe(false);
      expect(tests.every((test) => test(`${'a'.repeat(1_023)}b`))).toBe(true);
    }
  });

  it('takes many alternatives or long ones, and up to 32 different classes', () => {
    const doubled = '{a,b}'.repeat(6);
    expect(compileGlob(doubled + 'x'.repeat(58))).toMatchObject({ ok: true });
    expect(compileGlob(doubled + 'x'.repeat(59))).toEqual({
      ok: false,
      message: 'more than 4096 characters in all its alternatives',
      offset: 0,
    });
    const classes = Array.from(
      { length: 33 },
      (_, index) => `[${String.fromCharCode(97 + index)}]`,
    );
    expect(compileGlob(`${classes.slice(1).join('')}[b]`)).toMatchObject({ ok: true });
    expect(compileGlob(classes.join(''))).toMatchObject({ ok: false, offset: 96 });
  });

  it('ends on hostile patterns and names', () => {
    const name = 'a'.repeat(50_000);
    expect(testOf(`${'*a'.repeat(500)}*b`)(name)).toBe(false);
    expect(testOf(`${'*?a'.repeat(100)}*[b]`)(name)).toBe(false);
    expect(testOf('*'.repeat(1_000))(name)).toBe(true);
  });
});

describe('compileGlob with any text', () => {
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
      runs(2_000),
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
      runs(5_000),
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
