// Runs one use of a tool in a thread of its own, which ends with it. Nothing that the tool does holds up this one.
import { Worker } from 'node:worker_threads';
import { isFailure, isJsonObject, isObject, type JsonValue } from '@subluminal/contracts';
import { createRedactor, type Redactor } from '@subluminal/core/scan';
import { visible } from '@subluminal/core/visible';
import { checkWasm } from './check-wasm.ts';
import { type HostAnswer, hostFetch } from './host-fetch.ts';
import { hostFile } from './host-file.ts';
import type { SandboxJob, SandboxOutcome } from './types.ts';

/** For the thread to start, on a busy machine. */
const START_MS = 20_000;
const WHY_MAX = 500;
const MB = 1024 * 1024;
/** Of what the thread itself needs beside the tool. */
const THREAD = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

export async function runSandboxed(job: SandboxJob): Promise<SandboxOutcome> {
  const secrets = await fetchSecrets(job);
  if (typeof secrets === 'string') return { kind: 'failed', why: secrets, log: '' };
  const values = [...secrets].map(([name, value]) => ({ name, value }));
  const redactor = createRedactor({ values });
  if (redactor.refused.length > 0) {
    return { kind: 'failed', why: 'A secret of the tool cannot be recognized again.', log: '' };
  }
  const program = programFor(job);
  if (typeof program === 'string') return { kind: 'failed', why: program, log: '' };
  return new SandboxThread(job, { secrets, redactor }).run(program);
}

async function fetchSecrets({
  manifest,
  ports,
}: SandboxJob): Promise<Map<string, string> | string> {
  const found = new Map<string, string>();
  for (const { ref } of manifest.secrets) {
    const value = await ports.secret(ref);
    if (isFailure(value)) return `The secret ${visible(ref, 100)} cannot be had.`;
    found.set(ref, value);
  }
  return found;
}

function programFor({ program, manifest }: SandboxJob): object | string {
  if (program.kind === 'js') return program;
  const needs = checkWasm(program.bytes, manifest.limits.memory_mb * MB);
  if (typeof needs === 'string') return needs;
  const pages = { initial: needs.initialPages, maximum: needs.maximumPages };
  return { kind: 'wasm', bytes: program.bytes, pages };
}

interface ToolSecrets {
  readonly secrets: ReadonlyMap<string, string>;
  readonly redactor: Redactor;
}

class SandboxThread {
  readonly #job: SandboxJob;
  readonly #known: ToolSecrets;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  readonly #abort = new AbortController();
  #worker: Worker | undefined;
  #resolve: (outcome: SandboxOutcome) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #isOver = false;
  #asks = 0;
  #log = '';

  constructor(job: SandboxJob, known: ToolSecrets) {
    this.#job = job;
    this.#known = known;
  }

  async run(program: object): Promise<SandboxOutcome> {
    const { manifest, input, ports, signal } = this.#job;
    const { limits } = manifest;
    if (signal.aborted) return { kind: 'failed', why: 'It was cancelled.', log: '' };
    const ended = new Promise<SandboxOutcome>((resolve) => {
      this.#resolve = resolve;
    });
    const worker = new Worker(ports.workerFile, {
      workerData: {
        program,
        inputText: JSON.stringify(input),
        timeMs: limits.time_ms,
        memoryBytes: limits.memory_mb * MB,
        asksMax: limits.requests,
        logCharsMax: limits.output_kb * 1024,
        signal: this.#signal,
      },
      // It gets nothing of this process, and what it prints goes nowhere.
      env: {},
      argv: [],
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: THREAD,
    });
    this.#worker = worker;
    worker.stdout.resume();
    worker.stderr.resume();
    worker.on('message', (message: unknown) => this.#hear(message));
    worker.on('error', () => this.#fail('It used more memory than it may, or broke its sandbox.'));
    worker.on('exit', () => this.#fail('It ended without a result.'));
    this.#timer = setTimeout(() => this.#fail('It could not be started in time.'), START_MS);
    const onAbort = (): void => this.#fail('It was cancelled.');
    signal.addEventListener('abort', onAbort);
    const outcome = await ended;
    signal.removeEventListener('abort', onAbort);
    await worker.terminate();
    return outcome;
  }

  #hear(message: unknown): void {
    if (this.#isOver || !isObject(message)) return;
    const { kind, id, text, why } = message;
    if (kind === 'running' && !this.#isRunning) this.#startClock();
    else if (kind === 'log' && typeof text === 'string') this.#write(text);
    else if (kind === 'ask' && typeof id === 'number' && typeof text === 'string') {
      void this.#answer(id, text);
    } else if (kind === 'done' && typeof text === 'string') this.#done(text);
    else if (kind === 'failed') this.#fail(`It failed: ${typeof why === 'string' ? why : ''}`);
  }

  #startClock(): void {
    this.#isRunning = true;
    clearTimeout(this.#timer);
    const { time_ms } = this.#job.manifest.limits;
    this.#timer = setTimeout(() => this.#fail('It took longer than it may.'), time_ms);
  }

  #write(text: string): void {
    const charsMax = this.#job.manifest.limits.output_kb * 1024;
    this.#log = `${this.#log}${text}\n`.slice(0, charsMax);
  }

  async #answer(id: number, text: string): Promise<void> {
    const answer = await this.#askHost(text).catch((): HostAnswer => {
      return { why: 'The request failed.' };
    });
    if (this.#isOver) return;
    this.#worker?.postMessage({ id, ...answer });
    // A module of WebAssembly waits asleep.
    Atomics.add(this.#signal, 0, 1);
    Atomics.notify(this.#signal, 0);
  }

  async #askHost(text: string): Promise<HostAnswer> {
    const { manifest, ports } = this.#job;
    this.#asks++;
    if (this.#asks > manifest.limits.requests) return { why: 'There were too many requests.' };
    const asked = parsed(text);
    if (!isJsonObject(asked)) return { why: 'The request is no JSON.' };
    if (asked['kind'] === 'file') {
      const answer = hostFile(asked['path'], {
        manifest,
        protectedFolders: ports.protectedFolders,
      });
      return 'why' in answer ? answer : { text: this.#known.redactor.plain(answer.text) };
    }
    if (asked['kind'] !== 'fetch') return { why: 'There is no such request.' };
    const { upstream } = ports;
    return hostFetch(asked['request'], {
      manifest,
      upstream,
      ...this.#known,
      signal: this.#abort.signal,
    });
  }

  #done(text: string): void {
    const { limits } = this.#job.manifest;
    if (text.length > limits.output_kb * 1024) return this.#fail('Its result is too large.');
    const value = parsed(this.#known.redactor.plain(text));
    if (value === undefined) return this.#fail('Its result is no JSON.');
    this.#end({ kind: 'done', value, log: this.#shownLog() });
  }

  #fail(why: string): void {
    const shown = visible(this.#known.redactor.plain(why), WHY_MAX);
    this.#end({ kind: 'failed', why: shown, log: this.#shownLog() });
  }

  #shownLog(): string {
    return this.#known.redactor.plain(this.#log, { truncated: true });
  }

  #end(outcome: SandboxOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.#resolve(outcome);
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON gives nothing else.
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
