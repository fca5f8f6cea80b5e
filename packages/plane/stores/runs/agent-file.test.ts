import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { thisSystem } from '../../os/index.ts';
import { bundleProgram } from '../../services/sink/testing/program.ts';
import { agentFiles, fallbackRunDir, runOfProcess, withAgentFile } from './agent-file.ts';

let folder = '';
/** The run folder of a home of its own, and the one that is found from HOME. */
let own = '';
let fallback = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-agent-file-'));
  own = join(folder, 'own', 'run');
  fallback = fallbackRunDir({ HOME: folder });
  for (const dir of [own, fallback]) mkdirSync(dir, { recursive: true, mode: 0o700 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const RUN = {
  SUB_RUN_ID: 'run-1',
  SUB_GOVERNANCE_ENDPOINT: 'unix:/x/hub.sock',
  SUB_EVENTS: 'file:/x/events.jsonl',
};

/** As a shim sees it that this very process has started. */
const child = { ...thisSystem(), ppid: process.pid };

function put(dir: string, env: object = RUN, pid = process.pid) {
  const files = agentFiles({ ...env });
  expect(files?.write(dir, pid)).toEqual({ kind: 'written' });
  return files;
}

function look(env: { [name: string]: string } = {}) {
  return withAgentFile({ HOME: folder, ...env }, child);
}

function onlyFile(dir: string): string {
  const [name = '', ...others] = readdirSync(dir);
  expect(others).toEqual([]);
  return join(dir, name);
}

test('tells a shim that was told nothing, and is private', () => {
  const files = put(fallback, { ...RUN, PATH: '/bin' });
  expect(statSync(onlyFile(fallback)).mode & 0o777).toBe(0o600);
  expect(look()).toEqual({ env: { ...RUN, HOME: folder } });
  files?.remove();
  expect(readdirSync(fallback)).toEqual([]);
  expect(look()).toEqual({ env: { HOME: folder } });
});

test('is found in the home that the shim was told of, and in the one of the user', () => {
  const home = { SUB_HOME: join(folder, 'own') };
  put(own, { ...RUN, SUB_RUN_ID: 'run-2' });
  expect(look().env).toEqual({ HOME: folder });
  expect(look(home).env).toMatchObject({ SUB_RUN_ID: 'run-2' });
  put(fallback);
  expect(look(home).env).toMatchObject({ SUB_RUN_ID: 'run-2', ...home });
  expect(look().env).toMatchObject({ SUB_RUN_ID: 'run-1' });
});

test('is found behind a launcher, under whatever process is above', () => {
  put(fallback, RUN, process.ppid);
  expect(look().env).toMatchObject(RUN);
});

describe('the run of another process', () => {
  test('is the one that it was started in, whatever the one who asks was told', () => {
    const asks = { HOME: folder, SUB_RUN_ID: 'run-2', SUB_GOVERNANCE_ENDPOINT: 'unix:/y/hub.sock' };
    expect(runOfProcess(process.pid, asks)).toBeUndefined();
    put(fallback, RUN, process.ppid);
    expect(runOfProcess(process.pid, asks)).toMatchObject(RUN);
  });

  test.each(['run', 'wrap'])('is none for `sub %s`, whose turns are those of its agent', (name) => {
    put(fallback);
    const real = thisSystem();
    const commandLine = ['node', '/x/bin/sub.mjs', name, '--', 'claude'].join('\0');
    const readFile = (path: string) =>
      path === `/proc/${process.pid}/cmdline` ? commandLine : real.readFile(path);
    const asks = { HOME: folder };
    expect(runOfProcess(process.pid, asks, { ...real, readFile })).toBeUndefined();
    expect(runOfProcess(process.pid, asks, real)).toMatchObject(RUN);
  });
});

test('says nothing to a shim of another run, and keeps what the shim was told', () => {
  put(fallback);
  expect(look({ SUB_RUN_ID: 'other' }).env).toEqual({ HOME: folder, SUB_RUN_ID: 'other' });
  expect(look({ SUB_EVENTS: 'off' }).env).toEqual({ ...RUN, SUB_EVENTS: 'off', HOME: folder });
  expect(look({ SUB_EVENTS: '' }).env).toEqual({ ...RUN, HOME: folder });
});

test('tells the rest to a shim that was told the id of the run alone', () => {
  put(fallback);
  expect(look({ SUB_RUN_ID: 'run-1' }).env).toEqual({ ...RUN, HOME: folder });
});

test('holds every setting, and nothing that may be a secret', () => {
  const settings = { SUB_HOME: '/x', SUB_PREVIEWS: 'off', SUB_REDACT_EXTRA_PATTERNS: '["a"]' };
  put(fallback, { ...RUN, ...settings, SUB_SOME_TOKEN: 'hunter2', TOKEN: 'hunter2' });
  expect(readFileSync(onlyFile(fallback), 'utf8')).not.toContain('hunter2');
  expect(look().env).toEqual({ ...RUN, ...settings, HOME: folder });
});

test('keeps all of what is long, and nothing is written of what is endless', () => {
  const long = { ...RUN, SUB_POLICY: `/${'p'.repeat(4_000)}`, SUB_PRINCIPAL: 'x'.repeat(100_000) };
  put(fallback, long);
  expect(look().env).toEqual({ ...long, HOME: folder });
  expect(agentFiles({ ...RUN, SUB_PRINCIPAL: 'x'.repeat(1_048_576) })).toBeUndefined();
});

describe('what is damaged', () => {
  test.each(['', '{', '[]', '{"env":{"SUB_RUN_ID":7},"run_id":"r"}', '{"run_id":7}', 'null'])(
    'is told, not taken for nothing: %j',
    (text) => {
      put(fallback);
      const path = onlyFile(fallback);
      writeFileSync(path, text);
      const found = look();
      expect(found.env).toEqual({ HOME: folder });
      expect(found.problem).toContain(path);
    },
  );

  test('is told of an ancestor above the parent, and when it cannot be read at all', () => {
    put(fallback, RUN, process.ppid);
    const path = onlyFile(fallback);
    rmSync(path);
    mkdirSync(path);
    expect(look().problem).toContain('cannot be read (it is a directory');
    rmSync(path, { recursive: true });
    writeFileSync(path, 'x'.repeat(1_048_577));
    expect(look().problem).toContain('larger than');
  });

  test('is not the file of a shim, which nobody hosts', () => {
    put(fallback);
    writeFileSync(onlyFile(fallback), '{"run_id":"run-1"}');
    expect(look()).toEqual({ env: { HOME: folder } });
  });
});

test.each([0o770, 0o703])('is not taken from a folder that others can write to: %o', (mode) => {
  put(fallback);
  chmodSync(fallback, mode);
  expect(look()).toEqual({ env: { HOME: folder } });
});

test('is not taken from behind a link', () => {
  put(own);
  rmSync(fallback, { recursive: true });
  symlinkSync(own, fallback);
  expect(look()).toEqual({ env: { HOME: folder } });
});

test('is there whole or not at all when the disk is full', async () => {
  const program = await bundleProgram(
    folder,
    `import { agentFiles } from '../../stores/runs/agent-file.ts';
     const files = agentFiles({ SUB_RUN_ID: 'run-1', SUB_PRINCIPAL: 'x'.repeat(20_000) });
     console.log(JSON.stringify(files.write(process.argv[2], process.pid)));`,
  );
  // A limit on the size of files: what is beyond fails as on a full disk.
  const limited = ['-c', 'ulimit -f 4; exec "$0" "$@"', process.execPath, program, fallback];
  const { stdout } = spawnSync('sh', limited, { encoding: 'utf8' });
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'failed', code: 'EFBIG' });
  expect(readdirSync(fallback)).toEqual([]);
});
