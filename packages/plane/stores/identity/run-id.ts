// The run that this shim belongs to. `sub run` sets it; without it, the shims of one agent process
// agree on one through a file named after that process. Such a run lasts while one of them lives:
// each has a place beside the file, and the last to leave ends the run.
import { linkSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { errorText, hasSystemCode, parseJson, processInfo, type System } from '../../os/index.ts';
import {
  agentFileName,
  createOnce,
  drop,
  dropStaleFiles,
  hasShims,
  placeName,
  readAgentFile,
} from './agent-files.ts';
import type { AgentProcess } from './agent-process.ts';

export interface RunId {
  readonly id: string;
  /** `given` by SUB_RUN_ID, `created` here, `joined` from another shim, or `alone` without a file. */
  readonly origin: 'given' | 'created' | 'joined' | 'alone';
  /** The file of the run is damaged, so the shim may lack the policy of the run. */
  readonly problem?: string;
  /** Gives the place in the run back; true when nobody is left in it. */
  readonly leave: () => boolean;
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

const ID = /^[\x21-\x7e]{1,256}$/;
const nobodyLeft = (): boolean => true;

export function runIdOf(options: RunIdOptions): RunId {
  const { given, agent, system } = options;
  if (given !== undefined) return { id: given, origin: 'given', leave: nobodyLeft };
  const shim = processInfo(system.pid, system);
  if (agent === undefined || shim === undefined) {
    return { id: system.uuidByTime(), origin: 'alone', leave: nobodyLeft };
  }
  const { runDir } = options;
  const path = join(runDir, agentFileName(agent.process));
  const place = join(runDir, placeName(agent.process, shim));
  return takePart(options, { path, place, agent: agent.process });
}

interface RunPart {
  /** The file of the run. */
  readonly path: string;
  /** The place of this shim. */
  readonly place: string;
  readonly agent: AgentProcess['process'];
}

function takePart(options: RunIdOptions, part: RunPart): RunId {
  const { system, runDir, warn } = options;
  const { path, place } = part;
  const fresh = system.uuidByTime();
  const alone = { id: fresh, origin: 'alone', leave: nobodyLeft } as const;
  try {
    mkdirSync(runDir, { recursive: true, mode: 0o700 });
    // The place comes first: a shim that wants to end the run sees it.
    const space = system.space?.();
    writeFileSync(place, `${JSON.stringify({ space })}\n`, { mode: 0o600 });
    const text = `${JSON.stringify({ run_id: fresh, space })}\n`;
    const once = createOnce(path, text);
    const id = readId(once.text);
    if (id === undefined) {
      drop(place);
      return { ...alone, problem: `${path} names no run. Remove the file` };
    }
    if (once.isOurs) dropStaleFiles(options);
    let isLast: boolean | undefined;
    const leave = () => (isLast ??= leaveRun(options, { ...part, id }));
    return { id, origin: once.isOurs ? 'created' : 'joined', leave };
  } catch (cause) {
    drop(place);
    warn(`the servers of this agent cannot share a run: ${errorText(cause)}. Check SUB_HOME.`);
    return alone;
  }
}

/** True for the one that ends the run, exactly one however many leave at once. */
function leaveRun(
  { runDir, system }: RunIdOptions,
  part: RunPart & { readonly id: string },
): boolean {
  const { path, place, agent, id } = part;
  drop(place);
  const taken = `${path}.${system.uuid()}`;
  try {
    if (hasShims(runDir, agent, system) || readIdAt(path) !== id) return false;
    renameSync(path, taken);
  } catch (cause) {
    // Without the file, another shim was quicker. Any other reason stops all shims alike.
    return !hasSystemCode(cause, 'ENOENT');
  }
  try {
    // Another shim may have joined, or begun the next run, since the check.
    const isOver = readIdAt(taken) === id && !hasShims(runDir, agent, system);
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
