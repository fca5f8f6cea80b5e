// Files that decide are replaced by what never ends, or never begins, while a shim runs.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt, SUB } from '../e2e/sub.ts';
import { hangUp, startServed } from './driver.ts';
import { eventually, reasonOf } from './gated.ts';
import { nextJson } from './lines.ts';
import { answer, call, DENIES } from './messages.ts';
import { begin, expectReaches, expectRefused, placeOf, tool } from './turning.ts';

/** Comes with the system. */
const MKFIFO = 'mkfifo';

beforeAll(ensureBuilt);

/** What is put in the place of a file. */
const HOSTILE: readonly (readonly [string, (path: string) => void])[] = [
  ['a pipe', (path) => void execFileSync(MKFIFO, ['-m', '600', path])],
  ['an endless device', (path) => symlinkSync('/dev/zero', path)],
  ['a directory', (path) => mkdirSync(path, { mode: 0o700 })],
];

/** In one step, as an editor or an attacker does. */
function replace(path: string, make: (path: string) => void): void {
  rmSync(`${path}.next`, { recursive: true, force: true });
  make(`${path}.next`);
  rmSync(path);
  renameSync(`${path}.next`, path);
}

describe.each(HOSTILE)('%s instead of a file, while a shim runs', (_, make) => {
  it('leaves the old policy in force, on record', async () => {
    const rig = await startServed({ policy: DENIES });
    replace(rig.policyPath, make);
    await rig.told(/policy\.yaml is (?:a directory|not a regular file)/);
    rig.say(call(1, 'denied'));
    expect(await nextJson(rig.heard)).toMatchObject({ id: 1, error: { code: -32081 } });
    rig.say(call(2, 'other'));
    expect(String(await rig.server.heard.next())).toBe(call(2, 'other'));
    await rig.server.write(answer(2));
    expect(String(await rig.heard.next())).toBe(answer(2));
    expect((await hangUp(rig)).exit).toEqual({ code: 0, signal: null });
    const health = rig.events().filter(({ type }) => type === 'shim_health');
    expect(JSON.stringify(health)).toContain('the policy is broken; the last good one stays');
  });

  it('leaves the old manifest in force, on record', async () => {
    const place = placeOf();
    const path = place.home.write(
      'manifests/puppet.yaml',
      'server: puppet\nallowed_tools:\n  - { name: read }\n',
    );
    place.show([tool('read', 'Reads a file.'), tool('list', 'Lists files.')]);
    const session = await begin(place);
    replace(path, make);
    await session.rig.told(/puppet\.yaml is broken; the last good manifest stays/);
    await expectReaches(session, 'read');
    await expectRefused(session, 'list', 'TOOL_NOT_LISTED');
    await hangUp(session.rig);
    const health = session.rig.events().filter(({ type }) => type === 'shim_health');
    expect(JSON.stringify(health)).toContain('the manifest is broken');
  });

  it('makes pins unreadable, which calls are refused for and not kept waiting', async () => {
    const place = placeOf();
    place.show([tool('read', 'Reads a file.')]);
    const first = await begin(place, { policy: DENIES });
    await first.tools();
    await hangUp(first.rig);
    const session = await begin(place, { policy: DENIES });
    await session.tools();
    await expectReaches(session, 'read');
    replace(join(place.home.path, 'pins.json'), make);
    const reason = await eventually(async () => reasonOf(await session.call('read')), 'a refusal');
    expect(reason).toBe('PIN_STORE_UNREADABLE');
  });
});

describe.each(HOSTILE)('%s instead of a file, when a command starts', (_, make) => {
  it.each([
    ['config.toml', ['doctor'], 1],
    ['config.toml', ['shim', '--server-name', 's', '--events', 'off', '--', 'true'], 2],
    [
      'policy.yaml',
      [
        'shim',
        '--policy',
        'home/policy.yaml',
        '--server-name',
        's',
        '--events',
        'off',
        '--',
        'true',
      ],
      2,
    ],
    ['policy.yaml', ['run', '--policy', 'home/policy.yaml', '--', 'true'], 2],
    ['host-id', ['shim', '--server-name', 's', '--events', 'off', '--', 'true'], 0],
  ])('%s is told of at once by `sub %s`', (name, words, code) => {
    const folder = mkdtempSync(join(tmpdir(), 'sub-hostile-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const home = join(folder, 'home');
    mkdirSync(home, { mode: 0o700 });
    make(join(home, name));
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, SUB_HOME: home };
    const ended = spawnSync(process.execPath, [SUB, ...words], {
      cwd: folder,
      env,
      encoding: 'utf8',
      input: '',
      timeout: 60_000,
    });
    expect(ended.error).toBeUndefined();
    const text = ended.stdout + ended.stderr;
    expect(text).toMatch(code === 0 ? '' : /is a directory|not a regular file/);
    expect(ended.status, text).toBe(code);
  });
});

it('a manifest that is a pipe keeps no command waiting', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sub-hostile-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, 'home');
  mkdirSync(join(home, 'manifests'), { recursive: true, mode: 0o700 });
  execFileSync(MKFIFO, ['-m', '600', join(home, 'manifests', 'x.yaml')]);
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, SUB_HOME: home };
  const options = { cwd: folder, env, encoding: 'utf8', timeout: 60_000 } as const;
  const ended = spawnSync(process.execPath, [SUB, 'doctor'], options);
  expect(ended.error).toBeUndefined();
  expect(ended.stdout + ended.stderr).toContain('is not a regular file');
});

it('a client config that is a pipe keeps no command waiting', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sub-hostile-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync(MKFIFO, [join(folder, '.mcp.json')]);
  writeFileSync(join(folder, '.git'), '');
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, SUB_HOME: join(folder, 'home') };
  const ended = spawnSync(process.execPath, [SUB, 'status'], {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(ended.error).toBeUndefined();
  expect(ended.stdout + ended.stderr).toContain('is not a regular file');
});
