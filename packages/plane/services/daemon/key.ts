// The key that the ledger is signed with.
import type { Signer, Verifier } from '@subluminal/core/ports';
import { ensureKeyFile, readKeyFile } from '../../os/crypto/index.ts';
import { type HomeFault, homeFault } from './fault.ts';

/** The key of the ledger. A new ledger gets one; an old one without its key is not signed anew. */
export async function findSigner(path: string, isNew: boolean): Promise<Signer | HomeFault> {
  const found = isNew ? ensureKeyFile(path) : readKeyFile(path);
  if (found.kind === 'key') return found.signer;
  if (found.kind === 'fault') return found;
  const message = `${path} is missing, and the ledger has events that were signed with it.`;
  return homeFault('SUB_FILE_READ', message, 'Put the key back, or move the ledger away.');
}

/** Undefined without a key: then nothing can be proven. */
export async function findVerifier(path: string): Promise<Verifier | HomeFault | undefined> {
  const found = readKeyFile(path);
  if (found.kind === 'missing') return undefined;
  return found.kind === 'key' ? found.verifier : found;
}
