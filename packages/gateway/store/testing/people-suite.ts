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

    it('keeps the newest setup token until one is used, and gives it to one of many', async () => {
      const { people } = tested.store;
      expect(await people.setupToken('first')).toBe('kept');
      expect(await people.setupToken('second')).toBe('kept');
      expect(await people.takeSetupToken('first')).toBe(false);
      const taken = await Promise.all(
        Array.from({ length: 8 }, () => people.takeSetupToken('second')),
      );
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await people.setupToken('third')).toBe('used');
      expect(await people.takeSetupToken('third')).toBe(false);
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
