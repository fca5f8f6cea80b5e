// A secret in a file: small, whole text that only its owner can read and write.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { decodeUtf8, readPrivateFile } from '../../os/index.ts';

const BYTES_MAX = 65_536;

/** There is no such secret, unlike one that cannot be used. */
export function missingSecret(message: string, fix: string): Failure {
  return failure('SUB_SECRET_MISSING', message, fix);
}

export function unusableSecret(message: string, fix: string): Failure {
  return failure('SUB_SECRET_UNUSABLE', message, fix);
}

export function readSecretFile(path: string): string | Failure {
  const bytes = readSecretBytes(path, BYTES_MAX);
  if (isFailure(bytes)) return bytes;
  const fix = 'Write the secret as text.';
  if (bytes.includes(0)) return unusableSecret(`${path} holds a NUL byte.`, fix);
  const text = decodeUtf8(bytes)?.replace(/\r?\n$/, '');
  return text ?? unusableSecret(`${path} is not valid UTF-8.`, fix);
}

/** The bytes of a file that nobody else can read or write. */
export function readSecretBytes(path: string, bytesMax: number): Buffer | Failure {
  const read = readPrivateFile(path, { bytesMax, isSecret: true });
  if (read.kind === 'read') return read.bytes;
  if (read.kind === 'missing') {
    return missingSecret(`${path} does not exist.`, 'Write the secret there, with mode 0600.');
  }
  const isDenied = read.code === 'EACCES' || read.code === 'EPERM';
  return unusableSecret(`${path} ${read.why}.`, isDenied ? `Run: chmod 600 ${path}` : read.fix);
}
