// The server's stderr on its way to ours. A slow reader of ours slows the server, as it would
// without us; it never holds up a call, and nothing piles up in memory.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { harmless } from '@subluminal/core/visible';

export interface StderrRelay {
  /** Resolves when everything is passed on, or when nothing was read for this long. */
  drained(quietMs: number): Promise<void>;
}

/** Calls `done` when the bytes are written, or when there is no reader any more. */
type WriteBytes = (bytes: Buffer, done: () => void) => void;

const STDERR = 2;
const STDERR_PATH = '/proc/self/fd/2';
const REOPEN = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const RETRY_MS = 20;
/** A prompt without a line break is shown after this time. */
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
      // A process that escaped may hold the pipe and write for ever.
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
 * Opens a pipe or a terminal again: a descriptor of our own can be set not to block, without an effect on
 * processes that share the old one. A socket cannot be opened; Node's own stream does not block there.
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
    // A file has an offset, which a new descriptor would not share.
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
      // Without a reader there is nothing to wait for.
      if (isFull) count = 0;
    }
    if (count < bytes.length) setTimeout(attempt, RETRY_MS, bytes.subarray(count), done);
    // Never at once: a flood must leave the calls their turn.
    else setImmediate(done);
  };
  return attempt;
}

// The stderr of a server is hostile text that ends on a terminal, now or when a log is read. Nothing in it may move the cursor, set a title, fill a clipboard, hide what
// follows or give an order to a build server.

/** Nothing to do: the usual case. */
const PLAIN = /^[\x20-\x7e\t\n]*$/;
/** Colours are taken out; they are the one thing that well-meaning servers send. */
// oxlint-disable-next-line no-control-regex -- It matches control characters on purpose.
const COLOR = /\u001b\[[0-9;:]{0,64}m/g;
/** Stays as it is: a tab, and what makes a symbol an emoji or not. */
const KEPT = /(\t|\uFE0E|\uFE0F)/;
/** The beginning of an order to a build server; its rest may come with the next bytes. */
const BEGUN_ORDER = /#(?=#\w*$)|#$|(?<=^|\s):$/g;
const HELD_LENGTH_MAX = 8_192;

/** Bytes of any cut in, harmless text out, line by line. */
export class HarmlessText {
  // Bytes that are not UTF-8 become U+FFFD: some terminals take single bytes for commands.
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

  /** The end of the input. */
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
