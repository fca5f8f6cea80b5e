// The key that the ledger is signed with.
import { type Failure, failure } from '@subluminal/contracts';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { ensureKeyFile, readKeyFile } from '../../os/crypto/index.ts';

/** The key of the ledger. A new ledger gets one; an old one without its key is not signed anew. */
export async function findSigner(path: string, isNew: boolean): Promise<Signer | Failure> {
  const found = isNew ? ensureKeyFile(path) : readKeyFile(path);
  if (found !== undefined) return found;
  const message = `${path} is missing, and the ledger has events that were signed with it.`;
  return failure('SUB_FILE_READ', message, 'Put the key back, or move the ledger away.');
}

/** Undefined without a key: then nothing can be proven. */
export async function findVerifier(path: string): Promise<Verifier | Failure | undefined> {
  return readKeyFile(path);
}
