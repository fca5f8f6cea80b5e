import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attempt } from '@subluminal/plane/os';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { fileRoots } from '../../staging/index.ts';
import { toolCaller } from '../testing/call-tool.ts';
import { shellServer } from './index.ts';

let work: string;
let call: ReturnType<typeof toolCaller>;

beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'shell-')));
  const roots = fileRoots({ folders: [work] });
  const env = { ...process.env, ANTHROPIC_API_KEY: 'sk-ant-secret', AWS_SECRET: 'secret' };
  call = toolCaller(shellServer({ roots, env }));
});

afterEach(() => rmSync(work, { recursive: true, force: true }));

/** Whether the process with the number in a file still runs. */
function isRunning(file: string): boolean {
  const pid = Number(readFileSync(join(work, file), 'utf8'));
  expect(pid).toBeGreaterThan(1);
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat !== undefined && !/\) [ZX] /.test(stat);
}

test('a command runs in the workspace, with its output and its exit code', async () => {
  verifies('ST-9.1');
  expect(await call('run', { command: 'pwd; echo err >&2' })).toEqual({
    text: `${work}\nerr\n[exit code 0]`,
  });
  expect(await call('run', { command: 'exit 3' })).toEqual({
    text: '[exit code 3]',
    isError: true,
  });
});

test('a command sees no variable of ours that may hold a secret, and has no input', async () => {
  const { text } = await call('run', { command: 'env; cat' });
  expect(text).not.toMatch(/secret|ANTHROPIC|npm_|VITEST/);
  expect(text).toContain('PATH=');
});

test('output is bounded: its beginning and its end are kept', async () => {
  const { text } = await call('run', {
    command: 'echo first; head -c 300000 /dev/zero | tr "\\0" x; echo; echo last',
  });
  expect(text.length).toBeLessThan(70_000);
  expect(text).toMatch(/^first\n/);
  expect(text).toMatch(/bytes are left out[^]*last\n\[exit code 0\]$/);
});

test('a command that takes too long is ended, with everything that it started', async () => {
  const command = 'sh -c "trap \\"\\" TERM; echo \\$\\$ > child; while :; do sleep 0.1; done"';
  const answer = await call('run', { command, timeout_s: 1 });
  expect(answer).toEqual({ text: '[ended: it took too long]', isError: true });
  expect(isRunning('child')).toBe(false);
});

test('what a command leaves in the background is ended, also in a session of its own', async () => {
  const command =
    'sleep 1000 & echo $! > one; setsid sh -c "echo \\$\\$ > two; exec sleep 1000" & while [ ! -s two ]; do sleep 0.02; done';
  expect(await call('run', { command })).toEqual({ text: '[exit code 0]' });
  expect([isRunning('one'), isRunning('two')]).toEqual([false, false]);
});

test('a task that is stopped stops its command', async () => {
  const stop = new AbortController();
  const running = call(
    'run',
    { command: 'echo $$ > pid; exec sleep 1000' },
    { signal: stop.signal },
  );
  while (!existsSync(join(work, 'pid')) || readFileSync(join(work, 'pid'), 'utf8') === '') {
    await new Promise((resolve) => setImmediate(resolve));
  }
  stop.abort();
  expect(await running).toEqual({ text: '[ended: it was stopped]', isError: true });
  expect(isRunning('pid')).toBe(false);
});

test.each(['/etc', '..', 'link', 'missing'])('no command runs in %s', async (cwd) => {
  symlinkSync('/etc', join(work, 'link'));
  const answer = await call('run', { command: 'touch ran', cwd });
  expect(answer.isError).toBe(true);
  expect(existsSync(join(work, 'ran'))).toBe(false);
});
