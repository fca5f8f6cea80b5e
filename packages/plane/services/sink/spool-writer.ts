// What the ledger could not take, on disk. All of it is synchronous on purpose: when append()
// returns, a kill of this process loses nothing of it.
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasSystemCode } from '../../os/index.ts';

export interface SpoolWriterOptions {
  readonly dir: string;
  readonly producer: string;
  readonly fileBytesMax: number;
  /** The way to the disk, for tests of a full one. */
  readonly write?: ((fd: number, bytes: Uint8Array) => number) | undefined;
}

interface Part {
  readonly fd: number;
  readonly path: string;
  readonly number: number;
  size: number;
  lastSeq: number;
  /** It holds a line that waits nowhere else. */
  isOnlyCopy: boolean;
}

/** Names in use are stepped over; so many of them means that something else is wrong. */
const NAMES_TRIED_MAX = 1_000;

export class SpoolWriter {
  readonly #options: SpoolWriterOptions;
  readonly #write: (fd: number, bytes: Uint8Array) => number;
  #part: Part | undefined;
  #number = 0;
  /** All that was ever written and not taken back. */
  bytes = 0;

  constructor(options: SpoolWriterOptions) {
    this.#options = options;
    this.#write = options.write ?? writeSync;
  }

  /** The last line of the file that is being written. */
  get lastSeq(): number {
    return this.#part?.lastSeq ?? 0;
  }

  /** Puts whole lines on disk, all of them or none. Throws what the system says. */
  append(bytes: Uint8Array, lastSeq: number): void {
    const part = this.#openPart();
    try {
      this.#writeAll(part.fd, bytes);
    } catch (cause) {
      // A torn line would swallow the one behind it.
      ftruncateSync(part.fd, part.size);
      if (part.size === 0) this.discard();
      throw cause;
    }
    part.size += bytes.length;
    part.lastSeq = lastSeq;
    this.bytes += bytes.length;
    if (part.size >= this.#options.fileBytesMax) this.finish();
  }

  /** From now on, what was appended is nowhere else. */
  keep(): void {
    if (this.#part !== undefined) this.#part.isOnlyCopy = true;
  }

  get isOnlyCopy(): boolean {
    return this.#part?.isOnlyCopy === true;
  }

  /** Makes the file complete, so that the ledger takes it. Throws what the system says. */
  finish(): void {
    const part = this.#part;
    if (part === undefined) return;
    this.#part = undefined;
    closeSync(part.fd);
    const { dir, producer } = this.#options;
    renameSync(part.path, join(dir, `${producer}-${part.number}.jsonl`));
  }

  /** Takes back what meanwhile got into the ledger by the socket. */
  discard(): void {
    const part = this.#part;
    if (part === undefined) return;
    this.#part = undefined;
    this.bytes -= part.size;
    closeSync(part.fd);
    unlinkSync(part.path);
  }

  #openPart(): Part {
    if (this.#part !== undefined) {
      // A ledger that took this process for dead has removed the file under us.
      if (fstatSync(this.#part.fd).nlink > 0) return this.#part;
      closeSync(this.#part.fd);
      this.#part = undefined;
    }
    mkdirSync(this.#options.dir, { recursive: true, mode: 0o700 });
    for (let tried = 0; tried < NAMES_TRIED_MAX; tried++) {
      const part = this.#tryPart(++this.#number);
      if (part !== undefined) {
        this.#part = part;
        return part;
      }
    }
    throw new Error(`no free name in ${this.#options.dir}`);
  }

  /** A new file of this number, unless the number is taken. */
  #tryPart(number: number): Part | undefined {
    const { dir, producer } = this.#options;
    const complete = join(dir, `${producer}-${number}.jsonl`);
    if (existsSync(complete)) return undefined;
    const path = `${complete}.${process.pid}.part`;
    try {
      const fd = openSync(path, 'ax', 0o600);
      return { fd, path, number, size: 0, lastSeq: 0, isOnlyCopy: false };
    } catch (cause) {
      if (hasSystemCode(cause, 'EEXIST')) return undefined;
      throw cause;
    }
  }

  #writeAll(fd: number, bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      const written = this.#write(fd, at === 0 ? bytes : bytes.subarray(at));
      if (written <= 0) throw new Error('the disk takes nothing');
      at += written;
    }
  }
}

// How the files of the spool are called. The name says whose lines are inside, in which order the
// files came, and, until a file is complete, which process writes it.

interface SpoolName {
  readonly producer: string;
  readonly number: number;
  /** The process that writes it; undefined once it is complete. */
  readonly pid: number | undefined;
}

const PRODUCER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const NAME = /^(.+)-(\d{1,9})\.jsonl(?:\.(\d{1,9})\.part)?$/;

export function isProducer(producer: string): boolean {
  return PRODUCER.test(producer);
}

export function readName(name: string): SpoolName | undefined {
  const [, producer = '', number = '', pid] = NAME.exec(name) ?? [];
  if (!isProducer(producer)) return undefined;
  return { producer, number: Number(number), pid: pid === undefined ? undefined : Number(pid) };
}
