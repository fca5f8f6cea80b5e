// A policy file that a command or the page changes: over exactly what was seen, with a copy of it kept.
import { randomBytes } from 'node:crypto';
import { basename, extname, join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { POLICY_FILE_BYTES_MAX } from '@subluminal/core/policy';
import { ensurePrivateFolder } from '@subluminal/plane/config';
import { sha256Bytes } from '@subluminal/plane/crypto';
import { readRegularFile } from '@subluminal/plane/os';
import { createNewFile, replaceFile } from '../input/write-file.ts';

interface PolicyWrite {
  readonly path: string;
  /** The SHA-256 of the content that was changed; null where no file was. */
  readonly base: string | null;
  readonly text: string;
  /** The folder of copies. */
  readonly backups: string;
  readonly nowMs: number;
}

export interface WrittenPolicy {
  readonly kind: 'written';
  /** What stood there before; null where nothing did. */
  readonly backup: string | null;
}

const NEW_MODE = 0o644;
const BACKUP_MODE = 0o600;

/** Replaces the policy in one step, unless it is not the one that was seen any more. */
export async function writePolicyFile(write: PolicyWrite): Promise<WrittenPolicy | Failure> {
  const { path, base, text } = write;
  const read = readRegularFile(path, { bytesMax: POLICY_FILE_BYTES_MAX });
  if (read.kind === 'unreadable') return failure('SUB_FILE_READ', `${path} ${read.why}.`, read.fix);
  const before = read.kind === 'read' ? read.bytes : undefined;
  const now = before === undefined ? null : sha256Bytes(before);
  if (now !== base) return staleFailure(path);
  if (before === undefined) {
    const failed = await createNewFile({ path, text, mode: NEW_MODE });
    return failed ?? { kind: 'written', backup: null };
  }
  // The copy comes first: whenever this is interrupted, one of the two policies is in force.
  const backup = await keepCopy(before, write);
  if (isFailure(backup)) return backup;
  const failed = await replaceFile(path, text);
  return failed ?? { kind: 'written', backup };
}

export function staleFailure(path: string): Failure {
  const fix = 'Open it again, and make the change in what stands there now; nothing was written.';
  return failure('SUB_POLICY_STALE', `${path} was changed meanwhile.`, fix);
}

async function keepCopy(
  bytes: Uint8Array,
  { path, backups, nowMs }: PolicyWrite,
): Promise<string | Failure> {
  const unsafe = ensurePrivateFolder(backups);
  if (unsafe !== undefined) return unsafe;
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const ending = extname(path);
  // Two of one second must not have the same name.
  const name = `${basename(path, ending)}-${time}-${randomBytes(3).toString('hex')}${ending}`;
  const copy = join(backups, name);
  return (await createNewFile({ path: copy, text: bytes, mode: BACKUP_MODE })) ?? copy;
}
