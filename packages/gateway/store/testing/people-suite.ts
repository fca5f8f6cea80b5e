import { describe, expect, it } from 'vitest';
import { NOON_MS, sampleKey } from './sample-rows.ts';
import type { Tested } from './suite.ts';

const ANN = { tenantId: 'default', userId: 'ann', role: 'developer', createdMs: NOON_MS } as const;

export function peopleSuite(tested: Tested): void {
  describe('keys', () => {
    it('finds a key by its hash with the role of its user, as it is now', async () => {
      const { keys, people } = tested.store;
      await people.setUser(ANN);
      const key = sampleKey();
      await keys.add(key);
      await people.setUser({ ...ANN, role: 'team_admin' });
      expect(await keys.find(key.hash)).toEqual({
        key: { ...key, revokedMs: null },
        role: 'team_admin',
      });
      expect(await keys.find('0'.repeat(64))).toBeUndefined();
    });

    it('does not find a revoked key, and revokes a key once', async () => {
      const { keys, people } = tested.store;
      await people.setUser(ANN);
      const key = sampleKey();
      await keys.add(key);
      expect(await keys.revoke('other', key.id, NOON_MS)).toBe(false);
      expect(await keys.revoke('default', key.id, NOON_MS)).toBe(true);
      expect(await keys.revoke('default', key.id, NOON_MS + 1)).toBe(false);
      expect(await keys.find(key.hash)).toBeUndefined();
      expect(await keys.list('default', 'ann')).toEqual([{ ...key, revokedMs: NOON_MS }]);
    });

    it('revokes all keys of one user and of nobody else', async () => {
      const { keys, people } = tested.store;
      await people.setUser(ANN);
      await people.setUser({ ...ANN, userId: 'bob' });
      const bobs = sampleKey({ userId: 'bob' });
      await keys.add(bobs);
      await keys.add(sampleKey());
      await keys.add(sampleKey());
      expect(await keys.revokeAll('default', 'ann', NOON_MS)).toBe(2);
      expect(await keys.find(bobs.hash)).toBeDefined();
    });

    it('refuses a key of a user who does not exist, and the same key twice', async () => {
      const { keys, people } = tested.store;
      const key = sampleKey();
      await expect(keys.add(key)).rejects.toMatchObject({ code: 'SUB_STORE_REFUSED' });
      await people.setUser(ANN);
      await keys.add(key);
      await expect(keys.add(key)).rejects.toMatchObject({ code: 'SUB_STORE_REFUSED' });
    });
  });

  describe('people', () => {
    it('lists the users of one tenant', async () => {
      const { people } = tested.store;
      await people.setUser({ ...ANN, userId: 'bob' });
      await people.setUser(ANN);
      await people.setUser({ ...ANN, tenantId: 'other' });
      expect(await people.users('default')).toEqual([ANN, { ...ANN, userId: 'bob' }]);
    });

    it('takes any token of the first starts, once, and makes the first admin with it', async () => {
      const { people, keys } = tested.store;
      const admins = Array.from({ length: 8 }, (_, place) => {
        const userId = `user${place}`;
        const user = { ...ANN, userId, role: 'platform_admin' } as const;
        return { user, key: sampleKey({ userId }) };
      });
      const [first] = admins;
      if (first === undefined) throw new Error('there are eight');
      expect(await people.setupToken('first', NOON_MS)).toBe('kept');
      expect(await people.setupToken('second', NOON_MS)).toBe('kept');
      expect(await people.takeSetupToken('third', first)).toBe(false);
      expect(await people.users('default')).toEqual([]);
      const taken = await Promise.all(
        admins.map((admin, place) =>
          people.takeSetupToken(place % 2 === 0 ? 'first' : 'second', admin),
        ),
      );
      const winners = admins.filter((_, place) => taken[place]);
      expect(await people.users('default')).toEqual(winners.map(({ user }) => user));
      expect(winners).toHaveLength(1);
      for (const { key, user } of winners) {
        expect(await keys.find(key.hash)).toMatchObject({ role: user.role });
      }
      expect(await people.setupToken('third', NOON_MS)).toBe('used');
      expect(await people.takeSetupToken('third', first)).toBe(false);
    });

    it('leaves the setup token as it was when the first key can not be written', async () => {
      const { people, keys } = tested.store;
      await people.setUser(ANN);
      const taken = sampleKey();
      await keys.add(taken);
      await people.setupToken('first', NOON_MS);
      const user = { ...ANN, userId: 'root', role: 'platform_admin' } as const;
      const same = { user, key: { ...sampleKey({ userId: 'root' }), hash: taken.hash } };
      await expect(people.takeSetupToken('first', same)).rejects.toMatchObject({
        code: 'SUB_STORE_REFUSED',
      });
      expect(await people.users('default')).toEqual([ANN]);
      const key = sampleKey({ userId: 'root' });
      expect(await people.takeSetupToken('first', { user, key })).toBe(true);
    });

    it('keeps the setup tokens of the last starts only', async () => {
      const { people } = tested.store;
      for (let start = 0; start <= 32; start++)
        await people.setupToken(`${start}`, NOON_MS + start);
      const admin = { user: ANN, key: sampleKey() };
      expect(await people.takeSetupToken('0', admin)).toBe(false);
      expect(await people.takeSetupToken('1', admin)).toBe(true);
    });

    it('gives an invite to one of many, and not after its time', async () => {
      const { people } = tested.store;
      const invite = {
        tokenHash: 'hash',
        tenantId: 'default',
        userId: 'carl',
        role: 'developer',
        createdBy: 'ann',
        expiresMs: NOON_MS + 1_000,
      } as const;
      await people.addInvite(invite);
      await people.addInvite({ ...invite, tokenHash: 'late' });
      const taken = await Promise.all(
        Array.from({ length: 8 }, () => people.takeInvite('hash', NOON_MS)),
      );
      expect(taken.filter((row) => row !== undefined)).toEqual([invite]);
      expect(await people.takeInvite('late', NOON_MS + 1_000)).toBeUndefined();
    });

    it('lists the invites that can still be used, and takes one back unless it was used', async () => {
      const { people } = tested.store;
      const invite = {
        tokenHash: 'late',
        tenantId: 'default',
        userId: 'carl',
        role: 'team_admin',
        createdBy: 'ann',
        expiresMs: NOON_MS + 2_000,
      } as const;
      const early = { ...invite, tokenHash: 'early', expiresMs: NOON_MS + 1_000 };
      await people.addInvite(invite);
      await people.addInvite(early);
      await people.addInvite({ ...invite, tokenHash: 'used' });
      await people.addInvite({ ...invite, tokenHash: 'over', expiresMs: NOON_MS });
      await people.addInvite({ ...invite, tokenHash: 'foreign', tenantId: 'other' });
      await people.takeInvite('used', NOON_MS);
      expect(await people.openInvites('default', NOON_MS)).toEqual([early, invite]);
      expect(await people.removeInvite('default', 'used')).toBe(false);
      expect(await people.removeInvite('other', 'early')).toBe(false);
      expect(await people.removeInvite('default', 'early')).toBe(true);
      expect(await people.removeInvite('default', 'early')).toBe(false);
      expect(await people.takeInvite('early', NOON_MS)).toBeUndefined();
      expect(await people.openInvites('default', NOON_MS)).toEqual([invite]);
    });

    it('keeps one binding for a repository on a machine, the newest', async () => {
      const { people } = tested.store;
      const binding = {
        tenantId: 'default',
        repoId: 'api',
        machineId: 'laptop',
        userId: 'ann',
        remoteUrl: 'https://git.example/api',
        expiresMs: NOON_MS,
        revokedMs: null,
      };
      await people.addBinding(binding);
      await people.addBinding({ ...binding, revokedMs: NOON_MS });
      expect(await people.binding('default', 'api', 'laptop')).toEqual({
        ...binding,
        revokedMs: NOON_MS,
      });
      expect(await people.binding('default', 'api', 'other')).toBeUndefined();
    });
  });
}
