// Names of secrets for the API, where they are kept and which servers get them. No value is read: our own
// store is not opened, and other places are not looked at.
import { type ApiSecrets, type Failure, isFailure } from '@subluminal/contracts';
import { loadConfig, type SecretBinding, type Servers } from '@subluminal/plane/config';
import type { WorkbenchHost } from '@subluminal/plane/daemon';
import { listSecrets, type Vault } from '@subluminal/plane/vault';
import { unusableConfig } from '../input/own-config.ts';
import { isOfLogin } from '../secrets/secrets-home.ts';
import { noticed } from './server-breakers.ts';

type SecretRow = ApiSecrets['rows'][number];
type Stored = Pick<Vault, 'secrets'> | undefined;
type LastUse = Pick<SecretRow, 'last_used_at_ms' | 'last_use_ok'>;

const NEVER_USED: LastUse = { last_used_at_ms: null, last_use_ok: null };

export async function secretsAnswer(host: WorkbenchHost): Promise<ApiSecrets | Failure> {
  const { home } = host.home.paths;
  // Read anew: bindings change while the daemon runs.
  const loaded = await loadConfig({ env: host.env, cwd: home });
  if (!loaded.ok) return unusableConfig(loaded);
  const listed = listSecrets(home);
  const stored = isFailure(listed) ? undefined : listed;
  const uses = await lastUses(host);
  return {
    store: {
      state: isFailure(listed) ? 'unreadable' : listed === undefined ? 'none' : 'there',
      protection: stored?.protection ?? null,
      problem: isFailure(listed) ? listed.message : null,
    },
    rows: secretRows(stored, loaded.servers).map((row) => ({
      ...row,
      ...(uses.get(keyOf(row)) ?? NEVER_USED),
    })),
  };
}

function keyOf({ source, name }: Pick<SecretRow, 'source' | 'name'>): string {
  return `${source} ${name}`;
}

/** When each secret was last given to a server, or should have been. */
async function lastUses({ ledger }: WorkbenchHost): Promise<ReadonlyMap<string, LastUse>> {
  const uses = new Map<string, LastUse>();
  for (const { secret, ts } of await noticed(ledger.store, 'secret_injection', [])) {
    const key = keyOf({ source: secret.source, name: secret.secret_ref });
    if (uses.has(key)) continue;
    uses.set(key, { last_used_at_ms: Date.parse(ts), last_use_ok: secret.success });
  }
  return uses;
}

/** What is in our store, and what servers are bound to; by name. */
function secretRows(stored: Stored, servers: Servers): readonly SecretRow[] {
  const rows = new Map<string, SecretRow>();
  for (const { name, addedAt, rotatedAt } of stored?.secrets ?? []) {
    const row = { ...rowOf('vault', name), is_stored: true };
    rows.set(keyOf(row), { ...row, added_at: addedAt, rotated_at: rotatedAt });
  }
  for (const [server, { secretBindings }] of servers) {
    for (const binding of secretBindings) {
      const { source, secretRef } = binding;
      const row = rows.get(keyOf({ source, name: secretRef })) ?? rowOf(source, secretRef);
      const bindings = [...row.bindings, bindingOf(server, binding)];
      rows.set(keyOf(row), { ...row, bindings });
    }
  }
  return [...rows.values()].toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
}

function rowOf(source: SecretRow['source'], name: string): SecretRow {
  // A vault or a 1Password server, which is elsewhere.
  const isOurs = source === 'vault' && !name.includes('://');
  return {
    name,
    source,
    is_stored: isOurs ? false : null,
    added_at: null,
    rotated_at: null,
    bindings: [],
    used_by_login: isOurs && isOfLogin(name),
    ...NEVER_USED,
  };
}

function bindingOf(server_name: string, binding: SecretBinding): SecretRow['bindings'][number] {
  const { injectAs, redact, command, url } = binding;
  const start = command === undefined ? 'any' : 'command';
  return { server_name, inject_as: injectAs, redact, bound_to: url === undefined ? start : 'url' };
}
