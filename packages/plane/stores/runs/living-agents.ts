// The agents that go on although the `sub` that started them is gone.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { processInfo, type System, thisSystem } from '../../os/index.ts';
import { readAgentFile } from '../identity/index.ts';

const NAME = /^agent-(\d{1,10})-([A-Za-z0-9-]{1,64})\.json$/;
const ENTRIES_MAX = 500;

/** By what was written down of the run when they were started. */
export function livingAgents(
  runDir: string,
  runId: string,
  system: System = thisSystem(),
): readonly number[] {
  return livingIn(runDir, system).flatMap(({ pid, run }) => (run === runId ? [pid] : []));
}

/** The runs of which a process lives: their host, or an agent. */
export function livingRuns(runDir: string, system: System = thisSystem()): ReadonlySet<string> {
  return new Set(livingIn(runDir, system).map(({ run }) => run));
}

interface Living {
  readonly pid: number;
  readonly run: string;
}

function livingIn(runDir: string, system: System): readonly Living[] {
  return namesIn(runDir).flatMap((name) => {
    const [, pid, start] = NAME.exec(name) ?? [];
    if (pid === undefined) return [];
    const info = processInfo(Number(pid), system);
    // One that has ended, but was not collected yet, has no command line any more.
    if (info?.start !== start || info?.args.join('') === '') return [];
    const run = runIn(join(runDir, name));
    return typeof run === 'string' ? [{ pid: Number(pid), run }] : [];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, ENTRIES_MAX);
  } catch {
    return [];
  }
}

function runIn(path: string): unknown {
  try {
    const value: unknown = JSON.parse(readAgentFile(path) ?? 'null');
    return isObject(value) ? value['run_id'] : undefined;
  } catch {
    return undefined;
  }
}
