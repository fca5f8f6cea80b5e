// Sessions in other containers that share the home: their processes cannot be seen from here.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ChangeStore, lockConfig } from './change-store.ts';
import { leftBehind, repairAll } from './repair-configs.ts';
import { Bench, CONFIG } from './testing/bench.ts';

const HERE = '0a1b2c3d-4026531836';
const CONTAINER = '0a1b2c3d-4026532179';
const KEY = '0'.repeat(32);
const PATH = '/x/mcp.json';
/** A number that no process has. */
const NOBODY = 2 ** 31 - 1;
const LOCKED = {
  code: 'SUB_CLIENT_LOCKED',
  message: expect.stringContaining(`(process ${NOBODY} there)`) as unknown,
};

let one: Bench;
beforeEach(() => {
  one = new Bench(CONFIG);
});
afterEach(() => one.end());

const STAT = ['S', '1', '1', ...Array.from({ length: 16 }, () => '0'), '7'].join(' ');

/** Every process has started at the same time. */
function readFile(path: string): string {
  if (path.endsWith('/stat')) return `1 (sub) ${STAT}`;
  return path.endsWith('boot_id') ? HERE : 'sub';
}

function storeIn(space: string | undefined, pid = process.pid): ChangeStore {
  const { system, paths } = one.store;
  return { system: { ...system, pid, space: () => space, readFile }, paths };
}

/** A session whose process no one can see, with its lock. */
function wrapIn(space: string | undefined): string {
  const applied = one.apply({ ...storeIn(space, NOBODY), kind: 'wrap' });
  expect(applied.kind).toBe('applied');
  return one.text;
}

/** What a person does once the other container is gone. */
function adviceOf(result: { readonly kind: string; readonly fix?: string }): string | undefined {
  expect(result).toMatchObject(LOCKED);
  return result.fix;
}

test('a session in another container is left alone, and reported', () => {
  const rewritten = wrapIn(CONTAINER);
  const store = storeIn(HERE);
  expect(repairAll(store)).toEqual([{ what: 'elsewhere', path: one.file.path, pid: NOBODY }]);
  expect(leftBehind(store)).toEqual([]);
  expect(adviceOf(one.apply(store))).toContain('remove ');
  expect(adviceOf(one.restore(store))).toContain('remove ');
  expect(one.text).toBe(rewritten);
});

test('a session in another container is left alone without its lock, too', () => {
  const applied = one.apply({ ...storeIn(CONTAINER, NOBODY), kind: 'wrap' });
  if (applied.kind === 'applied') applied.lock?.release();
  const rewritten = one.text;
  const store = storeIn(HERE);
  expect(repairAll(store)).toMatchObject([{ what: 'elsewhere' }]);
  expect(adviceOf(one.restore(store))).toContain('copy the backup');
  expect(one.text).toBe(rewritten);
});

test.each([
  ['of the same container', HERE],
  ['of an earlier boot', '99999999-4026532179'],
  ['that did not say where it was', undefined],
])('the config of a dead session %s is restored', (_, space) => {
  wrapIn(space);
  expect(repairAll(storeIn(HERE))).toMatchObject([{ what: 'restored' }]);
  expect(one.text).toBe(CONFIG);
});

test('the lock of another container holds', () => {
  expect(lockConfig(KEY, PATH, storeIn(CONTAINER, NOBODY)).kind).toBe('locked');
  expect(lockConfig(KEY, PATH, storeIn(HERE))).toMatchObject(LOCKED);
});

test('the lock of a dead process of an earlier boot does not hold', () => {
  expect(lockConfig(KEY, PATH, storeIn('99999999-4026532179', NOBODY)).kind).toBe('locked');
  expect(lockConfig(KEY, PATH, storeIn(HERE)).kind).toBe('locked');
});
