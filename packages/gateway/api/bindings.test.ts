import { type Failure, isFailure } from '@subluminal/contracts';
import { signerFromPem } from '@subluminal/plane/crypto';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { LiveGateway, type LiveOptions, otherPem, TENANT } from './testing/live-gateway.ts';

const REMOTE = 'git@github.com:Acme/Payments.git';
const DAY_MS = 86_400_000;

async function bound(options: LiveOptions = {}) {
  const gateway = await LiveGateway.open(options);
  const key = await gateway.user('ann');
  const bind = (body: { remote_url?: string; machine_id?: string } = {}) =>
    gateway.ask('/api/v1/repo/bind', {
      key,
      body: { remote_url: REMOTE, machine_id: 'm1', ...body },
    });
  return { gateway, bind, token: (await bind()).field('binding_token') };
}

const codeOf = (result: object | Failure) => (isFailure(result) ? result.message : 'fine');

describe('a binding', () => {
  it('counts on its machine and for its repository, however the remote is written', async () => {
    verifies('R-10');
    const { gateway, token } = await bound();
    expect(token).toMatch(/^subrb1\.[\w-]+\.[0-9a-f]{16}\.[\w-]{86}$/);
    for (const remoteUrl of [undefined, REMOTE, 'https://token@github.com/acme/payments']) {
      const result = await gateway.bindings.verify(token, { machineId: 'm1', remoteUrl });
      expect(result).toEqual({ repoId: 'github.com/acme/payments' });
    }
  });

  it('does not count on another machine, for another repository, or after its time', async () => {
    verifies('R-10');
    const { gateway, token } = await bound();
    const verify = async (machineId: string, remoteUrl?: string) =>
      codeOf(await gateway.bindings.verify(token, { machineId, remoteUrl }));
    expect(await verify('m2')).toContain('another machine');
    expect(await verify('m1', 'https://github.com/acme/other')).toContain('another repository');
    expect(await verify('m1', 'nonsense')).toContain('another repository');
    gateway.nowMs += 91 * DAY_MS;
    expect(await verify('m1')).toContain('expired');
  });

  it('does not count when a single character of it was changed', async () => {
    verifies('R-10');
    const { gateway, token } = await bound();
    for (const at of [7, 20, 40, token.length - 80, token.length - 10]) {
      const other = token[at] === 'A' ? 'B' : 'A';
      const changed = token.slice(0, at) + other + token.slice(at + 1);
      const result = await gateway.bindings.verify(changed, { machineId: 'm1' });
      expect(codeOf(result), changed).toContain('does not hold');
    }
    for (const text of ['', 'subrb1', `${token} `, token.replace('subrb1', 'subrb2')]) {
      expect(codeOf(await gateway.bindings.verify(text, { machineId: 'm1' }))).toContain(
        'does not hold',
      );
    }
  });

  it('does not count when another key has signed it, even under our key id', async () => {
    verifies('R-10');
    const { gateway, token } = await bound();
    const [version = '', payload = '', keyId = ''] = token.split('.');
    const forger = signerFromPem(otherPem());
    if (isFailure(forger)) throw new Error(forger.message);
    const value = Buffer.from(forger.sign(`${version}.${payload}`), 'base64').toString('base64url');
    for (const id of [keyId, forger.keyId]) {
      const forged = `${version}.${payload}.${id}.${value}`;
      expect(codeOf(await gateway.bindings.verify(forged, { machineId: 'm1' }))).toContain(
        'does not hold',
      );
    }
  });

  it('does not count once it was revoked, and is not made anew', async () => {
    const { gateway, bind, token } = await bound();
    const repoId = 'github.com/acme/payments';
    const row = await gateway.store.people.binding(TENANT, repoId, 'm1');
    if (row === undefined) throw new Error('no row');
    await gateway.store.people.addBinding({ ...row, revokedMs: gateway.nowMs });
    gateway.nowMs += 5_000;
    expect(codeOf(await gateway.bindings.verify(token, { machineId: 'm1' }))).toContain('revoked');
    expect((await bind()).status).toBe(403);
    expect((await bind({ machine_id: 'm2' })).status).toBe(200);
  });
});

describe('binding on first use', () => {
  it('gives a registered repository its id', async () => {
    const { bind } = await bound({ repos: { 'github.com/acme/payments': 'payments' } });
    expect((await bind()).json).toMatchObject({ repo_id: 'payments' });
  });

  it('can be switched off: then only registered repositories are bound', async () => {
    const repos = { 'github.com/acme/payments': 'payments' };
    const { bind } = await bound({ repos, isAutoBindOn: false });
    expect((await bind()).json).toMatchObject({ repo_id: 'payments' });
    const refused = await bind({ remote_url: 'https://github.com/acme/other' });
    expect(refused).toMatchObject({
      status: 403,
      json: { error: { code: 'SUB_GATEWAY_BINDING' } },
    });
  });

  it.each(['', '/srv/repo', 'file:///srv/repo', 'https://github.com/'])(
    'refuses %j',
    async (remote_url) => {
      const { bind } = await bound();
      expect((await bind({ remote_url })).status).toBe(remote_url === '' ? 400 : 403);
    },
  );
});
