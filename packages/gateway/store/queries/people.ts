// Keys and people: each question is one statement or one transaction, so that whoever asks at the same time gets one
// truth.
import type { Selectable } from 'kysely';
import type { StoreTransaction } from '../statement-dialect.ts';
import { DEFAULT_TENANT, type StoreQueries, type StoreTables } from '../tables.ts';
import type { BindingRow, InviteRow, KeyRow, KeyStore, PeopleStore, UserRow } from '../types.ts';

/** Gateways that start for the first time, again and again: the tokens of the last ones are enough. */
const SETUP_TOKENS_MAX = 32;

export function keyStore(db: StoreQueries): KeyStore {
  return {
    async add(key) {
      await addKey(db, key).execute();
    },
    async find(hash) {
      const row = await db
        .selectFrom('api_key as k')
        .innerJoin('gateway_user as u', (join) =>
          join.onRef('u.tenant_id', '=', 'k.tenant_id').onRef('u.user_id', '=', 'k.user_id'),
        )
        .selectAll('k')
        .select('u.role')
        .where('k.hash', '=', hash)
        .where('k.revoked_ms', 'is', null)
        .executeTakeFirst();
      return row && { key: keyRow(row), role: row.role };
    },
    async list(tenantId, userId) {
      const rows = await db
        .selectFrom('api_key')
        .selectAll()
        .where('tenant_id', '=', tenantId)
        .where('user_id', '=', userId)
        .orderBy('created_ms')
        .orderBy('id')
        .execute();
      return rows.map(keyRow);
    },
    async revoke(tenantId, id, nowMs) {
      const { numUpdatedRows } = await db
        .updateTable('api_key')
        .set({ revoked_ms: nowMs })
        .where('tenant_id', '=', tenantId)
        .where('id', '=', id)
        .where('revoked_ms', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    async revokeAll(tenantId, userId, nowMs) {
      const { numUpdatedRows } = await db
        .updateTable('api_key')
        .set({ revoked_ms: nowMs })
        .where('tenant_id', '=', tenantId)
        .where('user_id', '=', userId)
        .where('revoked_ms', 'is', null)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },
  };
}

function addKey(db: StoreQueries, key: Omit<KeyRow, 'revokedMs'>) {
  const { id, tenantId, userId, hash, last4, name, createdMs } = key;
  const owner = { tenant_id: tenantId, user_id: userId };
  const row = { id, ...owner, hash, last4, name, created_ms: createdMs, revoked_ms: null };
  return db.insertInto('api_key').values(row);
}

function keyRow(row: Selectable<StoreTables['api_key']>): KeyRow {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    userId: row.user_id,
    hash: row.hash,
    last4: row.last4,
    name: row.name,
    createdMs: row.created_ms,
    revokedMs: row.revoked_ms,
  };
}

export function peopleStore(db: StoreQueries, transact: StoreTransaction): PeopleStore {
  return {
    async users(tenantId) {
      const rows = await db
        .selectFrom('gateway_user')
        .selectAll()
        .where('tenant_id', '=', tenantId)
        .orderBy('user_id')
        .execute();
      return rows.map((row) => ({
        tenantId: row.tenant_id,
        userId: row.user_id,
        role: row.role,
        createdMs: row.created_ms,
      }));
    },
    async setUser(user) {
      await setUser(db, user).execute();
    },
    ...setupTokens(db, transact),
    ...invites(db),
    ...bindings(db),
  };
}

function setUser(db: StoreQueries, { tenantId, userId, role, createdMs }: UserRow) {
  return db
    .insertInto('gateway_user')
    .values({ tenant_id: tenantId, user_id: userId, role, created_ms: createdMs })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'user_id']).doUpdateSet({ role }));
}

