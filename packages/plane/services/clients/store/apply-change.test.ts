import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { readShimCommand } from '../shim-command.ts';
import type { ConfigFile } from '../types.ts';
import { configFailure, configKey, lockConfig } from './change-store.ts';
import { originalPath, readRecord } from './records.ts';
import { Bench, CONFIG, governing } from './testing/bench.ts';
import { bundleChildren, type Children } from './testing/children.ts';

let children: Children;
beforeAll(async () => {
  children = await bundleChildren();
});
afterAll(() => children.end());

function bench(text = CONFIG, file: Partial<ConfigFile> = {}): Bench {
  const made = new Bench(text, file);
  onTestFinished(() => made.end());
  return made;
}

function applied(one: Bench, more: Parameters<Bench['apply']>[0] = {}) {
  const result = one.apply(more);
  if (result.kind !== 'applied') throw new Error(JSON.stringify(result));
  return result;
}

function governedIn(text: string): readonly string[] {
  const { mcpServers } = JSON.parse(text) as {
    mcpServers: { [name: string]: { command?: string; args?: string[] } };
  };
  return Object.entries(mcpServers)
    .filter(([, { command, args }]) => readShimCommand(command, args) !== undefined)
    .map(([name]) => name);
}

test('an import backs the config up before it changes it, and restore brings back the very bytes', () => {
  verifies('F-005', 'F-020');
  const one = bench();
  const seen: string[] = [];
  const result = applied(one, {
    onStep: (step) => {
      if (step === 'base in place') {
        const key = configKey(one.file.path);
        seen.push(readFileSync(originalPath(key, one.store.paths), 'utf8'), one.text);
      }
    },
  });
  expect(seen).toEqual([CONFIG, CONFIG]);
  expect(governedIn(one.text)).toEqual(['files', 'bare', 'far']);
  expect(readFileSync(result.backup, 'utf8')).toBe(CONFIG);
  expect(statSync(result.backup).mode & 0o777).toBe(0o600);
  expect(one.beside()).toEqual([]);
  expect(one.restore()).toMatchObject({ kind: 'restored', how: 'same', left: [] });
  expect(one.text).toBe(CONFIG);
  expect(one.kept()).toEqual([]);
});

test('an import refuses while another process holds the lock', () => {
  verifies('EC-STDIO-005');
  const one = bench();
  const lock = lockConfig(configKey(one.file.path), one.file.path, one.store);
  expect(one.apply()).toMatchObject({
    code: 'SUB_CLIENT_LOCKED',
    message: `${one.file.path} is in use by another sub (process ${process.pid}).`,
  });
  expect(one.text).toBe(CONFIG);
  if (lock.kind === 'locked') lock.release();
  expect(one.apply().kind).toBe('applied');
});

test('a session keeps its lock, also after an editor has replaced the config', () => {
  verifies('EC-STDIO-005', 'EC-STDIO-043');
  const one = bench();
  const { lock } = applied(one, { kind: 'wrap', wrapId: 'w' });
  const other = join(one.place, 'new');
  writeFileSync(other, one.text.replace('abc', 'xyz'));
  renameSync(other, one.file.path);
  expect(one.apply()).toMatchObject({ code: 'SUB_CLIENT_LOCKED' });
  lock?.release();
  expect(one.restore()).toMatchObject({ kind: 'restored', how: 'merged' });
  expect(one.text).toBe(CONFIG.replace('abc', 'xyz'));
});

test('an import keeps no lock, and a failure releases it', () => {
  const one = bench();
  expect(applied(one).lock).toBeUndefined();
  const refused = configFailure('p', 'No.', 'None.');
  expect(one.apply({ kind: 'wrap', rewrite: () => refused })).toEqual(refused);
  expect(one.kept().filter((name) => name.endsWith('.lock'))).toEqual([]);
});

test('a second import changes nothing', () => {
  const one = bench();
  applied(one);
  const after = one.text;
  expect(one.apply()).toMatchObject({ kind: 'unchanged', text: after });
  expect(one.text).toBe(after);
  one.restore();
  expect(one.text).toBe(CONFIG);
});

