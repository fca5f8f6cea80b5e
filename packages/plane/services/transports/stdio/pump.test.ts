import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { pipeFd } from '../../../os/pipe-writes.ts';
import { readChunks } from './read-chunks.ts';
import type { RunningServer } from './spawn.ts';
import { startShim, until } from './testing/shim-process.ts';
import { createWriter, handleRead, openServer } from './transport.ts';

/** Keeps every write apart; takes them only when let. */
function slowSink() {
  const writes: Buffer[] = [];
  const waiting: (() => void)[] = [];
  const sink = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, callback) {
      writes.push(chunk);
      waiting.push(callback);
    },
  });
  return { sink, writes, let: () => waiting.shift()?.() };
}

/** Two ends of a connection of this system. */
async function socketPair() {
  const home = mkdtempSync(join(tmpdir(), 'sub-pair-'));
  const server = createServer();
  server.listen(join(home, 'socket'));
  const ours = connect(join(home, 'socket'));
  const theirs = await new Promise<Socket>((resolve) => {
    server.once('connection', resolve);
  });
  onTestFinished(() => {
    ours.destroy();
    theirs.destroy();
    server.close();
    rmSync(home, { recursive: true });
  });
  return { ours, theirs };
}

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

test.each([
  ['{"a":1}\n', '{"a":1}\n'],
  ['{"a":1}', '{"a":1}\n'],
  ['{"a":\n{"b":2}\n}', '{"a": {"b":2} }\n'],
  ['{"a":\r\n1}\n', '{"a":  1} \n'],
])('the message %j is one line', async (message, line) => {
  const { sink, writes } = slowSink();
  const child = { stdin: sink, stdout: new PassThrough() } as unknown as RunningServer;
  openServer(child, {}).write(Buffer.from(message));
  await tick();
  expect(Buffer.concat(writes).toString()).toBe(line);
});

