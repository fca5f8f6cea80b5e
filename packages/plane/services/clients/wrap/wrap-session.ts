// The configs of an agent while it runs under `sub wrap`: rewritten when the hub is up, put back
// when the agent and its shims have ended for any reason.

import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { ensurePrivateFolder } from '../../../os/index.ts';
import { fallbackRunDir } from '../../../stores/runs/agent-file.ts';
import { readWrapFile, removeWrapFile, writeWrapFile } from '../../../stores/runs/wrap-file.ts';
import type { RunSession } from '../../run/options.ts';
import { storeAt, withCode } from '../inspect/adoption-place.ts';
import { createRewrite } from '../setup/plan-rewrite.ts';
import { missingEntriesText } from '../setup/repair.ts';
import { type AppliedChange, applyChange } from '../store/apply-change.ts';
import { type ChangeStore, type ConfigLock, thisProcess } from '../store/change-store.ts';
import { keepChange, restoreLocked } from '../store/restore-config.ts';
import { besideSession, type WrapFilePlan, type WrapOptions, type WrapPlan } from './plan-wrap.ts';

interface WrapSession extends RunSession {
  /** How long the agent ran; undefined when it was never started. */
  readonly agentMs: () => number | undefined;
  /** Whether every config is as it should be after the end. */
  readonly isRestored: () => boolean;
}

/** Every step is synchronous, so that a dying process can still restore the configs completely. */
export function wrapSession(plan: WrapPlan, options: WrapOptions): WrapSession {
  const { run } = options;
  const store = storeAt(run.paths);
  const rewritten: AppliedChange[] = [];
  const runDirs: string[] = [];
  let begunMs: number | undefined;
  let agentMs: number | undefined;
  let isRestored = true;
  const putBack = (): void => {
    for (const one of rewritten.splice(0).toReversed()) {
      if (!endOne(one, options, store)) isRestored = false;
      one.lock?.release();
    }
    for (const dir of runDirs.splice(0)) {
      forgetSession(dir, plan.id);
      dropStaleWraps(dir, Date.now());
    }
  };
  return {
    async begin(told) {
      const owner = thisProcess(store);
      if (owner === undefined) return noProcesses();
      onLastChance(putBack);
      const { env } = told;
      const token = run.listen?.token ?? env['SUB_GOVERNANCE_TOKEN'];
      const isClosed = !plan.client.hasWindow;
      const file = { id: plan.id, env, owner, isClosed, ...(token && { token }) };
      const problem = writeSessionFiles(file, run, runDirs);
      if (problem !== undefined) return problem;
      for (const each of plan.files) {
        const one = rewriteOne(each, plan.id, store);
        if (isFailure(one)) return besideSession(one, plan.client, run);
        for (const warning of one.warnings) run.tell(warning);
        rewritten.push(one);
      }
      begunMs = performance.now();
      return undefined;
    },
    async end() {
      if (begunMs !== undefined) agentMs ??= performance.now() - begunMs;
      putBack();
    },
    agentMs: () => agentMs,
    isRestored: () => isRestored,
  };
}

function noProcesses(): Failure {
  const message = 'the system does not tell when this process has started.';
  const fix = 'On Linux /proc must be mounted, elsewhere `ps` must work.';
  return failure('SUB_CLIENT_WRITE', message, fix);
}

/**
 * Writes the file that the shims of the session read: in the home, and in the one that is found
 * without SUB_HOME, as far as that can be written. Adds the folders that have it.
 */
function writeSessionFiles(
  file: Parameters<typeof writeWrapFile>[1],
  { paths, env }: WrapOptions['run'],
  runDirs: string[],
): Failure | undefined {
  for (const dir of new Set([paths.run, fallbackRunDir(env)])) {
    // The folder of the home was looked at when the run began.
    if (dir !== paths.run && ensurePrivateFolder(dir) !== undefined) continue;
    try {
      writeWrapFile(dir, file);
      runDirs.push(dir);
    } catch (cause) {
      if (dir !== paths.run) continue;
      const words = cause instanceof Error ? cause.message : String(cause);
      const message = `the session cannot be written down for its servers: ${words}.`;
      return failure('SUB_FILE_WRITE', message, 'Free some space, or check the permissions.');
    }
  }
  return undefined;
}

