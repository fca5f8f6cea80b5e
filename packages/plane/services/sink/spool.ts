// The reader's half of the spool, for the ledger: which files may be taken, and what is in them.
import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasSystemCode } from '../../os/index.ts';
import { LineReader } from '../../os/line-reader.ts';
import { readName } from './spool-writer.ts';

export interface SpoolFile {
  readonly path: string;
  readonly producer: string;
  readonly number: number;
  /** False for what a process left behind that is gone: its last line may be torn. */
  readonly isComplete: boolean;
}

export interface SpoolLine {
  /** The line's number within its producer. */
  readonly seq: number;
  readonly line: string;
}

export interface SpoolBatch {
  readonly lines: readonly SpoolLine[];
  /** Lines of this batch that are none, or longer than a line may be. */
  readonly damaged: number;
  /** How far into the file this batch reaches. */
  readonly endOffset: number;
}

export interface ListOptions {
  /** Whether a process of this id runs. */
  readonly isRunning?: (pid: number) => boolean;
  readonly nowMs?: number;
}

export interface SpoolReadOptions {
  readonly linesMax?: number;
  readonly lineBytesMax?: number;
}

const FILES_MAX = 10_000;
/** A process id may be given again; nobody leaves a line waiting for so long. */
const IDLE_MAX_MS = 60 * 60_000;
const BATCH_LINES_MAX = 1_000;
const BATCH_BYTES = 1024 * 1024;
const LINE_BYTES_MAX = 32 * 1024 * 1024;
const NEWLINE = 10;
const LINE = /^(\d{1,15}) (\{.*\})$/s;

/** The files to take, those of one producer in the order they were written. */
export async function listSpool(
  dir: string,
  options: ListOptions = {},
): Promise<readonly SpoolFile[]> {
  const found: SpoolFile[] = [];
  for (const name of (await namesIn(dir)).slice(0, FILES_MAX)) {
    const parsed = readName(name);
    if (parsed === undefined) continue;
    const path = join(dir, name);
    const stats = await lstat(path).catch(() => undefined);
    // A link could lead the ledger anywhere.
    if (stats?.isFile() !== true) continue;
    const { producer, number, pid } = parsed;
    if (pid !== undefined && !isAbandoned(pid, stats, options)) continue;
    found.push({ path, producer, number, isComplete: pid === undefined });
  }
  const byNumber = found.toSorted((left, right) => left.number - right.number);
  return byNumber.toSorted((left, right) =>
    left.producer < right.producer ? -1 : Number(left.producer > right.producer),
  );
}

async function namesIn(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT')) return [];
    throw cause;
  }
}

function isAbandoned(pid: number, { mtimeMs }: Stats, options: ListOptions): boolean {
  const { isRunning = isProcessRunning, nowMs = Date.now() } = options;
  return !isRunning(pid) || nowMs - mtimeMs > IDLE_MAX_MS;
}

function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // Someone else's process is a process, too.
    return hasSystemCode(cause, 'EPERM');
  }
}

/** The lines of a file in batches, in order. Damaged lines are counted and left out. */
export async function* readSpool(
  file: SpoolFile,
  options: SpoolReadOptions = {},
): AsyncGenerator<SpoolBatch> {
  const { linesMax = BATCH_LINES_MAX, lineBytesMax = LINE_BYTES_MAX } = options;
  const handle = await open(file.path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const lines = new LineReader(lineBytesMax);
    const chunk = Buffer.allocUnsafe(BATCH_BYTES);
    let offset = 0;
    for (;;) {
      const { bytesRead } = await handle.read(chunk, 0, chunk.length);
      if (bytesRead === 0) break;
      offset += bytesRead;
      const texts: string[] = [];
      // A line beyond the limit becomes an empty, and thereby damaged one.
      lines.read(chunk.subarray(0, bytesRead), (line = '') => texts.push(line));
      yield* batchesOf(texts, linesMax, offset - lines.restLength);
    }
    // The end of a torn line is somewhere else, or nowhere.
    const { restLength } = lines;
    if (restLength > 0) yield { lines: [], damaged: 1, endOffset: offset - restLength };
  } finally {
    await handle.close();
  }
}

function* batchesOf(
  texts: readonly string[],
  linesMax: number,
  endOffset: number,
): Generator<SpoolBatch> {
  for (let at = 0; at < texts.length; at += linesMax) {
    const parsed = texts.slice(at, at + linesMax).map(readSpoolLine);
    const lines = parsed.filter((line) => line !== undefined);
    yield { lines, damaged: parsed.length - lines.length, endOffset };
  }
}

/** `SEQ<space>JSON`, as it also stands on the wire. */
function readSpoolLine(text: string): SpoolLine | undefined {
  const [, seq, line] = LINE.exec(text) ?? [];
  if (seq === undefined || line === undefined) return undefined;
  return { seq: Number.parseInt(seq, 10), line };
}

/**
 * Removes a file whose lines are committed up to this offset; false when there is more by now,
 * because its writer was alive after all.
 */
export async function dropSpool(file: SpoolFile, endOffset: number): Promise<boolean> {
  const stats = await stat(file.path).catch(() => undefined);
  if (stats === undefined) return true;
  const isTornOnly = !file.isComplete && (await isTorn(file, endOffset));
  if (stats.size > endOffset && !file.isComplete && !isTornOnly) return false;
  await unlink(file.path);
  return true;
}

/** Whether nothing but an unfinished line stands behind the offset. */
async function isTorn(file: SpoolFile, offset: number): Promise<boolean> {
  const handle = await open(file.path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const chunk = Buffer.allocUnsafe(BATCH_BYTES);
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, offset);
    return !chunk.subarray(0, bytesRead).includes(NEWLINE);
  } finally {
    await handle.close();
  }
}
