// The server's stderr on its way to ours. A slow reader of ours slows the server, as it would
// without us; it never holds up a call, and nothing piles up in memory.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { harmless } from '@subluminal/core/visible';

export interface StderrRelay {
  /** Resolves when all is passed on, or when nobody takes it any more for so long. */
  drained(quietMs: number): Promise<void>;
}

/** Calls `done` when the bytes are with the system, or nobody is there to take them. */
type WriteBytes = (bytes: Buffer, done: () => void) => void;

const STDERR = 2;
const STDERR_PATH = '/proc/self/fd/2';
const REOPEN = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const RETRY_MS = 20;
/** A prompt without the end of its line is shown, too, a moment later. */
const PARTIAL_MS = 50;
const DRAIN_MS_MAX = 5_000;

export function relayStderr(source: Readable, write: WriteBytes = openStderr()): StderrRelay {
  const text = new HarmlessText();
  let isWriting = false;
  let hasEnded = false;
  let timer: NodeJS.Timeout | undefined;
  let wake = (): void => {};
  const send = (words: string): void => {
    if (words === '') return;
    isWriting = true;
    source.pause();
    const bytes = Buffer.from(words);
    write(bytes, () => {
      isWriting = false;
      source.resume();
      wake();
    });
  };
  const partial = (): void => {
    if (isWriting) timer?.refresh();
    else send(text.flush());
  };
  source.on('data', (chunk: Buffer) => {
    clearTimeout(timer);
    send(text.push(chunk));
    if (text.isHolding) timer = setTimeout(partial, PARTIAL_MS).unref();
  });
  const ended = (): void => {
    clearTimeout(timer);
    hasEnded = true;
    send(text.end());
    wake();
  };
  source.once('end', ended);
  source.once('close', () => hasEnded || ended());
  source.on('error', () => undefined);
  return {
    async drained(quietMs) {
      // What escaped may hold the pipe and write for ever.
      const endMs = performance.now() + DRAIN_MS_MAX;
      for (let isQuiet = false; (isWriting || !hasEnded) && !isQuiet; ) {
        if (performance.now() >= endMs) break;
        isQuiet = await new Promise<boolean>((resolve) => {
          const patience = setTimeout(resolve, quietMs, true);
          wake = () => {
            clearTimeout(patience);
            resolve(false);
          };
        });
      }
      source.destroy();
    },
  };
}

/**
 * A pipe or a terminal is opened anew: a descriptor of our own may be told not to wait, and whoever
 * shares the old one never notices. A socket cannot be opened; Node's own stream does not wait there.
 */
function openStderr(): WriteBytes {
  const fd = ownDescriptor();
  if (fd !== undefined) return retryingWrite(fd);
  process.stderr.on('error', () => undefined);
  return (bytes, done) => void process.stderr.write(bytes, () => done());
}

function ownDescriptor(): number | undefined {
  try {
    const stats = fstatSync(STDERR);
    // A file has a place where it goes on, which a descriptor of its own would not share.
    if (stats.isFile()) return STDERR;
    const canReopen = stats.isFIFO() || stats.isCharacterDevice();
    return canReopen ? openSync(STDERR_PATH, REOPEN) : undefined;
  } catch {
    return undefined;
  }
}

function retryingWrite(fd: number): WriteBytes {
  const attempt: WriteBytes = (bytes, done) => {
    let count = bytes.length;
    try {
      count = writeSync(fd, bytes);
    } catch (cause) {
      const isFull = cause instanceof Error && 'code' in cause && cause.code === 'EAGAIN';
      // Where nobody reads any more, there is nothing to wait for.
      if (isFull) count = 0;
    }
    if (count < bytes.length) setTimeout(attempt, RETRY_MS, bytes.subarray(count), done);
    // Never at once: a flood must leave the calls their turn.
    else setImmediate(done);
  };
  return attempt;
}

// What a server writes to its stderr is hostile text that ends on a terminal, now or when somebody
// looks at a log. Nothing in it may move the cursor, set a title, fill a clipboard, hide what
// follows or give an order to a build server.

/** Nothing to do: the usual case. */
const PLAIN = /^[\x20-\x7e\t\n]*$/;
/** Colours are taken out; they are the one thing that well-meaning servers send. */
// oxlint-disable-next-line no-control-regex -- That is what is looked for.
const COLOR = /\u001b\[[0-9;:]{0,64}m/g;
/** Stays as it is: a tab, and what makes a symbol an emoji or not. */
const KEPT = /(\t|\uFE0E|\uFE0F)/;
/** The beginning of an order to a build server; its rest may come with the next bytes. */
const BEGUN_ORDER = /#(?=#\w*$)|#$|(?<=^|\s):$/g;
const HELD_LENGTH_MAX = 8_192;

/** Bytes of any cut in, harmless text out, line by line. */
export class HarmlessText {
  // Whatever is no UTF-8 becomes U+FFFD: some terminals take single bytes for orders.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** A line without its end. */
  #held = '';

  get isHolding(): boolean {
    return this.#held !== '';
  }

  /** The lines that are whole by now; a line that does not end comes in parts. */
  push(chunk: Uint8Array): string {
    const text = this.#held + this.#decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf('\n') + 1;
    this.#held = text.slice(end);
    const whole = shown(text.slice(0, end));
    return this.#held.length > HELD_LENGTH_MAX ? whole + this.flush() : whole;
  }

  /** What is held, without waiting for the rest of its line. */
  flush(): string {
    const text = shown(this.#held);
    this.#held = '';
    return text.replace(BEGUN_ORDER, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`);
  }

  /** There is nothing more to come. */
  end(): string {
    this.#held += this.#decoder.decode();
    return this.flush();
  }
}

function shown(text: string): string {
  if (PLAIN.test(text) && !text.includes('::') && !text.includes('##')) return text;
  // A bare carriage return would have the line written over.
  const lines = text.replaceAll(/\r\n?/g, '\n').replace(COLOR, '').split('\n');
  return lines.map(shownLine).join('\n');
}

function shownLine(line: string): string {
  const parts = line.split(KEPT);
  return parts.map((part, index) => (index % 2 === 1 ? part : harmless(part))).join('');
}
