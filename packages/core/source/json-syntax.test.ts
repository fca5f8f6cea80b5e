import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { harmlessJson } from '../text/visible.ts';
import { readSource } from './read-source.ts';
import { valueOf } from './tree.ts';

/** What both readers understand: exact numbers, whole characters, keys that fit on a line. */
const key = fc.string({ unit: 'grapheme', maxLength: 12 });
const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).map((n) => n + 0),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('---', '...', '# no comment', 'a: b', '- x', '<<', '*a', '&a', '!t', '{', '"'),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('list'), tie('map')),
  list: fc.array(tie('tree'), { maxLength: 4 }),
  map: fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
}));
const gap = fc.constantFrom('', ' ', '\t', '\n', '\r\n', '\n\t', '\n\n  ');

/** JSON with white space wherever JSON allows it, and nothing in it that cannot be seen. */
function spaced(value: unknown, gaps: readonly string[]): string {
  let used = 0;
  const space = () => gaps[used++ % gaps.length] ?? '';
  const write = (part: unknown): string => {
    if (typeof part !== 'object' || part === null) return written(part);
    const items = Array.isArray(part)
      ? part.map((item) => write(item))
      : Object.entries(part).map(([name, item]) => {
          return `${written(name)}${space()}:${space()}${write(item)}`;
        });
    const body = items.map((item) => `${space()}${item}${space()}`).join(',');
    return Array.isArray(part) ? `[${body}]` : `{${body}}`;
  };
  return `${space()}${write(value)}${space()}`;
}

function written(value: unknown): string {
  return harmlessJson(JSON.stringify(value));
}

test('reads every JSON text as JSON.parse does', () => {
  verifies('IP-2.1');
  fc.assert(
    fc.property(tree, fc.array(gap, { minLength: 1, maxLength: 9 }), (value, gaps) => {
      const text = spaced({ value }, gaps);
      const result = readSource({ file: 'p.json', text });
      expect(result.ok ? valueOf(result.tree) : result).toEqual(JSON.parse(text));
    }),
    { numRuns: 1_000 },
  );
});

test.each(['\t', '    ', ''])('reads JSON that is indented by "%s"', (indent) => {
  const value = { a: [{ b: 'c: d' }, []], 'e f': { g: null } };
  const text = JSON.stringify(value, null, indent);
  const result = readSource({ file: 'p.json', text });
  expect(result.ok && valueOf(result.tree)).toEqual(value);
});
