// A policy from what the ledger has: the recorded calls pass by it, and nothing is overwritten.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, ROOT } from './sub.ts';

const SESSION = `${ROOT}examples/events/session.jsonl`;

let folder = '';
beforeAll(async () => {
  ensureBuilt();
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'sub-suggest-')));
  await sub('ingest', SESSION);
});
afterAll(async () => {
  await sub('ledgerd', '--stop');
  rmSync(folder, { recursive: true, force: true });
});

function sub(...args: readonly string[]) {
  return askSub(args, { cwd: folder, env: { SUB_HOME: join(folder, 'home'), HOME: folder } });
}

test('the calls of a run pass by the policy that was suggested from them, or ask', async () => {
  const { code, stdout, stderr } = await sub('policy', 'suggest', '--run', 'last', '-o', 'p.yaml');
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('Review p.yaml');
  expect(await sub('policy', 'lint', '--strict', 'p.yaml')).toMatchObject({ code: 0 });
  const { stdout: text } = await sub('replay', 'last', '--policy', 'p.yaml', '--json');
  const { calls } = JSON.parse(text) as {
    calls: { tool_name: string; replayed: { rule_id: string } | null }[];
  };
  const rules = new Map(calls.map((call) => [call.tool_name, call.replayed?.rule_id]));
  expect(Object.fromEntries(rules)).toEqual({
    list_issues: 'allow-github',
    get_file: 'allow-github-2',
    create_issue: 'allow-github',
    delete_repo: 'ask-github',
    shell_run: 'allow-github-commands',
    delete_branch: 'ask-github',
    update_issue: 'allow-github',
    // Nobody has decided it, so nobody has used it.
    push_files: 'deny-the-rest',
  });
});

test('a file is overwritten with --force alone', async () => {
  writeFileSync(join(folder, 'mine.yaml'), 'mine');
  const refused = await sub('policy', 'suggest', '--out', 'mine.yaml');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('mine.yaml exists already');
  expect(refused.stderr).toContain('--force');
  expect(readFileSync(join(folder, 'mine.yaml'), 'utf8')).toBe('mine');
  expect(await sub('policy', 'suggest', '--out', 'mine.yaml', '--force')).toMatchObject({
    code: 0,
  });
  expect(readFileSync(join(folder, 'mine.yaml'), 'utf8')).toContain('policy_id: suggested');
});

test.each([
  [['--since', '1h'], 'no call that passed is on record'],
  [['--run', 'nobody'], 'the ledger has no run `nobody`'],
  [['--run', 'last', '--since', '1h'], 'exclude each other'],
  [['--force'], 'needs a file'],
  [['--since', 'noon'], 'is not a time'],
])('%j says what is wrong', async (args, message) => {
  const result = await sub('policy', 'suggest', ...args);
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toContain(message);
});
