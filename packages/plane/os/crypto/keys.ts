// ed25519 keys for signed snapshots, as PEM texts.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { type Failure, failure } from '@subluminal/contracts';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { attempt } from '../system-error.ts';

export interface KeyPair {
  readonly keyId: string;
  readonly privatePem: string;
  readonly publicPem: string;
}

export interface TrustedKeys extends Verifier {
  readonly keyIds: readonly string[];
}

const KEY_ID_LENGTH = 16;
const PEM_LENGTH_MAX = 4_096;
const KEYS_MAX = 1_000;
/** 64 bytes in base64, in the one spelling that has no stray bits. */
const SIGNATURE = /^[A-Za-z0-9+/]{85}[AQgw]==$/;

export function createKeyPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    keyId: keyIdOf(publicKey),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** A signer for a PKCS #8 private key. */
export function signerFromPem(privatePem: string): Signer | Failure {
  const key = readKey(privatePem, createPrivateKey);
  if (key === undefined) return invalid('expected an ed25519 private key in PEM form.');
  return {
    keyId: keyIdOf(createPublicKey(key)),
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), key).toString('base64'),
  };
}

/** A verifier that trusts exactly these public keys. */
export function verifierFromPems(publicPems: readonly string[]): TrustedKeys | Failure {
  if (publicPems.length > KEYS_MAX) return invalid(`expected at most ${KEYS_MAX} public keys.`);
  const trusted = new Map<string, KeyObject>();
  for (const [index, pem] of publicPems.entries()) {
    // Node would derive a public key from a private one; a private key here is a mistake.
    const key = pem.includes('PRIVATE KEY') ? undefined : readKey(pem, createPublicKey);
    if (key === undefined) {
      return invalid(`expected an ed25519 public key in PEM form as key ${index + 1}.`);
    }
    trusted.set(keyIdOf(key), key);
  }
  return {
    keyIds: [...trusted.keys()],
    verify: (text, { keyId, value }) => {
      const key = trusted.get(keyId);
      if (key === undefined || !SIGNATURE.test(value)) return false;
      return verify(null, Buffer.from(text, 'utf8'), key, Buffer.from(value, 'base64'));
    },
  };
}

/** The words of OpenSSL may quote the key, so they never reach a message. */
function readKey(pem: string, read: (pem: string) => KeyObject): KeyObject | undefined {
  const key = pem.length > PEM_LENGTH_MAX ? undefined : attempt(() => read(pem));
  return key?.asymmetricKeyType === 'ed25519' ? key : undefined;
}

/** The first 16 hex digits of SHA-256 over the key's SPKI DER form. */
function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex').slice(0, KEY_ID_LENGTH);
}

function invalid(message: string): Failure {
  return failure('SUB_SNAPSHOT_KEY', message, 'Make keys with `sub policy keygen`.');
}
