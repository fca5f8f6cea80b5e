import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processInfo, thisSystem } from '../../os/index.ts';
import { livingRuns } from './home-contents.ts';

const SPACE = thisSystem().space?.();
const HERE = processInfo(process.pid);
/** The name that the files of this process have, which lives. */
const LIVING = `${HERE?.pid}-${HERE?.start}`;
const DEAD = '2000000000-1';

let run = '';
beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), 'sub-run-'));
});
afterEach(() => rmSync(run, { recursive: true, force: true }));

function onFile(name: string, runId: string, space = SPACE): void {
  writeFileSync(join(run, name), JSON.stringify({ run_id: runId, space }));
}

function found(): readonly unknown[] | undefined {
  return livingRuns({ run })?.map(({ runId, processes }) => [
    runId,
    processes.map(({ pid, isHere }) => (isHere ? pid : 'elsewhere')),
  ]);
}

describe('the runs that are alive', () => {
  test('are those with a living agent, or a living shim whose agent is gone', () => {
    onFile(`agent-${LIVING}.json`, 'hosted');
    onFile(`agent-${LIVING}.run-0123456789abcdef.json`, 'own-id');
    onFile(`agent-${DEAD}.json`, 'orphaned');
    onFile(`agent-${DEAD}.shim-${LIVING}.json`, 'orphaned');
    onFile(`agent-${DEAD}.run-0123456789abcdef.json`, 'over');
    expect(found()?.toSorted()).toEqual([
      ['hosted', [process.pid]],
      ['orphaned', [process.pid]],
      ['own-id', [process.pid]],
    ]);
  });

  test('are also those of another container with this home', () => {
    onFile('agent-7-1.json', 'contained', `${SPACE?.slice(0, 8)}-1`);
    expect(found()).toEqual([['contained', ['elsewhere']]]);
  });

  test('are found in a folder with many files', () => {
    for (let pid = 0; pid < 600; pid++) onFile(`agent-${2_000_000_000 + pid}-1.json`, `${pid}`);
    onFile(`agent-${LIVING}.json`, 'hosted');
    expect(found()).toEqual([['hosted', [process.pid]]]);
  });

  test('are none without a run folder', () => {
    rmSync(run, { recursive: true });
    expect(found()).toEqual([]);
  });

  test('are unknown when a file cannot be read', () => {
    mkdirSync(join(run, `agent-${DEAD}.json`));
    expect(found()).toBeUndefined();
  });
});
