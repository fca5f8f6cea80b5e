// One setup at a time in one checkout. The lock is a folder, because making a folder is atomic;
// it stands outside node_modules, which `npm ci` empties.
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOCK } from './paths.mjs';

const BEAT_MS = 2_000;
const SILENT_MAX_MS = 30_000;
const ORPHAN_MAX_MS = 120_000;
const WAIT_MAX_MS = 15 * 60_000;
const POLL_MS = 200;

/** Waits for the lock and returns the function that gives it back. */
async function takeLock(onWait) {
  const deadlineMs = Date.now() + WAIT_MAX_MS;
  for (let told = false; !tryLock(); ) {
    if (dropStale()) continue;
    if (Date.now() > deadlineMs) {
      throw new Error(`${LOCK} is still held after 15 minutes; remove it if no setup is running`);
    }
    if (!told) onWait(readOwner(LOCK));
    told = true;
    await sleep(POLL_MS);
  }
  const beat = setInterval(() => touch(), BEAT_MS);
  beat.unref();
  return () => {
    clearInterval(beat);
    if (readOwner(LOCK)?.pid === process.pid) rmSync(LOCK, { recursive: true, force: true });
  };
}

function tryLock() {
  try {
    mkdirSync(LOCK);
  } catch (cause) {
    if (cause.code === 'EEXIST') return false;
    throw cause;
  }
  // The folder ignores itself, so no tool ever takes it for a part of the project.
  writeFileSync(join(LOCK, '.gitignore'), '*\n');
  writeOwner({});
  return true;
}

/** The step's process is noted too: it may outlive a setup that was killed, and still write. */
function noteStep(stepPid) {
  if (readOwner(LOCK)?.pid === process.pid) writeOwner({ stepPid });
}

function writeOwner(more) {
  const owner = { pid: process.pid, host: hostname(), ...more };
  writeFileSync(join(LOCK, 'owner.json'), JSON.stringify(owner));
}

function touch() {
  try {
    utimesSync(LOCK, new Date(), new Date());
  } catch {
    // Someone removed the lock by hand; the work goes on.
  }
}

/** Removes the lock of a setup that has died; true when it is worth trying again at once. */
function dropStale() {
  const owner = readOwner(LOCK);
  if (!isStale(owner)) return false;
  const aside = `${LOCK}.${process.pid}`;
  try {
    renameSync(LOCK, aside);
  } catch {
    return true;
  }
  if (readOwner(aside)?.pid === owner?.pid) {
    rmSync(aside, { recursive: true, force: true });
    return true;
  }
  // Another waiter was quicker and this is its fresh lock: give it back.
  renameSync(aside, LOCK);
  return false;
}

/** A dead pid counts on this host only; elsewhere, and for reused pids, the beat tells. */
function isStale(owner) {
  const local = owner?.host === hostname();
  if (local && ![owner.pid, owner.stepPid].some(isAlive)) return true;
  try {
    const silentMs = Date.now() - statSync(LOCK).mtimeMs;
    return silentMs > (local ? ORPHAN_MAX_MS : SILENT_MAX_MS);
  } catch {
    return false;
  }
}

function isAlive(pid) {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return cause.code === 'EPERM';
  }
}

function readOwner(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

export { noteStep, takeLock };
