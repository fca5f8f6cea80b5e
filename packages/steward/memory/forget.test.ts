import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { openMemory } from './open-memory.ts';
import { entryIn } from './testing/memory-suite.ts';
import { wordEmbedder } from './testing/word-embedder.ts';
import type { Memory } from './types.ts';

const SECRET_WORD = 'quillfeather';
const TEXT = `The project ${SECRET_WORD} starts in Zanzibar.`;

let home: string;
let memory: Memory | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'forget-'));
});
afterEach(async () => {
  await close();
  rmSync(home, { recursive: true });
});

async function close(): Promise<void> {
  await memory?.close();
  memory = undefined;
}

const open = async () => (memory = await openMemory({ home, embedder: wordEmbedder() }));

function filesHolding(bytes: Buffer): readonly string[] {
  const folder = join(home, 'steward');
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(bytes));
}

function databaseFiles(): readonly string[] {
  return readdirSync(join(home, 'steward')).filter((name) => name.startsWith('memory.db'));
}

async function filled(): Promise<{ readonly memory: Memory; readonly id: string }> {
  const opened = await open();
  for (let number = 0; number < 200; number += 1) {
    const text = `Note ${number}: the train leaves at ${number % 24}.`;
    await opened.add({ text, provenance: 'agent_observation' });
  }
  const { id } = entryIn(await opened.add({ text: TEXT, provenance: 'external_content' }));
  await opened.setCore('project', SECRET_WORD);
  await opened.embedded();
  return { memory: opened, id };
}

test('no file holds anything of what was forgotten, nor its vector', async () => {
  verifies('ST-5.4');
  const { memory: opened, id } = await filled();
  const word = Buffer.from(SECRET_WORD);
  expect(filesHolding(word)).not.toEqual([]);
  expect(filesHolding(Buffer.from(id))).not.toEqual([]);
  await opened.forget({ containing: SECRET_WORD });
  expect(filesHolding(word)).toEqual([]);
  expect(filesHolding(Buffer.from('zanzibar'))).toEqual([]);
  expect(filesHolding(Buffer.from(id))).toEqual([]);
  expect(await opened.search({ text: SECRET_WORD })).toEqual([]);
  expect(await opened.core()).toEqual([]);
  expect((await opened.search({ text: 'train leaves' })).length).toBeGreaterThan(0);
});

test('a backup that is put back forgets again when it is opened', async () => {
  verifies('ST-5.4');
  const { id } = await filled();
  await close();
  const backup = join(home, 'backup');
  // The database with its log: that is what a backup of the folder has.
  for (const name of databaseFiles()) cpSync(join(home, 'steward', name), join(backup, name));
  const again = await open();
  await again.forget({ ids: [id] });
  await again.forget({ containing: SECRET_WORD });
  await close();
  for (const name of databaseFiles()) rmSync(join(home, 'steward', name));
  for (const name of readdirSync(backup)) cpSync(join(backup, name), join(home, 'steward', name));
  const restored = await open();
  expect(await restored.search({ text: 'Zanzibar' })).toEqual([]);
  expect(await restored.core()).toEqual([]);
  expect(filesHolding(Buffer.from(SECRET_WORD))).toEqual([]);
  expect(await restored.list({ limit: 500 })).toHaveLength(200);
});

test('an unreadable list of what was forgotten keeps the memory closed', async () => {
  mkdirSync(join(home, 'steward', 'memory.forgotten'), { recursive: true });
  await expect(openMemory({ home })).rejects.toMatchObject({ code: 'SUB_FILE_READ' });
});
