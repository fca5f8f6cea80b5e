import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Journal, openJournal } from './index.ts';

const DAY_MS = 86_400_000;
const SECRET = 'Sesame 4711';

let folder: string;
let journal: Journal;
let nowMs: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-journal-texts-'));
  nowMs = Date.parse('2026-03-04T12:00:00Z');
  const opened = await openJournal(join(folder, 'journal.db'), () => nowMs);
  if (isFailure(opened)) throw new Error(opened.message);
  journal = opened;
  journal.conversationFor({ id: 'c1', channel: 'terminal', person: 'ada', address: 'ada' });
});
afterEach(() => {
  journal.close();
  rmSync(folder, { recursive: true });
});

/** A task whose texts all hold this. */
function addTask(id: string, text: string): void {
  const asked = { purpose: 'agent', askedBy: 'user' } as const;
  journal.addTask({ id, conversationId: 'c1', ...asked, request: `The code is ${text}.` });
  journal.startTask(id);
  const uses = [{ id: 'u1', name: 'files__read', args: { of: [`/srv/${text}`] } }];
  const spent = { inputTokens: 1, outputTokens: 1, costMicros: 1, workMs: 1, atMs: nowMs };
  const turn = { taskId: id, n: 1, text: `I use ${text}`, uses, model: 'm' };
  journal.addTurn(turn, { purpose: 'agent', taskId: id, ...spent });
  const step = { taskId: id, n: 1, turn: 1, useId: 'u1', server: 'files', tool: 'read' };
  const why = { reasoning: `because of ${text}`, key: `${id}-1`, runId: 'run' };
  journal.addStep({ ...step, args: { of: [`/srv/${text}`] }, ...why });
  journal.changeStep({ taskId: id, n: 1 }, { state: 'done', callId: 'call', result: text });
}

function endTask(id: string, text: string): void {
  journal.endTask(id, { state: 'done', reply: { role: 'assistant', text } });
}

function bytesOnDisk(): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');
}

test('what is forgotten is in no text of an ended task, nor anywhere in the files', () => {
  addTask('t1', SECRET);
  endTask('t1', `I know ${SECRET.toUpperCase()} now.`);
  expect(bytesOnDisk()).toContain(SECRET);

  expect(journal.texts.forget([SECRET])).toEqual({ changed: 8, left: 0 });
  expect(journal.lastMessages('c1', 5).map(({ text }) => text)).toEqual([
    'The code is [forgotten].',
    'I know [forgotten] now.',
  ]);
  expect(journal.turns('t1')).toMatchObject([
    { text: 'I use [forgotten]', uses: [{ id: 'u1', args: { of: ['/srv/[forgotten]'] } }] },
  ]);
  expect(journal.steps('t1')).toMatchObject([
    { args: { of: ['/srv/[forgotten]'] }, result: '[forgotten]', state: 'done' },
  ]);
  expect(bytesOnDisk().toLowerCase()).not.toContain(SECRET.toLowerCase());
});

test('what is forgotten may hold any character, and means itself', () => {
  const all = 'a-b/c\\d^e$f.g*h+i?j(k)l[m]n{o}p|q<r>s"t';
  journal.addMessage({ conversationId: 'c1', role: 'user', text: `It is ${all}.` });
  expect(journal.texts.forget([all])).toEqual({ changed: 1, left: 0 });
  expect(journal.lastMessages('c1', 1)).toMatchObject([{ text: 'It is [forgotten].' }]);
});

test('a text that holds it in other letters goes as a whole', () => {
  const text = 'Ｓｅｓａｍｅ 4711 opens it.';
  journal.addMessage({ conversationId: 'c1', role: 'user', text });
  expect(journal.texts.forget([SECRET])).toEqual({ changed: 1, left: 0 });
  expect(journal.lastMessages('c1', 1)).toMatchObject([{ text: '[forgotten]' }]);
});

test('a task that is under way keeps its texts, and is counted', () => {
  addTask('t1', SECRET);
  expect(journal.texts.forget([SECRET])).toEqual({ changed: 0, left: 7 });
  expect(journal.steps('t1')).toMatchObject([{ result: SECRET }]);
});

test('what ended long ago is pruned with its texts, and what is open stays', () => {
  addTask('old', 'the old one');
  endTask('old', 'Done.');
  addTask('open', 'the open one');
  for (const { n } of journal.unsentMessages()) journal.setSent(n);
  nowMs += 100 * DAY_MS;
  addTask('new', 'the new one');
  endTask('new', 'Done.');

  const before = nowMs - 90 * DAY_MS;
  expect(journal.texts.prune(before)).toBeGreaterThan(0);
  expect(journal.texts.prune(before)).toBe(0);
  expect(journal.lastTasks(9).map(({ id }) => id)).toEqual(['new', 'open']);
  expect(journal.steps('old')).toEqual([]);
  expect(journal.steps('open')).toHaveLength(1);
  expect(journal.lastMessages('c1', 9).map(({ taskId }) => taskId)).toEqual(['open', 'new', 'new']);
});
