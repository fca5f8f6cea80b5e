// The last head outside the database: what was cut off from the ledger's end is found by it.
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readRegularFile } from '../../os/index.ts';

const TEXT_BYTES_MAX = 1_048_576;

/** Keeps one small text. */
export interface Witness {
  /** Undefined when nothing was kept yet. */
  read(): Promise<string | undefined>;
  /** Replaces the text as a whole, or leaves the old one. */
  write(text: string): Promise<void>;
}

export function fileWitness(file: string): Witness {
  return { read: () => readText(file), write: (text) => replaceText(file, text) };
}

async function readText(file: string): Promise<string | undefined> {
  const read = readRegularFile(file, { bytesMax: TEXT_BYTES_MAX });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'read') return read.bytes.toString('utf8');
  throw Object.assign(new Error(`${file} ${read.why}`), { code: read.code });
}

/** Written beside, synced and renamed: a crash leaves the old text or the new one. */
async function replaceText(file: string, text: string): Promise<void> {
  const next = `${file}.${randomBytes(6).toString('hex')}.part`;
  try {
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(text, 'utf8');
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(next, file);
  } catch (cause) {
    await rm(next, { force: true });
    throw cause;
  }
  await syncFolder(dirname(file));
}

/** Some systems cannot sync a folder; the rename is then as durable as they make it. */
async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, 'r');
    await handle.sync();
  } catch {
    return;
  } finally {
    await handle?.close();
  }
}
