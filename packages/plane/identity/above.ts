// Whether a command was started by an agent whose servers are governed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentFileName } from './agent-files.ts';
import { clientOf } from './agent-process.ts';
import { type ProcessInfo, processInfo } from './process-info.ts';
import type { System } from './system.ts';

const ANCESTORS_MAX = 64;

/**
 * The known agent client among the processes above this one that has governed servers. Others that
 * have some may be a person's own shell or editor.
 */
function agentAbove(runDir: string, system: System): ProcessInfo | undefined {
  let info = processInfo(system.ppid, system);
  for (let level = 0; level < ANCESTORS_MAX && info !== undefined; level++) {
    const isGoverned = existsSync(join(runDir, agentFileName(info)));
    if (isGoverned && clientOf(info) !== 'unknown') return info;
    info = info.ppid > 1 ? processInfo(info.ppid, system) : undefined;
  }
  return undefined;
}

export { agentAbove };
