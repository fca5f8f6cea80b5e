import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { configKey, lockConfig } from './change-store.ts';
import { storeIn } from './testing/bench.ts';
import { bundleChildren, type Children } from './testing/children.ts';

let children: Children;
beforeAll(async () => {
  children = await bundleChildren();
});
afterAll(() => children.end());

const KEY = '0123456789abcdef0123456789abcdef';
const PATH = '/x/mcp.json';
const FILE = { client: 'cursor', scope: 'user', path: PATH, format: 'json' } as const;
const LOCKED = {
  code: 'SUB_CLIENT_LOCKED',
  message: `${PATH} is in use by another sub (process ${process.pid}).`,
};

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'sub-lock-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

function taken(home: string) {
  const lock = lockConfig(KEY, PATH, storeIn(home));
  if (lock.kind !== 'locked') throw new Error(JSON.stringify(lock));
  return lock;
}

test('a lock is held by one process, and free after its release', () => {
  const home = newHome();
  const lock = taken(home);
  expect(lockConfig(KEY, PATH, storeIn(home))).toMatchObject(LOCKED);
  lock.release();
  lock.release();
  taken(home).release();
  expect(readdirSync(join(home, 'run'))).toEqual([]);
});

test('two configs have two locks', () => {
  const store = storeIn(newHome());
  expect(lockConfig(configKey('/a'), '/a', store).kind).toBe('locked');
  expect(lockConfig(configKey('/b'), '/b', store).kind).toBe('locked');
});

test('a second process respects the lock of a living one, and gets its id', async () => {
  verifies('EC-STDIO-005');
  const home = newHome();
  const lock = taken(home);
  const { said } = await children.run({ does: 'lock', home, key: KEY, file: FILE });
  expect(said).toMatchObject(LOCKED);
  lock.release();
});

test('the lock of a dead process stops nobody', async () => {
  verifies('EC-STDIO-044');
  const home = newHome();
  const { said } = await children.run({ does: 'lock', home, key: KEY, file: FILE });
  expect(said).toMatchObject({ kind: 'locked' });
  expect(readdirSync(join(home, 'run'))).toHaveLength(1);
  taken(home).release();
  expect(readdirSync(join(home, 'run'))).toEqual([]);
});

test('the lock of a process whose id is in use again stops nobody', () => {
  verifies('EC-STDIO-044');
  const home = newHome();
  plant(home, process.pid);
  taken(home).release();
  expect(readdirSync(join(home, 'run'))).toEqual([]);
});

test('the lock of a process that the system hides is respected', () => {
  const home = newHome();
  const lock = taken(home);
  const { system, paths } = storeIn(home);
  let asked = 0;
  // It tells who asks, which is asked for twice, and nothing about the holder.
  const readFile = (path: string) =>
    path.endsWith('/stat') && asked++ > 1 ? undefined : system.readFile(path);
  const store = { paths, system: { ...system, readFile } };
  expect(lockConfig(KEY, PATH, store)).toMatchObject({ code: 'SUB_CLIENT_LOCKED' });
  lock.release();
});

test('a lock is refused where the start of this process is unknown', () => {
  const { system, paths } = storeIn(newHome());
  const silent = { ...system, readFile: () => undefined, ps: () => undefined };
  const store = { paths, system: silent };
  expect(lockConfig(KEY, PATH, store)).toMatchObject({ kind: 'failure' });
});

test('a lock is refused in a folder that others may write to', () => {
  const home = newHome();
  mkdirSync(join(home, 'run'));
  chmodSync(join(home, 'run'), 0o777);
  expect(lockConfig(KEY, PATH, storeIn(home))).toMatchObject({ kind: 'failure' });
});

test('a lock ignores files of other names', () => {
  const home = newHome();
  mkdirSync(join(home, 'run'), { mode: 0o700 });
  for (const name of [`config-${KEY}.lock`, `config-${KEY}.x.lock`, 'agent-1.json']) {
    writeFileSync(join(home, 'run', name), '');
  }
  taken(home).release();
  expect(readdirSync(join(home, 'run'))).toHaveLength(3);
});

/** The claim of a process that has had this id before. */
function plant(home: string, pid: number): void {
  mkdirSync(join(home, 'run'), { mode: 0o700, recursive: true });
  // Comes first in order, as what is old does.
  const name = `config-${KEY}.00000000-0000-7000-8000-000000000000.${pid}.1-dead.lock`;
  writeFileSync(join(home, 'run', name), '');
}

const FIGHTERS = 8;
const ROUNDS = 30;

test('the lock of a dead process goes to one of eight at most, thirty times', {
  timeout: 180_000,
}, async () => {
  verifies('EC-STDIO-005', 'EC-STDIO-044');
  const home = newHome();
  const fighters = Array.from({ length: FIGHTERS }, () => fighter(home));
  onTestFinished(() => fighters.forEach(({ child }) => child.kill('SIGKILL')));
  await Promise.all(fighters.map(({ next }) => next()));
  let winners = 0;
  for (let round = 0; round < ROUNDS; round++) {
    plant(home, process.pid);
    const answers = await Promise.all(fighters.map(({ tell }) => tell('take')));
    const won = answers.filter((answer) => answer === 'locked').length;
    expect(answers).not.toContain('two');
    expect(won).toBeLessThanOrEqual(1);
    winners += won;
    await Promise.all(fighters.map(({ tell }) => tell('release')));
    expect(readdirSync(join(home, 'run'))).toEqual([]);
  }
  expect(winners).toBeGreaterThan(ROUNDS / 2);
});

function fighter(home: string) {
  const child = children.start({ does: 'fight', home, key: KEY });
  if (child.stdout === null) throw new Error('no output');
  const lines = createInterface({ input: child.stdout });
  const next = async (): Promise<unknown> => {
    const [line] = (await once(lines, 'line')) as [string];
    return JSON.parse(line);
  };
  const tell = (word: string): Promise<unknown> => {
    const answer = next();
    child.stdin?.write(`${word}\n`);
    return answer;
  };
  return { child, next, tell };
}
