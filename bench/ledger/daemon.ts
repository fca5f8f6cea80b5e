// The ledger as a user has it: `sub ledgerd` as a process, and the commands that read and fill a ledger.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isObject } from '@subluminal/contracts';
import { ownCpuMs } from '../fleet/cpu.mjs';
import { NODE, SUB } from '../stdio/ways.ts';

export interface Sent {
  readonly calls: number;
  readonly events: number;
  readonly bytes: number;
  readonly ms: number;
}

const RUN = fileURLToPath(new URL('../../tools/run.mjs', import.meta.url));
const PRODUCERS = fileURLToPath(new URL('producers.ts', import.meta.url));
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

export function ledgerFile(home: string): string {
  return join(home, '.subluminal', 'ledger.db');
}

export class Ledgerd {
  readonly #child: ChildProcess;
  readonly #pid: number;

  private constructor(child: ChildProcess, pid: number) {
    this.#child = child;
    this.#pid = pid;
  }

  static async start(env: NodeJS.ProcessEnv): Promise<Ledgerd> {
    const child = spawn(NODE, [SUB, 'ledgerd', '--foreground'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (child.pid === undefined || child.stderr === null) throw new Error('ledgerd did not start');
    const lines = createInterface({ input: child.stderr });
    await once(lines, 'line');
    return new Ledgerd(child, child.pid);
  }

  /** What it has worked so far, on all of its threads. */
  cpuMs(): number {
    return ownCpuMs(this.#pid);
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}

/** Many producers at once, in a process of their own; resolves when all is confirmed. */
export async function sendCalls(
  socketPath: string,
  { producers, calls }: { readonly producers: number; readonly calls: number },
): Promise<Sent> {
  const args = [RUN, PRODUCERS, socketPath, String(producers), String(calls)];
  const child = spawn(NODE, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`the producers ended with ${child.exitCode}`);
  const sent: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const { calls: made, events, bytes, ms } = isObject(sent) ? sent : {};
  return { calls: Number(made), events: Number(events), bytes: Number(bytes), ms: Number(ms) };
}

export interface Timed {
  readonly ms: number;
  readonly answer: unknown;
}

/** A command, as a person runs it. */
export function timedSub(env: NodeJS.ProcessEnv, args: readonly string[]): Timed {
  const options = { env, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX } as const;
  const startMs = performance.now();
  const { status, stdout, stderr } = spawnSync(NODE, [SUB, ...args, '--json'], options);
  const ms = performance.now() - startMs;
  if (status !== 0) throw new Error(`sub ${args.join(' ')} ended with ${status}: ${stderr}`);
  const answer: unknown = JSON.parse(stdout);
  return { ms, answer };
}

export function bytesOnDisk(file: string): number {
  return [file, `${file}-wal`].reduce(
    (sum, one) => sum + (statSync(one, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
