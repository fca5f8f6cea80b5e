// Keys, invites and the setup token: 256 random bits with a prefix that says what they are. Only hashes are kept.
import { randomBytes } from 'node:crypto';
import { sha256 } from '../hash.ts';

/** `key` opens a gateway, `serve` opens `sub serve`. */
const PREFIXES = {
  key: 'sk-sub-',
  invite: 'inv-sub-',
  setup: 'setup-sub-',
  serve: 'serve-sub-',
} as const;
export type TokenKind = keyof typeof PREFIXES;

const RANDOM_BYTES = 32;
/** 32 bytes in base64url, in the one spelling that has no stray bits. */
const RANDOM_PART = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const LAST_LENGTH = 4;

export function newToken(kind: TokenKind): string {
  return PREFIXES[kind] + randomBytes(RANDOM_BYTES).toString('base64url');
}

/** Whether a text could be such a token: anything else is refused without a look at what is kept. */
export function isToken(kind: TokenKind, text: string): boolean {
  const prefix = PREFIXES[kind];
  return text.startsWith(prefix) && RANDOM_PART.test(text.slice(prefix.length));
}

/** What a token is known by. Slow hashes are for passwords: nobody guesses 256 bits. */
export function tokenHash(token: string): string {
  return sha256(token);
}

export function lastCharacters(token: string): string {
  return token.slice(-LAST_LENGTH);
}
