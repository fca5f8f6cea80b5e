import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { spawnServer } from './spawn.ts';

const folder = mkdtempSync(join(tmpdir(), 'sub-spawn-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

const times = { graceMs: 0, termMs: 0 };
const start = (command: string, more: { args?: readonly string[]; cwd?: string } = {}) =>
  spawnServer({ command, args: [], env: process.env, shimId: 'shim-1', times, ...more });

describe('spawnServer', () => {
  test.each([
    ['a command that does not exist', '/no/such/server', {}, 'not_found'],
    ['a name that is not on PATH', 'no-such-server-anywhere', {}, 'not_found'],
    ['a script whose interpreter is missing', file('bad', '#!/no/such\n', 0o755), {}, 'not_found'],
    ['a file without the right to run', file('plain', 'text', 0o644), {}, 'no_access'],
    ['a folder', folder, {}, 'no_access'],
    ['a working folder that does not exist', 'true', { cwd: '/no/such/folder' }, 'no_folder'],
    ['arguments beyond the limit', 'true', { args: ['x'.repeat(4_000_000)] }, 'bad_arguments'],
    ['a NUL byte in an argument', 'true', { args: ['a\0b'] }, 'bad_arguments'],
    ['an empty name', '', {}, 'bad_arguments'],
  ])('says why %s does not start', async (_, command, more, fault) => {
    verifies('EC-STDIO-009');
    const result = await start(command, more);
    expect(result).toMatchObject({ kind: 'failed', fault });
    expect(result.kind === 'failed' && result.message).toMatch(/can't start \([A-Z0-9_]+\): .+\.$/);
  });

  test('gives the server its arguments, its environment and the mark', async () => {
    verifies('F-011');
    const script = 'echo "$1 $GREETING $SUB_SHIM_ID"; pwd';
    const result = await spawnServer({
      command: '/bin/sh',
      args: ['-c', script, 'sh', 'an argument'],
      env: { PATH: process.env['PATH'], GREETING: 'hello', ABSENT: undefined },
      cwd: '/',
      shimId: 'shim-1',
      times,
    });
    if (result.kind === 'failed') throw new Error(result.message);
    expect(await text(result.server.stdout)).toBe('an argument hello shim-1\n/\n');
  });

  test('refuses an id that could mean something else in an environment', () => {
    const command = { command: 'true', args: [], env: {}, times };
    expect(() => spawnServer({ ...command, shimId: 'a=b\0c' })).toThrow(TypeError);
  });
});
