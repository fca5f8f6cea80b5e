// Which runs have a living process, by the files of the run folder: `sub run` writes one for itself and one
// for its agent, every shim has one, and so has the agent whose shims share a run without a host.
import { readdirSync, statSync } from 'node:fs';
import { uptime } from 'node:os';
import { basename, join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { sha256 } from '../../os/crypto/index.ts';
import {
  attempt,
  bootOf,
  hasSystemCode,
  isElsewhere,
  isProcessAlive,
  parseJson,
  processInfo,
  processStat,
  type System,
  thisSystem,
  writePrivateFile,
} from '../../os/index.ts';
import { drop, filePrefix, readAgentFile } from './agent-files.ts';

/** A process that a file names, and the run that it belongs to. */
export interface RunProcess {
  readonly path: string;
  readonly runId: string;
  readonly pid: number;
  readonly isShim: boolean;
  /** False in another container or machine with this home, where the pid means another process. */
  readonly isHere: boolean;
}

interface RunFile extends RunProcess {
  readonly isLiving: boolean;
}

const FILE = /^agent-(\d{1,10})-([A-Za-z0-9-]{1,64})\.(?:[A-Za-z0-9.-]{1,200})$/;
const OF_SHIM = /\.(?:shim|left|last)-(\d{1,10})-([A-Za-z0-9-]{1,64})\.json$/;
const FILES_MAX = 10_000;

/** Shows that this process keeps a run open; the result takes that back. */
export function registerRun(
  runDir: string,
  runId: string,
  system: System = thisSystem(),
): () => void {
  const own = processInfo(system.pid, system);
  if (own === undefined) return () => {};
  const path = join(runDir, `${filePrefix(own)}run-${sha256(runId).slice(0, 16)}.json`);
  const text = `${JSON.stringify({ run_id: runId, space: system.space?.() })}\n`;
  attempt(() => writePrivateFile(path, text, { isLasting: false }));
  return () => drop(path);
}

/**
 * The runs with files here, and whether one of their processes lives or cannot be seen from here.
 * Undefined when that is not known of all runs: then none may be taken for dead.
 */
export function runsOnFile(
  runDir: string,
  system: System = thisSystem(),
): ReadonlyMap<string, boolean> | undefined {
  const files = runFiles(runDir, system);
  if (files === undefined) return undefined;
  const runs = new Map<string, boolean>();
  for (const { runId, isLiving } of files) {
    runs.set(runId, isLiving || runs.get(runId) === true);
  }
  return runs;
}

/** The processes of all runs that live or cannot be seen from here. Undefined as with `runsOnFile`. */
export function livingProcesses(
  runDir: string,
  system: System = thisSystem(),
): readonly RunProcess[] | undefined {
  return runFiles(runDir, system)?.filter(({ isLiving }) => isLiving);
}

/** Removes the files of these runs; a file that was written meanwhile stays. */
export function dropRunFiles(
  runDir: string,
  runIds: ReadonlySet<string>,
  system: System = thisSystem(),
): void {
  for (const { path, runId, isLiving } of runFiles(runDir, system) ?? []) {
    if (!isLiving && runIds.has(runId)) drop(path);
  }
}

/**
 * Removes what shims of this run have left that were killed. What a living process has is not read: many runs
 * may end at once, each among the files of all.
 */
export function dropShimFiles(runDir: string, runId: string, system: System = thisSystem()): void {
  const mayBeGone = (name: string): boolean =>
    OF_SHIM.test(name) && !isOfLivingProcess(name, system);
  for (const file of runFiles(runDir, system, mayBeGone) ?? []) {
    if (!file.isLiving && file.runId === runId) drop(file.path);
  }
}

/**
 * A file that names no run says nothing here. Undefined when one cannot be read, when there are too many,
 * and where the system shows no processes, so that none has a file.
 */
function runFiles(
  runDir: string,
  system: System,
  isWanted: (name: string) => boolean = () => true,
): readonly RunFile[] | undefined {
  if (processInfo(system.pid, system) === undefined) return undefined;
  try {
    const names = namesIn(runDir).filter((name) => FILE.test(name));
    if (names.length > FILES_MAX) return undefined;
    return names.filter(isWanted).flatMap((name) => runFile(join(runDir, name), system) ?? []);
  } catch {
    return undefined;
  }
}

/** Throws when the folder cannot be listed; a folder that was never made is empty. */
function namesIn(runDir: string): readonly string[] {
  try {
    return readdirSync(runDir);
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT')) return [];
    throw cause;
  }
}

/** True only where it is certain. The start of a process is written as its ticks, a dash, and its boot. */
function isOfLivingProcess(name: string, system: System): boolean {
  const owner = ownerOf(name);
  const stat = owner && processStat(owner.pid, (path) => system.readFile(path));
  return stat?.running === true && owner?.start.startsWith(`${stat.startTicks}-`) === true;
}

/** The process that the name of a file tells. */
function ownerOf(
  name: string,
): { readonly pid: number; readonly start: string; readonly isShim: boolean } | undefined {
  const ofShim = OF_SHIM.exec(name);
  const [, pid, start] = ofShim ?? FILE.exec(name) ?? [];
  if (pid === undefined || start === undefined) return undefined;
  return { pid: Number(pid), start, isShim: ofShim !== null };
}

/** Throws when it cannot be read. */
function runFile(path: string, system: System): RunFile | undefined {
  const named = ownerOf(basename(path));
  const value = parseJson(readAgentFile(path) ?? '');
  if (named === undefined) return undefined;
  const { pid, start, isShim } = named;
  if (!isObject(value) || typeof value['run_id'] !== 'string') return undefined;
  const space = typeof value['space'] === 'string' ? value['space'] : undefined;
  const owner = { pid, start, ...(space !== undefined && { space }) };
  const isUnseen = isElsewhere(owner, system) || isOtherMachine(path, space, system);
  return {
    path,
    runId: value['run_id'],
    pid,
    isShim,
    isHere: !isUnseen,
    isLiving: isUnseen || isProcessAlive(owner, system),
  };
}

/**
 * A file of another boot that is younger than this boot comes from another machine with the same home,
 * whose processes cannot be seen. An older one is from before this machine was started again.
 */
function isOtherMachine(path: string, space: string | undefined, system: System): boolean {
  const here = system.space?.();
  if (space === undefined || here === undefined) return false;
  if (bootOf(space) === bootOf(here)) return false;
  const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return writtenMs > Date.now() - uptime() * 1_000;
}
