// A person at a terminal of their own, who reads what stands there and types.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SUB } from './steward-home.ts';

/** An answer that comes before anybody can have read the question is not taken: the question comes again. */
const ANSWER_EVERY_MS = 200;
const QUESTION = '(?:Allow|Apply) this\\?[^\\n]*: ';
const SEEN_MS = 30_000;

export class Terminal {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<unknown>;
  #seen = '';
  #readTo = 0;
  #wake: () => void = () => undefined;

  constructor(env: NodeJS.ProcessEnv, args: readonly string[]) {
    const words = [process.execPath, SUB, ...args].map((word) => `'${word}'`);
    const command = `exec ${words.join(' ')}`;
    this.#process = spawn('setsid', ['script', '-qfec', command, '/dev/null'], { env });
    this.#ended = once(this.#process, 'exit');
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#seen += text.replaceAll('\r', '');
      this.#wake();
    });
    void this.#ended.then(() => this.#wake());
  }

  /** Resolves when this has come since the last thing that was waited for. */
  async sees(text: RegExp): Promise<RegExpExecArray> {
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), SEEN_MS);
    for (;;) {
      const news = this.#seen.slice(this.#readTo);
      const found = text.exec(news);
      if (found !== null) {
        clearTimeout(timer);
        this.#readTo += found.index + found[0].length;
        return found;
      }
      const { exitCode, signalCode } = this.#process;
      if (exitCode !== null || signalCode !== null) {
        throw new Error(`It ended without ${text}:\n${this.#seen}`);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  type(text: string): void {
    this.#process.stdin.write(`${text}\n`);
  }

  /** Answers the question that stands there, again each time that it comes again, until this is seen. */
  async answers(text: string, until: RegExp): Promise<void> {
    const next = new RegExp(`(?<done>${until.source})|${QUESTION}`, 'm');
    for (;;) {
      this.type(text);
      const { groups } = await this.sees(next);
      if (groups?.['done'] !== undefined) return;
      await pause(ANSWER_EVERY_MS);
    }
  }

  /** The exit code, and all that was seen. */
  async end(): Promise<{ readonly code: number | null; readonly seen: string }> {
    await this.#ended;
    return { code: this.#process.exitCode, seen: this.#seen };
  }
}