function forgetSession(dir: string, id: string): void {
  try {
    removeWrapFile(dir, id);
  } catch {
    // It names a process that is about to end; nobody uses it then.
  }
}

function rewriteOne(
  { found, chosen, loose, call }: WrapFilePlan,
  wrapId: string,
  store: ChangeStore,
): AppliedChange | Failure {
  const { client, file, config } = found;
  const current = { ...config, entries: [] };
  const result = applyChange({
    ...store,
    file,
    kind: 'wrap',
    // What a dead session has left is taken out, not taken over.
    rewrite: createRewrite({ client, file, current, chosen, loose, call }),
    wrapId,
  });
  return result.kind === 'failure' ? withCode('SUB_CLIENT_WRITE', result) : result;
}

/** False when the config is not what it should be; then a message says what to do. */
function endOne(one: AppliedChange, options: WrapOptions, store: ChangeStore): boolean {
  const { lock } = one;
  if (one.kind === 'unchanged' || lock === undefined) return true;
  const { run, restores } = options;
  const { path } = one;
  const tell = ({ message, fix }: Pick<Failure, 'message' | 'fix'>): false => {
    run.tell(`${path} was not put back: ${message} ${fix} [SUB_CLIENT_RESTORE]`);
    return false;
  };
  try {
    const problem = restores ? restoreOne(path, lock, { run, store }) : keepChange(lock, store);
    return problem === undefined || tell(problem);
  } catch (cause) {
    const message = `${cause instanceof Error ? cause.message : String(cause)}.`;
    const fix = `The config as it was is in ${one.backup}; \`sub unwrap\` tries again.`;
    return tell({ message, fix });
  }
}

function restoreOne(
  path: string,
  lock: ConfigLock,
  { run, store }: Pick<WrapOptions, 'run'> & { readonly store: ChangeStore },
): Pick<Failure, 'message' | 'fix'> | undefined {
  const result = restoreLocked(lock, path, store);
  if (result.kind === 'failure') return result;
  if (result.kind === 'none') run.tell(`${path} was put back by somebody else meanwhile.`);
  if (result.kind === 'restored' && result.how === 'merged') {
    run.tell(`${path} was changed by another program meanwhile: only our changes were undone.`);
  }
  const lost = result.kind === 'none' ? undefined : missingEntriesText(result);
  if (lost !== undefined) run.tell(lost);
  return undefined;
}

const EXIT_INTERNAL = 70;

/** A process that crashes or is made to exit restores the configs first. */
function onLastChance(putBack: () => void): void {
  process.once('exit', putBack);
  process.once('uncaughtException', () => {
    putBack();
    // Without its hub nothing is governed any more: the shims notice that, and end.
    process.exit(EXIT_INTERNAL);
  });
}

// Files that killed sessions have left in the folder of runs.

/** With an ending of its own while it is being written. */
const NAME = /^wrap-([a-z0-9-]{1,64})\.json(\.[0-9a-f-]{36})?$/;
/** A file that is being written is less than a minute old. */
const DRAFT_MS = 60_000;
const ENTRIES_MAX = 500;

/** Removes the files of sessions whose owner is gone; a failure is ignored. */
export function dropStaleWraps(runDir: string, nowMs: number): void {
  for (const name of namesIn(runDir)) {
    const [, id, draft] = NAME.exec(name) ?? [];
    if (id === undefined) continue;
    try {
      if (draft === undefined) {
        if (readWrapFile(runDir, id).kind === 'over') removeWrapFile(runDir, id);
      } else if (nowMs - lstatSync(join(runDir, name)).mtimeMs > DRAFT_MS) {
        rmSync(join(runDir, name), { force: true });
      }
    } catch {
      // The next session tries again.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, ENTRIES_MAX);
  } catch {
    return [];
  }
}
