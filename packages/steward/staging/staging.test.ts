import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import {
  ChangeDesk,
  type ChangeRecord,
  type ChangeSet,
  ChangeStore,
  changeSetHash,
  fileRoots,
  openStaging,
  type ProposedFile,
  type Staging,
} from './index.ts';

let home: string;
let notes: string;
let staging: Staging;
let desk: ChangeDesk;
let records: ChangeRecord[];
let keys = 0;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'staging-')));
  notes = join(home, 'notes');
  mkdirSync(notes);
  records = [];
  const store = new ChangeStore(join(home, 'state'));
  const roots = fileRoots({ folders: [notes], closed: [join(notes, 'closed')] });
  staging = openStaging(store, roots);
  desk = new ChangeDesk({ store, roots, record: (record) => records.push(record) });
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const write = (path: string, text: string): ProposedFile => ({
  path,
  next: () => ({ kind: 'content', bytes: Buffer.from(text) }),
});
const remove = (path: string): ProposedFile => ({ path, next: () => ({ kind: 'gone' }) });
const rename = (path: string, to: string): ProposedFile => ({
  path,
  to,
  next: (now) => (now ? { kind: 'content', bytes: now } : { kind: 'refused', why: 'No file.' }),
});

const stage = (...files: ProposedFile[]) =>
  staging.stage({ key: `step-${keys++}`, runId: 'run-1', why: 'You asked for it.', files });

async function staged(...files: ProposedFile[]): Promise<ChangeSet> {
  return held(await stage(...files));
}

function held<T extends object>(value: T | Failure): T {
  if (isFailure(value)) throw new Error(value.message);
  return value;
}

const approve = (set: ChangeSet) =>
  desk.approve({ id: set.id, sha256: changeSetHash(set), by: 'ann', channel: 'terminal' });
const text = (name: string) => readFileSync(join(notes, name), 'utf8');

test('a proposed file is not there before it is approved, then it is, and a rollback takes it away', async () => {
  verifies('ST-5.6');
  const set = await staged(write('lists/tea.txt', 'green\n'));
  expect(existsSync(join(notes, 'lists'))).toBe(false);
  const view = held(await desk.show(set.id));
  expect(view.files[0]?.diff).toContain('+green');
  expect(held(await approve(set)).state).toBe('committed');
  expect(text('lists/tea.txt')).toBe('green\n');
  expect(held(await desk.rollback({ id: set.id, by: 'ann' })).state).toBe('rolled_back');
  expect(readdirSync(notes)).toEqual([]);
  expect(records.map(({ runId, change }) => [runId, change.state, change.by])).toEqual([
    ['run-1', 'approved', 'ann'],
    ['run-1', 'rolled_back', 'ann'],
  ]);
});

test('an edit shows a unified diff, keeps the mode, and its rollback restores text and mode', async () => {
  writeFileSync(join(notes, 'run.sh'), 'one\ntwo\n');
  chmodSync(join(notes, 'run.sh'), 0o750);
  const set = await staged(write('run.sh', 'one\nthree\n'));
  const [diff] = held(await desk.show(set.id)).files;
  expect(diff).toMatchObject({ kind: 'edit', isBinary: false });
  expect(diff?.diff).toContain('-two\n+three');
  await approve(set);
  expect([text('run.sh'), statSync(join(notes, 'run.sh')).mode & 0o777]).toEqual([
    'one\nthree\n',
    0o750,
  ]);
  await desk.rollback({ id: set.id, by: 'ann' });
  expect([text('run.sh'), statSync(join(notes, 'run.sh')).mode & 0o777]).toEqual([
    'one\ntwo\n',
    0o750,
  ]);
});

test('a rollback of a deletion brings the file back with its mode', async () => {
  writeFileSync(join(notes, 'old'), 'kept');
  chmodSync(join(notes, 'old'), 0o666);
  const set = await staged(remove('old'));
  await approve(set);
  expect(existsSync(join(notes, 'old'))).toBe(false);
  await desk.rollback({ id: set.id, by: 'ann' });
  expect([text('old'), statSync(join(notes, 'old')).mode & 0o777]).toEqual(['kept', 0o666]);
});

test('several files are one change: renamed, written and removed together and back', async () => {
  writeFileSync(join(notes, 'a'), 'A');
  writeFileSync(join(notes, 'b'), 'B');
  const set = await staged(rename('a', 'sub/c'), remove('b'), write('d', 'D'));
  await approve(set);
  expect([readdirSync(notes).toSorted(), text('sub/c')]).toEqual([['d', 'sub'], 'A']);
  await desk.rollback({ id: set.id, by: 'ann' });
  expect([readdirSync(notes).toSorted(), text('a'), text('b')]).toEqual([['a', 'b'], 'A', 'B']);
});

