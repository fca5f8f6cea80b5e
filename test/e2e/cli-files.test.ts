// What the built `sub` says about files, and leaves of them, when something is wrong with them.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, ROOT, SUB } from './sub.ts';

let root = '';
let folder = '';
let count = 0;
beforeAll(() => {
  ensureBuilt();
  root = realpathSync(mkdtempSync(join(tmpdir(), 'sub-files-')));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  folder = join(root, String(++count));
  mkdirSync(folder);
  copyFileSync(`${ROOT}examples/policies/starter.yaml`, join(folder, 'good.yaml'));
});

function sub(...args: readonly string[]) {
  return askSub(args, { cwd: folder, env: { SUB_HOME: join(folder, 'home'), HOME: folder } });
}

describe('lint', () => {
  test('does not count what was not read among what has no problems', async () => {
    const { code, stdout, stderr } = await sub('policy', 'lint', 'good.yaml', 'nope.yaml');
    expect(code).toBe(2);
    expect(stdout).toMatch(/\n2 files: 1 not read; .* in the other\n$/);
    expect(stderr).toContain('nope.yaml does not exist.');
    const none = await sub('policy', 'lint', 'a.yaml', 'b.yaml');
    expect(none).toMatchObject({ code: 2, stdout: '2 files: 2 not read\n' });
  });

  test.each([
    ['empty', Buffer.alloc(0), 'SUB_BUNDLE_SYNTAX'],
    ['no text', Buffer.from([0, 255, 254, 1]), 'SUB_BUNDLE_ENCODING'],
  ])('finds an error in a file that is %s', async (_, bytes, code) => {
    writeFileSync(join(folder, 'odd.yaml'), bytes);
    const linted = await sub('policy', 'lint', 'odd.yaml');
    expect(linted.code).toBe(1);
    expect(linted.stdout).toContain(`[${code}]`);
    const compiled = await sub('policy', 'compile', 'odd.yaml');
    expect(compiled).toMatchObject({ code: 1, stdout: '' });
    expect(compiled.stderr.trimEnd().split('\n').at(-1)).toBe(
      `sub: odd.yaml has 1 error; nothing was written. Correct it first. [${code}]`,
    );
  });
});

test('keys that do not fit on the disk leave nothing behind', () => {
  // A limit on the size of files stands in for a full disk.
  const limited = 'trap "" XFSZ; ulimit -f 0; exec "$@"';
  const command = [process.execPath, SUB, 'policy', 'keygen', 'new.key'];
  const { status, stderr } = spawnSync('sh', ['-c', limited, 'sh', ...command], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/^sub: new\.key does not fit: .* \[SUB_FILE_WRITE\]\n$/);
  expect(status).toBe(2);
  expect(readdirSync(folder)).toEqual(['good.yaml']);
});

describe('the home', () => {
  test('is not the current folder when HOME is empty', async () => {
    const { stdout } = await askSub(['doctor', '--json'], {
      cwd: folder,
      env: { HOME: '', SUB_HOME: '' },
    });
    const { checks } = JSON.parse(stdout) as {
      readonly checks: readonly { readonly id: string; readonly text: string }[];
    };
    const home = checks.find(({ id }) => id === 'home')?.text ?? '';
    expect(home).toContain(join(userInfo().homedir, '.subluminal'));
    expect(readdirSync(folder)).toEqual(['good.yaml']);
  });

  test.runIf(process.platform === 'linux')('is not tried for ever in /proc', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [SUB, 'shim', '--server-name', 'a', '--', 'cat'],
      // Who tries for ever does not hear any other signal either.
      {
        cwd: folder,
        env: { ...process.env, HOME: '/proc/nowhere', SUB_HOME: '' },
        encoding: 'utf8',
        timeout: 30_000,
        killSignal: 'SIGKILL',
      },
    );
    expect(stderr).toMatch(/cannot be created \(E[A-Z]+\)/);
    expect(status).toBe(2);
  });
});

describe.runIf(process.platform === 'linux')('a home that cannot be made', () => {
  const nowhere = { HOME: '/proc/nowhere', SUB_HOME: '' };

  test.each([[['manifest', 'init', 'my', '--', 'cat']], [['ledgerd']]])(
    'is told by `sub %j` with its cause, what to do, and the code once',
    async (args) => {
      const { code, stderr } = await askSub(args, { cwd: folder, env: nowhere });
      expect(code).toBe(2);
      expect(stderr).toMatch(/cannot be created \(E[A-Z]+\).* set SUB_HOME /);
      expect(stderr.match(/SUB_FILE_WRITE/g)).toHaveLength(1);
    },
  );

  test('is told by `sub import` with the way out', async () => {
    const config = JSON.stringify({ mcpServers: { a: { command: 'x' } } });
    writeFileSync(join(folder, '.claude.json'), config);
    const env = { HOME: folder, SUB_HOME: '/proc/nowhere/sub' };
    const { code, stderr } = await askSub(['import', 'claude', '--yes'], { cwd: folder, env });
    expect(code).toBe(2);
    expect(stderr).toMatch(/cannot be created \(E[A-Z]+\).* set SUB_HOME /);
    expect(readFileSync(join(folder, '.claude.json'), 'utf8')).toBe(config);
  });
});

test('a command that stands in a group is guessed with its group', async () => {
  const { code, stderr } = await sub('keygen');
  expect(code).toBe(2);
  expect(stderr).toContain('Did you mean `sub policy keygen`?');
});
