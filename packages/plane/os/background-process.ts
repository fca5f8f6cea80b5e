// Starts a process that outlives this one, and waits until it is ready or has ended.
import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export interface BackgroundProcess<T> {
  /** The launcher, and what it is told. */
  readonly command: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  /** The file that its output goes to. */
  readonly log: string;
  /** What the process with this id says of itself once it is ready. */
  readonly ready: (pid: number | undefined) => Promise<T | undefined>;
}

const LOG_BYTES_MAX = 1_048_576;
const POLL_MS = 25;
const START_MS = 20_000;

/** Undefined when it has ended, or is not ready in time. */
export async function startInBackground<T>(start: BackgroundProcess<T>): Promise<T | undefined> {
  const log = openLog(start.log);
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  try {
    const child = spawn(process.execPath, start.command, {
      detached: true,
      cwd: '/',
      env: start.env,
      stdio: ['ignore', log, log],
    });
    child.on('error', end);
    child.on('exit', end);
    child.unref();
    const deadlineMs = performance.now() + START_MS;
    while (!hasEnded && performance.now() < deadlineMs) {
      const state = await start.ready(child.pid);
      if (state !== undefined) return state;
      await pause(POLL_MS);
    }
    return undefined;
  } finally {
    closeSync(log);
  }
}

function openLog(path: string): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const log = openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
  if (fstatSync(log).size > LOG_BYTES_MAX) ftruncateSync(log);
  return log;
}