test('a second import is planned on the config without the first', () => {
  const one = bench();
  applied(one, { rewrite: governing(one.file, ['--profile', 'a'], ['files']) });
  expect(governedIn(one.text)).toEqual(['files']);
  const told: string[] = [];
  applied(one, {
    rewrite: (text) => {
      told.push(text);
      return governing(one.file, ['--profile', 'b'], ['bare'])(text);
    },
  });
  expect(told).toEqual([CONFIG]);
  expect(governedIn(one.text)).toEqual(['bare']);
  one.restore();
  expect(one.text).toBe(CONFIG);
});

test('a session on an imported config is refused, for the reason of the planner', () => {
  const one = bench();
  applied(one);
  const after = one.text;
  expect(one.apply({ kind: 'wrap' })).toMatchObject({
    kind: 'failure',
    message: `${one.file.path} is governed by \`sub import\` already.`,
  });
  const why = configFailure('p', 'Governed.', 'None.');
  expect(
    one.apply({ kind: 'wrap', rewrite: (text) => (text === after ? why : { text, changes: [] }) }),
  ).toEqual(why);
  expect(one.text).toBe(after);
});

test('an import undoes the change of a dead session first, and says so', async () => {
  verifies('EC-STDIO-006', 'EC-STDIO-044', 'NFR-003.4');
  const one = bench();
  const { home, file } = one;
  const killed = await children.run({ does: 'apply', home, file, kind: 'wrap', killAt: 'done' });
  expect(killed.signal).toBe('SIGKILL');
  expect(governedIn(one.text)).toEqual(['files', 'bare', 'far']);
  const result = applied(one, { rewrite: governing(file, ['--profile', 'x']) });
  expect(result.warnings).toEqual([
    expect.stringMatching(/^A session \(process \d+\) .* the backup replaced\.$/),
  ]);
  expect(readFileSync(result.backup, 'utf8')).toBe(CONFIG);
  one.restore();
  expect(one.text).toBe(CONFIG);
});

test.each([0o600, 0o644, 0o664])('an import keeps the mode %o', (mode) => {
  const one = bench();
  chmodSync(one.file.path, mode);
  applied(one);
  expect(statSync(one.file.path).mode & 0o7777).toBe(mode);
  one.restore();
  expect(statSync(one.file.path).mode & 0o7777).toBe(mode);
});

test.runIf(process.getuid?.() === 0)('an import keeps the owner of the config', async () => {
  const { chownSync } = await import('node:fs');
  const one = bench();
  chownSync(one.file.path, 12_345, 54_321);
  applied(one);
  expect(statSync(one.file.path)).toMatchObject({ uid: 12_345, gid: 54_321 });
});

test('an import leaves a link a link, also at the end of a chain', () => {
  const one = bench();
  const folder = join(one.folder, 'dotfiles');
  mkdirSync(folder);
  renameSync(one.file.path, join(folder, 'real.json'));
  symlinkSync('real.json', join(folder, 'middle.json'));
  symlinkSync(join(folder, 'middle.json'), one.file.path);
  expect(applied(one).target).toBe(join(folder, 'real.json'));
  expect(governedIn(one.text)).toEqual(['files', 'bare', 'far']);
  expect(readlinkSync(one.file.path)).toBe(join(folder, 'middle.json'));
  expect(lstatSync(join(folder, 'middle.json')).isSymbolicLink()).toBe(true);
  one.restore();
  expect(readFileSync(join(folder, 'real.json'), 'utf8')).toBe(CONFIG);
  expect(lstatSync(one.file.path).isSymbolicLink()).toBe(true);
});

