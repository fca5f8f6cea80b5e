import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { processInfo, type System, thisSystem } from '../../os/index.ts';
import { Shim } from '../../stores/ledger/testing/events.ts';
import { closeLost } from './lost-runs.ts';
import { startDaemon, type TestDaemon } from './testing/daemon.ts';

const HOST = '7e5f2c1a-0000-4000-8000-000000000001';
const NONE = { runs: 0, calls: 0 };

interface Scene {
  readonly daemon: TestDaemon;
  readonly look: (system?: System) => Promise<{ readonly runs: number; readonly calls: number }>;
  readonly statusOf: (runId?: string) => Promise<string | null | undefined>;
  readonly callStatus: (callId: string) => Promise<string | null | undefined>;
  /** Writes a file of a run, as a process of this name would. */
  readonly onFile: (name: string, run?: object) => string;
  readonly files: () => readonly string[];
  readonly folder: string;
}

/** A ledger with one run, which has one call that ended and one that did not. */
async function scene(host = HOST): Promise<Scene> {
  const daemon = await startDaemon();
  const { folder } = daemon.home;
  const paths = { run: join(folder, 'run'), hostId: join(folder, 'host-id') };
  mkdirSync(paths.run, { mode: 0o700 });
  writeFileSync(paths.hostId, `${HOST}\n`);
  const shim = new Shim('a', { host });
  const open = [shim.start('open'), shim.decision('open')];
  await daemon.client.ingest([shim.runStart(), ...shim.call('done'), ...open]);
  const { store } = daemon.ledger;
  return {
    daemon,
    look: (system = thisSystem()) => closeLost({ store, server: daemon.server, paths, system }),
    statusOf: async (runId = 'run-1') => (await store.run(runId))?.status,
    callStatus: async (callId) => (await store.call('run-1', callId))?.status,
    onFile: (name, run = { run_id: 'run-1', space: thisSystem().space?.() }) => {
      const path = join(paths.run, name);
      writeFileSync(path, JSON.stringify(run));
      return path;
    },
    files: () => readdirSync(paths.run),
    folder: paths.run,
  };
}

/** A process, with the name that its files have. */
async function living(): Promise<{ readonly child: ChildProcess; readonly name: string }> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const info = processInfo(child.pid ?? 0);
  return { child, name: `${info?.pid}-${info?.start}` };
}

async function killed(): Promise<string> {
  const { child, name } = await living();
  child.kill('SIGKILL');
  await once(child, 'exit');
  return name;
}

describe('a run whose processes are gone', () => {
  test('is LOST with its open calls, and its files go', async () => {
    const { look, statusOf, callStatus, onFile, files, daemon } = await scene();
    const name = await killed();
    onFile(`agent-${name}.json`);
    onFile(`agent-${name}.shim-${await killed()}.json`);
    onFile(`agent-${name}.left-${await killed()}.json`);
    expect(await look()).toEqual({ runs: 1, calls: 1 });
    expect([await statusOf(), await callStatus('open'), await callStatus('done')]).toEqual([
      'LOST',
      'LOST',
      'OK',
    ]);
    expect(files()).toEqual([]);
    const run = await daemon.ledger.store.run('run-1');
    // It ended with the last sign of life, not when somebody looked.
    expect(run?.ended_at_ms).toBeLessThan(Date.now() - 1_000);
    expect(JSON.parse(run?.summary_json ?? '')).toMatchObject({
      calls_total: 2,
      calls_allowed: 2,
      errors_total: 1,
    });
    expect(await look()).toEqual(NONE);
  });

  test('is LOST without any file, as after a reboot that emptied the folder', async () => {
    const { look, statusOf } = await scene();
    expect(await look()).toEqual({ runs: 1, calls: 1 });
    expect(await statusOf()).toBe('LOST');
  });

  test('is LOST when another process has its pid by now', async () => {
    const { look, onFile } = await scene();
    const { child } = await living();
    onFile(`agent-${child.pid}-1-00000000.json`);
    expect(await look()).toEqual({ runs: 1, calls: 1 });
  });

  test('is LOST when its file is from before this boot', async () => {
    const { look, onFile } = await scene();
    const path = onFile('agent-7-1-deadbeef.json', { run_id: 'run-1', space: 'deadbeef-1' });
    utimesSync(path, 1_000, 1_000);
    expect(await look()).toEqual({ runs: 1, calls: 1 });
  });

  test('that has an end loses only the calls that have none', async () => {
    const { look, statusOf, callStatus, daemon } = await scene();
    const host = new Shim('b', { host: HOST });
    await daemon.client.ingest([host.runEnd(2)]);
    expect(await look()).toEqual({ runs: 0, calls: 1 });
    expect([await statusOf(), await callStatus('open')]).toEqual(['SUCCEEDED', 'LOST']);
  });

  test('has the end that comes late all the same', async () => {
    const { look, statusOf, callStatus, daemon } = await scene();
    await look();
    const late = new Shim('b', { host: HOST });
    await daemon.client.ingest([late.end('open'), late.runEnd(2)]);
    expect([await statusOf(), await callStatus('open')]).toEqual(['SUCCEEDED', 'OK']);
    expect(await look()).toEqual(NONE);
  });
});