function setupTokens(
  db: StoreQueries,
  transact: StoreTransaction,
): Pick<PeopleStore, 'setupToken' | 'takeSetupToken'> {
  const done = db.selectFrom('setup').select('tenant_id').where('tenant_id', '=', DEFAULT_TENANT);
  return {
    async setupToken(hash, nowMs) {
      const token = { hash, tenant_id: DEFAULT_TENANT, created_ms: nowMs };
      await db
        .insertInto('setup_token')
        .values(token)
        .onConflict((conflict) => conflict.column('hash').doUpdateSet(token))
        .execute();
      const newest = db
        .selectFrom('setup_token')
        .select('hash')
        .orderBy('created_ms', 'desc')
        .limit(SETUP_TOKENS_MAX);
      await db.deleteFrom('setup_token').where('hash', 'not in', newest).execute();
      if ((await done.executeTakeFirst()) === undefined) return 'kept';
      await db.deleteFrom('setup_token').execute();
      return 'used';
    },
    async takeSetupToken(hash, { user, key }) {
      // One row for all tokens: whoever comes second waits for the first, and finds it there.
      const take = db
        .insertInto('setup')
        .columns(['tenant_id', 'done_ms'])
        .expression((build) =>
          build
            .selectFrom('setup_token')
            .select((row) => ['tenant_id', row.val(user.createdMs).as('done_ms')])
            .where('hash', '=', hash),
        )
        .onConflict((conflict) => conflict.doNothing());
      return transact([
        take.compile(),
        db.deleteFrom('setup_token').compile(),
        setUser(db, user).compile(),
        addKey(db, key).compile(),
      ]);
    },
  };
}

function invites(db: StoreQueries): Pick<PeopleStore, 'addInvite' | 'takeInvite'> {
  return {
    async addInvite(invite) {
      await db
        .insertInto('invite')
        .values({
          token_hash: invite.tokenHash,
          tenant_id: invite.tenantId,
          user_id: invite.userId,
          role: invite.role,
          created_by: invite.createdBy,
          expires_ms: invite.expiresMs,
          used_ms: null,
        })
        .execute();
    },
    async takeInvite(tokenHash, nowMs): Promise<InviteRow | undefined> {
      const row = await db
        .updateTable('invite')
        .set({ used_ms: nowMs })
        .where('token_hash', '=', tokenHash)
        .where('used_ms', 'is', null)
        .where('expires_ms', '>', nowMs)
        .returningAll()
        .executeTakeFirst();
      return (
        row && {
          tokenHash: row.token_hash,
          tenantId: row.tenant_id,
          userId: row.user_id,
          role: row.role,
          createdBy: row.created_by,
          expiresMs: row.expires_ms,
        }
      );
    },
  };
}

function bindings(db: StoreQueries): Pick<PeopleStore, 'addBinding' | 'binding'> {
  return {
    async addBinding(binding) {
      const content = {
        user_id: binding.userId,
        remote_url: binding.remoteUrl,
        expires_ms: binding.expiresMs,
        revoked_ms: binding.revokedMs,
      };
      const { tenantId, repoId, machineId } = binding;
      await db
        .insertInto('repo_binding')
        .values({ tenant_id: tenantId, repo_id: repoId, machine_id: machineId, ...content })
        .onConflict((conflict) =>
          conflict.columns(['tenant_id', 'repo_id', 'machine_id']).doUpdateSet(content),
        )
        .execute();
    },
    async binding(tenantId, repoId, machineId): Promise<BindingRow | undefined> {
      const row = await db
        .selectFrom('repo_binding')
        .selectAll()
        .where('tenant_id', '=', tenantId)
        .where('repo_id', '=', repoId)
        .where('machine_id', '=', machineId)
        .executeTakeFirst();
      return (
        row && {
          tenantId: row.tenant_id,
          repoId: row.repo_id,
          machineId: row.machine_id,
          userId: row.user_id,
          remoteUrl: row.remote_url,
          expiresMs: row.expires_ms,
          revokedMs: row.revoked_ms,
        }
      );
    },
  };
}
