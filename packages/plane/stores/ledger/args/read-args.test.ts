import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mainArgument, readArgs } from './read-args.ts';

test.each([
  ['{"path":"a","content":"b', { path: 'a', content: 'b' }],
  ['{"path":"a","content":"b\\', { path: 'a', content: 'b' }],
  ['{"path":"a","content":"b\\u00', { path: 'a', content: 'b' }],
  ['{"path":"a","conte', { path: 'a' }],
  ['{"path":"a","list":[1,2', { path: 'a', list: [1, 2] }],
  ['{"path":"a","flag":tr', { path: 'a' }],
  ['{"edits":[{"path":"a"},{"pa', { edits: [{ path: 'a' }] }],
  ['[1,2]', undefined],
  ['no json', undefined],
  ['', undefined],
])('the arguments %s are read as far as they go', (preview, args) => {
  expect(readArgs(preview)).toEqual(args);
});

test('arguments that are cut anywhere never throw, and keep whole members', () => {
  const members = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1, maxKeys: 5 });
  fc.assert(
    fc.property(members, fc.nat(500), (args, cut) => {
      const text = `{"path":"x",${JSON.stringify(args).slice(1)}`;
      const read = readArgs(text.slice(0, cut));
      expect(cut <= '{"path":"x",'.length || 'path' in args || read?.['path'] === 'x').toBe(true);
    }),
  );
});

test.each([
  [{ content: 'text', path: 'src/x.ts' }, 'path=src/x.ts'],
  [{ id: 7, file_path: '/a' }, 'file_path=/a'],
  [{ timeout: 5, command: 'ls -l' }, 'command=ls -l'],
  [{ body: 'hi', to: ['ada@example.com', 'bob@example.com'] }, 'to=ada@example.com (+1)'],
  [{ method: 'GET', url: 'https://example.com' }, 'url=https://example.com'],
  [{ limit: 3, query: 'select 1' }, 'query=select 1'],
  [{ other: 'first', more: 'second' }, 'other=first'],
  [{ nested: { path: 'x' }, empty: [] }, null],
  [{}, null],
])('of %j, the argument that tells most is %s', (args, shown) => {
  expect(mainArgument(args)).toBe(shown);
});

test('a long value is cut', () => {
  expect(mainArgument({ path: 'x'.repeat(9_999) })?.length).toBeLessThan(300);
});
