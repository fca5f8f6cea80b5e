import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownIdentity } from '../../os/index.ts';
import { dropShimFiles } from './run-register.ts';

test('what killed shims of a run have left is removed, and nothing of living shims or other runs', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sub-register-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const { pid, start, space } = ownIdentity();
  const write = (owner: string, runId: string): string => {
    const name = `agent-${owner}.shim-${owner}.json`;
    writeFileSync(join(dir, name), JSON.stringify({ run_id: runId, space }));
    return name;
  };
  write('4194305-1-killed', 'ours');
  write(`${pid}-1-earlier`, 'ours');
  const kept = [write(`${pid}-${start}`, 'ours'), write('4194305-1-other', 'theirs')];
  dropShimFiles(dir, 'ours');
  expect(readdirSync(dir).toSorted()).toEqual(kept.toSorted());
});
