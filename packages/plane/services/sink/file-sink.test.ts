import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import type { EventLine } from '@subluminal/core/ports';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { fileSink } from './file-sink.ts';
import type { BatchingSink } from './prompt-sink.ts';
import { bundleProgram } from './testing/program.ts';

const MKFIFO = 'mkfifo';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sub-file-sink-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function opened(path: string, options?: Parameters<typeof fileSink>[1]): BatchingSink {
  const result = fileSink(path, options);
  if (isFailure(result)) throw new Error(result.message);
  return result;
}

/** How much was there to read. */
function readSome(fd: number, chunk: Buffer): number {
  try {
    return readSync(fd, chunk);
  } catch {
    return 0;
  }
}

const durable = (line: string): EventLine => ({ line, kind: 'durable' });

test('appends one line per event, and is complete when closed', async () => {
  verifies('IP-1.1');
  const path = join(dir, 'events.jsonl');
  const first = opened(path);
  first.write(durable('{"a":"é\\n"}'));
  first.write(durable('{"a":2}'));
  await first.close(1_000);
  const second = opened(path);
  second.write(durable('{"a":3}'));
  await second.close(1_000);
  expect(readFileSync(path, 'utf8')).toBe('{"a":"é\\n"}\n{"a":2}\n{"a":3}\n');
});

test('makes the file private', async () => {
  const path = join(dir, 'events.jsonl');
  await opened(path).close(1_000);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('puts the lines on disk when pushed, without waiting for the tick', () => {
  const path = join(dir, 'events.jsonl');
  const sink = opened(path);
  sink.write(durable('{}'));
  expect(readFileSync(path, 'utf8')).toBe('');
  sink.push();
  expect(readFileSync(path, 'utf8')).toBe('{}\n');
});

test('a path that cannot be opened gives the reason', () => {
  const result = fileSink(join(dir, 'missing', 'events.jsonl'));
  expect(result).toMatchObject({ kind: 'failure', code: 'SUB_FILE_WRITE' });
  expect(result).toHaveProperty('message', expect.stringContaining('ENOENT'));
});

test('does not wait for a reader of a pipe', () => {
  const path = join(dir, 'pipe');
  execFileSync(MKFIFO, [path]);
  expect(fileSink(path)).toMatchObject({ kind: 'failure' });
});

test('waits for a slow reader of a pipe and loses no line', async () => {
  const path = join(dir, 'pipe');
  execFileSync(MKFIFO, [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const sink = opened(path);
  const line = JSON.stringify({ text: 'x'.repeat(1_000) });
  for (let count = 0; count < 200; count++) sink.write(durable(line));
  sink.push();
  let text = '';
  const chunk = Buffer.alloc(65_536);
  const done = sink.flush(10_000);
  while (text.length < 200 * (line.length + 1)) {
    text += chunk.toString('utf8', 0, readSome(reader, chunk));
    await new Promise(setImmediate);
  }
  await done;
  expect(text).toBe(`${line}\n`.repeat(200));
});

test('keeps to its limit when the disk is full: previews go first, then the latest', async () => {
  verifies('SL-11.4');
  const warnings: string[] = [];
  const sink = opened('/dev/full', { queueBytes: 10, warn: (text) => warnings.push(text) });
  sink.write({ line: '{"preview":"long"}', kind: 'preview', lean: () => '{"p":1}' });
  sink.push();
  expect(sink.stats()).toMatchObject({ queued: 1, previewsDropped: 1, linesLost: 0 });
  sink.write(durable('{"d":1}'));
  sink.push();
  expect(sink.stats()).toMatchObject({ queued: 1, previewsDropped: 1, linesLost: 1 });
  expect(warnings).toEqual([expect.stringContaining('ENOSPC')]);
  await sink.close(0);
  sink.write(durable('{}'));
  expect(sink.stats().linesLost).toBe(3);
});

test('keeps the lines of many processes whole in one file', async () => {
  verifies('IP-1.1');
  const program = await bundleProgram(
    dir,
    `import { fileSink } from './file-sink.ts';
     const [path, name] = process.argv.slice(2);
     const sink = fileSink(path);
     let left = 200;
     const next = () => {
       for (let i = 0; i < 5; i++) sink.write({ line: JSON.stringify({ name, left, pad: 'x'.repeat(left * 40) }), kind: 'durable' });
       if (--left > 0) setImmediate(next); else sink.close(5000);
     };
     next();`,
  );
  const path = join(dir, 'events.jsonl');
  const names = ['a', 'b', 'c', 'd'];
  const children = names.map((name) => spawn(process.execPath, [program, path, name]));
  await Promise.all(children.map((child) => once(child, 'exit')));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const counts = names.map(
    (name) => lines.filter((line) => (JSON.parse(line) as { name: string }).name === name).length,
  );
  expect(counts).toEqual(names.map(() => 1_000));
});
