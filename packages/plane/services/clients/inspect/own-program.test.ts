import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { isSameLauncher, ownProgram } from './own-program.ts';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'sub-own-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(...parts: readonly string[]): string {
  const path = join(folder, ...parts);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '');
  return path;
}

test('the own program is the runtime and the script without links', () => {
  verifies('F-007');
  const [node, script] = [file('node-22', 'node'), file('lib', 'sub.mjs')];
  symlinkSync(join(folder, 'node-22'), join(folder, 'node'));
  symlinkSync(script, join(folder, 'sub'));
  const found = ownProgram({
    runtime: join(folder, 'node', 'node'),
    script: join(folder, 'sub'),
  });
  expect(found).toEqual({ kind: 'program', words: [node, script], warnings: [] });
});

test.each([
  ['not there', 'none.mjs'],
  ['a folder', '.'],
])('the own program is unknown when the script is %s', (_, name) => {
  verifies('F-007');
  const found = ownProgram({ runtime: file('node'), script: join(folder, name) });
  expect(found).toMatchObject({ code: 'SUB_OWN_PATH' });
});

test('the own program is unknown without a script, and with a relative path', () => {
  verifies('F-007');
  const runtime = file('node');
  expect(ownProgram({ runtime, script: undefined }).kind).toBe('failure');
  expect(ownProgram({ runtime, script: 'sub.mjs' }).kind).toBe('failure');
});

test('a program in a cache gets a warning', () => {
  const script = file('.npm', '_npx', 'a1b2', 'node_modules', 'sub', 'bin', 'sub.mjs');
  const found = ownProgram({ runtime: file('node'), script });
  expect(JSON.stringify(found)).toContain('runs from a cache');
});

test('a program that would not recognize itself is refused: it would put two shims in front of a server', () => {
  verifies('F-007');
  const [node, script] = [file('node'), file('sub.mjs')];
  expect(ownProgram({ runtime: node, script: file('other.mjs') }).kind).toBe('failure');
  expect(ownProgram({ runtime: file('electron'), script }).kind).toBe('failure');
});

test.each([
  ['/opt/sub/bin/sub.mjs', '/opt/sub/bin/sub.cjs', true],
  ['/opt/sub/bin/sub.cjs', '/opt/sub/bin/sub.cjs', true],
  ['/opt/sub/bin/sub.mjs', '/opt/other/bin/sub.cjs', false],
  ['/opt/sub/bin/osub.mjs', '/opt/sub/bin/osub.cjs', false],
  [undefined, '/opt/sub/bin/sub.cjs', false],
])('%s and %s are launchers of one installation: %s', (one, other, isSame) => {
  expect(isSameLauncher(one, other)).toBe(isSame);
});
