// Which runs have a living process, by the files of the run folder: `sub run` writes one for itself and one
// for its agent, every shim has one, and so has the agent whose shims share a run without a host.
import { readdirSync, statSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { attempt, isProcessAlive, parseJson, type System, thisSystem } from '../../os/index.ts';
import { drop, readAgentFile } from './agent-files.ts';

interface RunFile {
  readonly path: string;
  readonly runId: string;
  readonly isLiving: boolean;
}

const FILE = /^agent-(\d{1,10})-([A-Za-z0-9-]{1,64})\.(?:[A-Za-z0-9.-]{1,200})$/;
const OF_SHIM = /\.(?:shim|left|last)-(\d{1,10})-([A-Za-z0-9-]{1,64})\.json$/;
const FILES_MAX = 10_000;
const BOOT_LENGTH = 8;

/** The runs with files here, and whether one of their processes lives or cannot be seen from here. */
export function runsOnFile(
  runDir: string,
  system: System = thisSystem(),
): ReadonlyMap<string, boolean> {
  const runs = new Map<string, boolean>();
  for (const { runId, isLiving } of runFiles(runDir, system)) {
    runs.set(runId, isLiving || runs.get(runId) === true);
  }
  return runs;
}

/** Removes the files of these runs; a file that was written meanwhile stays. */
export function dropRunFiles(
  runDir: string,
  runIds: ReadonlySet<string>,
  system: System = thisSystem(),
): void {
  for (const { path, runId, isLiving } of runFiles(runDir, system)) {
    if (!isLiving && runIds.has(runId)) drop(path);
  }
}

/** A file that names no run says nothing here. */
function runFiles(runDir: string, system: System): readonly RunFile[] {
  const names = attempt(() => readdirSync(runDir)) ?? [];
  return names.slice(0, FILES_MAX).flatMap((name) => {
    const [, pid, start] = OF_SHIM.exec(name) ?? FILE.exec(name) ?? [];
    if (pid === undefined || start === undefined || !FILE.test(name)) return [];
    const path = join(runDir, name);
    const value = attempt(() => parseJson(readAgentFile(path) ?? ''));
    if (!isObject(value) || typeof value['run_id'] !== 'string') return [];
    const space = typeof value['space'] === 'string' ? value['space'] : undefined;
    const owner = { pid: Number(pid), start, ...(space !== undefined && { space }) };
    const isLiving = isProcessAlive(owner, system) || isOtherMachine(path, space, system);
    return [{ path, runId: value['run_id'], isLiving }];
  });
}

/**
 * A file of another boot that is younger than this boot comes from another machine with the same home,
 * whose processes cannot be seen. An older one is from before this machine was started again.
 */
function isOtherMachine(path: string, space: string | undefined, system: System): boolean {
  const here = system.space?.();
  if (space === undefined || here === undefined) return false;
  if (space.slice(0, BOOT_LENGTH) === here.slice(0, BOOT_LENGTH)) return false;
  const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return writtenMs > Date.now() - uptime() * 1_000;
}
