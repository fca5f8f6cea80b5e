export { sha256, sha256Bytes } from './hash.ts';
export type { KeyPair, KeyProblem, SignerResult, VerifierResult } from './keys.ts';
export { createKeyPair, signerFromPem, verifierFromPems } from './keys.ts';
