// Keys and people: each question is one statement or one transaction, so that whoever asks at the same time gets one
// truth.
import type { StoreTransaction } from '../statement-dialect.ts';
import { DEFAULT_TENANT, type StoreQueries, type StoreTables } from '../tables.ts';
import type { InviteRow, KeyRow, KeyStore, PeopleStore, UserRow } from '../types.ts';

/** Gateways that start for the first time, again and again: the tokens of the last ones are enough. */
const SETUP_TOKENS_MAX = 32;
/** More than one page shows, and one answer holds. */
const INVITES_MAX = 1_000;

export function keyStore(db: StoreQueries): KeyStore {
  return {
    async add(key) {
      await addKey(db, key).execute();
    },
    async find(hash) {
      const row = await db
        .selectFrom('api_key as k')
        .innerJoin('gateway_user as u', (join) =>
          join.onRef('u.tenantId', '=', 'k.tenantId').onRef('u.userId', '=', 'k.userId'),
        )
        .selectAll('k')
        .select('u.role')
        .where('k.hash', '=', hash)
        .where('k.revokedMs', 'is', null)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { role, ...key } = row;
      return { key, role };
    },
    async list(tenantId, userId) {
      return db
        .selectFrom('api_key')
        .selectAll()
        .where('tenantId', '=', tenantId)
        .where('userId', '=', userId)
        .orderBy('createdMs')
        .orderBy('id')
        .execute();
    },
    async revoke(tenantId, id, nowMs) {
      const { numUpdatedRows } = await db
        .updateTable('api_key')
        .set({ revokedMs: nowMs })
        .where('tenantId', '=', tenantId)
        .where('id', '=', id)
        .where('revokedMs', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    async revokeAll(tenantId, userId, nowMs) {
      const { numUpdatedRows } = await db
        .updateTable('api_key')
        .set({ revokedMs: nowMs })
        .where('tenantId', '=', tenantId)
        .where('userId', '=', userId)
        .where('revokedMs', 'is', null)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },
  };
}

function addKey(db: StoreQueries, key: Omit<KeyRow, 'revokedMs'>) {
  return db.insertInto('api_key').values({ ...key, revokedMs: null });
}

export function peopleStore(db: StoreQueries, transact: StoreTransaction): PeopleStore {
  return {
    async users(tenantId) {
      return db
        .selectFrom('gateway_user')
        .selectAll()
        .where('tenantId', '=', tenantId)
        .orderBy('userId')
        .execute();
    },
    async setUser(user) {
      await setUser(db, user).execute();
    },
    ...setupTokens(db, transact),
    ...invites(db),
    ...bindings(db),
  };
}

function setUser(db: StoreQueries, user: UserRow) {
  const { role } = user;
  return db
    .insertInto('gateway_user')
    .values(user)
    .onConflict((conflict) => conflict.columns(['tenantId', 'userId']).doUpdateSet({ role }));
}

function setupTokens(
  db: StoreQueries,
  transact: StoreTransaction,
): Pick<PeopleStore, 'setupToken' | 'takeSetupToken'> {
  const done = db.selectFrom('setup').select('tenantId').where('tenantId', '=', DEFAULT_TENANT);
  return {
    async setupToken(hash, nowMs) {
      const token = { hash, tenantId: DEFAULT_TENANT, createdMs: nowMs };
      await db
        .insertInto('setup_token')
        .values(token)
        .onConflict((conflict) => conflict.column('hash').doUpdateSet(token))
        .execute();
      const newest = db
        .selectFrom('setup_token')
        .select('hash')
        .orderBy('createdMs', 'desc')
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
        .columns(['tenantId', 'doneMs'])
        .expression((build) =>
          build
            .selectFrom('setup_token')
            .select((row) => ['tenantId', row.val(user.createdMs).as('doneMs')])
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

type InviteStore = Pick<PeopleStore, 'addInvite' | 'takeInvite' | 'openInvites' | 'removeInvite'>;

function invites(db: StoreQueries): InviteStore {
  return {
    async addInvite(invite) {
      await db
        .insertInto('invite')
        .values({ ...invite, usedMs: null })
        .execute();
    },
    async takeInvite(tokenHash, nowMs) {
      const row = await db
        .updateTable('invite')
        .set({ usedMs: nowMs })
        .where('tokenHash', '=', tokenHash)
        .where('usedMs', 'is', null)
        .where('expiresMs', '>', nowMs)
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? undefined : inviteRow(row);
    },
    async openInvites(tenantId, nowMs) {
      const rows = await db
        .selectFrom('invite')
        .selectAll()
        .where('tenantId', '=', tenantId)
        .where('usedMs', 'is', null)
        .where('expiresMs', '>', nowMs)
        .orderBy('expiresMs')
        .orderBy('tokenHash')
        .limit(INVITES_MAX)
        .execute();
      return rows.map(inviteRow);
    },
    async removeInvite(tenantId, tokenHash) {
      const { numDeletedRows } = await db
        .deleteFrom('invite')
        .where('tenantId', '=', tenantId)
        .where('tokenHash', '=', tokenHash)
        .where('usedMs', 'is', null)
        .executeTakeFirst();
      return numDeletedRows === 1n;
    },
  };
}

function inviteRow(row: StoreTables['invite']): InviteRow {
  const { usedMs: _, ...invite } = row;
  return invite;
}

function bindings(db: StoreQueries): Pick<PeopleStore, 'addBinding' | 'binding'> {
  return {
    async addBinding(binding) {
      const { tenantId: _tenant, repoId: _repo, machineId: _machine, ...content } = binding;
      await db
        .insertInto('repo_binding')
        .values(binding)
        .onConflict((conflict) =>
          conflict.columns(['tenantId', 'repoId', 'machineId']).doUpdateSet(content),
        )
        .execute();
    },
    binding: (tenantId, repoId, machineId) =>
      db
        .selectFrom('repo_binding')
        .selectAll()
        .where('tenantId', '=', tenantId)
        .where('repoId', '=', repoId)
        .where('machineId', '=', machineId)
        .executeTakeFirst(),
  };
}
