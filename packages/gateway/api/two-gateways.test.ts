// Several gateways on one Postgres: what one does, the other knows.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { prepareSetup } from '../auth/index.ts';
import { openGatewayStore } from '../store/open/index.ts';
import { createTestDatabase, type TestDatabase } from '../store/testing/postgres.ts';
import { sampleApproval } from '../store/testing/sample-rows.ts';
import { eventually, LiveGateway, TENANT, testFolder } from './testing/live-gateway.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
}, 90_000);
afterAll(() => database.drop());

/** Two gateways, each with connections of its own. */
async function pair(): Promise<readonly [LiveGateway, LiveGateway]> {
  const open = async () => {
    const store = await openGatewayStore({ database: database.url });
    onTestFinished(() => store.close());
    // Nothing is found out by looking again: what one does, the other is told.
    return LiveGateway.open({ store, limits: { keepAliveMs: 3_600_000 } });
  };
  return [await open(), await open()];
}

describe('two gateways on one Postgres', () => {
  it('take the setup token of either, and make one first admin', async () => {
    verifies('R-9');
    const gateways = await pair();
    const { people } = gateways[0].store;
    const tokens = await Promise.all(
      gateways.map(async ({ store }) => {
        const path = join(testFolder(), 'setup-token');
        const setup = { people: store.people, path, print: () => undefined };
        expect(await prepareSetup(setup)).toBeUndefined();
        return readFileSync(path, 'utf8').trim();
      }),
    );
    // The token of one at the other, and each at its own.
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        gateways[at % 2 === 0 ? 0 : 1].ask('/api/v1/setup/exchange', {
          body: { setup_token: tokens[at % 3 === 0 ? 0 : 1] ?? '', user_id: `first-${at}` },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const users = await people.users(TENANT);
    expect(users.filter(({ userId }) => userId.startsWith('first-'))).toHaveLength(1);
  });

  it('take an invite once', async () => {
    const gateways = await pair();
    const root = await gateways[0].user('root', 'platform_admin');
    const invite = await gateways[0].ask('/api/v1/admin/invites', {
      key: root,
      body: { user_id: 'lead', role: 'team_admin' },
    });
    const body = { invite_token: invite.field('invite_token'), machine_id: 'm1' };
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        gateways[at % 2 === 0 ? 0 : 1].ask('/api/v1/lp/exchange-invite', { body }),
      ),
    );
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(1);
    const key = taken[0]?.field('api_key');
    for (const gateway of gateways) {
      expect((await gateway.ask('/api/v1/whoami', { key })).field('role')).toBe('team_admin');
    }
  });

  it('forget a key that the other has revoked', async () => {
    const [here, elsewhere] = await pair();
    const key = await here.user('ann');
    const root = await here.user('root', 'platform_admin');
    expect((await elsewhere.ask('/api/v1/whoami', { key })).status).toBe(200);
    await here.ask('/api/v1/admin/users/ann/api-keys/revoke-all', { key: root, body: {} });
    elsewhere.nowMs += 5_000;
    expect((await elsewhere.ask('/api/v1/whoami', { key })).status).toBe(401);
  });

  it('decide about an approval once, and both tell it', async () => {
    const [here, elsewhere] = await pair();
    const key = await here.user('lead', 'team_admin');
    const events: string[] = [];
    const asked = get(`${here.url}/sse/v1/approvals/stream`, {
      headers: { authorization: `Bearer ${key}` },
      agent: false,
    });
    onTestFinished(() => {
      asked.destroy();
    });
    const [stream] = (await once(asked, 'response')) as [IncomingMessage];
    stream.setEncoding('utf8').on('error', () => undefined);
    stream.on('data', (chunk: string) => events.push(chunk));
    const id = elsewhere.newId();
    await elsewhere.store.approvals.add(sampleApproval({ id }));
    await eventually(() => expect(events.join('')).toContain(`"id":"${id}"`));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        (at % 2 === 0 ? here : elsewhere).ask(
          `/api/v1/approvals/${id}/${at < 4 ? 'approve' : 'reject'}`,
          { key, body: {} },
        ),
      ),
    );
    expect(answers.filter(({ text }) => text.includes('"changed":true'))).toHaveLength(1);
    await eventually(() => expect(events.join('')).toMatch(/"state":"(approved|rejected)"/));
  });
});
