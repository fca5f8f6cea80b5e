// The transports of a shim in a process of its own, between an agent and a server that are real.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startShim } from './testing/shim-process.ts';

const LIMITS = { inspectBytesMax: 100_000 };
const CAT = ['/bin/cat'];

/** Lines of all sizes, each with its number: small ones, long ones, and some too large to inspect. */
function linesOf(count: number): Buffer {
  const sizes = [1, 30, 900, 33_000, 70, 99_990, 5, 400_000, 12_000];
  const lines = Array.from({ length: count }, (_, at) => {
    const size = sizes[at % sizes.length] ?? 1;
    return `{"n":${at},"text":"${String.fromCharCode(97 + (at % 26)).repeat(size)}"}\n`;
  });
  return Buffer.from(lines.join(''));
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'sub-relay-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

function opened(path: string, flags: string): number {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  return fd;
}

describe.skipIf(process.platform !== 'linux')(
  'the lines of an agent come back from its server',
  () => {
    test('when it writes in odd pieces and reads slowly: no byte is lost, changed or out of order', async () => {
      const shim = await startShim({ server: CAT, lines: LIMITS });
      const { stdin, stdout } = shim.child;
      if (stdin === null || stdout === null) throw new Error('the shim has pipes');
      const sent = linesOf(200);
      const received: Buffer[] = [];
      // Each pause fills the pipes: what the kernel takes of a write then is a part of it, or nothing.
      stdout.on('data', (chunk: Buffer) => {
        received.push(chunk);
        stdout.pause();
        setImmediate(() => stdout.resume());
      });
      const ended = once(stdout, 'end');
      for (let at = 0; at < sent.length; at += 77_777) {
        if (!stdin.write(sent.subarray(at, at + 77_777))) await once(stdin, 'drain');
      }
      stdin.end();
      await ended;
      expect(Buffer.concat(received).equals(sent)).toBe(true);
      expect(await shim.exit).toBe(0);
    });

    test('when it does not read at all until everything is written', async () => {
      const shim = await startShim({ server: CAT, lines: LIMITS });
      const { stdin, stdout } = shim.child;
      if (stdin === null || stdout === null) throw new Error('the shim has pipes');
      const sent = linesOf(18);
      // More than the pipes hold, less than what makes the shim hold its sources.
      stdin.end(sent);
      await once(stdin, 'finish');
      expect((await buffer(stdout)).equals(sent)).toBe(true);
    });

    test('when its stdin and stdout are files', async () => {
      const home = folder();
      const sent = linesOf(60);
      writeFileSync(join(home, 'in'), sent);
      const shim = await startShim({
        server: CAT,
        lines: LIMITS,
        stdin: opened(join(home, 'in'), 'r'),
        stdout: opened(join(home, 'out'), 'w'),
      });
      expect(await shim.exit).toBe(0);
      expect(readFileSync(join(home, 'out')).equals(sent)).toBe(true);
    });

    test('when its stdin and stdout are named pipes', async () => {
      const home = folder();
      const [to, from] = [join(home, 'to'), join(home, 'from')];
      execFileSync('mkfifo', [to, from]);
      const sent = linesOf(60);
      writeFileSync(join(home, 'in'), sent);
      const feeder = spawn('sh', ['-c', 'cat "$0" >"$1"', join(home, 'in'), to]);
      const reader = spawn('cat', [from], { stdio: ['ignore', 'pipe', 'ignore'] });
      const received = buffer(reader.stdout);
      // Opening for both ways waits for nobody; the shim alone keeps its end of each.
      const [stdin, stdout] = [openSync(to, 'r'), openSync(from, 'w')];
      const shim = await startShim({ server: CAT, lines: LIMITS, stdin, stdout });
      closeSync(stdin);
      closeSync(stdout);
      expect((await received).equals(sent)).toBe(true);
      expect(await shim.exit).toBe(0);
      expect(feeder.exitCode).toBe(0);
    });

    test('when its stdin and stdout are a terminal', async () => {
      const shim = await startShim({ server: CAT, lines: LIMITS, isOnTerminal: true });
      const { stdin, stdout } = shim.child;
      if (stdin === null || stdout === null) throw new Error('the terminal has pipes');
      const lines = Array.from({ length: 200 }, (_, at) => `{"n":${at}}\n`).join('');
      const END_OF_INPUT = '\u0004';
      await shim.fact('reading');
      stdin.write(lines + END_OF_INPUT);
      expect(String(await buffer(stdout))).toBe(lines);
    });
  },
);
