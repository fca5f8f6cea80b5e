// Some clients start their servers with almost no environment. For them the run is written down
// under the processes of `sub run` and of the agent, where a shim that was told nothing finds it:
// in the home of the run, and in the home that is found from HOME alone.
import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import {
  ownerProblem,
  processInfo,
  type System,
  thisSystem,
  writePrivateFile,
} from '../../os/index.ts';
import { homePaths } from '../config/index.ts';
import { AGENT_FILE_BYTES_MAX, agentFileName, readAgentFile } from '../identity/index.ts';
import { RUN_ENV_VARS, TOKEN_VAR } from './env-vars.ts';

type Env = { readonly [name: string]: string | undefined };

const TOLD: readonly string[] = [...RUN_ENV_VARS, TOKEN_VAR];
const ANCESTORS_MAX = 64;

export type Written =
  | { readonly kind: 'written' }
  /** The system does not tell when a process has started, or the process is gone. */
  | { readonly kind: 'unknown_process' }
  | { readonly kind: 'failed'; readonly path: string; readonly code: string };

export interface AgentFiles {
  /** Writes the run down for one process more, whole or not at all. */
  write(dir: string, pid: number): Written;
  /** Removes all that was written. */
  remove(): void;
}

/** Undefined when there is more to tell than readers take. */
export function agentFiles(env: Env, system: System = thisSystem()): AgentFiles | undefined {
  const told = TOLD.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  const run = { run_id: env['SUB_RUN_ID'], space: system.space?.(), env: Object.fromEntries(told) };
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
        const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
        return { kind: 'failed', path, code };
      }
    },
    remove() {
      for (const path of paths) rmSync(path, { force: true });
    },
  };
}

interface Found {
  readonly env: Env;
  /** There is a file, but nobody knows what it says: the run may have a policy that we do not have. */
  readonly problem?: string;
}

/** The environment of a shim, with what its agent's run has told where nothing else did. */
export function withAgentFile(env: Env, system: System = thisSystem()): Found {
  const given = env['SUB_RUN_ID'];
  if (given && env['SUB_GOVERNANCE_ENDPOINT']) return { env };
  const own = homePaths(env).run;
  const dirs = [...new Set([own, fallbackRunDir(env)])].filter(isPrivate);
  let info = dirs.length === 0 ? undefined : processInfo(system.ppid, system);
  for (let level = 0; level < ANCESTORS_MAX && info !== undefined; level++) {
    const name = agentFileName(info);
    for (const path of dirs.map((dir) => join(dir, name))) {
      const told = readTold(path);
      if (told === undefined) continue;
      if (typeof told === 'string') return { env, problem: told };
      // A shim that was given another run than its ancestors is of that one.
      return given && given !== told['SUB_RUN_ID'] ? { env } : { env: { ...told, ...setIn(env) } };
    }
    info = info.ppid > 1 ? processInfo(info.ppid, system) : undefined;
  }
  return { env };
}

/** The folder that a shim finds without SUB_HOME. */
export function fallbackRunDir(env: Env): string {
  return homePaths({ HOME: env['HOME'] }).run;
}

/** Empty variables count as unset, as everywhere. */
function setIn(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([, word]) => word !== ''));
}

/** What others may write to says nothing: `sub run` does not write there either. */
function isPrivate(dir: string): boolean {
  try {
    const stats = lstatSync(dir);
    return stats.isDirectory() && ownerProblem(stats) === undefined;
  } catch {
    return false;
  }
}

/** Undefined without a file and for the file of a shim, which nobody hosts; a text says what is wrong. */
function readTold(path: string): Env | string | undefined {
  try {
    const text = readAgentFile(path);
    if (text === undefined) return undefined;
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || typeof value['run_id'] !== 'string') return damaged(path);
    const told = value['env'];
    if (told === undefined) return undefined;
    if (!isObject(told) || typeof told['SUB_RUN_ID'] !== 'string') return damaged(path);
    const words = TOLD.flatMap((name) => {
      const word = told[name];
      return typeof word === 'string' ? [[name, word] as const] : [];
    });
    return Object.fromEntries(words);
  } catch (cause) {
    if (cause instanceof SyntaxError) return damaged(path);
    return `${path}, which tells of the run, cannot be read (${cause instanceof Error ? cause.message : String(cause)})`;
  }
}

function damaged(path: string): string {
  return `${path}, which tells of the run, is damaged. End the agent and start it again; if no \`sub run\` has started it, remove the file`;
}
