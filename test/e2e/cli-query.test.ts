// Which run is meant, and what cannot be meant, when the built `sub` is asked about the ledger.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureBuilt, ROOT, runSub } from './sub.ts';

const SESSION = readFileSync(`${ROOT}examples/events/session.jsonl`, 'utf8');
const RUN = 'run-2026-01-31';

let folder = '';
beforeAll(async () => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-query-'));
  const older = SESSION.replaceAll(RUN, 'older').replaceAll('2026-01', '2025-12');
  writeFileSync(join(folder, 'events.jsonl'), SESSION + older);
  await sub('ingest', 'events.jsonl');
});
afterAll(async () => {
  await sub('ledgerd', '--stop');
  rmSync(folder, { recursive: true, force: true });
});

function sub(...args: readonly string[]) {
  return runSub(args, { cwd: folder, env: { SUB_HOME: join(folder, 'home'), HOME: folder } });
}

interface Answer {
  readonly calls?: readonly { readonly run_id: string; readonly status: string | null }[];
  readonly runs?: readonly { readonly run_id: string }[];
}

async function asked(...args: readonly string[]): Promise<Answer> {
  const { code, stdout, stderr } = await sub('query', '--json', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Answer;
}

describe('the last run', () => {
  test('is known to queries about calls and about runs', async () => {
    const { calls = [] } = await asked('--run', 'last');
    expect(calls).toHaveLength(17);
    expect(new Set(calls.map(({ run_id }) => run_id))).toEqual(new Set([RUN]));
    const { runs = [] } = await asked('--runs', '--run', 'last');
    expect(runs.map(({ run_id }) => run_id)).toEqual([RUN]);
  });

  test('can be written as files', async () => {
    const { code, stdout } = await sub('export', 'run', 'last', '-o', 'trace');
    expect(code).toBe(0);
    expect(stdout).toContain(`of ${RUN} to trace: 17 calls`);
  });
});

test.each([[[]], [['--runs']]])('a run that is not there is told, with %j', async (args) => {
  expect(await sub('query', '--run', 'nobody', ...args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'sub: the ledger has no run `nobody`. See `sub query --runs`. [SUB_LEDGER_QUERY]\n',
  });
});

test.each([
  [['--since', '1h', '--until', '2h'], '--until `2h` is not after --since `1h`'],
  [['--since', '2026-01-01', '--until', '2026-01-01'], 'is not after --since'],
  [['--args-hash', 'abc'], '--args-hash `abc` is not a SHA-256 hash'],
  [['--args-hash', 'A'.repeat(64)], 'is not a SHA-256 hash'],
  [['--run', ''], '--run is empty'],
])('%j is an error', async (args, words) => {
  const { code, stdout, stderr } = await sub('query', ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(words);
  expect(stderr).toContain('[SUB_USAGE]');
});

test('a call that was refused is shown as such, and ended with an error for its agent', async () => {
  const { stdout } = await sub('query', '--run', 'last', '--status', 'FAILED');
  const refused = stdout.split('\n').filter((line) => line.includes('REJECT_WITH_HINT'));
  expect(refused).toHaveLength(2);
  for (const line of refused) expect(line).toMatch(/ REJECT_WITH_HINT +REFUSED +/);
  const { calls = [] } = await asked('--run', 'last', '--decision', 'REFUSED');
  expect(calls.map(({ status }) => status)).toEqual(['ERROR', 'ERROR']);
});
