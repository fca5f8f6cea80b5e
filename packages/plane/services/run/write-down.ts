// Writes the run down for those of its shims that are told nothing, before the agent starts.
import { rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { thisSystem } from '../../os/index.ts';
import { ensurePrivateFolder } from '../../stores/config/index.ts';
import { dropStaleFiles } from '../../stores/identity/index.ts';
import {
  type AgentFiles,
  agentFiles,
  fallbackRunDir,
  type Written,
} from '../../stores/runs/agent-file.ts';
import { type Refused, type RunOptions, refused } from './options.ts';
import { dropStaleCopies } from './policy-copy.ts';

export interface WrittenDown {
  /** Also under the agent itself, which goes on when this process is killed. */
  addAgent(pid: number): void;
  remove(): void;
}

const ATTEMPTS_MAX = 100;
/** A home that cannot be written to at all is some people's wish; a full disk is nobody's. */
const READ_ONLY: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM']);

export function writeRunDown(options: RunOptions, env: NodeJS.ProcessEnv): WrittenDown | Refused {
  const { paths, tell } = options;
  const files = agentFiles(env);
  if (files === undefined) {
    const message = 'the SUB_* variables of this run are longer than its shims read.';
    return refused('SUB_USAGE', message, 'Move settings to config.toml.');
  }
  const fallback = fallbackOf(options);
  const dirs = [paths.run, ...(fallback === undefined ? [] : [fallback])];
  for (const dir of dirs) {
    const written = writeIn(files, dir, process.pid);
    if (written.kind === 'written') continue;
    if (written.kind === 'unknown_process') {
      tell('the system tells nothing of its processes: only servers that inherit SUB_* are found.');
      break;
    }
    const { path, code } = written;
    if (dir === fallback && READ_ONLY.has(code)) {
      tell(`${unfound()}: ${dir} cannot be written to (${code}).`);
      continue;
    }
    files.remove();
    const message = `the run cannot be written down for its servers: ${path} (${code}).`;
    return refused('SUB_FILE_WRITE', message, 'Free some space, or check the permissions.');
  }
  return {
    addAgent: (pid) => {
      for (const dir of dirs) {
        const written = writeIn(files, dir, pid);
        if (written.kind === 'failed' && !READ_ONLY.has(written.code)) {
          tell(
            `${written.path} cannot be written (${written.code}): the run is found only while this process lives.`,
          );
        }
      }
    },
    remove: () => {
      files.remove();
      if (fallback !== undefined) removeEmpty(fallback);
    },
  };
}

/** The end of another run may take the folder away before there is anything in it. */
export function writeIn(files: AgentFiles, dir: string, pid: number): Written {
  for (let attempt = 1; ; attempt++) {
    const written = files.write(dir, pid);
    if (written.kind !== 'failed' || written.code !== 'ENOENT') return written;
    if (attempt === ATTEMPTS_MAX) return written;
    ensurePrivateFolder(dirname(dir));
    ensurePrivateFolder(dir);
  }
}

/** Folders that were made for this run alone go with it; those with anything in them stay. */
function removeEmpty(runDir: string): void {
  try {
    rmdirSync(runDir);
    rmdirSync(dirname(runDir));
  } catch {
    // Somebody else needs them.
  }
}

/** The folder that is found without SUB_HOME, where that is another one and can be used. */
function fallbackOf({ env, paths, tell }: RunOptions): string | undefined {
  const dir = fallbackRunDir(env);
  if (dir === paths.run) return undefined;
  const problem = ensurePrivateFolder(dirname(dir)) ?? ensurePrivateFolder(dir);
  if (problem === undefined) return dir;
  tell(`${unfound()}: ${problem.where} ${problem.message}. ${problem.fix}`);
  return undefined;
}

function unfound(): string {
  return 'a client that hides SUB_HOME from its servers hides this run from them';
}

/** What runs that were killed have left behind; nobody waits for it. */
export function dropOldFiles({ env, paths }: RunOptions): void {
  for (const runDir of new Set([paths.run, fallbackRunDir(env)])) {
    try {
      dropStaleFiles({ runDir, system: thisSystem(), nowMs: Date.now() });
      dropStaleCopies(runDir, Date.now());
    } catch {
      // It is there for the next one.
    }
  }
}
