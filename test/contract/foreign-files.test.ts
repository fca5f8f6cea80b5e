// Files that decide and that others can write: refused in production, told of in development.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt, SUB } from '../e2e/sub.ts';
import { DENIES } from './messages.ts';

beforeAll(ensureBuilt);

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-foreign-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'home', 'manifests'), { recursive: true, mode: 0o700 });
  chmodSync(join(folder, 'home'), 0o700);
  mkdirSync(join(folder, 'project', 'cedar'), { recursive: true });
  writeFileSync(join(folder, 'project', 'policy.yaml'), DENIES);
  const permits = 'permit (principal, action, resource);';
  writeFileSync(join(folder, 'project', 'cedar', 'a.cedar'), permits);
  writeFileSync(join(folder, 'home', 'config.toml'), '[pins]\nmode = "off"\n');
  writeFileSync(join(folder, 'home', 'manifests', 's.yaml'), 'server: s\n');
});

function sub(words: readonly string[], profile: string) {
  const { status, stderr } = spawnSync(process.execPath, [SUB, ...words], {
    cwd: join(folder, 'project'),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      SUB_HOME: join(folder, 'home'),
      SUB_PROFILE: profile,
    },
    encoding: 'utf8',
    input: '',
  });
  return { status, stderr };
}

const SHIM = [
  'shim',
  '--server-name',
  's',
  '--events',
  'off',
  '--policy',
  'policy.yaml',
  '--',
  'true',
];
const RUN = ['run', '--events', 'off', '--policy', 'policy.yaml', '--', 'true'];
const CEDAR = ['run', '--events', 'off', '--cedar', 'cedar', '--', 'true'];

describe.each([
  ['a policy of mode 0666', 'project/policy.yaml', 0o666, SHIM, true],
  ['a policy of mode 0666', 'project/policy.yaml', 0o666, RUN, true],
  ['a policy in a folder of mode 0777', 'project', 0o777, SHIM, true],
  ['a policy in a folder of mode 0777', 'project', 0o777, RUN, true],
  ['a Cedar policy of mode 0666', 'project/cedar/a.cedar', 0o666, CEDAR, true],
  ['a Cedar folder of mode 0777', 'project/cedar', 0o777, CEDAR, true],
  ['a config of mode 0666', 'home/config.toml', 0o666, SHIM, true],
  ['a config of mode 0666', 'home/config.toml', 0o666, RUN, true],
  ['a manifest of mode 0666', 'home/manifests/s.yaml', 0o666, SHIM, false],
  ['a folder of manifests of mode 0777', 'home/manifests', 0o777, SHIM, false],
])('%s (%s)', (_, name, mode, words, isTold) => {
  it(`is refused in production by \`sub ${words[0]}\`, with the command that mends it`, () => {
    expect(sub(words, 'production').status).toBe(0);
    chmodSync(join(folder, name), mode);
    const refused = sub(words, 'production');
    expect(refused.stderr).toContain('can be written to by others');
    expect(refused.stderr).toContain(`chmod go-w ${join(folder, name)}`);
    expect(refused.stderr).toMatch(/SUB_(?:FILE|MANIFEST)_UNSAFE/);
    expect(refused.status).not.toBe(0);
  });

  it(`is taken in development by \`sub ${words[0]}\`${isTold ? ', with a warning' : ''}`, () => {
    chmodSync(join(folder, name), mode);
    const { status, stderr } = sub(words, 'development');
    expect(status).toBe(0);
    expect(stderr.includes('can be written to by others')).toBe(isTold);
  });
});

it('a config that others can write does not choose development for itself', () => {
  const config = join(folder, 'home', 'config.toml');
  writeFileSync(config, 'profile = "development"\n');
  chmodSync(config, 0o666);
  const refused = sub(SHIM, '');
  expect(refused.stderr).toContain('[SUB_FILE_UNSAFE]');
  expect(refused.status).not.toBe(0);
});

it('a policy that the private group of the user can write is taken', () => {
  chmodSync(join(folder, 'project', 'policy.yaml'), 0o664);
  chmodSync(join(folder, 'project'), 0o775);
  expect(sub(SHIM, 'production')).toEqual({ status: 0, stderr: '' });
});

it.skipIf(process.getuid?.() !== 0)('a policy of another user is refused, with the way out', () => {
  const path = join(folder, 'project', 'policy.yaml');
  chownSync(path, 12_345, 12_345);
  const refused = sub(SHIM, 'production');
  expect(refused.stderr).toContain(`chown 0 ${path}`);
  expect(refused.stderr).toContain('run sub as the user who owns it');
  expect(refused.status).not.toBe(0);
});
