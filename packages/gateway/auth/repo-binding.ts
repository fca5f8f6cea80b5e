// A binding says: this machine works in this repository. It is a token that the gateway signs:
//
//     subrb1.PAYLOAD.KEYID.SIGNATURE
//
// PAYLOAD is base64url of the JSON `{"repo_id", "machine_id", "exp"}`, `exp` in seconds since 1970. SIGNATURE is
// ed25519 over `subrb1.PAYLOAD`, in base64url. KEYID names the key that signed.
import {
  type Failure,
  parseRepoBinding,
  type RepoBindingPayload,
  tableFailure,
} from '@subluminal/contracts';
import type { Signer, Verifier } from '@subluminal/core/ports';
import type { Caller } from '@subluminal/core/routing';
import { BoundedCache, parseJson } from '@subluminal/plane/os';
import type { BindingRow, PeopleStore } from '../store/types.ts';
import { repoAddress } from './repo-address.ts';

export interface BindingOptions {
  readonly people: PeopleStore;
  readonly tenantId: string;
  /** Gateways that share a database share this key. */
  readonly key: Signer & Verifier;
  readonly nowMs: () => number;
  /** The id of a repository that the configuration names, by its address. */
  readonly repoIdOf: (address: string) => string | undefined;
  /** Whether a repository that the configuration does not name is bound when somebody first uses it. */
  readonly isAutoBindOn: () => boolean;
  /** How long a binding that is made now holds. */
  readonly lifetimeMs: () => number;
}

export interface BindRequest {
  readonly remoteUrl: string;
  readonly machineId: string;
}

export interface RepoBinding {
  readonly token: string;
  readonly repoId: string;
  readonly expiresMs: number;
}

const VERSION = 'subrb1';
const TOKEN = /^(subrb1)\.([A-Za-z0-9_-]{1,4096})\.([0-9a-f]{16})\.([A-Za-z0-9_-]{86})$/;
/** A binding that another gateway has revoked is known to be so after this. */
const CACHE = { entriesMax: 10_000, lifetimeMs: 5_000 };

export class RepoBindings {
  readonly #options: BindingOptions;
  /** Signatures that were checked, and the rows behind them, by token. */
  readonly #known = new BoundedCache<{
    readonly payload: RepoBindingPayload;
    readonly row: BindingRow;
  }>(CACHE);

  constructor(options: BindingOptions) {
    this.#options = options;
  }

  async bind(caller: Caller, request: BindRequest): Promise<RepoBinding | Failure> {
    const { people, tenantId, nowMs, repoIdOf, isAutoBindOn, lifetimeMs } = this.#options;
    const address = repoAddress(request.remoteUrl);
    if (address === undefined) return refused('The remote is no address of a repository.');
    const repoId = repoIdOf(address) ?? (isAutoBindOn() ? address : undefined);
    if (repoId === undefined) {
      return refused(`${address} is not registered, and repositories are not bound on first use.`);
    }
    const { machineId } = request;
    const before = await people.binding(tenantId, repoId, machineId);
    if (before !== undefined && before.revokedMs !== null) {
      return refused('The binding of this machine was revoked.');
    }
    const exp = Math.ceil((nowMs() + lifetimeMs()) / 1_000);
    const expiresMs = exp * 1_000;
    await people.addBinding({
      tenantId,
      repoId,
      machineId,
      userId: caller.userId,
      remoteUrl: address,
      expiresMs,
      revokedMs: null,
    });
    const token = signed({ repo_id: repoId, machine_id: machineId, exp }, this.#options.key);
    return { token, repoId, expiresMs };
  }

  /** The repository that a token binds this machine to. Without a remote, that of the binding counts. */
  async verify(
    token: string,
    claimed: { readonly machineId: string; readonly remoteUrl?: string | undefined },
  ): Promise<{ readonly repoId: string } | Failure> {
    const nowMs = this.#options.nowMs();
    const found = this.#known.get(token, nowMs) ?? (await this.#read(token, nowMs));
    if (found === undefined) return refused('Its signature does not hold, or it was revoked.');
    const { payload, row } = found;
    if (payload.exp * 1_000 <= nowMs) return refused('It has expired.');
    if (payload.machine_id !== claimed.machineId) return refused('It is for another machine.');
    if (claimed.remoteUrl !== undefined && repoAddress(claimed.remoteUrl) !== row.remoteUrl) {
      return refused('It is for another repository.');
    }
    return { repoId: payload.repo_id };
  }

  async #read(token: string, nowMs: number) {
    const payload = verified(token, this.#options.key);
    if (payload === undefined) return undefined;
    const { people, tenantId } = this.#options;
    const { generation } = this.#known;
    const row = await people.binding(tenantId, payload.repo_id, payload.machine_id);
    if (row === undefined || row.revokedMs !== null) return undefined;
    const found = { payload, row };
    this.#known.put(token, found, { nowMs, generation });
    return found;
  }
}

function refused(detail: string): Failure {
  return tableFailure('SUB_GATEWAY_BINDING', detail);
}

function signed(payload: RepoBindingPayload, key: Signer): string {
  const text = `${VERSION}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
  return `${text}.${key.keyId}.${Buffer.from(key.sign(text), 'base64').toString('base64url')}`;
}

/** What a token says, when its signature holds. */
function verified(token: string, key: Verifier): RepoBindingPayload | undefined {
  const [, version, body = '', keyId = '', signature = ''] = TOKEN.exec(token) ?? [];
  if (version === undefined) return undefined;
  const value = Buffer.from(signature, 'base64url').toString('base64');
  if (!key.verify(`${version}.${body}`, { keyId, value })) return undefined;
  const parsed = parseRepoBinding(parseJson(Buffer.from(body, 'base64url').toString('utf8')));
  return parsed.ok ? parsed.value : undefined;
}
