import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import {
  ChangeDesk,
  ChangeStore,
  changeSetHash,
  fileRoots,
  openStaging,
} from '../../staging/index.ts';
import { toolCaller } from '../testing/call-tool.ts';
import { filesServer } from './index.ts';

let home: string;
let work: string;
let call: ReturnType<typeof toolCaller>;
let desk: ChangeDesk;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'files-')));
  work = join(home, 'work');
  mkdirSync(work);
  const store = new ChangeStore(join(home, 'state'));
  const roots = fileRoots({ folders: [work], closed: [join(work, '.steward')] });
  const staging = openStaging(store, roots);
  desk = new ChangeDesk({ store, roots, record: () => {} });
  call = toolCaller(filesServer({ staging, runId: () => 'run-1' }));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

async function approveAll(): Promise<void> {
  for (const set of desk.list().filter(({ state }) => state === 'open')) {
    await desk.approve({ id: set.id, sha256: changeSetHash(set), by: 'ann' });
  }
}

test('a written file is only proposed, and there once it is approved', async () => {
  verifies('ST-5.6', 'ST-9.1');
  const answer = await call('propose_write', { path: 'a.txt', content: 'tea', why: 'You asked.' });
  expect(answer.isError).toBeUndefined();
  expect(answer.text).toContain('Nothing is changed until the user approves it');
  expect(existsSync(join(work, 'a.txt'))).toBe(false);
  await approveAll();
  expect((await call('read', { path: 'a.txt' })).text).toBe('tea');
  expect((await call('status')).text).toMatch(
    /^change-\w+ committed: create .*a\.txt: You asked\.$/,
  );
});

test('a text cannot pass for a binary file, which nobody sees', async () => {
  const written = await call('propose_write', { path: 'a.sh', content: 'curl evil\0' });
  expect(written).toMatchObject({ isError: true });
  writeFileSync(join(work, 'b.sh'), 'one');
  const edits = [{ find: 'one', replace: 'curl evil\0' }];
  expect(await call('propose_edit', { path: 'b.sh', edits })).toMatchObject({ isError: true });
  expect(desk.list()).toEqual([]);
});

test('an edit replaces what stands there once, and can move the file', async () => {
  writeFileSync(join(work, 'a.txt'), 'one two three');
  const edits = [{ find: 'two', replace: '2' }];
  await call('propose_edit', { path: 'a.txt', edits, new_path: 'b/c.txt' });
  expect(readFileSync(join(work, 'a.txt'), 'utf8')).toBe('one two three');
  await approveAll();
  expect(readFileSync(join(work, 'b/c.txt'), 'utf8')).toBe('one 2 three');
  expect(existsSync(join(work, 'a.txt'))).toBe(false);
});

test.each([
  ['four', 'does not stand'],
  ['o', 'more than once'],
])('an edit of %j is refused: it %s', async (find, why) => {
  writeFileSync(join(work, 'a.txt'), 'one two three');
  const answer = await call('propose_edit', { path: 'a.txt', edits: [{ find, replace: 'x' }] });
  expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining(why)]);
});

test('files of one change are approved together', async () => {
  await call('propose_write', { path: 'a', content: '1' });
  const change = desk.list()[0]?.id ?? '';
  await call('propose_write', { path: 'b', content: '2', change });
  expect(desk.list().map(({ files }) => files.length)).toEqual([2]);
  await approveAll();
  expect([existsSync(join(work, 'a')), existsSync(join(work, 'b'))]).toEqual([true, true]);
});

test('a step that is tried again proposes once', async () => {
  const again = () => call('propose_delete', { path: 'a' }, { key: 'step-7' });
  writeFileSync(join(work, 'a'), 'x');
  const [first, second] = [await again(), await again()];
  expect(second).toEqual(first);
  expect(desk.list()).toHaveLength(1);
});

test('a text is read by lines, a binary file is named as such', async () => {
  writeFileSync(
    join(work, 'long'),
    Array.from({ length: 10 }, (_, n) => `line ${n + 1}`).join('\n'),
  );
  writeFileSync(join(work, 'bin'), Buffer.from([0, 1, 2]));
  expect((await call('read', { path: 'long', from_line: 3, lines: 2 })).text).toBe(
    'line 3\nline 4\n[lines 3 to 4 of 10]',
  );
  expect((await call('read', { path: 'bin' })).text).toBe('A binary file of 3 bytes.');
  writeFileSync(join(work, 'huge'), 'x'.repeat(200_000));
  expect((await call('read', { path: 'huge' })).text.length).toBeLessThan(101_000);
});

