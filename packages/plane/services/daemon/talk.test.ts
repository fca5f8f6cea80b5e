// Requests to the daemon, and followers of its events.

import { once } from 'node:events';
import { existsSync, linkSync, lstatSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Shim } from '../../stores/ledger/testing/events.ts';
import { LedgerHome } from '../../stores/ledger/testing/temp-ledger.ts';
import { createLedgerClient } from '../ingest/index.ts';
import { openIngest } from '../ingest/server.ts';
import { startDaemon, type TestDaemon, Wire } from './testing/daemon.ts';

const containing = (text: string): unknown => expect.stringContaining(text);
const CONTROL = { hello: 'subluminal.control.v1' };

async function take(daemon: TestDaemon, shim: Shim, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, at) => shim.start(`${shim.count}-${at}`));
  expect(await daemon.client.ingest(lines)).toEqual({
    accepted: count,
    duplicates: 0,
    rejected: 0,
  });
}

/** What it says of itself when whoever asked before has gone: that one is seen a little later. */
async function statusAlone(daemon: TestDaemon) {
  for (;;) {
    const status = await daemon.client.status();
    if (status === undefined || status.connections === 0) return status;
  }
}

/** So many events of those who follow, then no more. */
async function followed(
  daemon: TestDaemon,
  count: number,
  from: { readonly after?: number; readonly backlog?: number } = {},
): Promise<readonly number[]> {
  const ending = new AbortController();
  const seqs: number[] = [];
  for await (const { seq } of daemon.client.follow({ ...from, signal: ending.signal })) {
    seqs.push(seq);
    if (seqs.length === count) ending.abort();
  }
  return seqs;
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('the socket', () => {
  it('answers a client beside 600 connections that say nothing', async () => {
    const daemon = await startDaemon();
    const sockets = Array.from({ length: 600 }, () => connect(daemon.socketPath));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(
      sockets.map((socket) => {
        socket.on('error', () => undefined);
        return once(socket, 'connect');
      }),
    );
    await take(daemon, new Shim('a'), 3);
    // Only so many may wait for their first line.
    let status = await daemon.client.status();
    while ((status?.connections ?? 0) > 260) status = await daemon.client.status();
    expect(status).toMatchObject({ events_committed: 3 });
  });
});

describe('control', () => {
  it('reports its process and its counts', async () => {
    const daemon = await startDaemon();
    await take(daemon, new Shim('a'), 3);
    daemon.server.setHttp({ http: { url: 'http://127.0.0.1:1' } });
    const { started_at, ...rest } = (await statusAlone(daemon)) ?? {};
    expect(started_at).toMatch(/^\d{4}-.*Z$/);
    expect(rest).toEqual({
      pid: process.pid,
      version: '1.2.3',
      // Whoever asks is none of them.
      connections: 0,
      events_committed: 3,
      stays: true,
      conflicts: 0,
      http: { url: 'http://127.0.0.1:1' },
    });
  });

  it('answers nothing where no daemon listens', async () => {
    const client = createLedgerClient({ socketPath: join(new LedgerHome().folder, 'none.sock') });
    expect(await client.status()).toBeUndefined();
    expect(await client.sync(1_000)).toBe(false);
    expect(await client.stay()).toBe(false);
    expect(await client.stop(1_000)).toBe(true);
    expect(await client.prune({})).toMatchObject({ kind: 'failure', code: 'SUB_LEDGER_IO' });
    const signal = new AbortController().signal;
    for await (const item of client.follow({ signal })) expect(item).toBeUndefined();
  });

  it('prunes, or counts what it would prune', async () => {
    const daemon = await startDaemon();
    for (const run of ['r1', 'r2', 'r3']) {
      await daemon.client.ingest(new Shim(run, { run }).call('c'));
    }
    const counted = { runs: 2, events: null };
    expect(await daemon.client.prune({ keepRuns: 1 }, { dryRun: true })).toEqual(counted);
    const pruned = { runs: 2, events: 6 };
    expect(await daemon.client.prune({ keepRuns: 1 })).toEqual(pruned);
    expect((await daemon.ledger.store.runs({}, {})).rows).toHaveLength(1);
  });

  it('answers one request after the other, and refuses unknown ones', async () => {
    const daemon = await startDaemon();
    const wire = new Wire(daemon.socketPath, CONTROL);
    const asked = [
      '{"do":"sync"}',
      'x',
      '{"do":"fly"}',
      '{"do":"prune","request":{"keepRuns":-1}}',
      '{"do":"prune","request":{"olderThanMs":1e300}}',
      '{"do":"prune","request":{"olderThanMs":-8640000000000001}}',
    ];
    wire.socket.write(`${asked.join('\n')}\n{"do":"status"}\n`);
    const lines = await wire.until((all) => all.length > asked.length);
    const codes = lines.map((line) => {
      const { ok, code } = JSON.parse(line) as { ok: boolean; code?: string };
      return ok || code;
    });
    expect(codes).toEqual([true, ...asked.slice(1).map(() => 'SUB_USAGE'), true]);
    wire.socket.end();
    await wire.ended();
  });

  it('counts lines whose number another line has, and warns of them', async () => {
    const daemon = await startDaemon();
    const [first] = new Shim('a').call('c');
    const [other] = new Shim('a').call('d');
    const wire = Wire.ingest(daemon.socketPath, 'a');
    wire.send([first, other].filter((line) => line !== undefined));
    await wire.acked(2);
    expect(await daemon.client.status()).toMatchObject({ events_committed: 1, conflicts: 1 });
    const again = other === undefined ? [] : [other];
    expect(await daemon.client.ingest(again)).toMatchObject({ conflicts: 1 });
    expect(await daemon.client.status()).toMatchObject({ conflicts: 2 });
  });

  it('refuses a first line without a protocol, in one line', async () => {
    const daemon = await startDaemon();
    const others = [
      'x',
      '{}',
      '{"hello":"subluminal.ingest.v9"}',
      '{"hello":"subluminal.ingest.v1"}',
    ];
    for (const hello of others) {
      const wire = new Wire(daemon.socketPath, {});
      wire.socket.write(`${hello}\n`);
      const lines = await wire.until((all) => all.length > 0);
      await wire.ended();
      expect(lines.map((line) => (JSON.parse(line) as { ok: boolean }).ok)).toEqual([false]);
    }
    expect(await statusAlone(daemon)).toMatchObject({ connections: 0 });
  });

  it('keeps the connection that stops it until the ledger is closed', async () => {
    const order: string[] = [];
    const daemon: TestDaemon = await startDaemon({
      onStop: () => void daemon.close().then(() => order.push('closed')),
    });
    Wire.ingest(daemon.socketPath, 'a').send(new Shim('a').call('c'));
    expect(await daemon.client.stop(10_000)).toBe(true);
    await daemon.close();
    expect(order).toEqual(['closed']);
    expect(existsSync(daemon.socketPath)).toBe(false);
    expect(await daemon.client.status()).toBeUndefined();
    expect((await daemon.home.verify()).events).toBe(3);
  });

  it('commits lines that were written to the socket just before', async () => {
    const daemon = await startDaemon();
    const shims = Array.from({ length: 20 }, (_, at) => new Shim(`s${at}`));
    for (const shim of shims) {
      const wire = Wire.ingest(daemon.socketPath, shim.producer);
      wire.send(Array.from({ length: 50 }, (_, at) => shim.start(`c${at}`)));
    }
    expect(await daemon.client.sync(10_000)).toBe(true);
    expect((await daemon.ledger.store.tip()).seq).toBe(1_000);
  });
});

describe('following', () => {
  it('gives the last events, then each new one as it is committed', async () => {
    const daemon = await startDaemon();
    const shim = new Shim('a');
    await take(daemon, shim, 10);
    const seen = followed(daemon, 8, { backlog: 3 });
    await take(daemon, shim, 2);
    await take(daemon, shim, 3);
    expect(await seen).toEqual(range(8, 15));
  });

  it('goes on behind an event', async () => {
    const daemon = await startDaemon();
    await take(daemon, new Shim('a'), 10);
    expect(await followed(daemon, 6, { after: 4 })).toEqual(range(5, 10));
    expect(await followed(daemon, 10, { backlog: 1_000 })).toEqual(range(1, 10));
  });

  it('misses nothing and repeats nothing while events pour in', async () => {
    const daemon = await startDaemon();
    const shim = new Shim('a');
    const all = Promise.all([
      followed(daemon, 2_000, { after: 0 }),
      followed(daemon, 2_000, { after: 0 }),
    ]);
    for (let at = 0; at < 100; at++) await take(daemon, shim, 20);
    expect(await all).toEqual([range(1, 2_000), range(1, 2_000)]);
  });

  it('leaves out events of the ledger itself, and pruned ones', async () => {
    const daemon = await startDaemon();
    await daemon.client.ingest(new Shim('old', { run: 'old' }).call('c'));
    await daemon.client.prune({ keepRuns: 0 });
    await daemon.client.ingest(new Shim('new', { run: 'new' }).call('c'));
    const last = (await daemon.ledger.store.tip()).seq;
    expect(await followed(daemon, 3, { after: 0 })).toEqual(range(last - 2, last));
  });

  it('does not let a follower that never reads hold up the others', async () => {
    const daemon = await startDaemon();
    const stuck = new Wire(daemon.socketPath, { hello: 'subluminal.follow.v1', after: 0 });
    stuck.socket.pause();
    const shim = new Shim('a');
    const large = { preview: { truncated: false, args_preview: 'x'.repeat(15_000) } };
    for (let at = 0; at < 100; at++) {
      const lines = Array.from({ length: 10 }, (_, n) => shim.start(`${at}-${n}`, large));
      await daemon.client.ingest(lines);
    }
    expect(await followed(daemon, 1_000, { after: 0 })).toEqual(range(1, 1_000));
    // What it has not read waits in the store, not in memory; reading again, it gets all of it.
    stuck.socket.resume();
    expect(await stuck.until((all) => all.length === 1_000)).toHaveLength(1_000);
  });

  it('ends with the daemon', async () => {
    const daemon = await startDaemon();
    await take(daemon, new Shim('a'), 2);
    const seqs: number[] = [];
    const { signal } = new AbortController();
    for await (const { seq, event } of daemon.client.follow({ backlog: 9, signal })) {
      expect(event.type).toBe('tool_call_start');
      seqs.push(seq);
      if (seqs.length === 2) void daemon.close();
    }
    expect(seqs).toEqual([1, 2]);
  });
});

describe('the socket', () => {
  async function openAt(home: LedgerHome, socketPath: string) {
    const ledger = await home.open();
    return openIngest({
      socketPath,
      ledger,
      spool: join(home.folder, 'spool'),
      version: '1',
      warn: () => undefined,
      onStop: () => undefined,
      onFinal: () => undefined,
    });
  }

  it('is for its owner alone', async () => {
    const daemon = await startDaemon();
    expect(statSync(daemon.socketPath).mode & 0o777).toBe(0o600);
  });

  it('is not taken from a daemon that answers on it', async () => {
    const daemon = await startDaemon();
    expect(await openAt(new LedgerHome(), daemon.socketPath)).toMatchObject({
      kind: 'failure',
      message: containing('another daemon answers'),
    });
    expect(await daemon.client.status()).toBeDefined();
  });

  it('that a killed daemon left behind is replaced', async () => {
    const home = new LedgerHome();
    const path = join(home.folder, 'l.sock');
    const dead = createServer();
    await new Promise<void>((resolve) => void dead.listen(path, resolve));
    const { ino } = lstatSync(path);
    // It is linked under another name, so that closing does not take the file away.
    linkSync(path, `${path}.kept`);
    await new Promise((resolve) => void dead.close(resolve));
    linkSync(`${path}.kept`, path);
    expect(lstatSync(path).ino).toBe(ino);
    const opened = await openAt(home, path);
    if (isFailure(opened)) throw new Error(opened.message);
    onTestFinished(() => opened.close(1_000, async () => {}));
    expect(await createLedgerClient({ socketPath: path }).status()).toBeDefined();
  });

  it('never replaces a file that is none', async () => {
    const home = new LedgerHome();
    const path = join(home.folder, 'l.sock');
    writeFileSync(path, 'mine');
    expect(await openAt(home, path)).toMatchObject({
      kind: 'failure',
      message: containing('EADDRINUSE'),
    });
    expect(statSync(path).isFile()).toBe(true);
  });

  it('ends by itself when nobody has used it for a while, not before', async () => {
    const idle: string[] = [];
    let onIdle: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      onIdle = () => {
        idle.push('idle');
        resolve();
      };
    });
    const daemon = await startDaemon({ idle: { afterMs: 60, onIdle: () => onIdle() } });
    const wire = Wire.ingest(daemon.socketPath, 'a');
    const release = daemon.server.hold();
    const shim = new Shim('a');
    // Longer than it waits, with somebody there all the time.
    for (const untilMs = performance.now() + 200; performance.now() < untilMs; ) {
      wire.send([shim.start(`c${shim.count}`)]);
      await wire.acked(shim.count);
    }
    wire.socket.end();
    await wire.ended();
    expect(idle).toEqual([]);
    release();
    await ended;
    expect(await daemon.client.status()).toMatchObject({
      events_committed: shim.count,
      stays: false,
    });
  });

  it('does not end by itself after a request to stay', async () => {
    const idle: string[] = [];
    const daemon = await startDaemon({ idle: { afterMs: 30, onIdle: () => idle.push('idle') } });
    expect(await daemon.client.stay()).toBe(true);
    // Its clock starts anew with each one who leaves.
    expect(await daemon.client.status()).toMatchObject({ stays: true });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(idle).toEqual([]);
  });
});

