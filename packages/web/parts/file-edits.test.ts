import { expect, test } from 'vitest';
import { fileEdits } from './file-edits.ts';

test.each([
  ['Edit', { file_path: '/a', old_string: 'x', new_string: 'y' }],
  ['edit_file', { path: '/a', edits: [{ oldText: 'x', newText: 'y' }] }],
  ['str_replace', { path: '/a', command: 'str_replace', old_str: 'x', new_str: 'y' }],
])('the replaced and the new text of %s are found', (_tool, args) => {
  expect(fileEdits(args)).toEqual([{ path: '/a', before: 'x', after: 'y', kind: 'edit' }]);
});

test('a written file has nothing before it, and a text without a path is no file', () => {
  expect(fileEdits({ path: '/a', content: 'x' })).toEqual([
    { path: '/a', before: '', after: 'x', kind: 'write' },
  ]);
  expect(fileEdits({ content: 'x' })).toEqual([]);
  expect(fileEdits({ path: '/a', insert_line: 3, new_str: 'x' })).toMatchObject([
    { kind: 'insert', after: 'x' },
  ]);
});

test('a patch of several files is read file by file', () => {
  const patch = [
    '*** Begin Patch',
    '*** Update File: src/a.ts',
    '@@ function one()',
    ' kept',
    '-old',
    '+new',
    '*** Add File: b.ts',
    '+made',
    '*** Delete File: c.ts',
    '*** End Patch',
  ].join('\n');
  const edits = [
    {
      path: 'src/a.ts',
      before: '@@ function one()\nkept\nold',
      after: '@@ function one()\nkept\nnew',
      kind: 'edit',
    },
    { path: 'b.ts', before: '', after: 'made', kind: 'write' },
    { path: 'c.ts', before: '', after: '', kind: 'delete' },
  ];
  expect(fileEdits({ input: patch })).toEqual(edits);
  expect(fileEdits({ command: ['apply_patch', patch] })).toEqual(edits);
});

test('a unified diff is read file by file', () => {
  const patch = '--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1,2 @@\n same\n-one\n+two\n';
  expect(fileEdits({ patch })).toEqual([
    {
      path: 'x.txt',
      before: '@@ -1,2 +1,2 @@\nsame\none',
      after: '@@ -1,2 +1,2 @@\nsame\ntwo',
      kind: 'edit',
    },
  ]);
});

test.each([undefined, null, 'text', [], { command: 'ls' }, { path: 4, content: {} }])(
  '%j holds no edit',
  (args) => expect(fileEdits(args)).toEqual([]),
);
