export { callIds, sha256, sha256Bytes } from './hash.ts';
export type { HomeKey, HomeSeal, Signature } from './home-key.ts';
export { ensureKeyFile, homeSeal, readKeyFile } from './home-key.ts';
export type { KeyPair, TrustedKeys } from './keys.ts';
export { createKeyPair, signerFromPem, verifierFromPems } from './keys.ts';