describe('a run is not LOST', () => {
  test.each(['', '.shim-PROCESS', '.last-PROCESS'])(
    'while a process lives that a file agent-…%s.json names, however long its call takes',
    async (kind) => {
      const { look, statusOf, callStatus, onFile, files } = await scene();
      const { name } = await living();
      const agent = kind === '' ? name : await killed();
      const file = `agent-${agent}${kind.replace('PROCESS', name)}.json`;
      onFile(file);
      // The events of the run are of long ago: no clock says that it is over.
      expect([await look(), await look()]).toEqual([NONE, NONE]);
      expect([await statusOf(), await callStatus('open')]).toEqual([null, null]);
      expect(files()).toEqual([file]);
    },
  );

  test('while its process is stopped, as on a suspended machine', async () => {
    const { look, onFile } = await scene();
    const { child, name } = await living();
    child.kill('SIGSTOP');
    onFile(`agent-${name}.json`);
    expect(await look()).toEqual(NONE);
  });

  test('when it comes from another home or machine', async () => {
    const { look, statusOf } = await scene('7e5f2c1a-0000-4000-8000-000000000002');
    expect(await look()).toEqual(NONE);
    expect(await statusOf()).toBeNull();
  });

  test('when its processes are in another container, or on another machine with this home', async () => {
    const { look, onFile } = await scene();
    const boot = thisSystem().space?.()?.slice(0, 8) ?? '';
    onFile(`agent-7-1-${boot}.json`, { run_id: 'run-1', space: `${boot}-1` });
    expect(await look()).toEqual(NONE);
    const other = await scene();
    other.onFile('agent-7-1-deadbeef.json', { run_id: 'run-1', space: 'deadbeef-1' });
    expect(await other.look()).toEqual(NONE);
  });

  test('when a file of the run folder cannot be read: it may be its own', async () => {
    const { look, statusOf, folder } = await scene();
    const unreadable = join(folder, `agent-${await killed()}.json`);
    mkdirSync(unreadable);
    expect([await look(), await statusOf()]).toEqual([NONE, null]);
    rmSync(unreadable, { recursive: true });
    expect(await look()).toEqual({ runs: 1, calls: 1 });
  });

  test('when the system shows no processes: then no process has a file', async () => {
    const { look, statusOf } = await scene();
    const blind = { ...thisSystem(), readFile: () => undefined, ps: () => undefined };
    expect([await look(blind), await statusOf()]).toEqual([NONE, null]);
  });

  test('when the run folder cannot be listed', async () => {
    const { look, statusOf, folder } = await scene();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    expect([await look(), await statusOf()]).toEqual([NONE, null]);
    rmSync(folder);
    expect(await look()).toEqual({ runs: 1, calls: 1 });
  });

  test('when the run folder has more files than one look reads', async () => {
    const { look, statusOf, folder } = await scene();
    for (let pid = 0; pid <= 10_000; pid++) writeFileSync(join(folder, `agent-${pid}-1.json`), '');
    expect([await look(), await statusOf()]).toEqual([NONE, null]);
  });

  test('when its end waits in the spool', async () => {
    const { look, statusOf, callStatus, daemon } = await scene();
    const last = new Shim('b', { host: HOST });
    const lines = [last.end('open'), last.runEnd(2)].map(({ seq, line }) => `${seq} ${line}\n`);
    writeFileSync(join(daemon.spool, 'b-1.jsonl'), lines.join(''));
    expect(await look()).toEqual(NONE);
    expect([await statusOf(), await callStatus('open')]).toEqual(['SUCCEEDED', 'OK']);
  });
});