test('an import starts again when another program writes the config meanwhile, and keeps that text', () => {
  const one = bench();
  const theirs = CONFIG.replace('abc', 'theirs');
  let writes = 0;
  applied(one, {
    onStep: (step) => {
      if (step === 'draft written' && writes++ === 0) one.write(theirs);
    },
  });
  expect(one.text).toContain('theirs');
  expect(governedIn(one.text)).toEqual(['files', 'bare', 'far']);
  one.restore();
  expect(one.text).toBe(theirs);
});

test('an import changes nothing when another program keeps writing the config', () => {
  verifies('EC-STDIO-007');
  const one = bench();
  let writes = 0;
  const result = one.apply({
    onStep: (step) => {
      if (step === 'draft written') one.write(CONFIG.replace('abc', String(writes++)));
    },
  });
  expect(result).toMatchObject({
    kind: 'failure',
    message: `Another program keeps writing ${one.file.path}.`,
  });
  expect(writes).toBe(3);
  expect(one.text).toBe(CONFIG.replace('abc', '2'));
  expect(one.beside()).toEqual([]);
  expect(one.kept()).toEqual([]);
});

test('an import changes nothing in a folder that cannot be written to', async () => {
  verifies('EC-STDIO-007');
  const one = bench();
  const uid = process.getuid?.() === 0 ? 65_534 : undefined;
  mkdirSync(one.home);
  if (uid !== undefined) {
    const { chownSync } = await import('node:fs');
    chmodSync(one.folder, 0o755);
    chownSync(one.home, uid, uid);
    chownSync(one.file.path, uid, uid);
  }
  chmodSync(one.place, 0o555);
  const task = { does: 'apply', home: one.home, file: one.file } as const;
  const { said } = await children.run(uid === undefined ? task : { ...task, uid });
  chmodSync(one.place, 0o755);
  expect(said).toMatchObject({
    kind: 'failure',
    message: `${one.file.path} cannot be written (EACCES).`,
  });
  expect(one.text).toBe(CONFIG);
  expect(one.beside()).toEqual([]);
  expect(one.kept()).toEqual([]);
});

test.each([
  ['a file that its user may not write', 0o444, true, 'cannot be written (EACCES).'],
  ['a file of another user', 0o666, false, 'belongs to another user, and would not any more.'],
])('an import replaces no config that is %s', async (_what, mode, isOwn, message) => {
  const one = bench();
  const isRoot = process.getuid?.() === 0;
  // Only root can make a file that belongs to another.
  if (!isRoot && !isOwn) return;
  const uid = isRoot ? 65_534 : undefined;
  mkdirSync(one.home);
  if (uid !== undefined) {
    const { chownSync } = await import('node:fs');
    chmodSync(one.folder, 0o755);
    for (const path of [one.home, one.place]) chownSync(path, uid, uid);
    if (isOwn) chownSync(one.file.path, uid, uid);
  }
  chmodSync(one.file.path, mode);
  const task = { does: 'apply', home: one.home, file: one.file } as const;
  const { said } = await children.run(uid === undefined ? task : { ...task, uid });
  expect(said).toMatchObject({ kind: 'failure', message: `${one.file.path} ${message}` });
  expect(statSync(one.file.path).mode & 0o777).toBe(mode);
  expect(one.text).toBe(CONFIG);
  expect(one.kept()).toEqual([]);
});

test('an import replaces no config with hard links, which would keep the old text', () => {
  const one = bench();
  linkSync(one.file.path, `${one.folder}/other.json`);
  expect(one.apply()).toMatchObject({
    kind: 'failure',
    message: `${one.file.path} has 2 names (hard links); only one would change.`,
  });
  expect(one.text).toBe(CONFIG);
  expect(one.kept()).toEqual([]);
});

test('a new change on a config that others have emptied keeps the older original, and says so', () => {
  const one = bench();
  applied(one);
  one.write('{ "mcpServers": { "new": { "command": "new-mcp" } } }');
  const result = one.apply();
  const original = one.kept().find((name) => name.includes('.original-')) ?? '';
  expect(result).toMatchObject({
    kind: 'applied',
    warnings: [expect.stringMatching(/does not have files, bare, far any more.*\.original-/)],
  });
  expect(readFileSync(`${one.store.paths.backups}/${original}`, 'utf8')).toBe(CONFIG);
});

