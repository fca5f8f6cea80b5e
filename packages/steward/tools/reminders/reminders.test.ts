import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Journal, openJournal } from '../../journal/index.ts';
import { toolCaller } from '../testing/call-tool.ts';
import { remindersServer } from './index.ts';

const NOW = new Date('2026-11-18T12:00:00Z');

let folder: string;
let journal: Journal;
let call: ReturnType<typeof toolCaller>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reminders-'));
  const opened = await openJournal(join(folder, 'journal.db'), () => NOW.getTime());
  if (isFailure(opened)) throw new Error(opened.message);
  journal = opened;
  for (const id of ['c1', 'c2']) {
    journal.conversationFor({ id, channel: 'terminal', person: id, address: id });
  }
  call = callerFor('c1');
});
afterEach(() => {
  journal.close();
  rmSync(folder, { recursive: true });
});

function callerFor(conversationId: string) {
  return toolCaller(remindersServer({ store: journal, conversationId, now: () => NOW }));
}

test('a reminder is kept as the words of the agent, listed and cancelled', async () => {
  const when = '2026-11-19T09:00:00+01:00';
  const { text } = await call('create', { when, request: 'Call Ann' });
  expect(text).toContain('due at 2026-11-19T08:00:00.000Z');
  expect(journal.schedules()).toMatchObject([
    { when, request: 'Call Ann', askedBy: 'agent', conversationId: 'c1' },
  ]);
  const [id = ''] = text.split(' ');
  expect((await call('list')).text).toBe(`${id} ${when}: Call Ann`);
  expect((await call('cancel', { id })).isError).toBeUndefined();
  expect(journal.schedules()).toEqual([]);
});

test('a pattern is read in UTC, wherever the machine stands', async () => {
  const { text } = await call('create', { when: '0 9 * * 1', request: 'Water the plants' });
  expect(text).toContain('due at 2026-11-23T09:00:00.000Z');
});

test('a step that is repeated sets no second reminder', async () => {
  const args = { when: '0 9 * * 1', request: 'Water the plants' };
  const first = await call('create', args, { key: 'step-1' });
  expect(await call('create', args, { key: 'step-1' })).toEqual(first);
  expect(journal.schedules()).toHaveLength(1);
});

test.each([
  ['2026-11-18T11:59:00Z', 'is over'],
  ['2026-11-30T09:00:00', 'neither a moment'],
  ['2026-13-45T09:00:00Z', 'is no moment'],
  ['tomorrow', 'neither a moment'],
  ['* * * * *', 'more often'],
  ['*/30 9 * * *', 'more often'],
  ['* * * * * *', 'neither a moment'],
  ['0 0 31 2 *', 'never comes'],
])('%s sets nothing: it %s', async (when, why) => {
  const answer = await call('create', { when, request: 'x' });
  expect(answer.isError).toBe(true);
  expect(answer.text).toContain(why);
  expect(journal.schedules()).toEqual([]);
});

test('reminders of other conversations are neither shown nor cancelled', async () => {
  const { text } = await call('create', { when: '0 9 * * 1', request: 'x' });
  const [id = ''] = text.split(' ');
  const other = callerFor('c2');
  expect((await other('list')).text).toBe('There are no reminders.');
  expect((await other('cancel', { id })).isError).toBe(true);
  expect(journal.schedules()).toHaveLength(1);
});
