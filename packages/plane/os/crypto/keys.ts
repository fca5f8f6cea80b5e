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
import type { Signer, Verifier } from '@subluminal/core/ports';

export interface KeyPair {
  readonly keyId: string;
  readonly privatePem: string;
  readonly publicPem: string;
}

export interface KeyProblem {
  readonly ok: false;
  readonly code: 'SUB_SNAPSHOT_KEY';
  readonly message: string;
}

export type SignerResult = { readonly ok: true; readonly signer: Signer } | KeyProblem;
export type VerifierResult =
  | { readonly ok: true; readonly verifier: Verifier; readonly keyIds: readonly string[] }
  | KeyProblem;

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
export function signerFromPem(privatePem: string): SignerResult {
  const key = readKey(privatePem, createPrivateKey);
  if (key === undefined) return invalid('expected an ed25519 private key in PEM form');
  const keyId = keyIdOf(createPublicKey(key));
  return {
    ok: true,
    signer: {
      keyId,
      sign: (text) => sign(null, Buffer.from(text, 'utf8'), key).toString('base64'),
    },
  };
}

/** A verifier that trusts exactly these public keys. */
export function verifierFromPems(publicPems: readonly string[]): VerifierResult {
  if (publicPems.length > KEYS_MAX) return invalid(`expected at most ${KEYS_MAX} public keys`);
  const trusted = new Map<string, KeyObject>();
  for (const [index, pem] of publicPems.entries()) {
    // Node would derive a public key from a private one; a private key here is a mistake.
    const key = pem.includes('PRIVATE KEY') ? undefined : readKey(pem, createPublicKey);
    if (key === undefined) {
      return invalid(`expected an ed25519 public key in PEM form as key ${index + 1}`);
    }
    trusted.set(keyIdOf(key), key);
  }
  const verifier: Verifier = { verify: (text, signature) => check(trusted, text, signature) };
  return { ok: true, verifier, keyIds: [...trusted.keys()] };
}

function check(
  trusted: ReadonlyMap<string, KeyObject>,
  text: string,
  signature: { readonly keyId: string; readonly value: string },
): boolean {
  const key = trusted.get(signature.keyId);
  if (key === undefined || !SIGNATURE.test(signature.value)) return false;
  return verify(null, Buffer.from(text, 'utf8'), key, Buffer.from(signature.value, 'base64'));
}

function readKey(pem: string, read: (pem: string) => KeyObject): KeyObject | undefined {
  if (pem.length > PEM_LENGTH_MAX) return undefined;
  try {
    const key = read(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    // OpenSSL's words may quote the key: the caller's message must not.
    return undefined;
  }
}

/** The first 16 hex digits of SHA-256 over the key's SPKI DER form. */
function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex').slice(0, KEY_ID_LENGTH);
}

function invalid(message: string): KeyProblem {
  return { ok: false, code: 'SUB_SNAPSHOT_KEY', message };
}
