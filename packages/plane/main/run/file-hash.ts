// The hash of the file of a policy, by which a shim sees that it has not changed.
import { readFileSync, statSync } from 'node:fs';
import { sha256Bytes } from '../../crypto/index.ts';

/** No policy is longer. */
const FILE_BYTES_MAX = 8_388_608;

/** Undefined for what cannot be read. */
function fileHash(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > FILE_BYTES_MAX) return undefined;
    return sha256Bytes(readFileSync(path));
  } catch {
    return undefined;
  }
}

export { fileHash };
