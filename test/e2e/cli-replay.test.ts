// What another policy would have decided over a run of the ledger.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, ROOT } from './sub.ts';

const SESSION = `${ROOT}examples/events/session.jsonl`;
const STARTER = `${ROOT}examples/policies/starter.yaml`;
const RUN = 'run-2026-01-31';

let folder = '';
beforeAll(async () => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-replay-'));
  // An older run beside it, which must not be mixed in.
  const older = readFileSync(SESSION, 'utf8')
    .replaceAll(RUN, 'older')
    .replaceAll('2026-01', '2025-12');
  writeFileSync(join(folder, 'older.jsonl'), older);
  await sub('ingest', SESSION, 'older.jsonl');
});
afterAll(async () => {
  await sub('ledgerd', '--stop');
  rmSync(folder, { recursive: true, force: true });
});

function sub(...args: readonly string[]) {
  return askSub(args, { cwd: folder, env: { SUB_HOME: join(folder, 'home'), HOME: folder } });
}

test.each([[RUN], ['last']])('%s is decided as the same events in a file are', async (run) => {
  const ledger = await sub('replay', run, '--policy', STARTER);
  const file = await sub('policy', 'replay', STARTER, SESSION);
  expect(ledger).toEqual(file);
  expect(ledger.code).toBe(1);
});

test('the same policy decides the same, by the document as well', async () => {
  const { stdout } = await sub('replay', 'older', '--policy', STARTER, '--json');
  const { policy, summary } = JSON.parse(stdout) as {
    readonly policy: { readonly policy_id: string };
    readonly summary: { readonly calls: number; readonly runs: number };
  };
  expect(policy.policy_id).toBe('starter');
  expect(summary).toMatchObject({ calls: 17, runs: 1 });
});

test('ends with 0 when no call is treated otherwise', async () => {
  const { code, stdout } = await sub(
    'replay',
    'last',
    '--policy',
    `${ROOT}examples/policies/guardrails.json`,
  );
  expect(stdout).toMatch(/0 stricter, 0 looser/);
  expect(code).toBe(0);
});

test.each([
  [['replay', 'last'], 'SUB_USAGE'],
  [['replay', '--policy', STARTER], 'SUB_USAGE'],
  [['replay', 'nobody', '--policy', STARTER], 'SUB_LEDGER_QUERY'],
  [['replay', 'last', '--policy', 'missing.yaml'], 'SUB_FILE_READ'],
  [['replay', 'last', '--policy', SESSION], 'SUB_'],
])('%j says what is wrong', async (args, code) => {
  const result = await sub(...args);
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toContain(`[${code}`);
});
