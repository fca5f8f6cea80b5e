import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processInfo, thisSystem } from '../../../os/index.ts';
import { writeWrapFile } from '../../../stores/runs/wrap-file.ts';
import { dropStaleWraps } from './wrap-session.ts';

const DRAFT = `wrap-gone.json.${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`;

let runDir = '';
beforeEach(() => {
  runDir = mkdtempSync(join(tmpdir(), 'sub-stale-'));
});
afterEach(() => rmSync(runDir, { recursive: true, force: true }));

test('the cleanup removes the files of dead sessions, and nothing else', () => {
  const start = processInfo(process.pid, thisSystem())?.start ?? '';
  const env = { SUB_RUN_ID: 'run-1', SUB_GOVERNANCE_ENDPOINT: 'unix:/x/hub.sock' };
  writeWrapFile(runDir, { id: 'alive', env, owner: { pid: process.pid, start } });
  writeWrapFile(runDir, { id: 'dead', env, owner: { pid: process.pid, start: 'other' } });
  writeFileSync(join(runDir, 'wrap-notes.txt'), 'of somebody else');
  dropStaleWraps(runDir, Date.now());
  expect(readdirSync(runDir).toSorted()).toEqual(['wrap-alive.json', 'wrap-notes.txt']);
});

test('the cleanup removes a draft that nobody is writing any more', () => {
  writeFileSync(join(runDir, DRAFT), '{');
  dropStaleWraps(runDir, Date.now());
  expect(readdirSync(runDir)).toEqual([DRAFT]);
  const longAgo = new Date(Date.now() - 3_600_000);
  utimesSync(join(runDir, DRAFT), longAgo, longAgo);
  dropStaleWraps(runDir, Date.now());
  expect(readdirSync(runDir)).toEqual([]);
});

test('the cleanup accepts a missing folder', () => {
  expect(() => dropStaleWraps(join(runDir, 'none'), Date.now())).not.toThrow();
});