describe('lines that do not end', () => {
  const PART = 'x'.repeat(60_000);

  it('take no more than their share: the connection that holds most is closed, the others are served', async () => {
    const daemon = await startDaemon({ heldBytesMax: 1_000_000 });
    const greedy = new Wire(daemon.socketPath, CONTROL);
    const closed = new Promise<void>((resolve) => void greedy.socket.on('close', resolve));
    const modest = Wire.ingest(daemon.socketPath, 'a');
    const [first] = new Shim('a').call('c');
    const text = `0 ${first?.line ?? ''}`;
    modest.socket.write(text.slice(0, 100));
    for (let part = 0; part < 20; part++) greedy.socket.write(PART);
    await closed;
    expect(daemon.warnings.join()).toContain('lines that did not end');
    modest.socket.write(`${text.slice(100)}\n`);
    await modest.acked(1);
  });

  it('count together, however small each is', async () => {
    const daemon = await startDaemon({ heldBytesMax: 1_000_000 });
    const wires = Array.from({ length: 30 }, () => new Wire(daemon.socketPath, CONTROL));
    for (const { socket } of wires) socket.write(PART);
    await Promise.race(wires.map((wire) => wire.ended()));
    expect(await daemon.client.status()).toMatchObject({ pid: process.pid });
  });

  it('are whole in the end, in whatever pieces they come', async () => {
    const daemon = await startDaemon();
    const shim = new Shim('a');
    const long = JSON.stringify({ type: 'of_tomorrow', text: 'ä'.repeat(50_000) });
    const lines = [shim.raw(long), shim.decision('c')];
    const bytes = Buffer.from(lines.map(({ seq, line }) => `${seq} ${line}\n`).join(''));
    const wire = Wire.ingest(daemon.socketPath, 'a');
    for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7 + 3) % 20_011) {
      const piece = bytes.subarray(at, at + size);
      await new Promise((resolve) => void wire.socket.write(piece, resolve));
    }
    await wire.acked(2);
    const rows = await daemon.ledger.store.events({ afterSeq: 0, limit: 9 });
    expect(rows.map(({ line }) => line)).toEqual(lines.map(({ line }) => line));
  });
});
