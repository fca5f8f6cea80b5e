// The key of a home folder, `ledger.key`: the ledger, the pins, approvals, grants and trust are signed
// with it, so that a file that was edited by somebody without the key is not believed.
import { createPublicKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { createPrivateFile, readPrivateFile } from '../private-file.ts';
import { systemCode } from '../system-error.ts';
import { createKeyPair, signerFromPem, verifierFromPems } from './keys.ts';

export interface KeyFault {
  readonly kind: 'fault';
  readonly code: 'SUB_FILE_READ' | 'SUB_FILE_WRITE' | 'SUB_SNAPSHOT_KEY';
  /** A sentence. */
  readonly message: string;
  readonly fix: string;
}

interface KeyFile {
  readonly kind: 'key';
  readonly signer: Signer;
  /** Trusts this key alone. */
  readonly verifier: Verifier;
}

export type FoundKey = KeyFile | { readonly kind: 'missing' } | KeyFault;

export interface Signature {
  readonly keyId: string;
  readonly value: string;
}

const KEY_FILE = 'ledger.key';
/** Written with the first signature of a ledger. */
const LEDGER_HEAD = 'ledger.head';
const KEY_BYTES_MAX = 4_096;

/** Reads the key. A file that others can write is refused: they could sign with a key of theirs. */
export function readKeyFile(path: string): FoundKey {
  const read = readPrivateFile(path, { bytesMax: KEY_BYTES_MAX, mayBeRoots: true });
  if (read.kind === 'missing') return { kind: 'missing' };
  if (read.kind === 'unreadable') return unreadable(path, read.why);
  return keyOf(path, read.bytes.toString('utf8'));
}

/** Reads the key, and makes it when there is none. Processes that make it at once all get the same key. */
export function ensureKeyFile(path: string): KeyFile | KeyFault {
  const found = readKeyFile(path);
  if (found.kind !== 'missing') return found;
  try {
    createPrivateFile(path, createKeyPair().privatePem);
  } catch (cause) {
    const fix = 'Check the folder and its permissions.';
    const message = `${path} cannot be written (${systemCode(cause)}).`;
    return { kind: 'fault', code: 'SUB_FILE_WRITE', message, fix };
  }
  const made = readKeyFile(path);
  return made.kind === 'missing' ? unreadable(path, 'was removed just now') : made;
}

function keyOf(path: string, pem: string): FoundKey {
  const signer = signerFromPem(pem);
  if (!signer.ok) return badKey(path);
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
  const verifier = verifierFromPems([publicPem]);
  if (!verifier.ok) return badKey(path);
  return { kind: 'key', signer: signer.signer, verifier: verifier.verifier };
}

function unreadable(path: string, why: string): KeyFault {
  const fix = 'Check the file and its permissions, or put the key back.';
  return { kind: 'fault', code: 'SUB_FILE_READ', message: `${path} ${why}.`, fix };
}

function badKey(path: string): KeyFault {
  const message = `${path} holds no private ed25519 key.`;
  return {
    kind: 'fault',
    code: 'SUB_SNAPSHOT_KEY',
    message,
    fix: 'Put the key of the ledger back.',
  };
}

/** Signs and checks texts with the key of a home; the key is read when it is first needed. */
export interface HomeSeal {
  /** Makes the key where there is none, and no ledger that was signed with one. */
  sign(text: string): { readonly kind: 'signed'; readonly signature: Signature } | KeyFault;
  /** Forged: the key did not sign this text. A fault: there is no key to tell. */
  check(
    text: string,
    signature: Signature,
  ): { readonly kind: 'holds' } | { readonly kind: 'forged' } | KeyFault;
}

export function homeSeal(home: string): HomeSeal {
  const path = join(home, KEY_FILE);
  let known: KeyFile | undefined;
  return {
    sign(text) {
      const key = known ?? keyForSigning(path, home);
      if (key.kind === 'fault') return key;
      known = key;
      const { keyId } = key.signer;
      return { kind: 'signed', signature: { keyId, value: key.signer.sign(text) } };
    },
    check(text, signature) {
      const key = known ?? readKeyFile(path);
      if (key.kind === 'fault') return key;
      if (key.kind === 'missing') return unreadable(path, 'is missing');
      known = key;
      return { kind: key.verifier.verify(text, signature) ? 'holds' : 'forged' };
    },
  };
}

/** A ledger whose key is gone must not get another one from here: that it is gone is the news. */
function keyForSigning(path: string, home: string): KeyFile | KeyFault {
  const found = readKeyFile(path);
  if (found.kind !== 'missing') return found;
  if (!existsSync(join(home, LEDGER_HEAD))) return ensureKeyFile(path);
  const message = `${path} is missing, and the ledger beside it was signed with it.`;
  const fix = 'Put the key back, or move the ledger away.';
  return { kind: 'fault', code: 'SUB_FILE_READ', message, fix };
}
