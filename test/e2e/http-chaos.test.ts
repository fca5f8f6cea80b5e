// A remote server that is cut, delayed and killed at random moments, seeded: no call is executed twice by us, none stays
// without an answer, and what can be resumed is resumed. `CHAOS_CALLS=2000 CHAOS_SEEDS=1,2,3` makes it longer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { seededRandom } from '../seeded-random.ts';
import { type Message, ShakyServer } from './shaky-server.ts';
import { ended, ensureBuilt, startSub } from './sub.ts';

const CALLS = Number(process.env['CHAOS_CALLS'] ?? 60);
const SEEDS = (process.env['CHAOS_SEEDS'] ?? '1,2').split(',').map(Number);
const AT_ONCE = 6;

beforeAll(() => ensureBuilt());

function startShim(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sub-http-chaos-'));
  const child = startSub(['shim', '--server-name', 'shaky', '--url', url, '--events', 'off'], {
    cwd: folder,
    env: { HOME: folder, SUB_HOME: join(folder, 'home') },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const over = ended(child);
  const answers = new Map<number, Message[]>();
  const waiting = new Map<number, (message: Message) => void>();
  if (child.stdout === null) throw new Error('the shim has no output');
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) return;
    answers.set(message.id, [...(answers.get(message.id) ?? []), message]);
    waiting.get(message.id)?.(message);
  });
  let id = 0;
  const tell = (message: object): void =>
    void child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: object): Promise<Message> =>
    new Promise((resolve) => {
      waiting.set(++id, resolve);
      tell({ id, method, params });
    });
  return { child, over, answers, tell, ask };
}

test.each(SEEDS)(
  'every call is answered once and executed at most once (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const server = await ShakyServer.open(random);
    onTestFinished(() => server.close());
    const { child, over, answers, tell, ask } = startShim(server.url);
    await ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'chaos', version: '1' },
    });
    tell({ method: 'notifications/initialized' });
    const outcomes = new Map<number, Message>();
    let next = 0;
    const caller = async (): Promise<void> => {
      for (let n = next++; n < CALLS; n = next++) {
        outcomes.set(n, await ask('tools/call', { name: 'do', arguments: { n } }));
        if (random() > 0.06) continue;
        await server.kill();
        await server.start();
      }
    };
    // One after the other kills; the others only call.
    const onlyCall = async (): Promise<void> => {
      for (let n = next++; n < CALLS; n = next++) {
        outcomes.set(n, await ask('tools/call', { name: 'do', arguments: { n } }));
      }
    };
    await Promise.all([caller(), ...Array.from({ length: AT_ONCE - 1 }, onlyCall)]);
    expect(outcomes.size).toBe(CALLS);
    const answered = [...outcomes].filter(([, { result }]) => result !== undefined);
    for (const [n, { result }] of answered) {
      expect([server.executed.get(n), result?.content?.[0]?.text]).toEqual([1, `done ${n}`]);
    }
    const failed = [...outcomes.values()].filter(({ result }) => result === undefined);
    for (const { error } of failed) expect(error?.message).toMatch(/`shaky`/);
    expect(Math.max(...server.executed.values())).toBe(1);
    for (const all of answers.values()) expect(all).toHaveLength(1);
    expect(answered.length).toBeGreaterThan(CALLS / 3);
    expect(server.resumed).toBeGreaterThan(0);
    child.stdin?.end();
    expect(await over).toMatchObject({ code: 0 });
  },
);
