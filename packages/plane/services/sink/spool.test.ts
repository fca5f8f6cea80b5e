import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dropSpool, listSpool, readSpool, type SpoolFile, type SpoolLine } from './spool.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sub-spool-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const GONE = 999_999;
const options = { isRunning: (pid: number) => pid !== GONE };

function put(name: string, text = ''): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

async function only(): Promise<SpoolFile> {
  const [file, ...others] = await listSpool(dir, options);
  if (file === undefined || others.length > 0) throw new Error('expected one file');
  return file;
}

async function readAll(file: SpoolFile, read: Parameters<typeof readSpool>[1] = {}) {
  const lines: SpoolLine[] = [];
  let damaged = 0;
  let endOffset = 0;
  for await (const batch of readSpool(file, read)) {
    lines.push(...batch.lines);
    damaged += batch.damaged;
    endOffset = batch.endOffset;
  }
  return { lines, damaged, endOffset };
}

test('lists files that are complete or left behind, in the order of writing', async () => {
  put('b-c-10.jsonl');
  put('b-c-9.jsonl');
  put(`a-1.jsonl.${GONE}.part`);
  put(`a-2.jsonl.${process.pid}.part`);
  const files = await listSpool(dir, options);
  expect(files.map(({ producer, number, isComplete }) => [producer, number, isComplete])).toEqual([
    ['a', 1, false],
    ['b-c', 9, true],
    ['b-c', 10, true],
  ]);
});

test('sees by itself which process is gone', async () => {
  put(`a-1.jsonl.${process.pid}.part`);
  put(`a-2.jsonl.${2 ** 22 + 1}.part`);
  expect((await listSpool(dir)).map(({ number }) => number)).toEqual([2]);
});

test('takes a file that was left alone for an hour, whichever process has its id now', async () => {
  const path = put(`a-1.jsonl.${process.pid}.part`);
  utimesSync(path, 1_000, 1_000);
  expect(await listSpool(dir, { ...options, nowMs: 1_000_000 + 3_599_000 })).toEqual([]);
  expect(await listSpool(dir, { ...options, nowMs: 1_000_000 + 3_601_000 })).toHaveLength(1);
});

test('leaves foreign files alone', async () => {
  const target = put('notes.txt', '1 {}\n');
  symlinkSync(target, join(dir, 'link-1.jsonl'));
  for (const name of ['x.jsonl', '-1.jsonl', 'a-1.jsonl.part', '.a-1.jsonl', 'a-x.jsonl'])
    put(name);
  expect(await listSpool(dir, options)).toEqual([]);
});

test('takes a folder that is not there for empty', async () => {
  expect(await listSpool(join(dir, 'missing'))).toEqual([]);
});

test('gives the lines in batches and counts damaged ones', async () => {
  put('a-1.jsonl', '1 {"é":1}\nnonsense\n2 []\n3 {"a b":3}\n\n4 {"x":"long"}\n5 {}\n');
  const file = await only();
  const batches = [];
  for await (const batch of readSpool(file, { linesMax: 2, lineBytesMax: 12 })) batches.push(batch);
  expect(batches.map(({ lines, damaged }) => [lines.map(({ seq }) => seq), damaged])).toEqual([
    [[1], 1],
    [[3], 1],
    [[], 2],
    [[5], 0],
  ]);
  expect(batches[0]?.lines).toEqual([{ seq: 1, line: '{"é":1}' }]);
});

test('removes a file that was read whole', async () => {
  const path = put('a-1.jsonl', '1 {}\n');
  const file = await only();
  const { endOffset } = await readAll(file);
  expect(await dropSpool(file, endOffset)).toBe(true);
  expect(existsSync(path)).toBe(false);
  expect(await dropSpool(file, endOffset)).toBe(true);
});

test('removes a file that a dead process left with a torn last line', async () => {
  const path = put(`a-1.jsonl.${GONE}.part`, '1 {}\n2 {"to');
  const file = await only();
  const { lines, damaged, endOffset } = await readAll(file);
  expect(lines).toEqual([{ seq: 1, line: '{}' }]);
  expect(damaged).toBe(1);
  expect(await dropSpool(file, endOffset)).toBe(true);
  expect(existsSync(path)).toBe(false);
});

test('keeps a file that has grown since it was read', async () => {
  const path = put(`a-1.jsonl.${GONE}.part`, '1 {}\n');
  const file = await only();
  const { endOffset } = await readAll(file);
  appendFileSync(path, '2 {}\n');
  expect(await dropSpool(file, endOffset)).toBe(false);
  expect((await readAll(file)).lines.map(({ seq }) => seq)).toEqual([1, 2]);
});

test('reads back any lines, wherever the pieces are cut', async () => {
  const line = fc.record({ t: fc.string({ unit: 'binary', maxLength: 50 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 50 }), async (values) => {
      const wanted = values.map((value, index) => ({
        seq: index + 1,
        line: JSON.stringify(value),
      }));
      put('a-1.jsonl', wanted.map(({ seq, line: text }) => `${seq} ${text}\n`).join(''));
      expect(await readAll(await only(), { linesMax: 7 })).toMatchObject({
        lines: wanted,
        damaged: 0,
      });
    }),
    { numRuns: 50 },
  );
});

test('takes any bytes without failing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (bytes) => {
      writeFileSync(join(dir, 'a-1.jsonl'), bytes);
      const { lines, endOffset } = await readAll(await only());
      expect(endOffset).toBeLessThanOrEqual(bytes.length);
      for (const { seq } of lines) expect(Number.isSafeInteger(seq)).toBe(true);
    }),
    { numRuns: 50 },
  );
});
