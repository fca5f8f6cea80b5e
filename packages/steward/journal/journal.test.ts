import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { loadSqlite } from '@subluminal/plane/sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openJournal } from './index.ts';
import { Journal } from './journal.ts';

const ADA = { id: 'c1', channel: 'terminal', person: 'ada', address: 'ada' };
const NOW_MS = Date.parse('2026-03-04T12:00:00Z');
const ANSWER = { inputTokens: 10, outputTokens: 5, costMicros: 70, workMs: 9, atMs: NOW_MS };

let folder: string;
let file: string;
let open: Journal[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-journal-'));
  file = join(folder, 'journal.db');
  open = [];
});
afterEach(() => {
  for (const journal of open) journal.close();
  rmSync(folder, { recursive: true });
});

async function opened(): Promise<Journal> {
  const journal = await openJournal(file, () => NOW_MS);
  if (isFailure(journal)) throw new Error(journal.message);
  open.push(journal);
  return journal;
}

test('what was written is there after the file is opened again', async () => {
  const before = await opened();
  before.conversationFor(ADA);
  before.addTask({
    id: 't1',
    conversationId: 'c1',
    purpose: 'agent',
    askedBy: 'user',
    request: 'Read it.',
  });
  before.startTask('t1');
  const uses = [{ id: 'u1', name: 'files__read', args: { path: '/srv/a' } }];
  const turn = { taskId: 't1', n: 1, text: 'I look.', uses, model: 'm' };
  before.addTurn(turn, { purpose: 'agent', taskId: 't1', ...ANSWER });
  const step = { taskId: 't1', n: 1, turn: 1, useId: 'u1', server: 'files', tool: 'read' };
  before.addStep({ ...step, args: { path: '/srv/a' }, reasoning: 'why', key: 't1-1' });
  before.changeStep({ taskId: 't1', n: 1 }, { state: 'done', callId: 'call', result: 'text' });

  const after = await opened();
  expect(after.conversationFor({ ...ADA, id: 'c2' }).id).toBe('c1');
  expect(after.openTasks()).toMatchObject([
    { id: 't1', state: 'running', steps: 1, costMicros: 70 },
  ]);
  expect(after.turns('t1')).toEqual([turn]);
  expect(after.steps('t1')).toMatchObject([{ state: 'done', callId: 'call', result: 'text' }]);
  expect(after.spendingOn(NOW_MS)).toMatchObject([
    { purpose: 'agent', turns: 1, costMicros: 70, steps: 1 },
  ]);
  expect(after.spendingOn(NOW_MS + 86_400_000)).toEqual([]);
});

test('what permits something waits for the disk, and what permits nothing does not', async () => {
  await opened();
  const { DatabaseSync } = await loadSqlite();
  const db = new DatabaseSync(file);
  const journal = new Journal(db, file, () => NOW_MS);
  open.push(journal);
  const FULL = 2;
  const NORMAL = 1;
  const sync = () => db.prepare('PRAGMA synchronous').get()?.['synchronous'];
  journal.conversationFor(ADA);
  const asked = { purpose: 'agent', askedBy: 'user', request: 'Read it.' } as const;
  journal.addTask({ id: 't1', conversationId: 'c1', ...asked });
  expect(sync(), 'a message that was taken').toBe(FULL);
  const step = { taskId: 't1', n: 1, turn: 1, useId: 'u1', server: 'files', tool: 'read' };
  journal.addStep({ ...step, args: {}, reasoning: 'why', key: 't1-1' });
  const states = ['judged', 'sent', 'forwarded', 'done'] as const;
  const syncs = states.map((state) => {
    journal.changeStep(step, { state });
    return sync();
  });
  expect(syncs).toEqual([NORMAL, NORMAL, FULL, NORMAL]);
  journal.endTask('t1', { state: 'done', reply: { role: 'assistant', text: 'Done.' } });
  expect(sync(), 'a reply').toBe(FULL);
});

test('a task ends once, with one reply', async () => {
  const journal = await opened();
  journal.conversationFor(ADA);
  journal.addTask({
    id: 't1',
    conversationId: 'c1',
    purpose: 'agent',
    askedBy: 'user',
    request: 'Read it.',
  });
  const reply = { role: 'assistant', text: 'Done.' } as const;
  journal.endTask('t1', { state: 'done', reply });
  journal.endTask('t1', { state: 'stopped', reply: { role: 'notice', text: 'Stopped.' } });
  expect(journal.task('t1')?.state).toBe('done');
  expect(journal.messagesAfter(0, 'c1').map(({ text }) => text)).toEqual(['Read it.', 'Done.']);
  const [unsent] = journal.unsentMessages();
  expect(unsent?.text).toBe('Done.');
  journal.setSent(unsent?.n ?? 0);
  expect(journal.unsentMessages()).toEqual([]);
});

test('whatever a provider says that it used, the sums can be read', async () => {
  const journal = await opened();
  journal.conversationFor(ADA);
  const asked = { purpose: 'agent', askedBy: 'user', request: 'Read it.' } as const;
  const max = Number.MAX_SAFE_INTEGER;
  const spent = { inputTokens: max, outputTokens: max, costMicros: max, workMs: 1, atMs: NOW_MS };
  for (const id of ['t1', 't2']) {
    const parentId = id === 't2' ? 't1' : undefined;
    journal.addTask({ id, conversationId: 'c1', ...asked, parentId });
    for (let turn = 0; turn < 2; turn++) journal.spend({ purpose: 'agent', taskId: id, ...spent });
  }
  const [day] = journal.spendingOn(NOW_MS);
  expect(day).toMatchObject({ inputTokens: max, outputTokens: max, costMicros: max });
  const task = journal.task('t1');
  expect(task && journal.costWithSubAgents(task)).toBe(max);
});

test('a long text is cut, and says so', async () => {
  const journal = await opened();
  journal.conversationFor(ADA);
  const { text } = journal.addMessage({
    conversationId: 'c1',
    role: 'notice',
    text: 'x'.repeat(1_000_000),
  });
  expect(text.length).toBeLessThan(201_000);
  expect(text).toContain('it was longer');
});

test('the file is for its owner alone', async () => {
  await opened();
  expect(statSync(file).mode & 0o077).toBe(0);
});

test.each([
  ['PRAGMA user_version = 99', 'newer version'],
  ['PRAGMA application_id = 7', 'another program'],
])('a file after %s is not touched', async (sql, why) => {
  (await opened()).close();
  open = [];
  const { DatabaseSync } = await loadSqlite();
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
  const told = await openJournal(file, () => NOW_MS);
  expect(told).toMatchObject({ code: 'SUB_STEWARD_JOURNAL' });
  expect(isFailure(told) && told.message).toContain(why);
});

test('a run leads to its conversation also after the next one has begun, until it is pruned', async () => {
  const journal = await opened();
  journal.conversationFor(ADA);
  journal.setRun('c1', 'run-1');
  journal.setRun('c1', 'run-2');
  const conversations = () =>
    ['run-1', 'run-2', 'run-3'].map((id) => journal.conversationOfRun(id)?.id);
  expect(conversations()).toEqual(['c1', 'c1', undefined]);
  journal.texts.prune(NOW_MS + 1);
  expect(conversations()).toEqual([undefined, 'c1', undefined]);
});
