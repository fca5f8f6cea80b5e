import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { GATEWAY_ENDPOINTS, type GatewayEndpoint, type GatewayRole } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { prepareSetup } from '../auth/index.ts';
import { LiveGateway, TENANT, testFolder } from './testing/live-gateway.ts';

const ROLES: readonly GatewayRole[] = ['developer', 'team_admin', 'platform_admin'];

async function setUp(gateway: LiveGateway) {
  const path = join(testFolder(), 'setup-token');
  const lines: string[] = [];
  const prepare = () =>
    prepareSetup({ people: gateway.store.people, path, print: (line) => lines.push(line) });
  expect(await prepare()).toBeUndefined();
  const token = readFileSync(path, 'utf8').trim();
  return { path, lines, token, prepare };
}

describe('the setup token', () => {
  it('is printed and kept in a private file, and makes the first admin once', async () => {
    verifies('R-9');
    const gateway = await LiveGateway.open();
    const { path, lines, token, prepare } = await setUp(gateway);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(lines.join('\n')).toContain(token);
    const body = { setup_token: token, user_id: 'root' };
    const made = await gateway.ask('/api/v1/setup/exchange', { body });
    expect(made).toMatchObject({ status: 200, json: { user_id: 'root', role: 'platform_admin' } });
    expect(gateway.setups).toBe(1);
    const me = await gateway.ask('/api/v1/whoami', { key: made.field('api_key') });
    expect(me.json).toEqual({
      user_id: 'root',
      role: 'platform_admin',
      team_id: 'platform',
      team_name: null,
      email: null,
    });
    const again = await gateway.ask('/api/v1/setup/exchange', { body });
    expect(again).toMatchObject({ status: 403, json: { error: { code: 'SUB_GATEWAY_TOKEN' } } });
    expect(JSON.stringify(again.json)).toContain('gateway/setup-token');
    // The next start prints nothing, and takes the worthless file away.
    lines.length = 0;
    await prepare();
    expect(lines).toEqual([]);
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('is the same after a restart until somebody uses it', async () => {
    const gateway = await LiveGateway.open();
    const { path, token, prepare } = await setUp(gateway);
    await prepare();
    expect(readFileSync(path, 'utf8').trim()).toBe(token);
  });

  it('makes one admin when many use it at once', async () => {
    verifies('R-9');
    const gateway = await LiveGateway.open();
    const { token } = await setUp(gateway);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        gateway.ask('/api/v1/setup/exchange', { body: { setup_token: token, user_id: `u${at}` } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await gateway.store.people.users(TENANT)).toHaveLength(1);
  });

  it.each(['', 'x', 'setup-sub-', `setup-sub-${'A'.repeat(43)}`])('is not %j', async (token) => {
    const gateway = await LiveGateway.open();
    await setUp(gateway);
    const body = { setup_token: token, user_id: 'root' };
    const { status } = await gateway.ask('/api/v1/setup/exchange', { body });
    expect(status).toBe(token === '' ? 400 : 403);
    expect(await gateway.store.people.users(TENANT)).toEqual([]);
  });

  it('can not be guessed at length', async () => {
    const gateway = await LiveGateway.open({ rates: { failures: { perMinute: 1, burst: 3 } } });
    const { token } = await setUp(gateway);
    const wrong = { setup_token: `setup-sub-${'A'.repeat(43)}`, user_id: 'root' };
    for (let n = 0; n < 3; n++) await gateway.ask('/api/v1/setup/exchange', { body: wrong });
    const body = { setup_token: token, user_id: 'root' };
    const refused = await gateway.ask('/api/v1/setup/exchange', { body });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBe(60);
    gateway.nowMs += 60_000;
    expect((await gateway.ask('/api/v1/setup/exchange', { body })).status).toBe(200);
  });
});

describe('an invite', () => {
  it('is listed without its token until it is used, and can be taken back', async () => {
    const gateway = await LiveGateway.open();
    const root = await gateway.user('root', 'platform_admin');
    const ask = (path: string, method = 'GET') => gateway.ask(path, { key: root, method });
    const made = async (userId: string) => {
      const body = { user_id: userId, role: 'developer', expires_in_hours: 1 };
      const answer = await gateway.ask('/api/v1/admin/invites', { key: root, body });
      return answer.field('invite_token');
    };
    const exchange = (token: string) =>
      gateway.ask('/api/v1/lp/exchange-invite', {
        body: { invite_token: token, machine_id: 'm1' },
      });
    const [carl, dora] = [await made('carl'), await made('dora')];
    const listed = async () => {
      const { text, json } = await ask('/api/v1/admin/invites');
      for (const token of [carl, dora]) expect(text).not.toContain(token);
      return (json as { invites: { id: string; user_id: string }[] }).invites;
    };
    const before = await listed();
    expect(before).toEqual(
      expect.arrayContaining(
        ['carl', 'dora'].map((user_id) => {
          const expires_at_ms = gateway.nowMs + 3_600_000;
          const id = expect.any(String) as string;
          return { id, user_id, role: 'developer', created_by: 'root', expires_at_ms };
        }),
      ),
    );
    expect((await exchange(carl)).status).toBe(200);
    const [left, ...others] = await listed();
    expect([left?.user_id, others]).toEqual(['dora', []]);
    const used = before.find(({ user_id }) => user_id === 'carl');
    expect((await ask(`/api/v1/admin/invites/${used?.id}`, 'DELETE')).status).toBe(404);
    const back = await ask(`/api/v1/admin/invites/${left?.id}`, 'DELETE');
    expect(back.json).toEqual({ changed: true });
    expect(await listed()).toEqual([]);
    expect((await exchange(dora)).status).toBe(403);
    const [event] = await gateway.store.records.audit({
      tenantId: TENANT,
      eventType: 'invite_removed',
      limit: 1,
    });
    expect(event).toMatchObject({ userId: 'root', detail: { user_id: 'dora' } });
  });

  it('makes a user of its role, once, and before it expires', async () => {
    verifies('R-9');
    const gateway = await LiveGateway.open();
    const root = await gateway.user('root', 'platform_admin');
    const invite = async (hours: number) => {
      const body = { user_id: 'lead', role: 'team_admin', expires_in_hours: hours };
      return gateway.ask('/api/v1/admin/invites', { key: root, body });
    };
    const exchange = (token: string) =>
      gateway.ask('/api/v1/lp/exchange-invite', {
        body: { invite_token: token, machine_id: 'm1' },
      });
    const token = (await invite(1)).field('invite_token');
    const made = await exchange(token);
    expect(made.json).toMatchObject({ user_id: 'lead', role: 'team_admin', team_id: 'core' });
    expect((await gateway.ask('/api/v1/whoami', { key: made.field('api_key') })).status).toBe(200);
    expect((await exchange(token)).status).toBe(403);
    const late = await invite(1);
    gateway.nowMs = Number(late.field('expires_at_ms'));
    expect((await exchange(late.field('invite_token'))).status).toBe(403);
    const raced = await invite(1);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => exchange(raced.field('invite_token'))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('keys', () => {
  it('are kept as hashes and shown once', async () => {
    verifies('R-9');
    const gateway = await LiveGateway.open();
    const key = await gateway.user('ann');
    const made = await gateway.ask('/api/v1/me/api-keys', { key, body: { name: 'ci' } });
    expect(made.field('key')).toMatch(/^sk-sub-/);
    expect((await gateway.ask('/api/v1/whoami', { key: made.field('key') })).status).toBe(200);
    const listed = await gateway.ask('/api/v1/me/api-keys', { key });
    expect(listed.text).not.toContain(made.field('key'));
    expect(listed.text).toContain(`"last4":"${made.field('key').slice(-4)}"`);
    const rows = JSON.stringify(await gateway.store.keys.list(TENANT, 'ann'));
    expect(rows).not.toContain(made.field('key'));
    expect(rows).not.toContain(key);
  });

  it('count no longer once they are revoked, at once here and within 5 seconds elsewhere', async () => {
    verifies('R-9');
    const here = await LiveGateway.open();
    const elsewhere = await LiveGateway.open({ store: here.store });
    const key = await here.user('ann');
    const other = await here.ask('/api/v1/me/api-keys', { key, body: {} });
    for (const gateway of [here, elsewhere]) {
      expect((await gateway.ask('/api/v1/whoami', { key: other.field('key') })).status).toBe(200);
    }
    const path = `/api/v1/me/api-keys/${other.field('id')}`;
    expect((await here.ask(path, { key, method: 'DELETE' })).json).toEqual({ changed: true });
    expect((await here.ask(path, { key, method: 'DELETE' })).json).toEqual({ changed: false });
    expect((await here.ask('/api/v1/whoami', { key: other.field('key') })).status).toBe(401);
    elsewhere.nowMs += 5_000;
    expect((await elsewhere.ask('/api/v1/whoami', { key: other.field('key') })).status).toBe(401);
  });

  it('of others can not be revoked, not even by their id', async () => {
    const gateway = await LiveGateway.open();
    const ann = await gateway.user('ann');
    await gateway.user('bob');
    const [row] = await gateway.store.keys.list(TENANT, 'bob');
    const path = `/api/v1/me/api-keys/${row?.id}`;
    expect((await gateway.ask(path, { key: ann, method: 'DELETE' })).status).toBe(404);
    expect((await gateway.store.keys.list(TENANT, 'bob'))[0]?.revokedMs).toBeNull();
  });

  it('of a user can all be revoked by a platform admin, and their role changed', async () => {
    const gateway = await LiveGateway.open();
    const root = await gateway.user('root', 'platform_admin');
    const ann = await gateway.user('ann');
    await gateway.ask('/api/v1/whoami', { key: ann });
    const role = await gateway.ask('/api/v1/admin/users/ann/role', {
      key: root,
      body: { role: 'team_admin' },
    });
    expect(role.json).toMatchObject({ user_id: 'ann', role: 'team_admin' });
    expect((await gateway.ask('/api/v1/whoami', { key: ann })).field('role')).toBe('team_admin');
    const path = '/api/v1/admin/users/ann/api-keys/revoke-all';
    expect((await gateway.ask(path, { key: root, body: {} })).json).toEqual({ revoked: 1 });
    expect((await gateway.ask('/api/v1/whoami', { key: ann })).status).toBe(401);
    const audit = await gateway.store.records.audit({ tenantId: TENANT, limit: 10 });
    expect(audit.map(({ eventType }) => eventType)).toEqual(
      expect.arrayContaining(['role_changed', 'keys_revoked']),
    );
    const last = { key: root, body: { role: 'developer' } };
    expect((await gateway.ask('/api/v1/admin/users/root/role', last)).status).toBe(400);
    const nobody = await gateway.ask('/api/v1/admin/users/nobody/role', {
      key: root,
      body: { role: 'developer' },
    });
    expect(nobody.status).toBe(404);
  });

  it('have a rate each, and the gateway one for all', async () => {
    const gateway = await LiveGateway.open({
      rates: { perKey: { perMinute: 60, burst: 2 }, global: { perMinute: 60, burst: 3 } },
    });
    const [ann, bob] = [await gateway.user('ann'), await gateway.user('bob')];
    const status = async (key: string) => (await gateway.ask('/api/v1/whoami', { key })).status;
    expect([await status(ann), await status(ann), await status(ann)]).toEqual([200, 200, 429]);
    expect([await status(bob), await status(bob)]).toEqual([200, 429]);
  });

  it('that are wrong are told to wait, while good ones from the same address still count', async () => {
    const gateway = await LiveGateway.open({ rates: { failures: { perMinute: 1, burst: 2 } } });
    const ann = await gateway.user('ann');
    const bob = await gateway.user('bob');
    expect((await gateway.ask('/api/v1/whoami', { key: ann })).status).toBe(200);
    const statuses = [];
    for (const key of ['x', `sk-sub-${'A'.repeat(43)}`, `sk-sub-${'A'.repeat(43)}`]) {
      statuses.push((await gateway.ask('/api/v1/whoami', { key })).status);
    }
    expect(statuses).toEqual([401, 401, 429]);
    expect((await gateway.ask('/api/v1/whoami', { key: ann })).status).toBe(200);
    expect((await gateway.ask('/api/v1/whoami', { key: bob })).status).toBe(200);
    // An admin behind the same address can still log in.
    const { token } = await setUp(gateway);
    const body = { setup_token: token, user_id: 'root' };
    expect((await gateway.ask('/api/v1/setup/exchange', { body })).status).toBe(200);
  });

  it('from an address that sends wrong ones are looked up only so often', async () => {
    const gateway = await LiveGateway.open({ rates: { failures: { perMinute: 1, burst: 1 } } });
    const ann = await gateway.user('ann');
    const wrong = `sk-sub-${'A'.repeat(43)}`;
    const flood = Array.from({ length: 250 }, () => gateway.ask('/api/v1/whoami', { key: wrong }));
    await Promise.all(flood);
    expect((await gateway.ask('/api/v1/whoami', { key: ann })).status).toBe(429);
    gateway.nowMs += 1_000;
    expect((await gateway.ask('/api/v1/whoami', { key: ann })).status).toBe(200);
  });

  it('may come in the header of the other wire, but not twice and different', async () => {
    const gateway = await LiveGateway.open();
    const ann = await gateway.user('ann');
    const whoami = async (headers: { [name: string]: string }) =>
      (await gateway.ask('/api/v1/whoami', { headers })).status;
    expect(await whoami({ 'x-api-key': ann })).toBe(200);
    expect(await whoami({ 'x-api-key': ann, authorization: `Bearer ${ann}` })).toBe(200);
    expect(await whoami({ 'x-api-key': 'other', authorization: `Bearer ${ann}` })).toBe(401);
    expect(await whoami({ 'x-api-key': ann, authorization: 'Basic eDp5' })).toBe(401);
    expect(await whoami({})).toBe(401);
  });
});

describe('roles', () => {
  const endpoints = Object.values<GatewayEndpoint>(GATEWAY_ENDPOINTS)
    .filter(({ role }) => role !== 'anyone')
    .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

  it.each(endpoints)('hold for %s', async (_, { method, path, role, input, kind }) => {
    verifies('R-9');
    const gateway = await LiveGateway.open();
    const at = path.replaceAll(/\{\w+\}/g, 'none');
    const body = input === undefined ? {} : { body: {} };
    for (const given of ROLES) {
      const key = await gateway.user(`user-${given}`, given);
      if (kind === 'events' && ROLES.indexOf(given) >= ROLES.indexOf('developer')) continue;
      const { status } = await gateway.ask(at, { method, key, ...body });
      const isEnough = ROLES.indexOf(given) >= ROLES.indexOf(role as GatewayRole);
      expect(isEnough ? [200, 400, 404] : [403], `${given}: ${status}`).toContain(status);
    }
    expect((await gateway.ask(at, { method, ...body })).status).toBe(401);
  });
});

it('users are shown with their address and the name of their team', async () => {
  const gateway = await LiveGateway.open();
  const root = await gateway.user('root', 'platform_admin');
  const known = { team_id: 'core', team_name: 'Core systems', email: 'ann@example.com' };
  const key = await gateway.user('ann');
  expect((await gateway.ask('/api/v1/whoami', { key })).json).toMatchObject(known);
  expect((await gateway.ask('/api/v1/admin/users', { key: root })).json).toMatchObject({
    users: expect.arrayContaining([expect.objectContaining(known)]) as unknown,
  });
});

it('what takes a body takes none, too, where nothing in it is needed', async () => {
  const gateway = await LiveGateway.open();
  const key = await gateway.user('ann');
  const made = await gateway.ask('/api/v1/me/api-keys', { key, method: 'POST' });
  expect(made.status).toBe(200);
  expect(made.field('name')).toBe('');
});
