// One client at the end of raw pipes. It counts the bytes of the answers, which a refusal or a
// lost answer would make differ, and looks no further into them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Requests } from './requests.ts';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** What the benches ask of every way. */
export interface Connection {
  /** The process that the client talks to. */
  readonly pid: number;
  /** Ends when the answer to `initialize` is there. */
  initialize(): Promise<void>;
  /** Asks for the tools, as every client does: from then on they are pinned. Then makes a first call. */
  warmUp(): Promise<void>;
  /** One call and its answer. */
  call(requests: Requests): Promise<void>;
  /** So many calls, with at most `windowCalls` of them open at a time. */
  flood(requests: Requests, load: Load): Promise<void>;
  close(): Promise<void>;
}

export interface Load {
  readonly calls: number;
  readonly windowCalls: number;
}

const NEWLINE = 0x0a;
const ANSWER_MS = 60_000;
const CLOSE_MS = 10_000;
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  },
} as const;
export const LIST_TOOLS = { jsonrpc: '2.0', id: 2, method: 'tools/list' } as const;
const FIRST_TEXT = 'the first call';
const FIRST_CALL = {
  jsonrpc: '2.0',
  id: 3,
  method: 'tools/call',
  params: { name: 'create_note', arguments: { text: FIRST_TEXT } },
} as const;
const FIRST_ANSWER = {
  jsonrpc: '2.0',
  id: 3,
  result: { content: [{ type: 'text', text: FIRST_TEXT }] },
} as const;
export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' } as const;

export class PipeConnection implements Connection {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #input: NonNullable<ChildProcess['stdin']>;
  #onChunk: (chunk: Buffer) => void = () => {};
  #onFault: (cause: Error) => void = () => {};
  /** What a policy puts around each answer: the marks of external content. */
  #markBytes = 0;

  constructor({ file, args, env }: Command) {
    this.#child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const { pid, stdin, stdout } = this.#child;
    if (pid === undefined || stdin === null || stdout === null) {
      throw new Error(`${file} could not be started`);
    }
    this.pid = pid;
    this.#input = stdin;
    stdout.on('data', (chunk: Buffer) => this.#onChunk(chunk));
    stdin.on('error', (cause) => this.#onFault(cause));
    this.#child.on('exit', (code, signal) =>
      this.#onFault(new Error(`${file} ended: ${code ?? signal}`)),
    );
  }

  async initialize(): Promise<void> {
    await this.#exchange(lineOf(INITIALIZE));
    this.#input.write(lineOf(INITIALIZED));
  }

  async warmUp(): Promise<void> {
    await this.#exchange(lineOf(LIST_TOOLS));
    const answer = await this.#exchange(lineOf(FIRST_CALL));
    if (!answer.includes(FIRST_TEXT) || answer.includes('"isError"')) {
      throw new Error(`the first call was refused: ${answer}`);
    }
    this.#markBytes = answer.length - lineOf(FIRST_ANSWER).length;
  }

  async call(requests: Requests): Promise<void> {
    const { answerBytes } = requests;
    const bytes = await this.#waiting<number>((resolve) => {
      let sum = 0;
      this.#onChunk = (chunk) => {
        sum += chunk.length;
        if (chunk[chunk.length - 1] === NEWLINE) resolve(sum);
      };
      this.#input.write(requests.one());
    });
    // An answer that is too large to look through has no marks.
    if (bytes !== answerBytes && bytes !== answerBytes + this.#markBytes)
      throw unexpected(bytes, answerBytes);
  }

  /** A request and the text of its answer. */
  #exchange(request: Buffer): Promise<string> {
    return this.#waiting((resolve) => {
      let text = '';
      this.#onChunk = (chunk) => {
        text += chunk.toString('latin1');
        if (chunk[chunk.length - 1] === NEWLINE) resolve(text);
      };
      this.#input.write(request);
    });
  }

  flood(requests: Requests, { calls, windowCalls }: Load): Promise<void> {
    const answerBytes = requests.answerBytes + this.#markBytes;
    const expected = calls * answerBytes;
    return this.#waiting((resolve, reject) => {
      let bytes = 0;
      let answered = 0;
      let sent = Math.min(calls, windowCalls);
      this.#onChunk = (chunk) => {
        bytes += chunk.length;
        // Answers have one length, so their bytes tell how many are whole.
        const now = Math.floor(bytes / answerBytes);
        const more = Math.min(now - answered, calls - sent);
        answered = now;
        if (more > 0) this.#send(requests, more);
        sent += more;
        if (bytes < expected) return;
        if (bytes === expected && chunk[chunk.length - 1] === NEWLINE) resolve();
        else reject(unexpected(bytes, expected));
      };
      this.#send(requests, sent);
    });
  }

  #send(requests: Requests, count: number): void {
    for (const piece of requests.next(count)) this.#input.write(piece);
  }

  #waiting<T>(
    begin: (resolve: (value: T) => void, reject: (cause: Error) => void) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => done(new Error('no answer in time')), ANSWER_MS);
      const done = (cause?: Error): void => {
        clearTimeout(timer);
        this.#onChunk = () => {};
        this.#onFault = () => {};
        if (cause !== undefined) reject(cause);
      };
      this.#onFault = done;
      begin((value) => {
        done();
        resolve(value);
      }, done);
    });
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_MS);
    const ended = once(this.#child, 'exit');
    this.#input.end();
    await ended;
    clearTimeout(timer);
  }
}

function lineOf(message: object): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}

function unexpected(bytes: number, expected: number): Error {
  return new Error(`the answers have ${bytes} bytes instead of ${expected}: calls were refused`);
}
