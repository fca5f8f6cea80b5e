import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, runSub } from './sub.ts';

let folder = '';
beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-ask-'));
  mkdirSync(join(folder, 'other'));
  writeFileSync(join(folder, 'other', 'bad.yaml'), 'a: [');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const options = () => ({ cwd: folder, env: { HOME: folder, SUB_HOME: join(folder, 'home') } });

test.each([
  [['--version']],
  [['--help']],
  [['polcy']],
  [['status', '--json']],
  [['policy', 'lint', 'missing.yaml']],
])('sub %s gives the same as in a process of its own', async (words) => {
  expect(await askSub(words, options())).toEqual(await runSub(words, options()));
});

test('a command has its own folder, input, environment and exit code, whatever came before it', async () => {
  const bad = await askSub(['policy', 'lint', 'bad.yaml'], {
    ...options(),
    cwd: join(folder, 'other'),
  });
  expect(bad).toMatchObject({ code: 1, stdout: expect.stringContaining('bad.yaml:1') as string });
  const input = 'version: 1\n';
  const piped = await askSub(['policy', 'lint', '-'], { ...options(), input });
  expect(piped.stdout + piped.stderr).toContain('policy_id');
  const lost = await askSub(['policy', 'lint', 'bad.yaml'], options());
  expect(lost.code).toBe(2);
  const coloured = await askSub(['--help'], { ...options(), env: { FORCE_COLOR: '1' } });
  expect(coloured.stdout).toContain('\u001b[1m');
  expect((await askSub(['--help'], options())).stdout).not.toContain('\u001b');
});

test('of commands that are asked for at once, each gets its own answer', async () => {
  const words = ['one', 'two', 'three'];
  const answers = await Promise.all(words.map((word) => askSub([word], options())));
  for (const [index, { code, stderr }] of answers.entries()) {
    expect({ code, stderr }).toMatchObject({ code: 2 });
    expect(stderr).toContain(`'${words[index]}'`);
  }
});