test('an import reports a missing server once, not at every change', () => {
  const one = bench();
  applied(one);
  one.write(one.text.replace(/ {4}"bare": \{[^}]*\},\n/, ''));
  expect(one.apply()).toMatchObject({ kind: 'unchanged', warnings: [] });
  expect(one.kept().filter((name) => name.includes('.original-'))).toEqual([]);
});

// A limit on the size of files: what is beyond fails as on a full disk. Blocks are of 512 bytes.
test.each([
  ['the backup', 20, /\/backups\/[0-9a-f]{32} cannot be written \(EFBIG\)\.$/],
  ['the config', 40, /\/client\/mcp\.json cannot be written \(EFBIG\)\.$/],
])('an import changes nothing when there is no room for %s', async (_what, blocks, message) => {
  verifies('EC-STDIO-007');
  const fill = 40 * 512 - 30 - CONFIG.length;
  const text = CONFIG.replace('{', `{\n  "fill": "${'x'.repeat(fill)}",`);
  const one = bench(text);
  const task = { does: 'apply', home: one.home, file: one.file } as const;
  const { said } = await children.run(task, 'sh', '-c', `ulimit -f ${blocks}; exec "$0" "$@"`);
  expect(said).toMatchObject({
    kind: 'failure',
    message: expect.stringMatching(message) as unknown,
  });
  expect(one.text).toBe(text);
  expect(one.beside()).toEqual([]);
  expect(one.kept()).toEqual([]);
});

test('a failed import leaves the older change and its record in place', () => {
  const one = bench();
  applied(one);
  const after = one.text;
  const key = configKey(one.file.path);
  const record = readRecord(key, one.store.paths);
  const result = one.apply({
    rewrite: governing(one.file, ['--profile', 'x']),
    onStep: (step) => {
      // The folder of the config takes no draft any more.
      if (step === 'planned') renameSync(one.place, `${one.place}-away`);
    },
  });
  renameSync(`${one.place}-away`, one.place);
  expect(result.kind).toBe('failure');
  expect(one.text).toBe(after);
  expect(readRecord(key, one.store.paths)).toEqual(record);
  one.restore();
  expect(one.text).toBe(CONFIG);
});

test.each([
  ['is not there', (path: string) => rmSync(path), 'does not exist.'],
  [
    'is a link to nothing',
    (path: string) => {
      rmSync(path);
      symlinkSync('nowhere', path);
    },
    'is a link to nothing.',
  ],
  [
    'is a link to itself',
    (path: string) => {
      rmSync(path);
      symlinkSync('mcp.json', path);
    },
    'is a link that leads back to itself.',
  ],
  [
    'is a folder',
    (path: string) => {
      rmSync(path);
      mkdirSync(path);
    },
    'is a directory.',
  ],
  [
    'is not UTF-8',
    (path: string) => writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d])),
    'is not UTF-8 text.',
  ],
  [
    'is too large',
    (path: string) => writeFileSync(path, ' '.repeat(33_554_433)),
    'larger than 33554432 bytes.',
  ],
])('an import refuses a config that %s', (_name, make, message) => {
  const one = bench();
  make(one.file.path);
  expect(one.apply()).toMatchObject({
    kind: 'failure',
    path: one.file.path,
    message: expect.stringContaining(message) as unknown,
  });
});

test('an import makes private folders, and refuses those that others may write to', () => {
  const one = bench();
  applied(one);
  const { backups, run } = one.store.paths;
  for (const path of [one.home, backups, run]) expect(statSync(path).mode & 0o777).toBe(0o700);
  one.restore();
  chmodSync(backups, 0o777);
  expect(one.apply()).toMatchObject({
    kind: 'failure',
    message: `${backups} can be written to by others.`,
    fix: `Run: chmod go-w ${backups}`,
  });
  expect(one.text).toBe(CONFIG);
});
