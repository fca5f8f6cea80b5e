// One command of a shell, in a process group of its own: bounded in time and output, and nothing of it is left behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { codeOrText } from '@subluminal/plane/os';
import { type Family, familyOf, SHIM_MARK, startGuard, strike } from '@subluminal/plane/stdio';

export interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type CommandResult =
  | {
      readonly kind: 'ended';
      /** Undefined when a signal has ended it. */
      readonly exitCode: number | undefined;
      readonly why: 'exit' | 'timeout' | 'aborted';
      readonly output: string;
    }
  | { readonly kind: 'failed'; readonly code: string };

const SHELL = '/bin/sh';
const HEAD_BYTES = 49_152;
const TAIL_BYTES = 16_384;
const GRACE_MS = 1_000;
const CLOSE_MS = 2_000;
const GUARD_TIMES = { graceMs: 0, termMs: GRACE_MS };

export function runCommand(shell: ShellCommand): Promise<CommandResult> {
  const mark = `shell-${randomUUID()}`;
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(SHELL, ['-c', shell.command], {
        cwd: shell.cwd,
        env: { ...shell.env, [SHIM_MARK]: mark },
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    } catch (cause) {
      resolve({ kind: 'failed', code: codeOrText(cause) });
      return;
    }
    child.once('error', (cause) => resolve({ kind: 'failed', code: codeOrText(cause) }));
    child.once('spawn', () => void watch(child, shell, mark).then(resolve));
  });
}

async function watch(
  child: ChildProcess,
  { timeoutMs, signal }: ShellCommand,
  mark: string,
): Promise<CommandResult> {
  const family = familyOf(child, mark);
  // Ends it when this process is killed.
  const guard = startGuard(family, GUARD_TIMES);
  const output = new BoundedOutput();
  child.stdout?.on('data', (bytes: Buffer) => output.add(bytes));
  child.stderr?.on('data', (bytes: Buffer) => output.add(bytes));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<number | undefined>((resolve) => {
    child.once('exit', (code) => resolve(code ?? undefined));
  });
  const late = AbortSignal.timeout(timeoutMs);
  const ended = AbortSignal.any([signal, late]);
  const stop = (): void => void endFamily(family, exited);
  if (ended.aborted) stop();
  else ended.addEventListener('abort', stop, { once: true });
  const exitCode = await exited;
  ended.removeEventListener('abort', stop);
  // What it has left in the background holds its output open.
  strike(family, 'SIGKILL');
  await within(closed, CLOSE_MS);
  child.stdout?.destroy();
  child.stderr?.destroy();
  await guard.dismiss();
  const why = signal.aborted ? 'aborted' : late.aborted ? 'timeout' : 'exit';
  return { kind: 'ended', exitCode, why, output: output.text() };
}

async function endFamily(family: Family, exited: Promise<unknown>): Promise<void> {
  strike(family, 'SIGTERM');
  // Once it has exited, the rest of its group is ended there.
  if (!(await within(exited, GRACE_MS))) strike(family, 'SIGKILL');
}

/** Whether the work has ended in time. */
async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isDone = await Promise.race([work.then(() => true), timeout]);
  clearTimeout(timer);
  return isDone;
}

/** The beginning and the end of what came; what is between is counted. */
class BoundedOutput {
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer = Buffer.alloc(0);
  #left = 0;

  add(bytes: Buffer): void {
    const forHead = bytes.subarray(0, HEAD_BYTES - this.#headBytes);
    if (forHead.length > 0) this.#head.push(forHead);
    this.#headBytes += forHead.length;
    const tail = Buffer.concat([this.#tail, bytes.subarray(forHead.length)]);
    const over = Math.max(0, tail.length - TAIL_BYTES);
    this.#left += over;
    this.#tail = tail.subarray(over);
  }

  text(): string {
    const gap = this.#left === 0 ? '' : `\n… ${this.#left} bytes are left out …\n`;
    return Buffer.concat(this.#head).toString('utf8') + gap + this.#tail.toString('utf8');
  }
}
