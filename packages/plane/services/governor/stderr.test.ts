import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bundleProgram } from '../sink/testing/program.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-stderr-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes 2,000 numbered lines, starts a program with the same stderr first, and tells what got through. */
const PROGRAM = `
  import { spawnSync } from 'node:child_process';
  import { lazyStderr } from '../governor/log.ts';
  const writeLine = lazyStderr();
  const says = (text) => spawnSync('sh', ['-c', 'echo ' + text + ' >&2'], { stdio: 'inherit' });
  says('before');
  let written = 0;
  for (let index = 0; index < 2_000; index++) {
    if (writeLine(index + 'x'.repeat(200))) written++;
  }
  if (process.argv[2] === 'talk') says('after');
  console.log(written);
`;

async function written(stderr: number, ...args: readonly string[]): Promise<number> {
  const program = await bundleProgram(folder, PROGRAM);
  const { stdout } = spawnSync(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', stderr],
    encoding: 'utf8',
    timeout: 15_000,
  });
  return Number(stdout);
}

test.runIf(process.platform === 'linux')('waits for nobody, and loses whole lines', async () => {
  const path = join(folder, 'pipe');
  expect(spawnSync('sh', ['-c', 'mkfifo "$0"', path]).status).toBe(0);
  // For both, so that opening does not wait for the other side.
  const fd = openSync(path, constants.O_RDWR);
  const count = await written(fd);
  expect(count).toBeGreaterThan(100);
  expect(count).toBeLessThan(2_000);
  const bytes = Buffer.alloc(1_048_576);
  const text = bytes.toString('latin1', 0, readSync(fd, bytes));
  const [before, ...rest] = text.split('\n');
  closeSync(fd);
  expect(before).toBe('before');
  const lines = rest.slice(0, count);
  expect(lines.every((line, index) => line === index + 'x'.repeat(200))).toBe(true);
});

test('writes everything to a file, between the lines of the server', async () => {
  const path = join(folder, 'log');
  const fd = openSync(path, 'w');
  expect(await written(fd, 'talk')).toBe(2_000);
  closeSync(fd);
  const lines = readFileSync(path, 'utf8').split('\n');
  expect(lines).toHaveLength(2_003);
  expect([lines[0], lines[2_001]]).toEqual(['before', 'after']);
});
