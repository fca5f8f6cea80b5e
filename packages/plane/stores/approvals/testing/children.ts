// Processes of a test that share a home, each driven line by line.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Task } from './child.ts';

const RUN = fileURLToPath(new URL('../../../../../tools/run.mjs', import.meta.url));
const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));

export class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string, undefined>;

  constructor(home: string) {
    this.process = spawn(process.execPath, [RUN, CHILD, home], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    if (this.process.stdout === null) throw new Error('the child has no output');
    this.#lines = createInterface(this.process.stdout)[Symbol.asyncIterator]();
  }

  /** Resolves when it takes tasks. */
  async ready(): Promise<this> {
    const { value } = await this.#lines.next();
    if (value !== 'ready') throw new Error(`the child said ${String(value)}`);
    return this;
  }

  async does(task: Task): Promise<unknown> {
    this.process.stdin?.write(`${JSON.stringify(task)}\n`);
    const { value } = await this.#lines.next();
    if (value === undefined) throw new Error('the child has ended');
    return JSON.parse(value);
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const closed = once(this.process, 'close');
    this.process.kill('SIGKILL');
    await closed;
  }
}
