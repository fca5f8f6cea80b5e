import { expect, test } from 'vitest';
import { processInfo, type System, thisSystem } from '../../os/index.ts';
import { isOfSession } from './session-env.ts';

const ENV = { SUB_RUN_ID: 'run-1' };

/** A session that this process hosts, or the one with this number. */
function session(pid = process.pid, isClosed = true) {
  const start = processInfo(pid, thisSystem())?.start ?? '';
  return { kind: 'live', env: ENV, owner: { pid, start }, isClosed } as const;
}

const NOBODY = { ...session(), owner: { pid: 2 ** 31 - 1, start: '1-0a1b2c3d' } };
/** As a process that this one has started sees it. */
const CHILD: System = { ...thisSystem(), ppid: process.pid };

test('what descends from the host of a session is of it, with or without a word about it', () => {
  expect(isOfSession({}, session(), CHILD)).toBe(true);
  expect(isOfSession({ SUB_RUN_ID: 'older' }, session(), CHILD)).toBe(true);
  expect(isOfSession({}, session(process.ppid), CHILD)).toBe(true);
});

test('what does not descend from it is of another run', () => {
  expect(isOfSession({}, NOBODY, CHILD)).toBe(false);
  expect(isOfSession({ SUB_RUN_ID: 'other' }, NOBODY, CHILD)).toBe(false);
});

test('what was told of the run by its environment is of it', () => {
  expect(isOfSession(ENV, NOBODY, CHILD)).toBe(true);
});

test.runIf(process.platform === 'linux')('so is what a process above it was told of', () => {
  const readFile = (path: string) =>
    path.endsWith('/environ') ? 'A=1\0SUB_RUN_ID=run-1\0B=2' : CHILD.readFile(path);
  expect(isOfSession({}, NOBODY, { ...CHILD, readFile })).toBe(true);
});

test('everything is of the session of a client with a window', () => {
  expect(isOfSession({ SUB_RUN_ID: 'other' }, { ...NOBODY, isClosed: false }, CHILD)).toBe(true);
});

test('everything is of a session where nobody can tell', () => {
  const blind: System = { ...CHILD, readFile: () => undefined, ps: () => undefined };
  expect(isOfSession({}, NOBODY, blind)).toBe(true);
  const far = { ...NOBODY, owner: { ...NOBODY.owner, space: '0a1b2c3d-1' } };
  expect(isOfSession({}, far, CHILD)).toBe(true);
});
