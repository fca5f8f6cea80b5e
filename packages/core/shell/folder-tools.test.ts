import type { JsonObject } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { foldersRead, readsFolders } from './folder-tools.ts';

const GREP = { server_name: 'claude-code', tool_name: 'Grep' };
const READ_MANY = { server_name: 'gemini-cli', tool_name: 'read_many_files' };
const COPILOT_GREP = { server_name: 'copilot-cli', tool_name: 'Grep' };

test('only tools of clients that show contents read whole folders', () => {
  expect(readsFolders(GREP)).toBe(true);
  expect(readsFolders({ ...GREP, tool_name: 'Glob' })).toBe(false);
  expect(readsFolders({ ...GREP, server_name: 'files' })).toBe(false);
  expect(foldersRead({ ...GREP, tool_name: 'LS' }, {})).toBeUndefined();
});

test.each<[JsonObject, readonly string[]]>([
  [{}, ['.']],
  [{ path: '' }, ['.']],
  [{ path: 'undefined' }, ['.']],
  [{ path: 5 }, ['.']],
  [{ path: 'src' }, ['src']],
  [{ cwd: '/repo/a' }, ['/repo/a/.']],
  [{ cwd: '/repo/a', path: 'b' }, ['/repo/a/b']],
  [{ cwd: '/repo/a', path: '/b' }, ['/b']],
  // It takes no notice of another name.
  [{ dir_path: 'src' }, ['.']],
])('a search with %j reads all of %j', (args, folders) => {
  expect(foldersRead(GREP, args)).toMatchObject({ folders, globs: undefined });
});

test('several folders may stand in a list, or in one text', () => {
  expect(foldersRead(COPILOT_GREP, { paths: ['src', 'docs'] })?.folders).toEqual(['src', 'docs']);
  expect(foldersRead(COPILOT_GREP, { paths: 'src, .' })?.folders).toEqual(['src, .', 'src', '.']);
});

test.each<[JsonObject, readonly string[] | undefined]>([
  [{ glob: '*.ts' }, ['*.ts']],
  [{ glob: '*.{ts,tsx}' }, ['*.ts', '*.tsx']],
  [{ glob: '*.ts,*nv' }, ['*.ts,*nv', '*.ts', '*nv']],
  [{ glob: '*.ts *nv' }, ['*.ts *nv', '*.ts', '*nv']],
  [{ type: 'rust' }, ['*.rs']],
  // What a glob names is shown whatever its type is.
  [{ glob: '.e*', type: 'ts' }, ['.e*']],
  // What leaves out files, or is read in several ways, is not known to leave out the others.
  [{ glob: '!*.md' }, undefined],
  [{ glob: '!*.md', type: 'ts' }, ['*.ts', '*.tsx', '*.cts', '*.mts']],
  [{ glob: '*.ts !a.ts' }, undefined],
  [{ glob: '[!a]env' }, undefined],
  [{ glob: '@(a|.env)' }, undefined],
  [{ glob: 'src/../*' }, undefined],
  [{ glob: '.' }, undefined],
  [{ glob: '' }, undefined],
  [{ type: 'sh' }, undefined],
  [{ type: 'all' }, undefined],
])('a search with %j is narrowed to %j', (args, globs) => {
  expect(foldersRead(GREP, args)?.globs).toEqual(globs);
});

test('the folder that a glob starts with is looked into as well', () => {
  const include = ['a/b/*nv', '**/*.ts'];
  expect(foldersRead(READ_MANY, { include })?.folders).toEqual(['.', 'a/b', './a/b']);
  const args = { path: 'x', glob: 'a/*nv' };
  expect(foldersRead(GREP, args)?.folders).toEqual(['x', 'a', 'x/a']);
});

test.each<[string, JsonObject, boolean]>([
  ['grep_search', {}, true],
  ['grep_search', { include_pattern: '*.ts' }, true],
  ['grep_search', { include_pattern: '!*.ts' }, true],
  ['grep_search', { include_pattern: '[.]git' }, false],
  ['grep_search', { no_ignore: true }, false],
  ['read_many_files', { include: ['**/*'], useDefaultExcludes: false }, false],
  ['read_many_files', { include: ['**/*'], useDefaultExcludes: true }, true],
])('whether %s with %j leaves out the folders of version control: %s', (tool_name, args, isSo) => {
  expect(foldersRead({ ...READ_MANY, tool_name }, args)?.skipsHistory).toBe(isSo);
});
