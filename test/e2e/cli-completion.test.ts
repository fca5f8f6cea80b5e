// The completion script that the built `sub` prints, in a real shell.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, SUB } from './sub.ts';

let folder = '';
beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-shell-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hasBash = spawnSync('bash', ['--version']).status === 0;

describe.skipIf(!hasBash)('in bash', () => {
  test('is loaded as the docs say, and completes what this build can do', () => {
    const script = `
      sub() { "$NODE" "$SUB" "$@"; }
      source <(sub completion bash)
      COMP_WORDS=(sub policy ex); COMP_CWORD=2; _sub; echo "\${COMPREPLY[*]}"
      COMP_WORDS=(sub tail --decision R); COMP_CWORD=3; _sub; echo "\${COMPREPLY[*]}"`;
    const env = { ...process.env, NODE: process.execPath, SUB };
    const { stdout, stderr } = spawnSync('bash', ['-c', script], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(stdout).toBe('explain\nREJECT_WITH_HINT REFUSED\n');
  });
});

test.each(['bash', 'zsh', 'fish'])('%s has a script', async (shell) => {
  const { code, stdout, stderr } = await askSub(['completion', shell], { cwd: folder });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('sub');
  expect(stdout).toContain('--no-follow'.slice(shell === 'fish' ? 2 : 0));
});

test.each([
  ['bahs', 'Did you mean bash?'],
  ['powershell', 'Name one of bash, zsh, fish.'],
])('`sub completion %s` is refused', async (shell, fix) => {
  const { code, stdout, stderr } = await askSub(['completion', shell], { cwd: folder });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(fix);
});