test('a file that changed since the proposal is a conflict, and none of the change is written', async () => {
  writeFileSync(join(notes, 'b'), 'B');
  const set = await staged(write('a', 'new'), write('b', 'B2'));
  writeFileSync(join(notes, 'b'), 'somebody else');
  expect(await approve(set)).toMatchObject({ code: 'SUB_CHANGE_CONFLICT' });
  expect([existsSync(join(notes, 'a')), text('b')]).toEqual([false, 'somebody else']);
  expect(records).toEqual([]);
  expect(staging.list()[0]?.state).toBe('open');
});

test('a file that appeared where a new one was proposed is not overwritten', async () => {
  const set = await staged(write('a', 'new'));
  writeFileSync(join(notes, 'a'), 'mine');
  expect(await approve(set)).toMatchObject({ code: 'SUB_CHANGE_CONFLICT' });
  expect(text('a')).toBe('mine');
});

test('a write that fails in the middle takes the earlier files back', async () => {
  mkdirSync(join(notes, 'full'));
  const set = await staged(write('a', 'new'), write('full/b/c', 'x'));
  // A file where a folder has to be.
  writeFileSync(join(notes, 'full/b'), 'in the way');
  expect(isFailure(await approve(set))).toBe(true);
  expect(readdirSync(notes)).toEqual(['full']);
});

test('a rollback over somebody else’s edit needs force', async () => {
  writeFileSync(join(notes, 'a'), 'old');
  const set = await staged(write('a', 'new'));
  await approve(set);
  writeFileSync(join(notes, 'a'), 'edited since');
  const decision = { id: set.id, by: 'ann' };
  expect(await desk.rollback(decision)).toMatchObject({ code: 'SUB_CHANGE_CONFLICT' });
  expect(text('a')).toBe('edited since');
  held(await desk.rollback(decision, { isForced: true }));
  expect(text('a')).toBe('old');
});

test('a change is approved only as it was seen', async () => {
  const set = await staged(write('a', 'seen'));
  const sha256 = changeSetHash(set);
  const more = {
    key: 'more',
    runId: 'run-1',
    why: '',
    files: [write('b', 'unseen')],
    into: set.id,
  };
  held(await staging.stage(more));
  expect(await desk.approve({ id: set.id, sha256, by: 'ann' })).toMatchObject({
    code: 'SUB_CHANGE_CONFLICT',
  });
  expect(readdirSync(notes)).toEqual([]);
});

test('the user’s own text goes in place of the proposed one', async () => {
  const set = await staged(write('a', 'proposed'));
  const seen = { id: set.id, sha256: changeSetHash(set), by: 'ann' };
  const modified = held(await desk.modify(seen, { path: join(notes, 'a'), text: 'mine' }));
  expect(modified.is_modified).toBe('by_user');
  expect(await desk.approve(seen)).toMatchObject({ code: 'SUB_CHANGE_CONFLICT' });
  await approve(modified);
  expect(text('a')).toBe('mine');
});

test('a rejected change is on record, writes nothing and cannot be approved any more', async () => {
  const set = await staged(write('a', 'no'));
  held(await desk.reject({ id: set.id, by: 'ann', channel: 'web' }));
  expect(records[0]?.change).toMatchObject({ state: 'rejected', channel: 'web', kind: 'files' });
  expect(await approve(set)).toMatchObject({ code: 'SUB_CHANGE_CONFLICT' });
  expect(await desk.rollback({ id: set.id, by: 'ann' })).toMatchObject({
    code: 'SUB_CHANGE_CONFLICT',
  });
  expect(readdirSync(notes)).toEqual([]);
});

test('a step that is repeated makes no second change set', async () => {
  const again = () =>
    staging.stage({ key: 'same', runId: 'run-1', why: '', files: [write('a', 'x')] });
  const first = held(await again());
  expect(held(await again()).id).toBe(first.id);
  expect(staging.list()).toHaveLength(1);
  await approve(first);
  expect(held(await again()).state).toBe('committed');
});

test('a commit that a crash cut off is finished', async () => {
  const set = await staged(write('a', '1'), write('b', '2'));
  const path = join(home, 'state/staging', set.id, 'change.json');
  writeFileSync(path, JSON.stringify({ ...set, state: 'committing', by: 'ann' }), { mode: 0o600 });
  writeFileSync(join(notes, 'a'), '1');
  expect(await desk.resume()).toEqual([]);
  expect([text('a'), text('b')]).toEqual(['1', '2']);
  expect(records.map(({ change }) => change.state)).toEqual(['approved']);
});

test('binary files are shown by their size and written byte for byte', async () => {
  const bytes = Buffer.from([0, 255, 1, 254]);
  const set = await staged({ path: 'x.bin', next: () => ({ kind: 'content', bytes }) });
  const [diff] = held(await desk.show(set.id)).files;
  expect(diff).toMatchObject({ isBinary: true, sizeAfter: 4 });
  await approve(set);
  expect(readFileSync(join(notes, 'x.bin'))).toEqual(bytes);
});

