// The agents that go on although the `sub` that started them is gone.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { processInfo, readAgentFile, type System, thisSystem } from '../../identity/index.ts';

const NAME = /^agent-(\d{1,10})-([A-Za-z0-9-]{1,64})\.json$/;
const ENTRIES_MAX = 500;

/** By what was written down of the run when they were started. */
function livingAgents(
  runDir: string,
  runId: string,
  system: System = thisSystem(),
): readonly number[] {
  return namesIn(runDir).flatMap((name) => {
    const [, pid, start] = NAME.exec(name) ?? [];
    if (pid === undefined || runIn(join(runDir, name)) !== runId) return [];
    const info = processInfo(Number(pid), system);
    // One that has ended, but was not collected yet, has no command line any more.
    return info?.start === start && info?.args.join('') !== '' ? [Number(pid)] : [];
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

export { livingAgents };
