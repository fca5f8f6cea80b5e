import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { isFailure } from '@subluminal/contracts';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { describe, expect, it } from 'vitest';
import { createKeyPair, signerFromPem, verifierFromPems } from './keys.ts';

// The key pair and signature of RFC 8032, section 7.1, test 1.
const RFC_PRIVATE = pem(
  'PRIVATE',
  '302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
);
const RFC_SIGNATURE = Buffer.from(
  'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  'hex',
).toString('base64');

function pem(kind: string, derHex: string): string {
  const body = Buffer.from(derHex, 'hex').toString('base64');
  return `-----BEGIN ${kind} KEY-----\n${body}\n-----END ${kind} KEY-----\n`;
}

function signerOf(privatePem: string): Signer {
  const result = signerFromPem(privatePem);
  if (isFailure(result)) throw new Error(result.message);
  return result;
}

function verifierOf(...publicPems: string[]): Verifier {
  const result = verifierFromPems(publicPems);
  if (isFailure(result)) throw new Error(result.message);
  return result;
}

describe('signatures', () => {
  it('verify with the key that made them', () => {
    const pair = createKeyPair();
    const signer = signerOf(pair.privatePem);
    const signature = { keyId: signer.keyId, value: signer.sign('é {"a":1}') };
    expect(signer.keyId).toBe(pair.keyId);
    expect(verifierOf(pair.publicPem).verify('é {"a":1}', signature)).toBe(true);
  });

  it('are those of RFC 8032', () => {
    expect(signerOf(RFC_PRIVATE).sign('')).toBe(RFC_SIGNATURE);
  });

  it('fail for another text, another key or another key id', () => {
    const [ours, theirs] = [createKeyPair(), createKeyPair()];
    const value = signerOf(ours.privatePem).sign('text');
    const verifier = verifierOf(ours.publicPem, theirs.publicPem);
    expect(verifier.verify('text', { keyId: ours.keyId, value })).toBe(true);
    expect(verifier.verify('texT', { keyId: ours.keyId, value })).toBe(false);
    expect(verifier.verify('text', { keyId: theirs.keyId, value })).toBe(false);
    expect(verifier.verify('text', { keyId: '0'.repeat(16), value })).toBe(false);
    expect(verifierOf(theirs.publicPem).verify('text', { keyId: ours.keyId, value })).toBe(false);
    expect(verifierOf().verify('text', { keyId: ours.keyId, value })).toBe(false);
  });

  it('fail when they are malformed', () => {
    const pair = createKeyPair();
    const value = signerOf(pair.privatePem).sign('text');
    const verifier = verifierOf(pair.publicPem);
    const damaged = ['', 'AAAA', '!', value.slice(0, -2), `${value}\n`, ` ${value}`, value + value];
    for (const wrong of damaged) {
      expect(verifier.verify('text', { keyId: pair.keyId, value: wrong }), wrong).toBe(false);
    }
  });

  it('have one spelling', () => {
    const pair = createKeyPair();
    const value = signerOf(pair.privatePem).sign('text');
    const last = value.charAt(85);
    const sameBits = String.fromCharCode(last.charCodeAt(0) + 1);
    const respelled = `${value.slice(0, 85)}${sameBits}==`;
    expect(Buffer.from(respelled, 'base64')).toEqual(Buffer.from(value, 'base64'));
    const signature = { keyId: pair.keyId, value: respelled };
    expect(verifierOf(pair.publicPem).verify('text', signature)).toBe(false);
  });
});

describe('key ids', () => {
  it('are the first 16 hex digits of SHA-256 over the SPKI DER form', () => {
    const pair = createKeyPair();
    const der = createPublicKey(pair.publicPem).export({ type: 'spki', format: 'der' });
    expect(pair.keyId).toBe(createHash('sha256').update(der).digest('hex').slice(0, 16));
  });

  it('differ between keys', () => {
    expect(createKeyPair().keyId).not.toBe(createKeyPair().keyId);
  });
});

describe('malformed keys', () => {
  const rsa = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const pair = createKeyPair();
  const invalid = { kind: 'failure', code: 'SUB_SNAPSHOT_KEY' };

  it.each([
    ['nothing', ''],
    ['garbage', 'garbage'],
    ['an empty PEM', '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n'],
    ['a damaged key', pair.privatePem.slice(0, 60)],
    ['a public key', pair.publicPem],
    ['an RSA key', rsa.privateKey],
    ['an endless key', 'A'.repeat(10_000_000)],
  ])('gives no signer for %s', (_, text) => {
    expect(signerFromPem(text)).toMatchObject(invalid);
  });

  it.each([
    ['nothing', ''],
    ['garbage', '\u0000garbage'],
    ['a private key', pair.privatePem],
    ['an RSA key', rsa.publicKey],
  ])('gives no verifier for %s, and names the key', (_, text) => {
    const result = verifierFromPems([pair.publicPem, text]);
    expect(result).toMatchObject(invalid);
    expect(result).toHaveProperty('message', expect.stringContaining('key 2'));
  });

  it('never repeats the key in the message', () => {
    const secret = pair.privatePem.split('\n')[1] ?? '';
    expect(JSON.stringify(signerFromPem(pair.privatePem.replace('MC4', 'MC5')))).not.toContain(
      secret.slice(8),
    );
  });
});
