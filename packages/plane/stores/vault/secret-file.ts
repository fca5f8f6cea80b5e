// A secret in a file: only its owner may read or write it, and it is small, whole text.
import { readPrivateFile } from '../../os/index.ts';

export interface NotFetched {
  readonly ok: false;
  readonly isMissing: boolean;
  readonly message: string;
  readonly fix: string;
}
export type Fetched = { readonly ok: true; readonly value: string } | NotFetched;
export type ReadBytes = { readonly ok: true; readonly bytes: Buffer } | NotFetched;

const BYTES_MAX = 65_536;

export function readSecretFile(path: string): Fetched {
  const read = readSecretBytes(path, BYTES_MAX);
  return read.ok ? textOf(path, read.bytes) : read;
}

/** The bytes of a file that nobody else can read or write. */
export function readSecretBytes(path: string, bytesMax: number): ReadBytes {
  const read = readPrivateFile(path, { bytesMax, isSecret: true });
  if (read.kind === 'missing') {
    const fix = 'Write the secret there, with mode 0600.';
    return { ok: false, isMissing: true, message: `${path} does not exist`, fix };
  }
  if (read.kind === 'read') return { ok: true, bytes: read.bytes };
  const isClosed = read.code === 'EACCES' || read.code === 'EPERM';
  return unusable(`${path} ${read.why}`, isClosed ? `Run: chmod 600 ${path}` : read.fix);
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
