import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVENT_LINE_LENGTH_MAX } from '@subluminal/contracts';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FileFollower, linesBehind } from './event-lines.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-lines-'));
  path = join(folder, 'events.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const HUGE = 'x'.repeat(3 * EVENT_LINE_LENGTH_MAX + 1);

async function linesOf(fromByte: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const line of linesBehind(path, fromByte)) found.push(line);
  return found;
}

describe('reading', () => {
  test('gives the whole lines behind a place, whatever they are made of', async () => {
    const text = fc.array(fc.string({ unit: 'grapheme' }).filter((one) => !one.includes('\n')));
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        const old = before.map((line) => `${line}\n`).join('');
        writeFileSync(path, `${old}${after.map((line) => `${line}\n`).join('')}half`);
        expect(await linesOf(Buffer.byteLength(old))).toEqual(after);
      }),
      { numRuns: 50 },
    );
  });

  test('leaves out a line that has no end in sight, and goes on behind it', async () => {
    writeFileSync(path, `one\n${HUGE}\ntwo\n`);
    expect(await linesOf(0)).toEqual(['one', 'two']);
  });
});

describe('following', () => {
  function follower(fromByte = 0) {
    const chunks: string[] = [];
    let gone = false;
    const following = new FileFollower(path, fromByte, (bytes) => {
      chunks.push(Buffer.from(bytes).toString('utf8'));
      return Promise.resolve(!gone);
    });
    return { chunks, following, leave: () => (gone = true) };
  }

  test('hands on whole lines only, each once', async () => {
    writeFileSync(path, 'old\none\ntw');
    const { chunks, following } = follower(4);
    await expect.poll(() => chunks.join('')).toBe('one\n');
    appendFileSync(path, 'o\nthree\nfou');
    await following.finish();
    expect(chunks.join('')).toBe('one\ntwo\nthree\n');
  });

  test('hands on a line that is longer than a piece, and none that never ends', async () => {
    const long = 'y'.repeat(300_000);
    writeFileSync(path, `${long}\n${HUGE}\nend\n`);
    const { chunks, following } = follower();
    await following.finish();
    expect(chunks).toEqual([`${long}\n`, 'end\n']);
  });

  test('stops when the lines are no longer wanted', async () => {
    writeFileSync(path, 'one\n');
    const { chunks, following, leave } = follower();
    leave();
    await expect.poll(() => chunks).toEqual(['one\n']);
    appendFileSync(path, 'two\n');
    await following.finish();
    expect(chunks).toEqual(['one\n']);
  });

  test('is not stopped for ever by a file that is removed', async () => {
    writeFileSync(path, 'one\n');
    const { following } = follower();
    rmSync(path);
    await expect(following.finish()).resolves.toBeUndefined();
  });
});
