import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type AgentFiles, agentFiles } from '../../stores/runs/agent-file.ts';
import { writeIn } from './run-files.ts';

test('a folder that the end of another run takes away is made again', () => {
  const home = mkdtempSync(join(tmpdir(), 'sub-down-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const dir = join(home, 'own', 'run');
  mkdirSync(dir, { recursive: true });
  const real = agentFiles({ SUB_RUN_ID: 'r' });
  if (real === undefined) throw new Error('too long');
  let takenAway = 0;
  const files: AgentFiles = {
    ...real,
    write(folder, pid) {
      if (takenAway++ < 3) rmSync(dirname(folder), { recursive: true });
      return real.write(folder, pid);
    },
  };
  expect(writeIn(files, dir, process.pid)).toEqual({ kind: 'written' });
  expect(readdirSync(dir)).toHaveLength(1);
});