describe('createWriter', () => {
  test('joins the lines of one read back into one piece of the same memory', async () => {
    const { sink, writes } = slowSink();
    const writer = createWriter(sink);
    const read = Buffer.from('one\ntwo\nthree\n');
    for (const [from, to] of [
      [0, 4],
      [4, 8],
      [8, 14],
    ] as const)
      writer.write(read.subarray(from, to));
    await tick();
    expect(writes.map(String)).toEqual(['one\ntwo\nthree\n']);
    expect(writes[0]?.buffer).toBe(read.buffer);
  });

  test('writes every byte in order, whatever the pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 300_000 }),
        fc.array(fc.record({ at: fc.nat(), keep: fc.boolean(), wait: fc.boolean() })),
        async (bytes, cuts) => {
          const all = Buffer.from(bytes);
          const sink = new PassThrough();
          const writer = createWriter(sink, { bytesHigh: 1 });
          const got: Buffer[] = [];
          sink.on('data', (chunk: Buffer) => got.push(chunk));
          let from = 0;
          for (const { at, keep, wait } of cuts) {
            const to = from + (at % (all.length - from + 1));
            const piece = all.subarray(from, to);
            writer.write(keep ? piece : Buffer.from(piece));
            from = to;
            if (wait) await tick();
          }
          writer.write(all.subarray(from));
          expect(await writer.close(5_000)).toBe(true);
          expect(Buffer.concat(got).equals(all)).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('holds its sources while full and lets them go once drained', async () => {
    const { sink, let: release } = slowSink();
    const writer = createWriter(sink, { bytesHigh: 10 });
    const source = { holds: 0, hold: () => source.holds++, release: () => source.holds-- };
    writer.holds(source);
    writer.write(Buffer.alloc(11));
    expect(source.holds).toBe(1);
    writer.write(Buffer.alloc(11));
    expect(source.holds).toBe(1);
    await tick();
    release();
    await tick();
    expect(source.holds).toBe(0);
    expect(writer.bufferedBytes()).toBe(0);
  });

  test('reports once that the other side is gone, and drops the rest', async () => {
    const causes: Error[] = [];
    const source = { holds: 0, hold: () => source.holds++, release: () => source.holds-- };
    const { sink } = slowSink();
    const writer = createWriter(sink, { bytesHigh: 1, onBroken: (cause) => causes.push(cause) });
    writer.holds(source);
    writer.write(Buffer.alloc(10));
    await tick();
    sink.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await tick();
    writer.write(Buffer.alloc(10));
    expect(causes.map(({ message }) => message)).toEqual(['write EPIPE']);
    expect(source.holds).toBe(0);
    expect(await writer.close(1_000)).toBe(false);
  });

  test('gives up closing when the other side takes nothing', async () => {
    const { sink } = slowSink();
    const writer = createWriter(sink);
    writer.write(Buffer.alloc(10));
    expect(await writer.close(20)).toBe(false);
    expect(sink.destroyed).toBe(true);
  });
});

describe('createWriter on a socket', () => {
  test('writes at once what a read has brought, and nothing before it is handled', async () => {
    const { ours, theirs } = await socketPair();
    const writer = createWriter(ours);
    const steps: string[] = [];
    handleRead(() => {
      writer.write(Buffer.from('a\n'));
      writer.write(Buffer.from('b\n'));
      steps.push(`${ours.bytesWritten} bytes`);
    }, undefined);
    const chunk = await new Promise<Buffer>((resolve) => {
      theirs.once('data', resolve);
    });
    expect(String(chunk)).toBe('a\nb\n');
    expect(steps).toEqual(['0 bytes']);
  });

  test('goes on writing after a read whose handling has failed', async () => {
    const { ours, theirs } = await socketPair();
    const writer = createWriter(ours);
    const fail = () => {
      writer.write(Buffer.from('before '));
      throw new Error('a fault');
    };
    expect(() => handleRead(fail, undefined)).toThrow('a fault');
    writer.write(Buffer.from('after'));
    expect(await writer.close(5_000)).toBe(true);
    expect(await text(theirs)).toBe('before after');
  });

  test('never writes to the file that has got the descriptor of a stream that is gone', async () => {
    const { ours } = await socketPair();
    const writer = createWriter(ours);
    const fd = pipeFd(ours);
    ours.destroy();
    writer.write(Buffer.from('for the other side'));
    const file = join(mkdtempSync(join(tmpdir(), 'sub-fd-')), 'file');
    onTestFinished(() => rmSync(dirname(file), { recursive: true }));
    // The lowest free descriptor is given away first.
    const opened: number[] = [];
    while (fd !== undefined && !opened.includes(fd) && opened.length < 100) {
      opened.push(openSync(file, 'a'));
    }
    await tick();
    expect(readFileSync(file, 'utf8')).toBe('');
    for (const one of opened) closeSync(one);
  });
});

describe('readChunks', () => {
  test('reads a socket into the memory it is given, behind what the stream had read before', async () => {
    const { ours, theirs } = await socketPair();
    // Without a listener, the stream of a socket reads ahead.
    theirs.write('early ');
    await until(() => (ours.readableLength > 0 ? true : undefined), 'bytes in the stream');
    const memory = Buffer.alloc(64);
    const got: string[] = [];
    let ends = 0;
    const reader = readChunks(ours, {
      chunk: (chunk) => got.push(`chunk ${String(chunk)}`),
      memory: {
        room: () => memory,
        took: (bytes) => got.push(`memory ${memory.toString('utf8', 0, bytes)}`),
      },
      end: () => ends++,
    });
    await until(() => (got.length > 0 ? true : undefined), 'a chunk');
    reader.hold();
    theirs.end('late');
    await tick();
    expect(got).toEqual(['chunk early ']);
    reader.release();
    await once(ours, 'close');
    expect(got).toEqual(['chunk early ', 'memory late']);
    expect(ends).toBe(1);
  });

  test('brings nothing more of a socket once it is stopped', async () => {
    const { ours, theirs } = await socketPair();
    const got: string[] = [];
    const memory = { room: () => Buffer.alloc(64), took: () => got.push('bytes') };
    readChunks(ours, { chunk: () => got.push('chunk'), memory, end: () => got.push('end') }).stop();
    theirs.end('late');
    await once(theirs, 'finish');
    await tick();
    expect(got).toEqual([]);
  });

  test('reads on only when released as often as held', async () => {
    const source = new PassThrough();
    const chunks: string[] = [];
    const reader = readChunks(source, { chunk: (chunk) => chunks.push(String(chunk)), end() {} });
    reader.hold();
    reader.hold();
    source.write('a');
    reader.release();
    await tick();
    expect(chunks).toEqual([]);
    reader.release();
    await tick();
    expect(chunks).toEqual(['a']);
    expect(() => reader.release()).toThrow('more often than held');
  });

  test.each([
    ['ends', (source: PassThrough) => source.end()],
    ['breaks', (source: PassThrough) => source.destroy(new Error('read ECONNRESET'))],
    ['is closed', (source: PassThrough) => source.destroy()],
  ])('tells once that the stream %s', async (_, finish) => {
    const source = new PassThrough();
    let ends = 0;
    readChunks(source, { chunk() {}, end: () => ends++ });
    finish(source);
    await tick();
    await tick();
    expect(ends).toBe(1);
  });
});

describe.skipIf(process.platform !== 'linux')('a relay of real processes', () => {
  test('passes every byte both ways to a reader that stops now and then', async () => {
    verifies('F-012');
    const shim = await startShim({ server: ['/bin/cat'], bytesHigh: 65_536 });
    const [sent, received] = [createHash('sha256'), createHash('sha256')];
    let bytes = 0;
    shim.child.stdout?.on('data', (chunk: Buffer) => {
      received.update(chunk);
      bytes += chunk.length;
      shim.child.stdout?.pause();
      setImmediate(() => shim.child.stdout?.resume());
    });
    const closed = once(shim.child, 'close');
    for (let n = 0; n < 200; n++) {
      const chunk = Buffer.alloc(100_003, `${n} `);
      sent.update(chunk);
      if (shim.child.stdin?.write(chunk) === false) await once(shim.child.stdin, 'drain');
    }
    shim.child.stdin?.end();
    await closed;
    expect(bytes).toBe(200 * 100_003);
    expect(received.digest('hex')).toBe(sent.digest('hex'));
  });

  test('keeps little in memory when nobody reads the flood of a server', async () => {
    const shim = await startShim({
      server: ['flood-stdout'],
      bytesHigh: 1024 * 1024,
      reportMs: 20,
      graceMs: 100,
      termMs: 100,
      drainMs: 100,
    });
    // The pipe is full once the waiting bytes stay the same for a while.
    const steady = await until(() => {
      const reports = shim.facts().filter(({ kind }) => kind === 'memory');
      const last = reports.slice(-10).map(({ buffered }) => buffered);
      const isSteady = last.length === 10 && last.every((one) => one === last[0] && one > 0);
      return isSteady ? last[0] : undefined;
    }, 'a full pipe');
    expect(steady).toBeGreaterThan(1024 * 1024);
    expect(steady).toBeLessThan(3 * 1024 * 1024);
    shim.child.kill('SIGTERM');
    expect(await shim.exit).toBe(143);
  });
});
