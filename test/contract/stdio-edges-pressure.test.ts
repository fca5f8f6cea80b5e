// Floods and standstills: what one side does not take, the other side is not relieved of.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { expectNothingLeft, hangUp, QUICK, type Rig, startServed } from './driver.ts';
import { answer, call, DENIES, ping } from './messages.ts';
import { memoryOf, stalled } from './proc.ts';

const MIB = 1024 * 1024;
const LINE_BYTES = 64 * 1024;
const LINES = 3_200;
const FLOOD_BYTES = LINE_BYTES * LINES;
/** What a shim may hold back in all its buffers and those of the system, far below the flood. */
const HELD_BYTES_MAX = 8 * MIB;
/** A shim that only relays needs less than half of this. */
const MEMORY_BYTES_MAX = 160 * MIB;

beforeAll(() => ensureBuilt());

const pidOf = ({ shim }: Rig): number => {
  if (shim.pid === undefined) throw new Error('the shim runs');
  return shim.pid;
};

/** Counts and hashes what the agent reads from now on. */
function drain(rig: Rig, bytesWanted: number): Promise<string> {
  const hash = createHash('sha256');
  let bytes = 0;
  return new Promise((resolve) => {
    rig.shim.stdout?.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.length;
      if (bytes >= bytesWanted) resolve(hash.digest('hex'));
    });
    rig.shim.stdout?.resume();
  });
}

function stopReading(rig: Rig): void {
  rig.shim.stdout?.removeAllListeners('data');
  rig.shim.stdout?.pause();
}

describe.skipIf(process.platform !== 'linux')('backpressure', () => {
  it('200 MB to an agent that stops reading stay with the server, then arrive whole', async () => {
    verifies('T-A2.4', 'T-I.1', 'F-012');
    const rig = await startServed();
    stopReading(rig);
    rig.server.order('flood', { lines: LINES, bytes: LINE_BYTES });
    const written = await stalled(rig.server.pid, 'wchar');
    expect(written).toBeLessThan(HELD_BYTES_MAX);
    expect(memoryOf(pidOf(rig), 'VmRSS')).toBeLessThan(MEMORY_BYTES_MAX);
    const got = await drain(rig, FLOOD_BYTES);
    expect(got).toBe(await rig.server.fact('flooded'));
    // Not at any time on the way.
    expect(memoryOf(pidOf(rig), 'VmHWM')).toBeLessThan(MEMORY_BYTES_MAX);
  });

  it('200 MB to a server that stops reading stay with the agent, then arrive whole', async () => {
    verifies('T-A2.4', 'T-I.1', 'F-012');
    const rig = await startServed();
    await rig.server.tell('ignore', { names: ['eof'] });
    await rig.server.tell('swallow');
    await rig.server.tell('pause');
    const hash = createHash('sha256');
    const { stdin } = rig.shim;
    if (stdin === null) throw new Error('the shim has a pipe');
    const head = '{"jsonrpc":"2.0","method":"notifications/x","params":{"d":"';
    const line = Buffer.from(`${head.padEnd(LINE_BYTES - 4, 'x')}"}}\n`);
    const flood = (async () => {
      for (let at = 0; at < LINES; at++) {
        hash.update(line);
        if (!stdin.write(line)) await once(stdin, 'drain');
      }
    })();
    const read = await stalled(pidOf(rig), 'rchar');
    expect(read).toBeLessThan(HELD_BYTES_MAX);
    expect(memoryOf(pidOf(rig), 'VmRSS')).toBeLessThan(MEMORY_BYTES_MAX);
    await rig.server.tell('resume');
    await flood;
    stdin.end();
    await rig.server.fact('eof');
    rig.server.order('swallowed');
    const bytes = FLOOD_BYTES;
    expect(await rig.server.fact('swallowed')).toEqual({ bytes, sha256: hash.digest('hex') });
    expect(memoryOf(pidOf(rig), 'VmHWM')).toBeLessThan(MEMORY_BYTES_MAX);
  });

  it('refusals to an agent that never reads hold its own requests back', async () => {
    verifies('T-A2.4');
    const rig = await startServed({ policy: DENIES });
    stopReading(rig);
    const { stdin } = rig.shim;
    if (stdin === null) throw new Error('the shim has a pipe');
    let isDone = false;
    const flood = (async () => {
      for (let id = 0; id < 200_000 && !isDone; id++) {
        if (!stdin.write(call(id, 'denied'))) await once(stdin, 'drain');
      }
    })();
    await stalled(pidOf(rig), 'rchar');
    expect(memoryOf(pidOf(rig), 'VmRSS')).toBeLessThan(MEMORY_BYTES_MAX);
    isDone = true;
    rig.shim.stdout?.resume();
    await flood;
    const { exit } = await hangUp(rig);
    expect(exit).toEqual({ code: 0, signal: null });
  });

  it.each([
    ['an agent that does not read', (rig: Rig) => stopReading(rig), 'flood'],
    ['a server that does not read', () => undefined, 'pause'],
  ] as const)('does not keep a session from ending by SIGTERM: %s', async (_who, stop, act) => {
    verifies('EC-STDIO-012', 'F-018');
    const rig = await startServed({ env: QUICK });
    stop(rig);
    if (act === 'flood') {
      rig.server.order('flood', { lines: LINES, bytes: LINE_BYTES });
      await stalled(rig.server.pid, 'wchar');
    } else {
      await rig.server.tell('pause');
      for (let id = 0; id < 100; id++)
        rig.say(call(id, 'put', `{"d":"${'x'.repeat(LINE_BYTES)}"}`));
      await stalled(pidOf(rig), 'rchar');
    }
    rig.shim.kill('SIGTERM');
    expect(await rig.exit).toEqual({ code: 143, signal: null });
    rig.shim.stdout?.resume();
    await expectNothingLeft(rig);
  });
});

