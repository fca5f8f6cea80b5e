import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { thisSystem } from '../../identity/index.ts';
import { withAgentFile, writeAgentFile } from './agent-file.ts';

const RUN = {
  SUB_RUN_ID: 'run-1',
  SUB_GOVERNANCE_ENDPOINT: 'unix:/x/hub.sock',
  SUB_EVENTS: 'file:/x/events.jsonl',
};

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-agent-file-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As a shim sees it that this very process has started. */
const child = { ...thisSystem(), ppid: process.pid };

test('tells a shim that was told nothing, and is private', () => {
  const file = writeAgentFile(folder, process.pid, { ...RUN, PATH: '/bin' });
  const [name = ''] = readdirSync(folder);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(withAgentFile({ HOME: '/h' }, folder, child)).toEqual({ ...RUN, HOME: '/h' });
  file?.remove();
  expect(readdirSync(folder)).toEqual([]);
  expect(withAgentFile({ HOME: '/h' }, folder, child)).toEqual({ HOME: '/h' });
});

test('is found behind a launcher, under whatever process is above', () => {
  writeAgentFile(folder, process.ppid, RUN);
  expect(withAgentFile({}, folder, child)).toEqual(RUN);
});

test('says nothing to a shim that knows its run, and keeps what that one was told', () => {
  writeAgentFile(folder, process.pid, RUN);
  expect(withAgentFile({ SUB_RUN_ID: 'other' }, folder, child)).toEqual({ SUB_RUN_ID: 'other' });
  const told = withAgentFile({ SUB_EVENTS: 'off' }, folder, child);
  expect(told).toEqual({ ...RUN, SUB_EVENTS: 'off' });
});

test('holds nothing but what `sub run` has set', () => {
  writeAgentFile(folder, process.pid, { ...RUN, SUB_SOME_TOKEN: 'hunter2', TOKEN: 'hunter2' });
  const [name = ''] = readdirSync(folder);
  expect(readFileSync(join(folder, name), 'utf8')).not.toContain('hunter2');
});

test('takes no word from a file that a shim has made, or that is broken', () => {
  writeAgentFile(folder, process.pid, RUN);
  const [name = ''] = readdirSync(folder);
  for (const text of ['{"run_id":"run-1"}', '{"env":{"SUB_RUN_ID":7}}', '{', '[]']) {
    writeFileSync(join(folder, name), text);
    expect(withAgentFile({}, folder, child)).toEqual({});
  }
});
