import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLine } from '@subluminal/core/ports';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { type LedgerSinkOptions, ledgerSink } from './ledger-sink.ts';
import type { BatchingSink } from './prompt-sink.ts';
import { Listener } from './testing/listener.ts';
import { bundleProgram } from './testing/program.ts';

const PRODUCER = '0190-shim';

let dir: string;
let socketPath: string;
let spoolDir: string;
let listener: Listener;
const open: BatchingSink[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sub-sink-'));
  socketPath = join(dir, 'ledger.sock');
  spoolDir = join(dir, 'spool');
  listener = new Listener();
});

afterEach(async () => {
  for (const sink of open.splice(0)) await sink.close(0);
  await listener.die();
  rmSync(dir, { recursive: true, force: true });
});

function sinkOf(options: Partial<LedgerSinkOptions> = {}): BatchingSink {
  const sink = ledgerSink({ socketPath, spoolDir, producer: PRODUCER, ...options });
  open.push(sink);
  return sink;
}

const durable = (line: string): EventLine => ({ line, kind: 'durable' });
const numbered = (n: number): EventLine => durable(JSON.stringify({ n }));

function spoolNames(): string[] {
  try {
    return readdirSync(spoolDir).toSorted();
  } catch {
    return [];
  }
}

/** What the spool holds, as `SEQ JSON` lines. */
function spooledLines(): string[] {
  return spoolNames().flatMap((name) =>
    readFileSync(join(spoolDir, name), 'utf8').split('\n').slice(0, -1),
  );
}

/** The numbers that reached the ledger or the spool, each once. */
function arrived(): number[] {
  const onDisk = spooledLines().map((text) => Number.parseInt(text, 10));
  const all = new Set([...listener.received.map(({ seq }) => seq), ...onDisk]);
  return [...all].toSorted((left, right) => left - right);
}

