// One process at a time changes a config. A lock is a file of its own in the home, so that editors
// which replace the config do not break it.
//
// Everybody who wants the lock puts down a claim under a name of its own, which tells who it is,
// and then looks at the claims of others: without any that is alive, the lock is taken. Of two that
// come at once, the later sees the earlier, so never both have it. A claim of a dead process is
// removed by whoever sees it: its name is unique, so what is removed is never a living one's.
import { closeSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem } from '../types.ts';
import { ensureFolder } from './files.ts';
import { isAlive, isElsewhere, keyOf, type Owner, type Store, thisProcess } from './ports.ts';
import { homeProblem, problem } from './problem.ts';

export interface Lock {
  readonly kind: 'locked';
  readonly key: string;
  /** May be called again. */
  release(): void;
}

export interface Held {
  readonly kind: 'held';
  readonly by: Holder;
}

export interface Holder {
  readonly pid: number;
  /** In another container, where we cannot see it: what a person does when that one is gone. */
  readonly elsewhere?: string;
}

interface Claim {
  readonly name: string;
  readonly owner: Owner;
}

const CLAIM =
  /^config-([0-9a-f]{32})\.([0-9a-f-]{36})\.(\d{1,10})\.([A-Za-z0-9-]{1,64})(?:\.([0-9a-f]{8}-\d{1,20}))?\.lock$/;
const TRIES_MAX = 20;
const PAUSE_MS_MAX = 50;
/** Who has a claim for so long has the lock; who is younger may still give way. */
const SETTLED_MS = 300;
const POLLS_MAX = 10;
const POLL_MS = 3;

/** Of the real path of a config. */
export function takeLock(target: string, store: Store): Lock | Held | ConfigProblem {
  return takeLockOf(keyOf(target, store.ports), store);
}

export function takeLockOf(key: string, store: Store): Lock | Held | ConfigProblem {
  const { run } = store.paths;
  const owner = thisProcess(store.ports);
  if (owner === undefined) return unknownProcess(run);
  const unsafe = ensureFolder(run);
  if (unsafe !== undefined) return unsafe;
  try {
    return contend(key, owner, store);
  } catch (cause) {
    return homeProblem(run, 'locked', cause);
  }
}

/** Nobody could tell later whether the lock is a dead process's. */
function unknownProcess(run: string): ConfigProblem {
  return problem(
    run,
    'The system does not tell when this process has started.',
    'On Linux /proc must be mounted, elsewhere `ps` must work.',
  );
}

function contend(key: string, owner: Owner, store: Store): Lock | Held {
  let by: Holder = { pid: owner.pid };
  const space = owner.space === undefined ? '' : `.${owner.space}`;
  for (let tried = 0; tried < TRIES_MAX; tried++) {
    if (tried > 0) pause(1 + Math.random() * Math.min(POLL_MS * 2 * tried, PAUSE_MS_MAX));
    const name = `config-${key}.${store.ports.uuid()}.${owner.pid}.${owner.start}${space}.lock`;
    if (!CLAIM.test(name)) throw new Error(`not the name of a lock: ${name}`);
    const path = join(store.paths.run, name);
    const release = (): void => rmSync(path, { force: true });
    closeSync(openSync(path, 'wx', 0o600));
    let winner: Claim | undefined;
    try {
      winner = firstRival(name, store);
    } catch (cause) {
      release();
      throw cause;
    }
    if (winner === undefined) return { kind: 'locked', key, release };
    release();
    by = holderOf(winner, store);
    if (isSettled(winner, store)) break;
  }
  return { kind: 'held', by };
}

function holderOf({ name, owner }: Claim, { ports, paths }: Store): Holder {
  const { pid } = owner;
  if (!isElsewhere(owner, ports)) return { pid };
  return { pid, elsewhere: `remove ${join(paths.run, name)}` };
}

/**
 * Who stands in our way. Rivals that come later in order give way to us when they see us, unless
 * they have the lock already: so those are waited for, a little.
 */
function firstRival(own: string, store: Store): Claim | undefined {
  for (let polled = 0; ; polled++) {
    const [first] = rivals(own, store);
    if (first === undefined || first.name < own || polled >= POLLS_MAX) return first;
    pause(POLL_MS);
  }
}

function isSettled({ name }: Claim, { ports, paths }: Store): boolean {
  const stats = statSync(join(paths.run, name), { throwIfNoEntry: false });
  return stats !== undefined && ports.now().getTime() - stats.mtimeMs > SETTLED_MS;
}

/** The living ones, first to last; the claims of the dead are removed. */
function rivals(own: string, { ports, paths }: Store): readonly Claim[] {
  const prefix = own.slice(0, own.indexOf('.') + 1);
  const claims = readdirSync(paths.run)
    .filter((name) => name.startsWith(prefix) && name !== own)
    .toSorted()
    .flatMap(claimOf);
  return claims.filter((claim) => {
    if (isAlive(claim.owner, ports)) return true;
    rmSync(join(paths.run, claim.name), { force: true });
    return false;
  });
}

function claimOf(name: string): readonly Claim[] {
  const [, , , pid, start, space] = CLAIM.exec(name) ?? [];
  if (pid === undefined || start === undefined) return [];
  return [{ name, owner: { pid: Number(pid), start, ...(space !== undefined && { space }) } }];
}

/** Blocks: a config must be put back even where nothing asynchronous runs any more. */
function pause(timeMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeMs);
}
