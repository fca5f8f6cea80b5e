// One program, in a process group of its own: bounded in time and output, and nothing of it is left behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { codeOrText } from '@subluminal/plane/os';
import { type Family, familyOf, SHIM_MARK, startGuard, strike } from '@subluminal/plane/stdio';

export interface ProgramStart {
  readonly words: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** What it reads; nothing without it. */
  readonly input?: string;
  /** Whether what it says on standard error stands in `output`, in the order in which it came. */
  readonly mixesErrors: boolean;
  /** Without it, the signal alone ends it. */
  readonly timeoutMs?: number;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
  readonly signal: AbortSignal;
}

export type ProgramResult =
  | {
      readonly kind: 'ended';
      /** Undefined when a signal has ended it. */
      readonly exitCode: number | undefined;
      readonly why: 'exit' | 'timeout' | 'aborted';
      readonly output: string;
      /** What it said on standard error, unless that stands in `output`. */
      readonly errors: string;
    }
  | { readonly kind: 'failed'; readonly code: string };

const HEAD_BYTES = 49_152;
const TAIL_BYTES = 16_384;
const CLOSE_MS = 2_000;

/** What programs need to run at all, and nothing that anybody keeps a secret in. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'SHELL'];

/** Of an environment, what a program gets that must see no secrets, and what is named beside it. */
export function cleanEnvironment(
  env: { readonly [name: string]: string | undefined },
  others: readonly string[] = [],
): { readonly [name: string]: string } {
  const passed = [...PASSED, ...others].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passed), TERM: 'dumb' };
}

export function runProgram(start: ProgramStart): Promise<ProgramResult> {
  const mark = `program-${randomUUID()}`;
  const [program, ...args] = start.words;
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(program, args, {
        cwd: start.cwd,
        env: { ...start.env, [SHIM_MARK]: mark },
        detached: true,
        stdio: [start.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      });
    } catch (cause) {
      resolve({ kind: 'failed', code: codeOrText(cause) });
      return;
    }
    child.once('error', (cause) => resolve({ kind: 'failed', code: codeOrText(cause) }));
    child.once('spawn', () => void watch(child, start, mark).then(resolve));
  });
}

async function watch(
  child: ChildProcess,
  { input, mixesErrors, timeoutMs, graceMs, signal }: ProgramStart,
  mark: string,
): Promise<ProgramResult> {
  const family = familyOf(child, mark);
  // Ends it when this process is killed.
  const guard = startGuard(family, { graceMs: 0, termMs: graceMs });
  const output = new BoundedOutput();
  const errors = mixesErrors ? output : new BoundedOutput();
  child.stdout?.on('data', (bytes: Buffer) => output.add(bytes));
  child.stderr?.on('data', (bytes: Buffer) => errors.add(bytes));
  // It may end without having read all.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<number | undefined>((resolve) => {
    child.once('exit', (code) => resolve(code ?? undefined));
  });
  const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const ended = late === undefined ? signal : AbortSignal.any([signal, late]);
  const stop = (): void => void endFamily(family, exited, graceMs);
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
  const why = signal.aborted ? 'aborted' : late?.aborted ? 'timeout' : 'exit';
  const said = { output: output.text(), errors: mixesErrors ? '' : errors.text() };
  return { kind: 'ended', exitCode, why, ...said };
}

async function endFamily(family: Family, exited: Promise<unknown>, graceMs: number): Promise<void> {
  strike(family, 'SIGTERM');
  // Once it has exited, the rest of its group is ended there.
  if (!(await within(exited, graceMs))) strike(family, 'SIGKILL');
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
