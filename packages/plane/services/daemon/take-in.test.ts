// What becomes of lines that reach the daemon's socket or its spool.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure } from '@subluminal/contracts';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { type Ledger, ledgerFailure } from '../../stores/ledger/index.ts';
import { Shim } from '../../stores/ledger/testing/events.ts';
import { LedgerHome } from '../../stores/ledger/testing/temp-ledger.ts';
import { ledgerSink } from '../sink/index.ts';
import { startDaemon, type TestDaemon, Wire } from './testing/daemon.ts';

type Ingest = Ledger['ingest'];

/** The numbers of a producer's lines that the ledger holds, in its order. */
async function stored({ ledger }: TestDaemon, producer: string): Promise<readonly number[]> {
  const seqs: number[] = [];
  for (let afterSeq = 0; ; ) {
    const rows = await ledger.store.events({ afterSeq, limit: 5_000, producer });
    seqs.push(...rows.map(({ producerSeq }) => producerSeq));
    const last = rows.at(-1);
    if (last === undefined) return seqs;
    afterSeq = last.seq;
  }
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at);
}

function calls(shim: Shim, count: number) {
  return upTo(count).flatMap((at) => shim.call(`${shim.producer}-${at}`));
}

describe('lines by the socket', () => {
  it('are committed in order, and the sender gets their number', async () => {
    const daemon = await startDaemon();
    const wire = Wire.ingest(daemon.socketPath, 'a');
    const shim = new Shim('a');
    wire.send(calls(shim, 10));
    await wire.acked(30);
    wire.send(calls(shim, 1));
    await wire.acked(33);
    expect(await stored(daemon, 'a')).toEqual(upTo(33));
    wire.socket.end();
    await wire.ended();
  });

  it('of hundreds of connections at once all arrive', async () => {
    verifies('SL-11.1');
    const daemon = await startDaemon();
    const shims = upTo(300).map((at) => new Shim(`shim-${at}`, { run: `run-${at}` }));
    const wires = shims.map((shim) => Wire.ingest(daemon.socketPath, shim.producer));
    await Promise.all(
      shims.map(async (shim, at) => {
        for (let batch = 0; batch < 5; batch++) wires[at]?.send(calls(shim, 2));
        await wires[at]?.acked(30);
      }),
    );
    for (const { producer } of shims) expect(await stored(daemon, producer)).toEqual(upTo(30));
    await daemon.close();
    expect((await daemon.home.verify()).findings).toEqual([]);
  });

  it('are taken once, also when they come again by another connection', async () => {
    const daemon = await startDaemon();
    const lines = calls(new Shim('a'), 5);
    for (const part of [lines, lines.slice(3), lines]) {
      const wire = Wire.ingest(daemon.socketPath, 'a');
      wire.send(part);
      await wire.acked(part.length);
    }
    expect(await stored(daemon, 'a')).toEqual(upTo(15));
  });

  it('that are no events are set aside, whatever they are, and hold nothing up', async () => {
    const daemon = await startDaemon();
    const shim = new Shim('a');
    const wire = Wire.ingest(daemon.socketPath, 'a');
    const [good] = calls(shim, 1);
    const bad = ['', 'x', '12', '12 ', ' 12 {}', '-1 {}', '1e3 {}', '7 {"type":', '8 null', '9 {}'];
    const deep = `10 {"type":"tool_call_start","call":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const all = [...bad, deep, `99999999999999999999 ${good?.line}`, '\u0000\u0001\u007f'];
    wire.socket.write(`${all.join('\n')}\n`);
    wire.socket.write(Buffer.concat([Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from('\n')]));
    wire.send([{ producer: 'a', seq: 500, line: good?.line ?? '' }]);
    await wire.acked(all.length + 2);
    expect(await stored(daemon, 'a')).toEqual([500]);
    const rejects = await daemon.ledger.store.rejects(100);
    expect(rejects.map(({ producerSeq }) => producerSeq).toSorted((x, y) => x - y)).toEqual([
      -1, 7, 8, 9, 10, 12,
    ]);
    expect(daemon.warnings).toEqual([]);
  });

  it('that are too long are not kept in memory, and the next one is read', async () => {
    const daemon = await startDaemon();
    const wire = Wire.ingest(daemon.socketPath, 'a');
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    wire.socket.write('0 {"');
    for (let at = 0; at < 33; at++) wire.socket.write(chunk);
    wire.socket.write('\n');
    wire.send(calls(new Shim('a'), 1));
    await wire.acked(4);
    expect(await stored(daemon, 'a')).toEqual(upTo(3));
    expect((await daemon.ledger.store.rejects(9))[0]?.line).toContain('33554432 bytes');
  });

  it('never end the daemon, whatever bytes come', async () => {
    const daemon = await startDaemon();
    const bytes = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 });
    const property = fc.asyncProperty(bytes, fc.boolean(), async (parts, hasHello) => {
      const wire = hasHello
        ? Wire.ingest(daemon.socketPath, 'fuzz')
        : new Wire(daemon.socketPath, { hello: 'subluminal.control.v1' });
      for (const part of parts) wire.socket.write(part);
      wire.socket.end();
      await wire.ended();
    });
    await fc.assert(property, { numRuns: 100 });
    expect(await daemon.client.status()).toMatchObject({ version: '1.2.3' });
    expect(daemon.warnings).toEqual([]);
  });

  it('of a shim that is killed are all there, as far as the kernel had them', async () => {
    verifies('T-C.4');
    // Small batches: answers go out while the rest is still with the kernel.
    const daemon = await startDaemon({ limits: { queueLines: 40, batchLines: 20 } });
    const shims = upTo(12).map((at) => new Shim(`killed-${at}`));
    await Promise.all(
      shims.map(async (shim) => {
        const lines = calls(shim, 50);
        const child = spawn(process.execPath, ['-e', VICTIM, daemon.socketPath, shim.producer], {
          stdio: ['pipe', 'ignore', 'inherit'],
        });
        onTestFinished(() => void child.kill('SIGKILL'));
        child.stdin.end(lines.map(({ seq, line }) => `${seq} ${line}\n`).join(''));
        const [, signal] = (await once(child, 'exit')) as [unknown, string];
        expect(signal).toBe('SIGKILL');
      }),
    );
    expect(await daemon.client.sync(10_000)).toBe(true);
    for (const { producer } of shims) expect(await stored(daemon, producer)).toEqual(upTo(150));
  });
});

/**
 * Writes a few lines, waits until they are answered, writes the rest so that the kernel has all of
 * it, and is killed with answers unread.
 */
const VICTIM = `
const { connect } = require('node:net');
const lines = require('node:fs').readFileSync(0, 'utf8').split('\\n').slice(0, -1);
const [socketPath, producer] = process.argv.slice(1);
const socket = connect(socketPath, () => {
  socket.write(JSON.stringify({ hello: 'subluminal.ingest.v1', producer }) + '\\n');
  socket.write(lines.slice(0, 3).join('\\n') + '\\n');
});
socket.once('data', () => {
  socket.pause();
  const text = lines.slice(3).join('\\n') + '\\n';
  socket.write(text);
  const wait = () => socket.writableLength > 0 ? setImmediate(wait) : process.kill(process.pid, 'SIGKILL');
  wait();
});
`;

describe('a commit', () => {
  /** Long enough that a test would fail if nobody hastened the commit. */
  const PATIENT = { gatherMinMs: 600_000, gatherMaxMs: 600_000 };

  it('is one for all lines that come while it waits, until a client asks for it', async () => {
    const daemon = await startDaemon({ limits: PATIENT });
    let commits = 0;
    daemon.server.onAdded(() => void commits++);
    const [one, other] = ['a', 'b'].map((name) => Wire.ingest(daemon.socketPath, name));
    one?.send(calls(new Shim('a'), 2));
    other?.send(calls(new Shim('b', { run: 'run-2' }), 3));
    await daemon.client.sync(10_000);
    await Promise.all([one?.acked(6), other?.acked(9)]);
    expect(commits).toBe(1);
  });

  it('comes at once when a batch is full', async () => {
    const daemon = await startDaemon({ limits: { ...PATIENT, batchLines: 30 } });
    const wire = Wire.ingest(daemon.socketPath, 'a');
    const lines = calls(new Shim('a'), 10);
    wire.send(lines.slice(0, 10));
    wire.send(lines.slice(10));
    await wire.acked(30);
    expect(await stored(daemon, 'a')).toEqual(upTo(30));
  });

  it('comes at once when a sender has sent its last line', async () => {
    const daemon = await startDaemon({ limits: PATIENT });
    const wire = Wire.ingest(daemon.socketPath, 'a');
    wire.send(calls(new Shim('a'), 1));
    wire.socket.end();
    await wire.acked(3);
    expect(await stored(daemon, 'a')).toEqual(upTo(3));
    await wire.ended();
  });

  it('comes at once when the daemon ends', async () => {
    const daemon = await startDaemon({ limits: PATIENT });
    const wire = Wire.ingest(daemon.socketPath, 'a');
    wire.send(calls(new Shim('a'), 1));
    await daemon.close();
    await wire.acked(3);
    expect((await daemon.home.verify()).events).toBe(3);
  });
});

describe('pressure', () => {
  it('stops the reading, not the lines: all arrive when there is room again', async () => {
    verifies('T-C.4', 'SL-11.4');
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held =
      (ingest: Ingest): Ingest =>
      async (lines) =>
        gate.then(() => ingest(lines));
    const daemon = await startDaemon({ wrap: held, limits: { queueLines: 100, batchLines: 50 } });
    const wire = Wire.ingest(daemon.socketPath, 'a');
    const lines = calls(new Shim('a'), 2_000);
    const clogged = new Promise<void>((resolve) => {
      const look = () => (wire.socket.writableLength > 0 ? resolve() : setImmediate(look));
      wire.send(lines);
      setImmediate(look);
    });
    await clogged;
    release();
    await wire.acked(6_000);
    expect(await stored(daemon, 'a')).toEqual(upTo(6_000));
  });

  it('10,000 events of a real sink arrive once each, while the daemon comes and goes', async () => {
    verifies('T-C.1');
    const first = await startDaemon();
    const { home, socketPath, spool } = first;
    const shim = new Shim('sink');
    const sink = ledgerSink({ socketPath, spoolDir: spool, producer: 'sink' });
    let daemon = first;
    for (let round = 0; round < 10; round++) {
      for (const { line } of calls(shim, 334)) sink.write({ kind: 'durable', line });
      await sink.flush(100);
      if (round % 3 !== 1) continue;
      await daemon.close();
      for (const { line } of calls(shim, 10)) sink.write({ kind: 'durable', line });
      await sink.flush(100);
      daemon = await startDaemon({ home });
    }
    await sink.close(5_000);
    expect(await daemon.client.sync(10_000)).toBe(true);
    expect(sink.stats().linesLost).toBe(0);
    const seqs = await stored(daemon, 'sink');
    expect(seqs.toSorted((x, y) => x - y)).toEqual(upTo(shim.count).map((at) => at + 1));
    expect(readdirSync(spool)).toEqual([]);
    await daemon.close();
    expect((await home.verify({ deep: true })).findings).toEqual([]);
  });
});

describe('the spool', () => {
  function spoolFile({ spool }: TestDaemon, name: string, shim: Shim): void {
    const text = calls(shim, 5).map(({ seq, line }) => `${seq} ${line}\n`);
    writeFileSync(join(spool, name), text.join(''));
  }

  it('is taken in on request, at the start and after a connection has ended', async () => {
    const daemon = await startDaemon();
    spoolFile(daemon, 'a-1.jsonl', new Shim('a'));
    expect(await daemon.client.sync(5_000)).toBe(true);
    expect(await stored(daemon, 'a')).toEqual(upTo(15));
    expect(readdirSync(daemon.spool)).toEqual([]);

    spoolFile(daemon, 'b-1.jsonl', new Shim('b'));
    const added = new Promise<void>((resolve) => void daemon.server.onAdded(resolve));
    const wire = Wire.ingest(daemon.socketPath, 'c');
    wire.socket.end();
    await added;
    expect(await stored(daemon, 'b')).toEqual(upTo(15));

    await daemon.close();
    spoolFile(daemon, 'd-1.jsonl', new Shim('d'));
    const next = await startDaemon({ home: daemon.home });
    while ((await stored(next, 'd')).length === 0) await new Promise(setImmediate);
    expect(await stored(next, 'd')).toEqual(upTo(15));
  });

  it('of a shim that connects is taken before its new lines', async () => {
    const home = new LedgerHome();
    const [socketPath, spoolDir] = [join(home.folder, 'l.sock'), join(home.folder, 'spool')];
    const shims = upTo(5).map((at) => new Shim(`early-${at}`));
    const sinks = shims.map(({ producer }) => ledgerSink({ socketPath, spoolDir, producer }));
    const write = () => {
      for (const [at, shim] of shims.entries()) {
        for (const { line } of calls(shim, 1)) sinks[at]?.write({ kind: 'durable', line });
      }
    };
    const isSpooled = () => sinks.every((sink) => sink.stats().spooled > 0);
    while (!isSpooled()) {
      write();
      await new Promise(setImmediate);
    }
    const daemon = await startDaemon({ home });
    // Some of it while they are not back yet, some when they are, and some behind that.
    const isBack = () => sinks.every((sink, at) => sink.stats().spooled < (shims[at]?.count ?? 0));
    for (let more = 0; more < 20 || !isBack(); more++) {
      write();
      await new Promise(setImmediate);
    }
    for (const sink of sinks) await sink.close(5_000);
    expect(await daemon.client.sync(10_000)).toBe(true);
    for (const { producer, count } of shims) {
      expect(await stored(daemon, producer)).toEqual(upTo(count).map((at) => at + 1));
    }
    expect(readdirSync(spoolDir)).toEqual([]);
  });

  it('of a shim that comes is taken also when the shim has nothing more to say', async () => {
    const home = new LedgerHome();
    const [socketPath, spoolDir] = [join(home.folder, 'l.sock'), join(home.folder, 'spool')];
    const sink = ledgerSink({ socketPath, spoolDir, producer: 'idle' });
    onTestFinished(() => sink.close(1_000));
    for (const { line } of calls(new Shim('idle'), 2)) sink.write({ kind: 'durable', line });
    await sink.flush(1_000);
    const daemon = await startDaemon({ home });
    await expect.poll(() => stored(daemon, 'idle'), { timeout: 10_000 }).toHaveLength(6);
    await expect.poll(() => readdirSync(spoolDir)).toEqual([]);
    expect(daemon.warnings).toEqual([]);
  });

  it('keeps a file until the ledger has taken it', async () => {
    let isFull = true;
    const full =
      (ingest: Ingest): Ingest =>
      async (lines) => {
        if (isFull) throw ledgerFailure('SUB_LEDGER_FULL', 'No room.');
        return ingest(lines);
      };
    const daemon = await startDaemon({ wrap: full });
    spoolFile(daemon, 'a-1.jsonl', new Shim('a'));
    expect(await daemon.client.sync(300)).toBe(false);
    expect(readdirSync(daemon.spool)).toEqual(['a-1.jsonl']);
    isFull = false;
    expect(await daemon.client.sync(10_000)).toBe(true);
    expect(await stored(daemon, 'a')).toEqual(upTo(15));
    expect(daemon.warnings).toHaveLength(1);
  });
});

describe('a ledger that fails', () => {
  it('is tried again, and no line is confirmed before it is safe', async () => {
    let failures = 3;
    const failing =
      (ingest: Ingest): Ingest =>
      async (lines) => {
        if (failures-- > 0) throw ledgerFailure('SUB_LEDGER_BUSY', '');
        return ingest(lines);
      };
    const daemon = await startDaemon({ wrap: failing });
    const wire = Wire.ingest(daemon.socketPath, 'a');
    wire.send(calls(new Shim('a'), 2));
    await wire.acked(6);
    expect(wire.lines).toEqual(['{"ack":6}']);
    expect(await stored(daemon, 'a')).toEqual(upTo(6));
  });

  it('for good ends the taking in, and nothing is answered', async () => {
    const tampered = (): Ingest => () => Promise.reject(ledgerFailure('SUB_LEDGER_TAMPERED', ''));
    const told = new Promise<Failure>((resolve) => {
      void startDaemon({ wrap: tampered, onFinal: resolve }).then((daemon) => {
        Wire.ingest(daemon.socketPath, 'a').send(calls(new Shim('a'), 1));
      });
    });
    expect(await told).toMatchObject({ code: 'SUB_LEDGER_TAMPERED' });
  });

  it('because of one line sets that line aside and takes the others', async () => {
    const picky =
      (ingest: Ingest): Ingest =>
      async (lines) => {
        if (lines.some(({ seq }) => seq === 7)) throw new TypeError('seven');
        return ingest(lines);
      };
    const daemon = await startDaemon({ wrap: picky });
    const wire = Wire.ingest(daemon.socketPath, 'a');
    wire.send(calls(new Shim('a'), 5));
    await wire.acked(15);
    expect(await stored(daemon, 'a')).toEqual(upTo(15).filter((seq) => seq !== 7));
    expect(await daemon.ledger.store.rejects(5)).toHaveLength(1);
    expect(daemon.warnings).toEqual([expect.stringContaining('seven')]);
  });
});
