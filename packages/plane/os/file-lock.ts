// A lock between processes, in a folder of the home.
//
// Every process that wants the lock puts down a claim under a unique name, which says who it is, and
// then looks for the claims of others: without one of a living process, the lock is taken. Of two
// that come at once, the later sees the earlier, so never both have it. A claim of a dead process is
// removed by the first that sees it: its name is unique, so it is never the claim of a living one.
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Failure, failure, type SubCode } from '@subluminal/contracts';
import { makeFolders, removeDrafts } from './private-file.ts';
import {
  isElsewhere,
  isProcessAlive,
  ownIdentity,
  type ProcessIdentity,
} from './process-identity.ts';
import { type System, thisSystem } from './system.ts';
import { systemCode } from './system-error.ts';

export interface LockRequest {
  /** Made when it is missing. */
  readonly folder: string;
  /** What is locked: letters, digits and dashes. */
  readonly name: string;
  readonly system?: System;
}

export interface FileLock {
  readonly kind: 'locked';
  /** May be called again. */
  release(): void;
}

export interface LockHeld {
  readonly kind: 'held';
  readonly pid: number;
  /** The claim of the holder. */
  readonly path: string;
  /** The holder runs in another container, where nobody can see whether it still lives. */
  readonly isElsewhere: boolean;
}

interface Claim {
  readonly name: string;
  readonly owner: ProcessIdentity;
}

const NAME = /^[A-Za-z0-9-]{1,64}$/;
const CLAIM =
  /^([A-Za-z0-9-]{1,64})\.[0-9a-f-]{36}\.(\d{1,10})\.([A-Za-z0-9-]{1,64})(?:\.([0-9a-f]{8}-\d{1,20}))?\.lock$/;
const WAIT_MS = 10_000;
const PAUSE_MS_MAX = 40;
const TRIES_MAX = 20;
/** A claim that is older than this has the lock; a younger one may still give way. */
const SETTLED_MS = 300;
const POLLS_MAX = 10;
const POLL_MS = 3;

/** Waits for its turn, at most this long. Throws the system's error. */
export async function takeLock(
  request: LockRequest,
  waitMs: number = WAIT_MS,
): Promise<FileLock | LockHeld> {
  const endMs = performance.now() + waitMs;
  for (;;) {
    const taken = tryLock(request, (rivals) => rivals()[0]);
    if (taken.kind === 'locked' || performance.now() >= endMs) return taken;
    await delay(1 + Math.random() * PAUSE_MS_MAX);
  }
}

/** Files of a home that one process changes at a time. */
export interface LockedFiles {
  readonly home: string;
  /** The name of the lock. */
  readonly name: string;
  /** The names of the files; the first one stands for all in messages. */
  readonly files: readonly [string, ...string[]];
  /** What the files hold, in words. */
  readonly what: string;
  /** The code of the failure while another process has the lock. */
  readonly busyCode: SubCode;
  readonly waitMs?: number | undefined;
}

/** Does the work while no other process changes the files; tells why they cannot be written. */
export async function changeFiles<T>(
  { home, name, files, what, busyCode, waitMs }: LockedFiles,
  work: () => T | Promise<T>,
): Promise<T | Failure> {
  try {
    const lock = await takeLock({ folder: join(home, 'run'), name }, waitMs);
    if (lock.kind === 'held') {
      const message = `another process (${lock.pid}) is changing ${what}.`;
      return failure(busyCode, message, 'Wait for it to end, and try again.');
    }
    try {
      for (const file of files) removeDrafts(join(home, file));
      return await work();
    } finally {
      lock.release();
    }
  } catch (cause) {
    const message = `${join(home, files[0])} cannot be written (${systemCode(cause)}).`;
    const fix = 'Check the folder, its permissions and the space on its disk; nothing was changed.';
    return failure('SUB_FILE_WRITE', message, fix);
  }
}

/** Blocks for a moment: for code that must work where nothing asynchronous runs any more. */
export function takeLockBlocking(request: LockRequest): FileLock | LockHeld {
  for (let tried = 1; ; tried++) {
    const taken = tryLock(request, firstRival);
    if (taken.kind === 'locked' || tried === TRIES_MAX || isSettled(taken.path)) return taken;
    block(1 + Math.random() * Math.min(POLL_MS * 2 * tried, PAUSE_MS_MAX));
  }
}

type PickRival = (rivals: () => readonly Claim[], own: string) => Claim | undefined;

function tryLock(request: LockRequest, pick: PickRival): FileLock | LockHeld {
  const { folder, name, system = thisSystem() } = request;
  if (!NAME.test(name)) throw new Error(`not the name of a lock: ${name}`);
  const { pid, start, space } = ownIdentity(system);
  const suffix = space === undefined ? '' : `.${space}`;
  const own = `${name}.${randomUUID()}.${pid}.${start}${suffix}.lock`;
  const path = join(folder, own);
  const release = (): void => rmSync(path, { force: true });
  makeFolders(folder);
  closeSync(openSync(path, 'wx', 0o600));
  let rival: Claim | undefined;
  try {
    rival = pick(() => livingRivals({ folder, name, system }, own), own);
  } catch (cause) {
    release();
    throw cause;
  }
  if (rival === undefined) return { kind: 'locked', release };
  release();
  const { owner } = rival;
  return {
    kind: 'held',
    pid: owner.pid,
    path: join(folder, rival.name),
    isElsewhere: isElsewhere(owner, system),
  };
}

/**
 * Rivals whose claims sort behind ours give way when they see us, unless they have the lock already:
 * they are waited for, a little.
 */
function firstRival(rivals: () => readonly Claim[], own: string): Claim | undefined {
  for (let polled = 0; ; polled++) {
    const [first] = rivals();
    if (first === undefined || first.name < own || polled >= POLLS_MAX) return first;
    block(POLL_MS);
  }
}

/** In the order of their names; the claims of dead processes are removed. */
function livingRivals(
  { folder, name, system }: Required<LockRequest>,
  own: string,
): readonly Claim[] {
  const claims = readdirSync(folder).toSorted().flatMap(readClaim(name));
  return claims.filter((claim) => {
    if (claim.name === own) return false;
    if (isProcessAlive(claim.owner, system)) return true;
    rmSync(join(folder, claim.name), { force: true });
    return false;
  });
}

function readClaim(lockName: string): (fileName: string) => readonly Claim[] {
  return (fileName) => {
    const [, name, pid, start, space] = CLAIM.exec(fileName) ?? [];
    if (name !== lockName || pid === undefined || start === undefined) return [];
    const owner = { pid: Number(pid), start, ...(space !== undefined && { space }) };
    return [{ name: fileName, owner }];
  };
}

function isSettled(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > SETTLED_MS;
}

function block(timeMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeMs);
}
