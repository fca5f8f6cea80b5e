// The codes of login links: each opens the page once, within two minutes. Only their hashes are kept.
import { randomBytes } from 'node:crypto';
import type { LedgerRole } from '@subluminal/contracts';
import { tokenHash } from '../../os/crypto/index.ts';

const CODE_BYTES = 32;
export const CODE_LIFE_MS = 120_000;
/** A further one takes the place of the oldest. */
const CODES_MAX = 16;

interface OpenCode {
  readonly role: LedgerRole;
  readonly expiresAtMs: number;
}

export class LoginCodes {
  readonly #nowMs: () => number;
  /** By their hashes, the oldest first: finding one takes a time that tells nothing of the others. */
  readonly #open = new Map<string, OpenCode>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  issue(role: LedgerRole): { readonly code: string; readonly expiresAtMs: number } {
    const code = randomBytes(CODE_BYTES).toString('base64url');
    const expiresAtMs = this.#nowMs() + CODE_LIFE_MS;
    this.#open.set(tokenHash(code), { role, expiresAtMs });
    for (const hash of [...this.#open.keys()].slice(0, -CODES_MAX)) this.#open.delete(hash);
    return { code, expiresAtMs };
  }

  /** The role that the code stands for, the first time that it is given. */
  redeem(code: string): LedgerRole | undefined {
    const hash = tokenHash(code);
    const found = this.#open.get(hash);
    this.#open.delete(hash);
    return found !== undefined && this.#nowMs() < found.expiresAtMs ? found.role : undefined;
  }
}
