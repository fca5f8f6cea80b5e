import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { processInfo, thisSystem } from '../../os/index.ts';
import { agentFileName } from '../../stores/identity/index.ts';
import { dropStaleCopies } from './run-files.ts';

const HOUR_MS = 60 * 60_000;
const HERE = thisSystem().space?.() ?? 'none';
const NOW_MS = Date.now();

let folder = '';
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'sub-copies-')), 'run');
  mkdirSync(folder);
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

/** The copy of a run, so old. */
function copy(runId: string, ageMs: number, space = HERE): string {
  const name = `policy-${sha256(runId).slice(0, 16)}-${space}-0a1b2c3d.json`;
  writeFileSync(join(folder, name), '{}');
  const time = new Date(NOW_MS - ageMs);
  utimesSync(join(folder, name), time, time);
  return name;
}

function dropped(): readonly string[] {
  const before = readdirSync(folder);
  dropStaleCopies(folder, NOW_MS);
  const after = new Set(readdirSync(folder));
  return before.filter((name) => !after.has(name));
}

test('the copy of a run that was killed goes', () => {
  const name = copy('gone', HOUR_MS);
  expect(dropped()).toEqual([name]);
});

test('the copy of a run of which a process lives stays', () => {
  const info = processInfo(process.pid, thisSystem());
  if (info === undefined) throw new Error('there is no such process');
  writeFileSync(join(folder, agentFileName(info)), JSON.stringify({ run_id: 'alive', env: {} }));
  copy('alive', HOUR_MS);
  expect(dropped()).toEqual([]);
});

test('a copy that was just written stays: its run may not be written down yet', () => {
  copy('new', 1_000);
  expect(dropped()).toEqual([]);
});

test('a copy of another container stays for a month', () => {
  copy('unseen', 24 * HOUR_MS, '0a1b2c3d-1');
  expect(dropped()).toEqual([]);
  const name = copy('unseen', 31 * 24 * HOUR_MS, '0a1b2c3d-1');
  expect(dropped()).toEqual([name]);
});

test('nothing else goes', () => {
  for (const name of ['policy.json', 'policy-x.json', 'hub-0a1b2c3d4e5f6071.sock']) {
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), 0, 0);
  }
  expect(dropped()).toEqual([]);
});
