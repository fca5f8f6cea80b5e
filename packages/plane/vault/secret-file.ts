// A secret in a file: only its owner may read or write it, and it is small, whole text.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

interface NotFetched {
  readonly ok: false;
  readonly isMissing: boolean;
  readonly message: string;
  readonly fix: string;
}
type Fetched = { readonly ok: true; readonly value: string } | NotFetched;
type ReadBytes = { readonly ok: true; readonly bytes: Buffer } | NotFetched;

const BYTES_MAX = 65_536;
const PERMITTED = constants.S_IRUSR | constants.S_IWUSR;
const MODE_BITS = 0o7777;
/** No link is followed, and a pipe without a writer does not keep us waiting. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

function readSecretFile(path: string): Fetched {
  const read = readPrivateFile(path, BYTES_MAX);
  return read.ok ? textOf(path, read.bytes) : read;
}

/** The bytes of a file that nobody else can read or write. */
function readPrivateFile(path: string, bytesMax: number): ReadBytes {
  let file: number;
  try {
    file = openSync(path, FLAGS);
  } catch (cause) {
    return notOpened(path, cause);
  }
  try {
    // Of the open file, not of the path: nobody can put another one there in between.
    const stats = fstatSync(file);
    const fault = faultOf(path, stats, bytesMax);
    if (fault !== undefined) return fault;
    const bytes = readBytes(file, Math.min(bytesMax, stats.size) + 1);
    return bytes.length > Math.min(bytesMax, stats.size)
      ? unusable(`${path} is growing, or larger than ${bytesMax} bytes`, 'Try again.')
      : { ok: true, bytes };
  } catch (cause) {
    return unusable(`${path} cannot be read (${codeOf(cause)})`, 'Check the file.');
  } finally {
    closeSync(file);
  }
}

function notOpened(path: string, cause: unknown): NotFetched {
  const code = codeOf(cause);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const fix = `Write the secret there, with mode 0600.`;
    return { ok: false, isMissing: true, message: `${path} does not exist`, fix };
  }
  if (code === 'ELOOP' || code === 'EMLINK') {
    return unusable(`${path} is a symbolic link`, 'Name the file that it points to.');
  }
  return unusable(`${path} cannot be read (${code})`, `Run: chmod 600 ${path}`);
}

function faultOf(path: string, stats: Stats, bytesMax: number): NotFetched | undefined {
  const ownId = process.getuid?.();
  if (!stats.isFile()) return unusable(`${path} is not a regular file`, 'Name a regular file.');
  if (ownId !== undefined && stats.uid !== ownId) {
    return unusable(`${path} belongs to another user`, 'Use a file of your own.');
  }
  // On Windows the mode says nothing.
  if (ownId !== undefined && (stats.mode & MODE_BITS & ~PERMITTED) !== 0) {
    const mode = (stats.mode & MODE_BITS).toString(8).padStart(4, '0');
    return unusable(`${path} has mode ${mode}, wider than 0600`, `Run: chmod 600 ${path}`);
  }
  if (stats.size <= bytesMax) return undefined;
  return unusable(`${path} is larger than ${bytesMax} bytes`, 'Give a smaller file.');
}

/** One byte more than is there, so that a file which grows meanwhile is seen. */
function readBytes(file: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  let at = 0;
  while (at < buffer.length) {
    const count = readSync(file, buffer, at, buffer.length - at, null);
    if (count === 0) break;
    at += count;
  }
  return buffer.subarray(0, at);
}

function textOf(path: string, bytes: Buffer): Fetched {
  if (bytes.includes(0)) return unusable(`${path} holds a NUL byte`, 'Write the secret as text.');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { ok: true, value: text.replace(/\r?\n$/, '') };
  } catch {
    return unusable(`${path} is not valid UTF-8`, 'Write the secret as text.');
  }
}

function unusable(message: string, fix: string): NotFetched {
  return { ok: false, isMissing: false, message, fix };
}

function codeOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (typeof code !== 'string') throw cause;
  return code;
}

export type { Fetched, NotFetched, ReadBytes };
export { readPrivateFile, readSecretFile };
