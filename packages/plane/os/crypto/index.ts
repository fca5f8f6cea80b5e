export { callIds, sha256, sha256Bytes } from './hash.ts';
export type { HomeSeal, Signature } from './home-key.ts';
export { ensureKeyFile, homeSeal, readKeyFile } from './home-key.ts';
export type { TrustedKeys } from './keys.ts';
export { createKeyPair, signerFromPem, verifierFromPems } from './keys.ts';
export type { NewPageSession } from './page-sessions.ts';
export { PageSessions } from './page-sessions.ts';
export type { TokenKind } from './random-tokens.ts';
export { isToken, lastCharacters, newToken, tokenHash } from './random-tokens.ts';
