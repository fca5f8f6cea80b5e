// Some clients start their servers with almost no environment. For them the run is written down
// under the processes of `sub run` and of the agent, where a shim without variables finds it:
// in the home of the run, and in the home that is found from HOME alone.
import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import {
  attempt,
  codeOrText,
  errorText,
  ownerProblem,
  parseJson,
  processInfo,
  type System,
  subCommand,
  thisSystem,
  withAncestors,
  writePrivateFile,
} from '../../os/index.ts';
import { homePaths } from '../config/index.ts';
import { AGENT_FILE_BYTES_MAX, agentFileName, readAgentFile } from '../identity/index.ts';
import { type RunEnv, runVariables } from './env-vars.ts';

export type { RunEnv } from './env-vars.ts';

export type AgentFileWrite =
  | { readonly kind: 'written' }
  /** The system does not tell when a process has started, or the process is gone. */
  | { readonly kind: 'unknown_process' }
  | { readonly kind: 'failed'; readonly path: string; readonly code: string };

const HOSTS: ReadonlySet<string> = new Set(['run', 'wrap']);

export interface AgentFiles {
  /** Writes the run down for one process more, whole or not at all. */
  write(dir: string, pid: number): AgentFileWrite;
  /** Removes all that was written. */
  remove(): void;
}

/** Undefined when there is more to tell than readers take. */
export function agentFiles(env: RunEnv, system: System = thisSystem()): AgentFiles | undefined {
  const run = { run_id: env['SUB_RUN_ID'], space: system.space?.(), env: runVariables(env) };
  const text = `${JSON.stringify(run)}\n`;
  if (Buffer.byteLength(text) > AGENT_FILE_BYTES_MAX) return undefined;
  const paths = new Set<string>();
  return {
    write(dir, pid) {
      const info = processInfo(pid, system);
      if (info === undefined) return { kind: 'unknown_process' };
      const path = join(dir, agentFileName(info));
      try {
        // It is named after a process of this boot.
        writePrivateFile(path, text, { isLasting: false });
        paths.add(path);
        return { kind: 'written' };
      } catch (cause) {
        return { kind: 'failed', path, code: codeOrText(cause) };
      }
    },
    remove() {
      for (const path of paths) rmSync(path, { force: true });
    },
  };
}

interface FoundRun {
  readonly env: RunEnv;
  /** Why the file of the run cannot be used: the run may have a policy that this shim does not know. */
  readonly problem?: string;
}

/** The environment of a shim, with the variables of its agent's run where it has none. */
export function withAgentFile(env: RunEnv, system: System = thisSystem()): FoundRun {
  const given = env['SUB_RUN_ID'];
  if (given && env['SUB_GOVERNANCE_ENDPOINT']) return { env };
  const own = homePaths(env).run;
  const dirs = [...new Set([own, fallbackRunDir(env)])].filter(isPrivate);
  if (dirs.length === 0) return { env };
  for (const info of withAncestors(system.ppid, system)) {
    const name = agentFileName(info);
    for (const path of dirs.map((dir) => join(dir, name))) {
      const run = readRunEnv(path);
      if (run === undefined) continue;
      if (typeof run === 'string') return { env, problem: run };
      // A shim that was given another run than its ancestors belongs to the given one.
      return given && given !== run['SUB_RUN_ID'] ? { env } : { env: { ...run, ...setIn(env) } };
    }
  }
  return { env };
}

/** The variables of the run that `sub run` or `sub wrap` has started a process in; undefined outside of one. */
export function runOfProcess(
  pid: number,
  env: RunEnv,
  system: System = thisSystem(),
): RunEnv | undefined {
  const info = processInfo(pid, system);
  // The host itself speaks for others: what it sends is on record as theirs.
  if (info === undefined || HOSTS.has(subCommand(info.args) ?? '')) return undefined;
  const places = { HOME: env['HOME'], SUB_HOME: env['SUB_HOME'] };
  const { env: found } = withAgentFile(places, { ...system, ppid: pid });
  return found['SUB_RUN_ID'] ? found : undefined;
}

/** The folder that a shim finds without SUB_HOME. */
export function fallbackRunDir(env: RunEnv): string {
  return homePaths({ HOME: env['HOME'] }).run;
}

/** Empty variables count as unset, as everywhere. */
function setIn(env: RunEnv): RunEnv {
  return Object.fromEntries(Object.entries(env).filter(([, word]) => word !== ''));
}

/** A folder that others can write to is not believed: `sub run` does not write there either. */
function isPrivate(dir: string): boolean {
  const stats = attempt(() => lstatSync(dir));
  return stats?.isDirectory() === true && ownerProblem(stats) === undefined;
}

/** Undefined without a file, and for the file of a run that no process hosts; a text is a problem. */
function readRunEnv(path: string): RunEnv | string | undefined {
  let text: string | undefined;
  try {
    text = readAgentFile(path);
  } catch (cause) {
    return `${path}, which tells of the run, cannot be read (${errorText(cause)})`;
  }
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (!isObject(value) || typeof value['run_id'] !== 'string') return damaged(path);
  const env = value['env'];
  if (env === undefined) return undefined;
  return isObject(env) && typeof env['SUB_RUN_ID'] === 'string' ? runVariables(env) : damaged(path);
}

function damaged(path: string): string {
  return `${path}, which tells of the run, is damaged. End the agent and start it again; if no \`sub run\` has started it, remove the file`;
}
