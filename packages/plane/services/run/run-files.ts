// Writes files that describe the run, before the agent starts: some clients pass no environment to their
// servers, so shims look the run up there.

import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { type Snapshot, sealSnapshot } from '@subluminal/core/policy';
import { sha256 } from '../../os/crypto/index.ts';
import {
  codeOrText,
  ensurePrivateFolder,
  hasSystemCode,
  type System,
  thisSystem,
  writePrivateFile,
} from '../../os/index.ts';
import { dropShimFiles, dropStaleFiles, livingProcesses } from '../../stores/identity/index.ts';
import { loadPolicy } from '../../stores/policy/watch-policy.ts';
import {
  type AgentFiles,
  type AgentFileWrite,
  agentFiles,
  fallbackRunDir,
} from '../../stores/runs/agent-file.ts';
import { POLICY_COPY_HASH_VAR, POLICY_COPY_VAR } from '../../stores/runs/env-vars.ts';
import type { RunOptions } from './options.ts';

export interface RunFiles {
  /** Also under the agent itself, which goes on when this process is killed. */
  addAgent(pid: number): void;
  remove(): void;
}

const ATTEMPTS_MAX = 100;
/** A home that cannot be written to at all is some people's wish; a full disk is nobody's. */
const READ_ONLY: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM']);

export function writeRunDown(options: RunOptions, env: NodeJS.ProcessEnv): RunFiles | Failure {
  const { paths, tell } = options;
  const files = agentFiles(env);
  if (files === undefined) {
    const message = 'the SUB_* variables of this run are longer than its shims read.';
    return failure('SUB_USAGE', message, 'Move settings to config.toml.');
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
    return failure('SUB_FILE_WRITE', message, 'Free some space, or check the permissions.');
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
      // Shims that were killed have left theirs.
      for (const dir of dirs) dropShimFiles(dir, env['SUB_RUN_ID'] ?? '');
      if (fallback !== undefined) removeEmpty(fallback);
    },
  };
}

/** The end of another run may take the folder away before there is anything in it. */
export function writeIn(files: AgentFiles, dir: string, pid: number): AgentFileWrite {
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
  tell(`${unfound()}: ${problem.message} ${problem.fix}`);
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

/**
 * The policy that a run began with, kept for its shims: changing the file of the policy and starting a
 * server again gives no other policy. The shims get the hash of the copy beside its path.
 */
export interface PolicyCopy {
  /** Variables for the shims of the run. */
  readonly env: NodeJS.ProcessEnv;
  remove(): void;
}

/** Named after its run, and after the space in which the numbers of processes mean something. */
const NAME =
  /^policy-([0-9a-f]{16})-(none|[0-9a-f]{8}-\d{1,20})-[0-9a-f]{8}\.json(\.[0-9a-f]{12}\.draft)?$/;
const COPIES_MAX = 500;
/** One that is being written has no run to be seen yet. */
const YOUNG_MS = 60_000;
/** Of a run that only another container can see. */
const UNSEEN_KEPT_MS = 30 * 24 * 60 * 60_000;

/** Without a policy there is nothing to keep; variables of an outer run are unset. */
export function keepPolicy(options: RunOptions, runId: string): PolicyCopy | Failure {
  const { snapshot, paths, config } = options;
  const nothing = { [POLICY_COPY_VAR]: undefined, [POLICY_COPY_HASH_VAR]: undefined };
  if (snapshot === null) return { env: nothing, remove: () => {} };
  const system = thisSystem();
  const path = join(paths.run, copyName(runId, system));
  try {
    writeCopy(path, copyText(snapshot, options));
  } catch (cause) {
    const code = codeOrText(cause);
    const message = `the policy of the run cannot be kept for its servers: ${path} (${code}).`;
    return failure('SUB_FILE_WRITE', message, 'Free some space, or check the permissions.');
  }
  return {
    env: {
      [POLICY_COPY_VAR]: path,
      [POLICY_COPY_HASH_VAR]: snapshot.ref.policy_hash,
      // A later change of config.toml must not undo the purpose of the copy.
      SUB_POLICY_RELOAD: config['policy.reload'],
      SUB_PROFILE: config.profile,
    },
    remove: () => rmSync(path, { force: true }),
  };
}

/** A run without a policy decides nothing, like a shim without one. */
export async function snapshotOf({ snapshot, config }: RunOptions): Promise<Snapshot> {
  if (snapshot !== null) return snapshot;
  const loaded = await loadPolicy([], config.profile);
  if (isFailure(loaded)) throw new Error(loaded.message);
  return loaded.snapshot;
}

function copyName(runId: string, system: System): string {
  return `policy-${markOf(runId)}-${system.space?.() ?? 'none'}-${system.uuid().slice(0, 8)}.json`;
}

function markOf(runId: string): string {
  return sha256(runId).slice(0, 16);
}

/** The end of another run may have taken the folder away. */
function writeCopy(path: string, text: string): void {
  // It is of no use after the end of the run, so it need not outlive a power failure.
  const write = (): void => writePrivateFile(path, text, { isLasting: false });
  try {
    write();
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT')) throw cause;
    ensurePrivateFolder(join(path, '..'));
    write();
  }
}

/** With the hashes of the files it came from, so that a shim need not read that one when it is the same. */
function copyText(
  snapshot: Snapshot,
  { told, policyHashes }: Pick<RunOptions, 'told' | 'policyHashes'>,
): string {
  const named = told.isPolicyNamed === true;
  const sealed = sealSnapshot(snapshot);
  return `${JSON.stringify({ source_sha256s: policyHashes, named, sealed })}\n`;
}

/** Removes the copies of runs that were killed, once nothing of them lives. */
export function dropStaleCopies(
  runDir: string,
  nowMs: number,
  system: System = thisSystem(),
): void {
  const here = system.space?.() ?? 'none';
  const old = readdirSync(runDir).flatMap((name) => {
    const [, run = '', space] = NAME.exec(name) ?? [];
    if (space === undefined) return [];
    const stats = lstatSync(join(runDir, name), { throwIfNoEntry: false });
    const keptMs = space === here ? YOUNG_MS : UNSEEN_KEPT_MS;
    if (stats === undefined || nowMs - stats.mtimeMs < keptMs) return [];
    return [{ path: join(runDir, name), run, isHere: space === here }];
  });
  // Which runs live takes many times as long to find out.
  const processes = old.length === 0 ? undefined : livingProcesses(runDir, system);
  // It is unknown which runs live.
  if (processes === undefined) return;
  const living = new Set(processes.map(({ runId }) => markOf(runId)));
  for (const { path, run, isHere } of old.slice(0, COPIES_MAX)) {
    if (!isHere || !living.has(run)) rmSync(path, { force: true });
  }
}
