// Equal values have one canonical text, different values have two: shown on values that are
// modelled apart from JavaScript's numbers, and written down in many ways.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { runs } from '../../../test/runs.ts';
import { canonicalize } from './canonicalize.ts';

type Model =
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'number'; readonly digits: bigint; readonly exponent: number }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'array'; readonly items: readonly Model[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Model])[] };

/** Few letters, so that values often nearly coincide. */
const text = fc
  .array(
    fc.constantFrom('a', 'b', '"', '\\', '/', '\n', '\u0001', 'é', '\ue000', '\ud83d', '\ude00'),
    {
      maxLength: 4,
    },
  )
  .map((parts) => parts.join(''));

const number = fc.record({
  kind: fc.constant('number' as const),
  digits: fc.oneof(
    fc.bigInt({ min: -20n, max: 20n }),
    fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
    fc.bigInt({ min: 10n ** 24n, max: 10n ** 24n + 9n }),
  ),
  exponent: fc.integer({ min: -9, max: 24 }),
});

const { model } = fc.letrec<{ model: Model }>((tie) => ({
  model: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('word' as const),
      word: fc.constantFrom('null', 'true', 'false'),
    }),
    number,
    fc.record({ kind: fc.constant('string' as const), text }),
    fc.record({
      kind: fc.constant('array' as const),
      items: fc.array(tie('model'), { maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('object' as const),
      members: fc.uniqueArray(fc.tuple(text, tie('model')), {
        maxLength: 16,
        selector: ([key]) => key,
      }),
    }),
  ),
}));

/** An endless source of small choices. */
type Choose = (count: number) => number;

const choices = fc
  .array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 50 })
  .map((list): Choose => {
    let at = 0;
    return (count) => (list[at++ % list.length] ?? 0) % count;
  });

/** Writes a model as JSON, in one of its many spellings. */
function spell(value: Model, choose: Choose): string {
  const space = () => ['', '', ' ', '\n  ', '\t', '\r\n'][choose(6)] ?? '';
  switch (value.kind) {
    case 'word':
      return value.word;
    case 'number':
      return spellNumber(value.digits, value.exponent, choose);
    case 'string':
      return spellString(value.text, choose);
    case 'array': {
      const items = value.items.map((item) => space() + spell(item, choose) + space());
      return `[${items.length === 0 ? space() : items.join(',')}]`;
    }
    case 'object': {
      const members = shuffled(value.members, choose).map(
        ([key, member]) =>
          `${space()}${spellString(key, choose)}${space()}:${space()}${spell(member, choose)}${space()}`,
      );
      return `{${members.length === 0 ? space() : members.join(',')}}`;
    }
  }
}

function spellNumber(digits: bigint, exponent: number, choose: Choose): string {
  const zeros = choose(4);
  const spelled = `${digits}${'0'.repeat(digits === 0n ? 0 : zeros)}`;
  const scale = digits === 0n ? exponent : exponent - zeros;
  if (scale === 0 && choose(2) === 0) return spelled;
  const fraction = choose(2) === 0 ? '' : `.${'0'.repeat(1 + choose(3))}`;
  return `${spelled}${fraction}${choose(2) === 0 ? 'e' : 'E'}${scale}`;
}

function spellString(content: string, choose: Choose): string {
  const units = Array.from({ length: content.length }, (_, index) => {
    const unit = content.charCodeAt(index);
    const plain = unit >= 0x20 && unit !== 0x22 && unit !== 0x5c;
    if (plain && choose(2) === 0) return content.charAt(index);
    return `\\u${unit.toString(16).padStart(4, '0')}`;
  });
  return `"${units.join('')}"`;
}

function shuffled<T>(list: readonly T[], choose: Choose): readonly T[] {
  const rest = [...list];
  return list.flatMap(() => rest.splice(choose(rest.length), 1));
}

