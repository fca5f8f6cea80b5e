// The run that this shim belongs to. `sub run` says it; without, the shims that one agent process
// starts agree on one through a file named after that process.
import { readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentProcess } from './agent-process.ts';
import { createOnce } from './create-once.ts';
import { processInfo } from './process-info.ts';
import type { System } from './system.ts';

interface RunId {
  readonly id: string;
  /** `given` by SUB_RUN_ID, `created` here, `joined` from another shim, or `alone` without a file. */
  readonly origin: 'given' | 'created' | 'joined' | 'alone';
}

interface RunIdOptions {
  readonly given: string | undefined;
  readonly agent: AgentProcess | undefined;
  /** Where sockets and such files are. */
  readonly runDir: string;
  readonly system: System;
  readonly nowMs: number;
  readonly warn: (text: string) => void;
}

const FILE = /^agent-(\d{1,10})-([A-Za-z0-9-]{1,64})\.json$/;
const ID = /^[\x21-\x7e]{1,256}$/;
const FILES_MAX = 500;
/** Another container with the same home may not see the process, but it still lives. */
const KEPT_MS = 60 * 60_000;

function runIdOf(options: RunIdOptions): RunId {
  const { given, agent, system, runDir, warn } = options;
  if (given !== undefined) return { id: given, origin: 'given' };
  const fresh = system.uuidByTime();
  if (agent === undefined) return { id: fresh, origin: 'alone' };
  const { pid, start } = agent.process;
  const path = join(runDir, `agent-${pid}-${start}.json`);
  try {
    const text = `${JSON.stringify({ run_id: fresh })}\n`;
    const once = createOnce(path, text, system.uuid());
    const id = readId(once.text);
    if (id === undefined) {
      warn(`${path} names no run; this server has a run of its own. Remove the file.`);
      return { id: fresh, origin: 'alone' };
    }
    if (once.isOurs) dropStale(options);
    return { id, origin: once.isOurs ? 'created' : 'joined' };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    warn(`the servers of this agent cannot share a run: ${reason}. Check SUB_HOME.`);
    return { id: fresh, origin: 'alone' };
  }
}

function readId(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('run_id' in value)) return undefined;
    const { run_id: id } = value;
    return typeof id === 'string' && ID.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the files of agents that are gone. */
function dropStale({ runDir, system, nowMs }: RunIdOptions): void {
  for (const name of readdirSync(runDir).slice(0, FILES_MAX)) {
    const [, pid, start] = FILE.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = join(runDir, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || nowMs - stats.mtimeMs < KEPT_MS) continue;
    if (processInfo(Number(pid), system)?.start === start) continue;
    try {
      unlinkSync(path);
    } catch {
      // Another shim was quicker.
    }
  }
}

export type { RunId };
export { runIdOf };
