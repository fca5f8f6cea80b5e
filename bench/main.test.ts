// Runs the command line of the benchmarks as npm does.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

function bench(...args: string[]) {
  const command = ['tools/run.mjs', 'bench/main.ts', ...args];
  return spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8' });
}

test('--help lists the benchmarks and how to run one', () => {
  const { status, stdout } = bench('--help');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Benchmarks: .*\bcanon\b.*\bpolicy\b/);
  expect(stdout).toContain('npm run bench -- [NAME]');
});

test('a name that is none is a usage error', () => {
  const { status, stderr } = bench('polcy');
  expect(status).toBe(2);
  expect(stderr).toContain('No benchmark is called polcy.\nBenchmarks: ');
});

test('without a name all of them are run', () => {
  // An option that none of them takes stops each before it measures anything.
  const { status, stderr } = bench('--fast');
  expect(status).toBe(2);
  expect(stderr).toContain('── canon\n');
  expect(stderr).toContain('── policy\n');
});
