// The key that the ledger is signed with.
import { createPublicKey } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { createKeyPair, signerFromPem, verifierFromPems } from '../../crypto/index.ts';
import { readRegularFile } from '../../os/index.ts';
import { type HomeFault, homeFault } from './fault.ts';

type KeyText =
  | { readonly kind: 'text'; readonly pem: string }
  | { readonly kind: 'none' }
  | HomeFault;

const PRIVATE_MODE = 0o600;
const KEY_BYTES_MAX = 16_384;

/** The key of the ledger. A new ledger gets one; an old one without its key is not signed anew. */
async function findSigner(path: string, isNew: boolean): Promise<Signer | HomeFault> {
  const found = readKey(path);
  if (found.kind === 'fault') return found;
  if (found.kind === 'text') return signerOf(path, found.pem);
  if (!isNew) {
    const message = `${path} is missing, and the ledger has events that were signed with it.`;
    return homeFault('SUB_FILE_READ', message, 'Put the key back, or move the ledger away.');
  }
  const pem = createKeyPair().privatePem;
  try {
    await writeFile(path, pem, { flag: 'wx', mode: PRIVATE_MODE });
  } catch (cause) {
    const message = `${path} cannot be written (${codeOf(cause)}).`;
    return homeFault('SUB_FILE_WRITE', message, 'Check the folder and its permissions.');
  }
  return signerOf(path, pem);
}

function signerOf(path: string, pem: string): Signer | HomeFault {
  const made = signerFromPem(pem);
  return made.ok ? made.signer : badKey(path);
}

/** Undefined without a key: then nothing can be proven. */
async function findVerifier(path: string): Promise<Verifier | HomeFault | undefined> {
  const found = readKey(path);
  if (found.kind === 'none') return undefined;
  if (found.kind === 'fault') return found;
  if (!signerFromPem(found.pem).ok) return badKey(path);
  const publicPem = createPublicKey(found.pem).export({ type: 'spki', format: 'pem' }).toString();
  const made = verifierFromPems([publicPem]);
  return made.ok ? made.verifier : badKey(path);
}

function readKey(path: string): KeyText {
  const read = readRegularFile(path, { bytesMax: KEY_BYTES_MAX });
  if (read.kind === 'read') return { kind: 'text', pem: read.bytes.toString('utf8') };
  if (read.kind === 'missing') return { kind: 'none' };
  return homeFault('SUB_FILE_READ', `${path} ${read.why}.`, read.fix);
}

function badKey(path: string): HomeFault {
  const message = `${path} holds no private ed25519 key.`;
  return homeFault('SUB_SNAPSHOT_KEY', message, 'Put the key of the ledger back.');
}

function codeOf(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  throw cause;
}

export { findSigner, findVerifier };
