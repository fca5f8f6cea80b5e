// Reads public keys from files.
import { failure, isFailure } from '@subluminal/contracts';
import { type TrustedKeys, verifierFromPems } from '@subluminal/plane/crypto';
import type { Io } from '../terminal/io.ts';
import { orThrow } from './command.ts';
import { KEY_BYTES_MAX, readFileBytes } from './read-file.ts';

interface KeyFiles {
  readonly paths: readonly string[];
  /** What to do when a file is no public key. */
  readonly fix: string;
}

/** Trusts the keys in these files and no other; undefined without files. Throws its failure. */
export async function readPublicKeys(
  { paths, fix }: KeyFiles,
  io: Io,
): Promise<TrustedKeys | undefined> {
  if (paths.length === 0) return undefined;
  const pems: string[] = [];
  for (const path of paths) {
    const { bytes } = orThrow(await readFileBytes(path, { io, bytesMax: KEY_BYTES_MAX }));
    pems.push(Buffer.from(bytes).toString('utf8'));
  }
  const keys = verifierFromPems(pems);
  if (!isFailure(keys)) return keys;
  return orThrow(failure(keys.code, `${paths.join(', ')}: ${keys.message}`, fix));
}
