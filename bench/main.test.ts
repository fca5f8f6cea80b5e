// Runs the command line of the benchmarks as npm does.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

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

test('corpora measures a file, and writes down what it missed and its false alarms', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sub-corpora-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const token = ['ghp', '16C7e42F292c6912E7710c838347Ae178B4a'].join('_');
  const sample = (label: string, text: string) => ({
    class: 'secret',
    source: 'ours',
    label,
    text,
  });
  const missed = sample('attack', 'the weather is fine');
  const alarm = sample('benign', `a token ${token}`);
  const samples = [sample('attack', `my token ${token}`), missed, alarm, sample('benign', 'hello')];
  const file = join(folder, 'samples.jsonl');
  writeFileSync(file, samples.map((one) => `${JSON.stringify(one)}\n`).join(''));

  const out = join(folder, 'wrong');
  const { status, stdout } = bench('corpora', file, '--out', out);
  expect(status).toBe(0);
  const rows = stdout.trimEnd().split('\n');
  expect(rows.map((row) => row.trim().split(/ {2,}/))).toEqual([
    ['class', 'corpus', 'found', 'recall', 'dummies', 'false alarms'],
    ['secret', 'ours', '1 of 2', '50.0 %', '1 of 2', '500.0 per 1,000'],
  ]);
  const written = (name: string) => readFileSync(join(out, name), 'utf8');
  expect(written('secret-missed.jsonl')).toBe(`${JSON.stringify(missed)}\n`);
  expect(written('secret-alarms.jsonl')).toBe(`${JSON.stringify(alarm)}\n`);
  expect(written('injection-missed.jsonl')).toBe('');
});
