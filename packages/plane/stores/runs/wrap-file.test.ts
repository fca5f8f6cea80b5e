import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ProcessIdentity, processInfo, thisSystem } from '../../os/index.ts';
import {
  isWrapId,
  readWrapFile,
  removeWrapFile,
  wrapFilePath,
  writeWrapFile,
} from './wrap-file.ts';

const ID = 'a1-b2';
const RUN = { SUB_RUN_ID: 'run-1', SUB_GOVERNANCE_ENDPOINT: 'unix:/x/hub.sock' };
const OVER = { kind: 'over' };
const saying = (text: string): unknown => expect.stringContaining(text);

let runDir = '';
beforeEach(() => {
  runDir = mkdtempSync(join(tmpdir(), 'sub-wrap-file-'));
});
afterEach(() => rmSync(runDir, { recursive: true, force: true }));

function ownerOf(pid: number): ProcessIdentity {
  const info = processInfo(pid, thisSystem());
  if (info === undefined) throw new Error('the process is gone');
  return { pid, start: info.start };
}

function put(extra: object = {}): string {
  return writeWrapFile(runDir, { id: ID, env: RUN, owner: ownerOf(process.pid), ...extra });
}

test('tells the shims of a session that lives, and is private', () => {
  const path = put();
  expect(path).toBe(join(runDir, 'wrap-a1-b2.json'));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(runDir)).toEqual(['wrap-a1-b2.json']);
  expect(readWrapFile(runDir, ID)).toMatchObject({ kind: 'live', env: RUN, isClosed: false });
});

test('takes the token of a hub on TCP along, and nothing that may be a secret of another', () => {
  const env = { ...RUN, SUB_PROFILE: 'production', SUB_SOME_TOKEN: 'hunter2', TOKEN: 'hunter2' };
  const path = put({ env, token: 't0ken' });
  expect(readFileSync(path, 'utf8')).not.toContain('hunter2');
  const session = readWrapFile(runDir, ID);
  expect(session.kind === 'live' && session.env).toEqual({
    ...RUN,
    SUB_PROFILE: 'production',
    SUB_GOVERNANCE_TOKEN: 't0ken',
  });
});

test('a session is over when its file is gone, and when there never was one', () => {
  put();
  removeWrapFile(runDir, ID);
  removeWrapFile(runDir, ID);
  expect(readWrapFile(runDir, ID)).toEqual(OVER);
  expect(readWrapFile(join(runDir, 'nowhere'), ID)).toEqual(OVER);
});

test('a session is over when its owner is dead, and when another has its number', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
  await once(child, 'spawn');
  const owner = ownerOf(child.pid ?? 0);
  put({ owner });
  expect(readWrapFile(runDir, ID).kind).toBe('live');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(readWrapFile(runDir, ID)).toEqual(OVER);
  put({ owner: { ...ownerOf(process.pid), start: owner.start } });
  expect(readWrapFile(runDir, ID)).toEqual(OVER);
});

test.runIf(process.platform === 'linux')(
  'a session is over when its owner has ended and nobody has collected it',
  async () => {
    // The shell becomes a program that never waits for what the shell has started.
    const script = 'exec 3<&0; cat <&3 & echo $!; exec 3<&-; exec sleep 60 </dev/null';
    const shell = spawn('sh', ['-c', script], { stdio: 'pipe' });
    const [line] = (await once(shell.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const isReplaced = () => readFileSync(`/proc/${shell.pid}/comm`, 'utf8') === 'sleep\n';
    await expect.poll(isReplaced).toBe(true);
    shell.stdin.end();
    try {
      const isEnded = () => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
      await expect.poll(isEnded).toBe(true);
      put({ owner: ownerOf(pid) });
      expect(readWrapFile(runDir, ID)).toEqual(OVER);
    } finally {
      shell.kill('SIGKILL');
    }
  },
);

test('an id is small letters, digits and dashes: no path leads out of the folder', () => {
  const bad = ['', '.', '..', '../x', 'a/b', 'A', 'a b', 'a\n', 'a\0', 'ä', 'x'.repeat(65)];
  for (const id of bad) {
    expect(isWrapId(id), JSON.stringify(id)).toBe(false);
    expect(readWrapFile(runDir, id)).toMatchObject({ kind: 'problem' });
    expect(() => put({ id })).toThrow('no id');
    expect(() => removeWrapFile(runDir, id)).toThrow('no id');
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (id) => {
      const path = isWrapId(id) ? wrapFilePath(runDir, id) : '';
      expect(path === '' || path === `${runDir}/wrap-${id}.json`).toBe(true);
      expect(isWrapId(id)).toBe(id.length <= 64 && id !== '' && !/[^a-z0-9-]/u.test(id));
    }),
  );
});

describe('a file that says nothing certain', () => {
  test.each([
    '',
    '{',
    'null',
    '[]',
    '{"wrap_id":"other"}',
    '{"wrap_id":"a1-b2","env":{"SUB_RUN_ID":"r","SUB_GOVERNANCE_ENDPOINT":"unix:/x"}}',
    `{"wrap_id":"a1-b2","owner":{"pid":${process.pid},"start":"x"},"env":{"SUB_RUN_ID":"r"}}`,
    '{"wrap_id":"a1-b2","owner":{"pid":1,"start":"x"},"env":{}}',
    '{"wrap_id":"a1-b2","owner":{"pid":-1,"start":"x"},"env":{"SUB_RUN_ID":"r"}}',
    '{"wrap_id":"a1-b2","owner":{"pid":1,"start":"../"},"env":{"SUB_RUN_ID":"r"}}',
    '{"wrap_id":"a1-b2","owner":{"pid":1,"start":"x"},"env":{"SUB_RUN_ID":"r"},"token":7}',
  ])('is a problem, not a session that is over: %j', (text) => {
    const path = put();
    writeFileSync(path, text);
    const read = readWrapFile(runDir, ID);
    expect(read).toMatchObject({ kind: 'problem', message: saying(path) });
  });

  test.each([0o640, 0o604, 0o620])('is a problem when it is not private: %o', (mode) => {
    chmodSync(put(), mode);
    expect(readWrapFile(runDir, ID)).toMatchObject({
      kind: 'problem',
      message: saying('wider than 0600'),
    });
  });

  test.each([0o770, 0o702])('is a problem when others can write to its folder: %o', (mode) => {
    put();
    chmodSync(runDir, mode);
    expect(readWrapFile(runDir, ID).kind).toBe('problem');
    chmodSync(runDir, 0o700);
    expect(readWrapFile(runDir, ID).kind).toBe('live');
  });

  test('is a problem behind a link, as a folder, as a pipe, and when it is endless', () => {
    const path = put();
    renameSync(path, `${path}.real`);
    symlinkSync(`${path}.real`, path);
    expect(readWrapFile(runDir, ID).kind).toBe('problem');
    rmSync(path);
    mkdirSync(path, { mode: 0o700 });
    expect(readWrapFile(runDir, ID)).toMatchObject({ message: saying('is a directory') });
    rmSync(path, { recursive: true });
    expect(spawnSync('sh', ['-c', 'mkfifo -m 600 "$0"', path]).status).toBe(0);
    expect(readWrapFile(runDir, ID)).toMatchObject({ message: saying('not a regular file') });
    rmSync(path);
    writeFileSync(path, 'x'.repeat(1_048_577), { mode: 0o600 });
    expect(readWrapFile(runDir, ID)).toMatchObject({
      message: saying('larger than'),
    });
    const env = { ...RUN, SUB_PRINCIPAL: 'x'.repeat(1_048_576) };
    expect(() => put({ env })).toThrow('more to tell');
  });
});
