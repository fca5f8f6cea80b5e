export { sha256, sha256Bytes } from './hash.ts';
export type { FoundKey, HomeSeal, KeyFault, Signature } from './home-key.ts';
export { ensureKeyFile, homeSeal, readKeyFile } from './home-key.ts';
export type { KeyPair, KeyProblem, SignerResult, VerifierResult } from './keys.ts';
export { createKeyPair, signerFromPem, verifierFromPems } from './keys.ts';
