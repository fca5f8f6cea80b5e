// The policy that a run began with, kept for its shims: who can write the file of the policy gets no
// other one by starting a server again. The copy says nothing about itself that counts; its hash is
// told beside its path.
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Snapshot, sealSnapshot } from '@subluminal/core/policy';
import { sha256, sha256Bytes } from '../../os/crypto/index.ts';
import {
  hasSystemCode,
  processInfo,
  type System,
  thisSystem,
  writePrivateFile,
} from '../../os/index.ts';
import { ensurePrivateFolder } from '../../stores/config/index.ts';
import { POLICY_COPY_HASH_VAR, POLICY_COPY_VAR } from '../../stores/runs/env-vars.ts';
import { fileHash } from '../../stores/runs/file-hash.ts';
import { livingRuns } from '../../stores/runs/living-agents.ts';
import { type Refused, type RunOptions, refused } from './options.ts';

export interface PolicyCopy {
  /** What the shims of the run are told of it. */
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

/** Without a policy there is nothing to keep, and what an outer run has told does not count here. */
export function keepPolicy(options: RunOptions, runId: string): PolicyCopy | Refused {
  const { snapshot, paths, config } = options;
  const nothing = { [POLICY_COPY_VAR]: undefined, [POLICY_COPY_HASH_VAR]: undefined };
  if (snapshot === null) return { env: nothing, remove: () => {} };
  const system = thisSystem();
  const path = join(paths.run, copyName(runId, system));
  try {
    writeCopy(path, textOf(snapshot, options));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const message = `the policy of the run cannot be kept for its servers: ${path} (${code}).`;
    return refused('SUB_FILE_WRITE', message, 'Free some space, or check the permissions.');
  }
  return {
    env: {
      [POLICY_COPY_VAR]: path,
      [POLICY_COPY_HASH_VAR]: snapshot.ref.policy_hash,
      // What config.toml says later must not undo what the copy is for.
      SUB_POLICY_RELOAD: config['policy.reload'],
      SUB_PROFILE: config.profile,
    },
    remove: () => rmSync(path, { force: true }),
  };
}

function copyName(runId: string, system: System): string {
  return `policy-${markOf(runId)}-${system.space?.() ?? 'none'}-${system.uuid().slice(0, 8)}.json`;
}

function markOf(runId: string): string {
  return sha256(runId).slice(0, 16);
}

/** The end of another run may have taken the folder away. */
function writeCopy(path: string, text: string): void {
  try {
    writePrivateFile(path, text);
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT')) throw cause;
    ensurePrivateFolder(join(path, '..'));
    writePrivateFile(path, text);
  }
}

/** With the hashes of the files it came from, so that a shim need not read that one when it is the same. */
function textOf(
  snapshot: Snapshot,
  { told, policySources }: Pick<RunOptions, 'told' | 'policySources'>,
): string {
  const source_sha256s = policySources.map(({ path, bytes }) => {
    return bytes === undefined ? (fileHash(path) ?? null) : sha256Bytes(bytes);
  });
  const named = told.isPolicyNamed === true;
  return `${JSON.stringify({ source_sha256s, named, sealed: sealSnapshot(snapshot) })}\n`;
}

/** Removes the copies of runs that were killed, once nothing of them lives. */
export function dropStaleCopies(
  runDir: string,
  nowMs: number,
  system: System = thisSystem(),
): void {
  // Who cannot see processes does not know which runs live.
  if (processInfo(system.pid, system) === undefined) return;
  const living = new Set([...livingRuns(runDir, system)].map(markOf));
  const here = system.space?.() ?? 'none';
  for (const name of readdirSync(runDir).slice(0, COPIES_MAX)) {
    const [, run = '', space] = NAME.exec(name) ?? [];
    if (space === undefined || (space === here && living.has(run))) continue;
    const stats = lstatSync(join(runDir, name), { throwIfNoEntry: false });
    const keptMs = space === here ? YOUNG_MS : UNSEEN_KEPT_MS;
    if (stats === undefined || nowMs - stats.mtimeMs < keptMs) continue;
    rmSync(join(runDir, name), { force: true });
  }
}
