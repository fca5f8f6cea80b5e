// The hash of the file of a policy, by which a shim sees that it has not changed.
import { sha256Bytes } from '../../os/crypto/index.ts';
import { readRegularFile } from '../../os/index.ts';

/** No policy is longer. */
const FILE_BYTES_MAX = 8_388_608;

/** Undefined for what cannot be read. */
export function fileHash(path: string): string | undefined {
  const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX });
  return read.kind === 'read' ? sha256Bytes(read.bytes) : undefined;
}