/** Tells models apart by value, without any of the code under test. */
function identity(value: Model): string {
  switch (value.kind) {
    case 'word':
      return value.word;
    case 'string':
      return JSON.stringify(value.text);
    case 'number': {
      let { digits, exponent } = value;
      if (digits === 0n) return '#0';
      for (; digits % 10n === 0n; digits /= 10n) exponent++;
      return `#${digits}e${exponent}`;
    }
    case 'array':
      return `[${value.items.map(identity).join()}]`;
    case 'object':
      return `{${value.members
        .map(([key, member]) => `${JSON.stringify(key)}:${identity(member)}`)
        .toSorted()
        .join()}}`;
  }
}

function canonicalOf(json: string): string {
  const result = canonicalize(json);
  if (!result.ok) throw new Error(`${result.code} at ${result.offset}: ${json}`);
  return result.canonical;
}

describe('canonical text', () => {
  it('is one for one value, whatever the key order, white space and spelling', () => {
    verifies('IP-1.9', 'IP-1.9.1', 'IP-6.1');
    const property = fc.property(model, choices, choices, (value, first, second) => {
      expect(canonicalOf(spell(value, first))).toBe(canonicalOf(spell(value, second)));
    });
    fc.assert(property, runs(2_000));
  });

  it('is a fixed point', () => {
    verifies('IP-1.9.1');
    const property = fc.property(model, choices, (value, choose) => {
      const canonical = canonicalOf(spell(value, choose));
      expect(canonicalOf(canonical)).toBe(canonical);
    });
    fc.assert(property, runs(2_000));
  });

  it('differs for any two different values', () => {
    verifies('IP-1.9.1');
    const property = fc.property(model, model, choices, (left, right, choose) => {
      const same = canonicalOf(spell(left, choose)) === canonicalOf(spell(right, choose));
      expect(same).toBe(identity(left) === identity(right));
    });
    fc.assert(property, runs(3_000));
  });

  it('differs for numbers that a double could not tell apart', () => {
    verifies('IP-1.9.1');
    const property = fc.property(number, number, choices, (left, right, choose) => {
      const same = canonicalOf(spell(left, choose)) === canonicalOf(spell(right, choose));
      expect(same).toBe(identity(left) === identity(right));
    });
    fc.assert(property, runs(5_000));
  });

  it('has its keys in the order of their code points', () => {
    verifies('IP-1.9.1');
    const property = fc.property(fc.uniqueArray(text, { maxLength: 30 }), (keys) => {
      const members = keys.map((key) => `${JSON.stringify(key)}:0`);
      const sorted = canonicalOf(`{${members.join(',')}}`);
      const expected = keys.toSorted(byCodePoint).map((key) => `${JSON.stringify(key)}:0`);
      expect(sorted).toBe(`{${expected.join(',')}}`);
    });
    fc.assert(property, runs(2_000));
  });
});

function byCodePoint(left: string, right: string): number {
  const rightPoints = Array.from(right, (char) => char.codePointAt(0) ?? 0);
  for (const [index, char] of Array.from(left).entries()) {
    const other = rightPoints[index];
    if (other === undefined) return 1;
    const difference = (char.codePointAt(0) ?? 0) - other;
    if (difference !== 0) return difference;
  }
  return Array.from(left).length - rightPoints.length;
}

describe('repeated keys', () => {
  it('are refused at any depth, however they are spelled', () => {
    verifies('IP-1.9.1');
    const wrappers = fc.array(fc.constantFrom('[1,%]', '{"x":%}', '{"b":0,"a":[%,{}]}'), {
      maxLength: 20,
    });
    const other = fc.array(fc.tuple(text, model), { maxLength: 14 });
    const property = fc.property(wrappers, text, other, choices, (around, key, members, choose) => {
      const all: (readonly [string, Model])[] = [...members, [key, NULL], [key, NULL]];
      const inner = spell({ kind: 'object', members: all }, choose);
      const outer = around.reduce((json, wrapper) => wrapper.split('%').join(json), inner);
      expect(canonicalize(outer)).toMatchObject({ ok: false, code: 'SUB_CANON_DUPLICATE_KEY' });
    });
    fc.assert(property, runs(1_000));
  });
});

const NULL: Model = { kind: 'word', word: 'null' };
