// The key of a home folder, `ledger.key`. It signs the ledger, the pins, approvals, grants and trust:
// a file that was edited without the key is not believed.
import { createPublicKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { createPrivateFile, readPrivateFile } from '../private-file.ts';
import { systemCode } from '../system-error.ts';
import { createKeyPair, signerFromPem, verifierFromPems } from './keys.ts';

/** Signs, and trusts its own signatures alone. */
export interface HomeKey extends Signer, Verifier {}

export interface Signature {
  readonly keyId: string;
  readonly value: string;
}

const KEY_FILE = 'ledger.key';
/** Written with the first signature of a ledger. */
const LEDGER_HEAD = 'ledger.head';
export const KEY_BYTES_MAX = 4_096;

export function keyPath(home: string): string {
  return join(home, KEY_FILE);
}

/**
 * Reads the key; undefined when there is none. Refuses a file that others can write: they could
 * sign with a key of their own.
 */
export function readKeyFile(path: string): HomeKey | Failure | undefined {
  const read = readPrivateFile(path, { bytesMax: KEY_BYTES_MAX, mayBeRoots: true });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'unreadable') return unreadable(path, read.why);
  const pem = read.bytes.toString('utf8');
  const signer = signerFromPem(pem);
  const verifier = isFailure(signer) ? signer : verifierFromPems([publicPem(pem)]);
  if (!isFailure(signer) && !isFailure(verifier)) return { ...signer, ...verifier };
  const message = `${path} holds no private ed25519 key.`;
  return failure('SUB_SNAPSHOT_KEY', message, 'Put the key of the ledger back.');
}

function publicPem(privatePem: string): string {
  return createPublicKey(privatePem).export({ type: 'spki', format: 'pem' }).toString();
}

/** Reads the key, or makes one. All processes that make it at the same time get the same key. */
export function ensureKeyFile(path: string): HomeKey | Failure {
  const found = readKeyFile(path);
  if (found !== undefined) return found;
  try {
    createPrivateFile(path, createKeyPair().privatePem);
  } catch (cause) {
    const message = `${path} cannot be written (${systemCode(cause)}).`;
    return failure('SUB_FILE_WRITE', message, 'Check the folder and its permissions.');
  }
  return readKeyFile(path) ?? unreadable(path, 'was removed just now');
}

function unreadable(path: string, why: string): Failure {
  const fix = 'Check the file and its permissions, or put the key back.';
  return failure('SUB_FILE_READ', `${path} ${why}.`, fix);
}

/** Signs and checks texts with the key of a home; the key is read when it is first needed. */
export interface HomeSeal {
  /** Makes the key, unless a ledger here was signed with one that is gone. */
  sign(text: string): Signature | Failure;
  /** Whether the key has signed this text; a failure when there is no key to check it with. */
  check(text: string, signature: Signature): boolean | Failure;
}

export function homeSeal(home: string): HomeSeal {
  const path = keyPath(home);
  let known: HomeKey | undefined;
  const use = <T>(key: HomeKey | Failure, work: (key: HomeKey) => T): T | Failure => {
    if (isFailure(key)) return key;
    known = key;
    return work(key);
  };
  return {
    sign: (text) =>
      use(known ?? keyForSigning(path, home), (key) => ({
        keyId: key.keyId,
        value: key.sign(text),
      })),
    check: (text, signature) =>
      use(known ?? readKeyFile(path) ?? unreadable(path, 'is missing'), (key) =>
        key.verify(text, signature),
      ),
  };
}

/** A signed ledger without its key must not silently get a new key. */
function keyForSigning(path: string, home: string): HomeKey | Failure {
  const found = readKeyFile(path);
  if (found !== undefined) return found;
  if (!existsSync(join(home, LEDGER_HEAD))) return ensureKeyFile(path);
  const message = `${path} is missing, and the ledger beside it was signed with it.`;
  return failure('SUB_FILE_READ', message, 'Put the key back, or move the ledger away.');
}
