// The last head outside the database: what was cut off from the ledger's end is found by it.
import { readRegularFile, writePrivateFile } from '../../../os/index.ts';

const TEXT_BYTES_MAX = 1_048_576;

/** Keeps one small text. */
export interface Witness {
  /** Undefined when nothing was kept yet. */
  read(): Promise<string | undefined>;
  /** Replaces the text as a whole, or leaves the old one. */
  write(text: string): Promise<void>;
}

export function fileWitness(file: string): Witness {
  return { read: () => readText(file), write: async (text) => writePrivateFile(file, text) };
}

async function readText(file: string): Promise<string | undefined> {
  const read = readRegularFile(file, { bytesMax: TEXT_BYTES_MAX });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'read') return read.bytes.toString('utf8');
  throw Object.assign(new Error(`${file} ${read.why}`), { code: read.code });
}