test('a text in the place of a binary file is shown, and so is how much of a line is not', async () => {
  writeFileSync(join(notes, 'old.txt'), Buffer.from('caf\xe9\n', 'latin1'));
  const long = `${' '.repeat(2_500)}rm -rf /`;
  const set = await staged(write('old.txt', `caf\u00e9\n${long}\n`));
  const diff = held(await desk.show(set.id)).files[0]?.diff ?? '';
  expect(diff).toContain('5 bytes before');
  expect(diff).toContain('+caf\u00e9\n+ ');
  expect(diff).toContain('… (509 more characters)');
});

test('a diff cannot act on a terminal or pass for another line', async () => {
  const set = await staged(write('a', 'safe\u001b[2J\r+forged \u202e end\n\tindented\n'));
  const diff = held(await desk.show(set.id)).files[0]?.diff ?? '';
  expect(diff).toContain('+safe\\u{1b}[2J\\u{d}+forged \\u{202e} end\n+\tindented');
});

test.each([
  ['../outside', 'a path that climbs out'],
  ['/etc/passwd', 'an absolute path elsewhere'],
  ['link/secret', 'a link to a folder elsewhere'],
  ['file-link', 'a link to a file elsewhere'],
  ['dangling', 'a link to a file that would be made elsewhere'],
  ['closed/state', 'a closed folder'],
  ['deep/../../outside', 'a path that climbs by a folder'],
  ['a\0b', 'a NUL byte'],
  ['', 'the folder itself'],
])('nothing is staged for %j: %s', async (path) => {
  const outside = join(home, 'outside');
  mkdirSync(join(outside, 'deep'), { recursive: true });
  writeFileSync(join(outside, 'secret'), 'secret');
  mkdirSync(join(notes, 'closed'));
  symlinkSync(outside, join(notes, 'link'));
  symlinkSync(join(outside, 'secret'), join(notes, 'file-link'));
  symlinkSync(join(outside, 'made'), join(notes, 'dangling'));
  expect(await stage(write(path, 'x'))).toMatchObject({ code: 'SUB_CHANGE_REFUSED' });
  expect(staging.list()).toEqual([]);
});

test('a folder that was exchanged for a link after the proposal leads nowhere', async () => {
  mkdirSync(join(notes, 'dir'));
  const outside = join(home, 'outside');
  mkdirSync(outside);
  const set = await staged(write('dir/a', 'x'));
  renameSync(join(notes, 'dir'), join(notes, 'moved'));
  symlinkSync(outside, join(notes, 'dir'));
  expect(isFailure(await approve(set))).toBe(true);
  expect(readdirSync(outside)).toEqual([]);
});

test('a file that was exchanged for a link after the proposal is not written through', async () => {
  const set = await staged(write('a', 'x'));
  const outside = join(home, 'victim');
  writeFileSync(outside, 'victim');
  symlinkSync(outside, join(notes, 'a'));
  expect(isFailure(await approve(set))).toBe(true);
  expect(readFileSync(outside, 'utf8')).toBe('victim');
});

test('contents that were changed in the staging area are not written', async () => {
  const set = await staged(write('a', 'seen'));
  const after = set.files[0]?.after ?? '';
  writeFileSync(join(home, 'state/staging', set.id, after), 'planted', { mode: 0o600 });
  expect(isFailure(await approve(set))).toBe(true);
  expect(readdirSync(notes)).toEqual([]);
});

test('a decided change leaves the staging area, a rejected one too', async () => {
  const rejected = await staged(write('a', '1'));
  await desk.reject({ id: rejected.id, by: 'ann' });
  const committed = await staged(write('b', '2'));
  await approve(committed);
  const open = await staged(write('c', '3'));
  const idsIn = (shelf: string) => readdirSync(join(home, 'state', shelf)).toSorted();
  expect(idsIn('staging')).toEqual([open.id]);
  expect(idsIn('snapshots')).toEqual([rejected.id, committed.id].toSorted());
});

test('a change set does not grow beyond its size, piece by piece', async () => {
  const piece = (number: number) => write(`big-${number}`, String(number).repeat(4_194_304));
  const { id: into } = await staged(piece(0), piece(1), piece(2));
  const add = { key: 'more', runId: 'run-1', why: '', files: [piece(3), piece(4)], into };
  expect(await staging.stage(add)).toMatchObject({ code: 'SUB_CHANGE_REFUSED' });
});

test('too large files and unchanged ones are refused', async () => {
  writeFileSync(join(notes, 'same'), 'same');
  expect(await stage(write('same', 'same'))).toMatchObject({ code: 'SUB_CHANGE_REFUSED' });
  expect(await stage(write('big', 'x'.repeat(4_194_305)))).toMatchObject({
    code: 'SUB_CHANGE_REFUSED',
  });
  expect(await stage(remove('missing'))).toMatchObject({ code: 'SUB_CHANGE_REFUSED' });
});