describe('stderr of the server', () => {
  it('reaches the terminal harmless and is no part of the session', async () => {
    verifies('EC-STDIO-028', 'F-011');
    const rig = await startServed();
    const odd = Buffer.from([
      ...Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}\n'),
      0xff,
      0x00,
      0x1b,
      0x0a,
    ]);
    await rig.server.tell('stderr', { base64: odd.toString('base64') });
    const escaped = String.raw`\{"jsonrpc":"2\.0","id":1,"result":\{\}\}\n\xef\xbf\xbd\\u\{0\}\\u\{1b\}\n`;
    await rig.told(new RegExp(escaped));
    rig.say(ping(1));
    await rig.server.heard.next();
    await rig.server.write(answer(1));
    expect(String(await rig.heard.next())).toBe(answer(1));
  });

  it('may be a flood without any harm to the calls', async () => {
    verifies('EC-STDIO-028');
    const rig = await startServed();
    const base64 = Buffer.alloc(LINE_BYTES, 'e').toString('base64');
    rig.server.order('stderr', { base64, times: 256 });
    rig.say(call(1, 'a'));
    expect(String(await rig.server.heard.next())).toBe(call(1, 'a'));
    await rig.server.write(answer(1));
    expect(String(await rig.heard.next())).toBe(answer(1));
    await hangUp(rig);
    await rig.silent;
    expect(rig.stderr()).toHaveLength(256 * LINE_BYTES);
  });

  it('that nobody reads does not stop the session', async () => {
    verifies('EC-STDIO-028');
    const rig = await startServed();
    rig.shim.stderr?.destroy();
    rig.say('no message\n');
    rig.say(ping(1));
    await rig.server.heard.next();
    await rig.server.write(answer(1));
    expect(String(await rig.heard.next())).toBe(answer(1));
    expect((await hangUp(rig)).exit).toEqual({ code: 0, signal: null });
  });
});
