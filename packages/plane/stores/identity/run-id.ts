// The run that this shim belongs to. `sub run` sets it; without it, the shims of one agent process
// agree on one through a file named after that process. Such a run lasts while one of them lives:
// each has a place beside the file, and the last to leave ends the run.
import { linkSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { sha256 } from '../../os/crypto/index.ts';
import {
  attempt,
  errorText,
  hasSystemCode,
  makeFolders,
  type ProcessInfo,
  parseJson,
  processInfo,
  type System,
  writePrivateFile,
} from '../../os/index.ts';
import {
  createOnce,
  drop,
  dropStaleFiles,
  filePrefix,
  hasShims,
  readAgentFile,
  type ShimFileKind,
  shimFileName,
} from './agent-files.ts';
import type { AgentProcess } from './agent-process.ts';
import { NO_ACCOUNT, type ShimAccount, takeAccounts } from './shim-account.ts';

export interface RunId {
  readonly id: string;
  /** `given` by a host, `created` here, `joined` from another shim, or `alone` without a file. */
  readonly origin: 'given' | 'created' | 'joined' | 'alone';
  /** The file of the run is damaged, so the shim may lack the policy of the run. */
  readonly problem?: string;
  readonly leave: LeaveRun;
  /** Removes what tells that this process has a part in the run: all of its events are safe. */
  readonly release: () => void;
}

/**
 * Gives the place in the run back, with what the shim did, if it ran. The last shim gets the account of
 * all of them, and has to record the end of the run.
 */
export type LeaveRun = (own?: ShimAccount) => ShimAccount | undefined;

export interface RunIdOptions {
  readonly given: string | undefined;
  /** A shim has a place in its run: one of its own in a run with a host. */
  readonly part: 'none' | 'hosted' | 'shared';
  readonly agent: AgentProcess | undefined;
  /** Where sockets and such files are. */
  readonly runDir: string;
  readonly system: System;
  readonly nowMs: number;
  readonly warn: (text: string) => void;
}

const ID = /^[\x21-\x7e]{1,256}$/;

export function runIdOf(options: RunIdOptions): RunId {
  const { given, part, agent, runDir, system } = options;
  if (given !== undefined && part === 'none') return aloneIn(given, 'given', () => {});
  const shim = processInfo(system.pid, system);
  const id = given ?? system.uuidByTime();
  const isHosted = part === 'hosted' && given !== undefined;
  if (isHosted || !ID.test(id) || agent === undefined || shim === undefined) {
    return aloneIn(id, isHosted ? 'given' : 'alone', ownPlace(options, id, shim));
  }
  // Runs that were given by name share nothing with that of the agent process.
  const mark = given === undefined ? '' : `run-${sha256(given).slice(0, 16)}.`;
  const prefix = `${filePrefix(agent.process)}${mark}`;
  const ownFile = (kind: ShimFileKind) => join(runDir, shimFileName(prefix, kind, shim));
  const [place, left, last] = [ownFile('shim'), ownFile('left'), ownFile('last')];
  const path = join(runDir, `${prefix}json`);
  return takePart(options, { id, shim, path, place, left, last, prefix });
}

/** A run that this process shares with nobody, or whose host records its end. */
function aloneIn(id: string, origin: 'given' | 'alone', release: () => void): RunId {
  return { id, origin, leave: (own) => (origin === 'given' ? undefined : own), release };
}

/** Shows that a process of the run lives; the result takes that back. */
function ownPlace({ runDir, system }: RunIdOptions, id: string, shim?: ProcessInfo): () => void {
  if (shim === undefined) return () => {};
  const place = join(runDir, shimFileName(filePrefix(shim), 'shim', shim));
  attempt(() => writeRun(place, { id, system }));
  return () => drop(place);
}

interface RunPart {
  readonly id: string;
  readonly shim: ProcessInfo;
  /** The file of the run. */
  readonly path: string;
  /** The place of this shim. */
  readonly place: string;
  /** What it leaves for the end of the run. */
  readonly left: string;
  /** Stands there until the end of the run is safe. */
  readonly last: string;
  readonly prefix: string;
}

function takePart(options: RunIdOptions, part: RunPart): RunId {
  const { system, warn } = options;
  const { path, place, id: fresh, shim } = part;
  const alone = (): RunId => aloneIn(fresh, 'alone', ownPlace(options, fresh, shim));
  try {
    // The place comes first: a shim that wants to end the run sees it.
    writeRun(place, { id: fresh, system });
    const once = createOnce(path, runText({ id: fresh, system }));
    const id = readId(once.text);
    if (id === undefined) {
      drop(place);
      return { ...alone(), problem: `${path} names no run. Remove the file` };
    }
    if (once.isOurs) dropStaleFiles(options);
    else writeRun(place, { id, system });
    return {
      id,
      origin: once.isOurs ? 'created' : 'joined',
      ...departure(options, { ...part, id }),
    };
  } catch (cause) {
    drop(place);
    warn(`the servers of this agent cannot share a run: ${errorText(cause)}. Check SUB_HOME.`);
    return alone();
  }
}

interface FileOfRun {
  readonly id: string;
  readonly system: System;
  readonly account?: ShimAccount;
}

function runText({ id, system, account }: FileOfRun): string {
  return `${JSON.stringify({ run_id: id, space: system.space?.(), account })}\n`;
}

function writeRun(path: string, file: FileOfRun): void {
  makeFolders(dirname(path));
  writePrivateFile(path, runText(file), { isLasting: false });
}

function departure(options: RunIdOptions, part: RunPart): Pick<RunId, 'leave' | 'release'> {
  const { runDir, system } = options;
  const { id, place, left, last, prefix } = part;
  const others = { runDir, prefix, runId: id };
  let hasLeft = false;
  return {
    leave(own) {
      if (hasLeft) return undefined;
      hasLeft = true;
      const account = own && (attempt(() => takeAccounts(own, others)) ?? own);
      // Before the place goes: there is always a file that names a living process of the run.
      const isWritten = account && attempt(() => (writeRun(left, { id, system, account }), true));
      drop(place);
      if (!isLastOf(options, part) || account === undefined) return undefined;
      attempt(() => writeRun(last, { id, system }));
      // Another shim that has left meanwhile may have taken this account into its own.
      const rest = isWritten === true ? NO_ACCOUNT : account;
      return attempt(() => takeAccounts(rest, others)) ?? account;
    },
    release: () => drop(last),
  };
}

/** True for the one that ends the run, exactly one however many leave at once. */
function isLastOf({ runDir, system }: RunIdOptions, part: RunPart): boolean {
  const { path, prefix, id } = part;
  const taken = `${path}.${system.uuid()}`;
  try {
    if (hasShims(runDir, prefix, system) || readIdAt(path) !== id) return false;
    renameSync(path, taken);
  } catch (cause) {
    // Without the file, another shim was quicker. Any other reason stops all shims alike.
    return !hasSystemCode(cause, 'ENOENT');
  }
  try {
    // Another shim may have joined, or begun the next run, since the check.
    const isOver = readIdAt(taken) === id && !hasShims(runDir, prefix, system);
    if (!isOver) linkSync(taken, path);
    return isOver;
  } catch {
    // There is a new file: the next run has begun, and ours is over.
    return true;
  } finally {
    drop(taken);
  }
}

function readIdAt(path: string): string | undefined {
  const text = readAgentFile(path);
  return text === undefined ? undefined : readId(text);
}

function readId(text: string): string | undefined {
  const value = parseJson(text);
  const id = isObject(value) ? value['run_id'] : undefined;
  return typeof id === 'string' && ID.test(id) ? id : undefined;
}
