// Keys, invites and the setup token: 256 random bits with a prefix that says what they are. The store keeps hashes.
import { randomBytes } from 'node:crypto';
import { sha256 } from '@subluminal/plane/crypto';

const PREFIXES = { key: 'sk-sub-', invite: 'inv-sub-', setup: 'setup-sub-' } as const;
export type TokenKind = keyof typeof PREFIXES;

const RANDOM_BYTES = 32;
/** 32 bytes in base64url, in the one spelling that has no stray bits. */
const RANDOM_PART = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const LAST_LENGTH = 4;

export function newToken(kind: TokenKind): string {
  return PREFIXES[kind] + randomBytes(RANDOM_BYTES).toString('base64url');
}

/** Whether a text could be such a token: anything else is refused without asking the store. */
export function isToken(kind: TokenKind, text: string): boolean {
  const prefix = PREFIXES[kind];
  return text.startsWith(prefix) && RANDOM_PART.test(text.slice(prefix.length));
}

/** What the store knows a token by. Slow hashes are for passwords: nobody guesses 256 bits. */
export function tokenHash(token: string): string {
  return sha256(token);
}

export function lastCharacters(token: string): string {
  return token.slice(-LAST_LENGTH);
}