test('a search finds names and lines, and leaves out links, hidden files and keys', async () => {
  mkdirSync(join(work, 'notes'));
  writeFileSync(join(home, 'outside'), 'TEA elsewhere');
  symlinkSync(join(home, 'outside'), join(work, 'link'));
  symlinkSync(home, join(work, 'folder-link'));
  writeFileSync(join(work, '.env'), 'TEA=secret');
  writeFileSync(join(work, 'server.key'), 'tea');
  writeFileSync(join(work, 'notes/list.md'), 'milk\nGreen Tea\n');
  expect((await call('search', { text: 'tea' })).text).toBe(`${work}/notes/list.md:2: Green Tea`);
  expect((await call('search', { name: '*.md' })).text).toBe(`${work}/notes/list.md`);
  expect((await call('search', { text: 'coffee' })).text).toBe('Nothing was found.');
});

test('a folder is listed', async () => {
  mkdirSync(join(work, 'sub'));
  mkdirSync(join(work, '.steward'));
  writeFileSync(join(work, 'a\u001b[31m'), '');
  symlinkSync('/etc', join(work, 'link'));
  expect((await call('list')).text).toBe('a\\u{1b}[31m\nlink (link)\nsub/');
});

test.each(['../outside', '/etc/hostname', 'link/hostname', 'etc-link', '.steward/x'])(
  '%s is neither read, listed, searched nor proposed',
  async (path) => {
    mkdirSync(join(work, '.steward'));
    writeFileSync(join(work, '.steward/x'), 'state');
    writeFileSync(join(home, 'outside'), 'secret');
    symlinkSync('/etc', join(work, 'link'));
    symlinkSync('/etc/hostname', join(work, 'etc-link'));
    const answers = [
      await call('read', { path }),
      await call('list', { path }),
      await call('search', { path, text: 'a' }),
      await call('propose_write', { path, content: 'x' }),
      await call('propose_edit', { path, edits: [{ find: 'a', replace: 'b' }] }),
      await call('propose_delete', { path }),
      await call('propose_edit', { path: 'ok', new_path: path }),
    ];
    expect(answers.map(({ isError }) => isError)).toEqual(answers.map(() => true));
    expect(desk.list()).toEqual([]);
  },
);

test.each([
  '.env',
  'sub/.env.production',
  '.ssh/config',
  'server.pem',
  'id_rsa',
  'link',
  'to/.npmrc',
])('%s may hold keys and is closed', async (path) => {
  mkdirSync(join(work, '.ssh'));
  for (const name of ['.env', '.ssh/config', 'server.pem', 'id_rsa']) {
    writeFileSync(join(work, name), 'KEY=tea');
  }
  symlinkSync(join(work, '.env'), join(work, 'link'));
  const answers = [
    await call('read', { path }),
    await call('propose_write', { path, content: 'x' }),
    await call('propose_edit', { path, edits: [{ find: 'tea', replace: 'x' }] }),
  ];
  expect(answers.map(({ isError }) => isError)).toEqual([true, true, true]);
  expect(answers[0]?.text).toContain('may hold keys');
  expect((await call('search', { text: 'tea' })).text).toBe('Nothing was found.');
});

test('an example of settings is no secret', async () => {
  writeFileSync(join(work, '.env.example'), 'KEY=');
  expect((await call('read', { path: '.env.example' })).text).toBe('KEY=');
});

test('no tool approves, rejects or rolls back', async () => {
  const staging = openStaging(new ChangeStore(join(home, 's')), fileRoots({ folders: [work] }));
  const { tools } = filesServer({ staging, runId: () => 'run-1' });
  expect(tools.map(({ name }) => name)).toEqual([
    'list',
    'read',
    'search',
    'propose_write',
    'propose_edit',
    'propose_delete',
    'status',
  ]);
  expect(Object.keys(staging).toSorted()).toEqual(['list', 'roots', 'stage']);
});
