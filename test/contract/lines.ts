// Lines of a stream as bytes, awaited one by one.
import type { Readable } from 'node:stream';

export interface Lines {
  /** The next line with its newline; fails when the stream ends or nothing comes. */
  next(): Promise<Buffer>;
  /** Gives bytes to it that no stream brings. */
  push(chunk: Buffer): void;
  /** No more will come. */
  end(): void;
  /** Resolves at the end, with what nobody has taken; half a line is the last of it. */
  rest(): Promise<readonly Buffer[]>;
}

interface Waiting {
  readonly resolve: (line: Buffer) => void;
  readonly reject: (cause: Error) => void;
}

export const PATIENCE_MS = 20_000;
const NEWLINE = 0x0a;

/** Cuts what comes into lines, and changes nothing in them. */
export function createLines(what: string): Lines {
  const ready: Buffer[] = [];
  const waiting: Waiting[] = [];
  let held: Buffer[] = [];
  let isOver = false;
  let finish = (): void => {};
  const over = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const deliver = (line: Buffer): void => {
    const first = waiting.shift();
    if (first === undefined) ready.push(line);
    else first.resolve(line);
  };
  return {
    next: () => {
      const line = ready.shift();
      if (line !== undefined) return Promise.resolve(line);
      if (isOver) return Promise.reject(new Error(`${what} has ended, a line was awaited`));
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`no line on ${what} within ${PATIENCE_MS} ms`)),
          PATIENCE_MS,
        );
        waiting.push({
          resolve(one) {
            clearTimeout(timer);
            resolve(one);
          },
          reject(cause) {
            clearTimeout(timer);
            reject(cause);
          },
        });
      });
    },
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        deliver(Buffer.concat([...held, chunk.subarray(from, at + 1)]));
        held = [];
        from = at + 1;
      }
      if (from < chunk.length) held.push(chunk.subarray(from));
    },
    end() {
      if (isOver) return;
      isOver = true;
      if (held.length > 0) ready.push(Buffer.concat(held));
      for (const { reject } of waiting.splice(0)) {
        reject(new Error(`${what} has ended, a line was awaited`));
      }
      finish();
    },
    rest: async () => {
      await over;
      return ready.splice(0);
    },
  };
}

export function linesOf(stream: Readable, what: string): Lines {
  const lines = createLines(what);
  stream.on('data', (chunk: Buffer) => lines.push(chunk));
  stream.once('close', () => lines.end());
  return lines;
}

/** The next line as JSON. */
export async function nextJson(lines: Lines): Promise<unknown> {
  return jsonOf(String(await lines.next()));
}

export function jsonOf(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value;
}
