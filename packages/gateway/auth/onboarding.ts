// How people get their keys: the setup token makes the first admin, an invite makes everyone else, and whoever has
// a key may make more of their own.
import { type Failure, isFailure, tableFailure } from '@subluminal/contracts';
import type { Caller } from '@subluminal/core/routing';
import { isToken, lastCharacters, newToken, tokenHash } from '@subluminal/plane/crypto';
import type { KeyStore, PeopleStore } from '../store/types.ts';

interface OnboardingOptions {
  readonly people: PeopleStore;
  readonly keys: KeyStore;
  readonly tenantId: string;
  readonly nowMs: () => number;
  readonly newId: () => string;
}

/** The one time that a key is seen in full. */
export interface NewKey {
  readonly id: string;
  readonly key: string;
  readonly last4: string;
  readonly name: string;
  readonly createdMs: number;
}

interface Onboarded {
  readonly userId: string;
  readonly role: Caller['role'];
  readonly key: NewKey;
}

interface InviteRequest {
  readonly userId: string;
  readonly role: Caller['role'];
  readonly createdBy: string;
  readonly lifetimeMs: number;
}

/** A user may have so many keys that are not revoked. */
const KEYS_MAX = 50;

const NOT_THE_SETUP_TOKEN: Failure = {
  ...tableFailure('SUB_GATEWAY_TOKEN', 'It is not the setup token, or it was used.'),
  fix: "Take it from `gateway/setup-token` in the gateway's home; when an admin is there already, ask them for an invite.",
};

export class Onboarding {
  readonly #options: OnboardingOptions;

  constructor(options: OnboardingOptions) {
    this.#options = options;
  }

  /** The first admin, once. */
  async takeSetup(token: string, userId: string): Promise<Onboarded | Failure> {
    const { people, tenantId, nowMs } = this.#options;
    const role = 'platform_admin';
    const user = { tenantId, userId, role, createdMs: nowMs() } as const;
    const made = this.#newKey(userId, 'setup');
    const isTaken =
      isToken('setup', token) &&
      (await people.takeSetupToken(tokenHash(token), { user, key: made.row }));
    if (!isTaken) return NOT_THE_SETUP_TOKEN;
    return { userId, role, key: made.shown };
  }

  async invite(request: InviteRequest): Promise<{ token: string; expiresMs: number }> {
    const { people, tenantId, nowMs } = this.#options;
    const { lifetimeMs, ...invited } = request;
    const token = newToken('invite');
    const expiresMs = nowMs() + lifetimeMs;
    await people.addInvite({ ...invited, tokenHash: tokenHash(token), tenantId, expiresMs });
    return { token, expiresMs };
  }

  async takeInvite(token: string): Promise<Onboarded | Failure> {
    const { people, tenantId, nowMs } = this.#options;
    const invite = isToken('invite', token)
      ? await people.takeInvite(tokenHash(token), nowMs())
      : undefined;
    if (invite === undefined || invite.tenantId !== tenantId) {
      return tableFailure('SUB_GATEWAY_TOKEN', 'The invite was used, has expired, or never was.');
    }
    const { userId, role } = invite;
    await people.setUser({ tenantId, userId, role, createdMs: nowMs() });
    const key = await this.addKey(userId, 'invite');
    return isFailure(key) ? key : { userId, role, key };
  }

  async addKey(userId: string, name: string): Promise<NewKey | Failure> {
    const { keys, tenantId } = this.#options;
    const active = (await keys.list(tenantId, userId)).filter((key) => key.revokedMs === null);
    if (active.length >= KEYS_MAX) {
      return tableFailure('SUB_GATEWAY_LIMIT', `A user has at most ${KEYS_MAX} keys; revoke one.`);
    }
    const made = this.#newKey(userId, name);
    await keys.add(made.row);
    return made.shown;
  }

  #newKey(userId: string, name: string) {
    const { tenantId, nowMs, newId } = this.#options;
    const key = newToken('key');
    const row = { id: newId(), last4: lastCharacters(key), name, createdMs: nowMs() };
    return { row: { ...row, tenantId, userId, hash: tokenHash(key) }, shown: { ...row, key } };
  }
}