/** The numbers up to this one that reached neither. */
function missing(count: number): number[] {
  const there = new Set(arrived());
  return upTo(count).filter((seq) => !there.has(seq));
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('while the ledger listens', () => {
  test('greets, numbers the lines and waits for the word that they are committed', async () => {
    verifies('IP-1.1');
    await listener.listen(socketPath);
    const sink = sinkOf();
    sink.write(durable('{"é":1}'));
    sink.write(durable('{"b":2}'));
    await sink.flush(5_000);
    expect(listener.hellos).toEqual([`{"hello":"subluminal.ingest.v1","producer":"${PRODUCER}"}`]);
    expect(listener.received).toEqual([
      { seq: 1, line: '{"é":1}' },
      { seq: 2, line: '{"b":2}' },
    ]);
    expect(sink.stats()).toEqual({ queued: 0, spooled: 0, previewsDropped: 0, linesLost: 0 });
    expect(spoolNames()).toEqual([]);
  });

  test('sends the lines of a tick in one write', async () => {
    await listener.listen(socketPath);
    const sink = sinkOf();
    sink.write(numbered(0));
    await sink.flush(5_000);
    for (let n = 1; n <= 30; n++) sink.write(numbered(n));
    await sink.flush(5_000);
    expect(listener.chunks).toEqual([1, 30]);
  });

  test('takes back from the disk the lines that were pushed before the connection was open', async () => {
    await listener.listen(socketPath);
    const sink = sinkOf();
    sink.write(numbered(1));
    sink.push();
    expect(spooledLines()).toEqual(['1 {"n":1}']);
    await listener.until(() => listener.received.length === 1);
    sink.write(numbered(2));
    await sink.flush(5_000);
    expect(listener.received.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(spoolNames()).toEqual([]);
  });

  test('keeps on disk the lines that a silent ledger has not confirmed when it is closed', async () => {
    await listener.listen(socketPath);
    listener.acks = false;
    const sink = sinkOf();
    sink.write(numbered(1));
    await listener.until(() => listener.received.length === 1);
    await sink.close(20);
    expect(spoolNames()).toEqual([`${PRODUCER}-1.jsonl`]);
    expect(spooledLines()).toEqual(['1 {"n":1}']);
  });

  test.each([
    ['more than it was sent', '{"ack":7}\n'],
    ['less than before', '{"ack":1}\n{"ack":0}\n'],
    ['without end', 'x'.repeat(200_000)],
  ])('leaves a ledger that confirms %s, and loses nothing', async (_, answer) => {
    await listener.listen(socketPath);
    listener.acks = false;
    const sink = sinkOf();
    sink.write(numbered(1));
    await listener.until(() => listener.received.length === 1);
    const [first = '', ...others] = answer.split(/(?<=\n)(?=.)/);
    listener.answer(first);
    for (const other of others) {
      await sink.flush(5_000);
      listener.answer(other);
    }
    await listener.until(() => listener.connections === 0 || listener.hellos.length > 1);
    await sink.close(0);
    expect(arrived()).toEqual([1]);
  });

  test('ignores answers of a later version', async () => {
    await listener.listen(socketPath);
    listener.acks = false;
    const sink = sinkOf();
    sink.write(numbered(1));
    await listener.until(() => listener.received.length === 1);
    listener.answer('{"pause":true}\nnonsense\n{"ack":1,"more":2}\n');
    await sink.flush(5_000);
    expect(sink.stats().queued).toBe(0);
    expect(spoolNames()).toEqual([]);
  });
});

describe('while no ledger listens', () => {
  test('spools, and completes the file when closed', async () => {
    verifies('SL-11.4');
    const sink = sinkOf();
    sink.write(numbered(1));
    await sink.flush(5_000);
    expect(spoolNames()).toEqual([`${PRODUCER}-1.jsonl.${process.pid}.part`]);
    sink.write(numbered(2));
    await sink.close(5_000);
    expect(spoolNames()).toEqual([`${PRODUCER}-1.jsonl`]);
    expect(spooledLines()).toEqual(['1 {"n":1}', '2 {"n":2}']);
    expect(sink.stats()).toMatchObject({ queued: 0, spooled: 2, linesLost: 0 });
  });

  test('keeps its files private', async () => {
    const sink = sinkOf();
    sink.write(numbered(1));
    await sink.close(5_000);
    expect(statSync(spoolDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(spoolDir, `${PRODUCER}-1.jsonl`)).mode & 0o777).toBe(0o600);
  });

  test('begins a new file when one is large enough', async () => {
    const sink = sinkOf({ limits: { spoolFileBytes: 40 } });
    for (let n = 1; n <= 10; n++) {
      sink.write(numbered(n));
      await sink.flush(5_000);
    }
    await sink.close(5_000);
    const names = spoolNames();
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) expect(statSync(join(spoolDir, name)).size).toBeLessThan(60);
    expect(arrived()).toEqual(upTo(10));
  });

  test('leaves previews out when much is on disk already', async () => {
    const sink = sinkOf({ limits: { spoolPreviewBytes: 5 } });
    sink.write({ line: '{"preview":1}', kind: 'preview', lean: () => '{"lean":1}' });
    await sink.flush(5_000);
    sink.write({ line: '{"preview":2}', kind: 'preview', lean: () => '{"lean":2}' });
    await sink.close(5_000);
    expect(spooledLines()).toEqual(['1 {"preview":1}', '2 {"lean":2}']);
    expect(sink.stats().previewsDropped).toBe(1);
  });

  test('goes on by the socket once it is there, and hands over the file', async () => {
    const sink = sinkOf();
    sink.write(numbered(1));
    await sink.flush(5_000);
    await listener.listen(socketPath);
    await listener.until(() => listener.hellos.length === 1 || listener.connections === 1);
    sink.write(numbered(2));
    await listener.until(() => listener.received.length === 1);
    await sink.close(5_000);
    expect(listener.received.map(({ seq }) => seq)).toEqual([2]);
    expect(spoolNames()).toEqual([`${PRODUCER}-1.jsonl`]);
    expect(spooledLines()).toEqual(['1 {"n":1}']);
  });
});

test('a sink spools the lines that a killed ledger had not confirmed, and connects to the next ledger', async () => {
  verifies('SL-11.4');
  await listener.listen(socketPath);
  const sink = sinkOf();
  sink.write(numbered(1));
  await sink.flush(5_000);
  listener.acks = false;
  sink.write(numbered(2));
  await listener.until(() => listener.received.length === 2);
  await listener.die();
  sink.write(numbered(3));
  await sink.flush(5_000);
  const next = new Listener();
  await next.listen(socketPath);
  await next.until(() => next.connections === 1);
  sink.write(numbered(4));
  await next.until(() => next.received.length > 0);
  await sink.close(5_000);
  await next.die();
  expect(spooledLines()).toEqual(['2 {"n":2}', '3 {"n":3}']);
  expect(next.received.map(({ seq }) => seq)).toEqual([4]);
});

describe('under pressure', () => {
  test('leaves out previews first, then lets lines wait on disk', async () => {
    verifies('SL-11.4');
    await listener.listen(socketPath);
    listener.acks = false;
    const sink = sinkOf({ limits: { queueBytes: 60 } });
    sink.write(durable('{"first":"unconfirmed"}'));
    await listener.until(() => listener.received.length === 1);
    const preview = JSON.stringify({ preview: 'x'.repeat(50) });
    sink.write({ line: preview, kind: 'preview', lean: () => '{"lean":2}' });
    sink.push();
    expect(sink.stats()).toMatchObject({ previewsDropped: 1, spooled: 0 });
    sink.write({ line: preview, kind: 'preview', lean: () => '{"lean":3}' });
    sink.write(durable('{"decision":4}'));
    sink.push();
    expect(spooledLines()).toEqual(['3 {"lean":3}', '4 {"decision":4}']);
    expect(sink.stats()).toEqual({ queued: 2, spooled: 2, previewsDropped: 2, linesLost: 0 });
    await listener.until(() => listener.received.length === 2);
    listener.answer('{"ack":2}\n');
    await sink.flush(5_000);
    expect(spoolNames()).toEqual([`${PRODUCER}-1.jsonl`]);
  });

  test('has a copy on disk of lines that the kernel has no room for', async () => {
    const waits = vi.spyOn(Atomics, 'wait');
    onTestFinished(() => waits.mockRestore());
    listener.reads = false;
    await listener.listen(socketPath);
    const sink = sinkOf();
    await listener.until(() => listener.connections === 1);
    // Our end hears of the connection in a turn of the event loop after that.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => void setImmediate(resolve));
    const line = JSON.stringify({ text: 'x'.repeat(100_000) });
    const count = 20;
    for (let n = 0; n < count; n++) {
      sink.write(durable(line));
      sink.push();
    }
    const { queued, spooled } = sink.stats();
    expect(queued).toBe(count);
    expect(spooled).toBeGreaterThan(10);
    // Once for all that follows: two milliseconds, not two for each line.
    expect(waits).toHaveBeenCalledTimes(8);
    listener.resume();
    await listener.until(() => listener.received.length === count);
    await sink.close(5_000);
    expect(listener.received.map(({ seq }) => seq)).toEqual(upTo(count));
    expect(spoolNames()).toEqual([]);
  });

  test('keeps in memory up to its limit when the disk is full, says so once, never throws', async () => {
    const warnings: string[] = [];
    let isFull = true;
    const sink = sinkOf({
      limits: { queueBytes: 40 },
      warn: (text) => warnings.push(text),
      // As a disk does: takes some of it, then nothing.
      writeSpool: (fd, bytes) => {
        if (!isFull) return writeSync(fd, bytes);
        if (bytes.length > 5) return writeSync(fd, bytes.subarray(0, 5));
        throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      },
    });
    for (let n = 1; n <= 5; n++) {
      sink.write(numbered(n));
      await sink.flush(0);
    }
    const { queued, linesLost } = sink.stats();
    expect(queued).toBeGreaterThan(0);
    expect(queued + linesLost).toBe(5);
    expect(warnings).toEqual([expect.stringContaining('ENOSPC')]);
    expect(spooledLines()).toEqual([]);
    isFull = false;
    await sink.close(1_000);
    expect(arrived()).toEqual(upTo(queued));
  });

  test('reports a spool that cannot be made', async () => {
    writeFileSync(join(dir, 'file'), '');
    const warnings: string[] = [];
    const sink = sinkOf({
      spoolDir: join(dir, 'file', 'spool'),
      warn: (text) => warnings.push(text),
    });
    sink.write(numbered(1));
    await sink.close(10);
    expect(warnings).toHaveLength(1);
    expect(sink.stats().queued).toBe(1);
  });
});

test('lines that are written after the end count as lost', async () => {
  const sink = sinkOf();
  await sink.close(1_000);
  sink.write(numbered(1));
  expect(sink.stats().linesLost).toBe(1);
});

test('refuses a producer whose name would lead out of the spool', () => {
  expect(() => sinkOf({ producer: '../x' })).toThrow('producer');
});

describe('when the shim is killed with SIGKILL', () => {
  const program = `
    import { ledgerSink } from './ledger-sink.ts';
    const [socketPath, spoolDir, how] = process.argv.slice(2);
    const sink = ledgerSink({ socketPath, spoolDir, producer: 'killed' });
    const write = (n) => sink.write({ line: JSON.stringify({ n, pad: 'x'.repeat(300) }), kind: 'durable' });
    const die = () => process.kill(process.pid, 'SIGKILL');
    const burst = () => { for (let n = 1; n <= 300; n++) write(n); };
    if (how === 'at once') { burst(); sink.push(); die(); }
    if (how === 'pushed') setTimeout(() => { burst(); sink.push(); die(); }, 100);
    if (how === 'next tick') setTimeout(() => { burst(); process.nextTick(die); }, 100);
    if (how === 'clogged') setTimeout(() => { for (let n = 0; n < 10; n++) { burst(); sink.push(); } die(); }, 100);
  `;

  async function killed(how: string): Promise<void> {
    const path = await bundleProgram(dir, program);
    const child = spawn(process.execPath, [path, socketPath, spoolDir, how], { stdio: 'inherit' });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
  }

  test.each(['at once', 'pushed', 'next tick'])(
    'loses no line that was handed over: %s',
    async (how) => {
      await listener.listen(socketPath);
      await killed(how);
      await listener.until(() => listener.connections === 0);
      expect(missing(300)).toEqual([]);
    },
  );

  test('loses no line when the ledger had stopped reading', async () => {
    listener.reads = false;
    // An answer to the dead would close the socket before all of it is read.
    listener.acks = false;
    await listener.listen(socketPath);
    await killed('clogged');
    listener.resume();
    await listener.until(() => listener.connections === 0);
    expect(missing(3_000)).toEqual([]);
  });

  test('loses no line when there was no ledger', async () => {
    await killed('pushed');
    expect(missing(300)).toEqual([]);
  });
});
