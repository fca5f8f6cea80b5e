import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { sampleApproval } from '../store/testing/sample-rows.ts';
import type { TurnApprovalRow } from '../store/types.ts';
import {
  eventually,
  LiveGateway,
  type LiveOptions,
  NOON_MS,
  TENANT,
} from './testing/live-gateway.ts';

async function opened(options: LiveOptions = {}) {
  const gateway = await LiveGateway.open(options);
  const keys = {
    ann: await gateway.user('ann'),
    lead: await gateway.user('lead', 'team_admin'),
    boss: await gateway.user('boss', 'team_admin'),
    root: await gateway.user('root', 'platform_admin'),
  };
  const add = async (row: Partial<TurnApprovalRow> = {}) => {
    const approval = sampleApproval({ id: gateway.newId(), ...row });
    await gateway.store.approvals.add(approval);
    return approval.id;
  };
  const decide = (who: keyof typeof keys, id: string, verdict: string, note?: string) =>
    gateway.ask(`/api/v1/approvals/${id}/${verdict}`, {
      key: keys[who],
      body: note === undefined ? {} : { note },
    });
  return { gateway, keys, add, decide };
}

describe('an approval', () => {
  it('is seen by who asked, their team admin and platform admins', async () => {
    const { gateway, keys, add } = await opened();
    await add();
    await add({ requestor: 'bob', teamId: 'web' });
    const seen = async (who: keyof typeof keys) => {
      const { json } = await gateway.ask('/api/v1/approvals?state=pending', { key: keys[who] });
      return (json as { approvals: { requestor: string }[] }).approvals.map((one) => one.requestor);
    };
    expect(await seen('ann')).toEqual(['ann']);
    expect(await seen('lead')).toEqual(['ann']);
    expect(await seen('boss')).toEqual(['bob']);
    expect((await seen('root')).toSorted()).toEqual(['ann', 'bob']);
  });

  it('is decided once, by an admin, with a note, and on record', async () => {
    const { gateway, add, decide } = await opened();
    const id = await add();
    expect((await decide('ann', id, 'approve')).status).toBe(403);
    expect((await decide('boss', id, 'approve')).status).toBe(404);
    const approved = await decide('lead', id, 'approve', 'for the release');
    expect(approved.json).toMatchObject({
      changed: true,
      approval: { state: 'approved', resolver: 'lead', note: 'for the release' },
    });
    const late = await decide('root', id, 'reject');
    expect(late.json).toMatchObject({ changed: false, approval: { state: 'approved' } });
    expect((await decide('root', gateway.newId(), 'approve')).status).toBe(404);
    const audit = { tenantId: TENANT, eventType: 'approval_resolved', limit: 9 };
    const rows = await gateway.store.records.audit(audit);
    expect(rows).toMatchObject([
      { userId: 'lead', detail: { approval_id: id, state: 'approved' } },
    ]);
  });

  it('is not decided by who asked, unless they are a platform admin', async () => {
    const { add, decide } = await opened();
    const own = await add({ requestor: 'lead' });
    expect((await decide('lead', own, 'approve')).status).toBe(403);
    const roots = await add({ requestor: 'root', teamId: 'platform' });
    expect((await decide('root', roots, 'approve')).json).toMatchObject({ changed: true });
  });

  it('is decided once when many decide at the same time', async () => {
    const { add, decide } = await opened();
    const id = await add();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => decide('lead', id, n % 2 === 0 ? 'approve' : 'reject')),
    );
    const changed = answers.filter(({ json }) => (json as { changed: boolean }).changed);
    expect(changed).toHaveLength(1);
    const states = answers.map(
      ({ json }) => (json as { approval: { state: string } }).approval.state,
    );
    expect(new Set(states).size).toBe(1);
  });

  it('is no longer decided when its time is over', async () => {
    const { gateway, add, decide } = await opened();
    const id = await add({ expiresMs: NOON_MS + 1_000 });
    gateway.nowMs += 1_000;
    expect((await decide('lead', id, 'approve')).json).toMatchObject({ changed: false });
  });
});

/** Reads the events of a stream. */
async function follow(gateway: LiveGateway, key: string) {
  const events: { requestor: string; state: string }[] = [];
  let text = '';
  const asked = get(`${gateway.url}/sse/v1/approvals/stream`, {
    headers: { authorization: `Bearer ${key}` },
    agent: false,
  });
  onTestFinished(() => {
    asked.destroy();
  });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^event: approval\ndata: (.*)$/.exec(part)?.[1];
      if (data !== undefined) events.push(JSON.parse(data) as never);
    }
  });
  response.on('error', () => undefined);
  const ended = new Promise((resolve) => {
    response.on('close', resolve);
  });
  return { response, events, ended, close: () => asked.destroy() };
}

describe('the stream of approvals', () => {
  it('tells those that wait, then each change, to those who may see it', async () => {
    const { gateway, keys, add, decide } = await opened();
    const id = await add();
    await add({ state: 'rejected', resolvedMs: NOON_MS });
    const [lead, boss, ann] = await Promise.all(
      [keys.lead, keys.boss, keys.ann].map((key) => follow(gateway, key)),
    );
    expect(lead?.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-aicg-trace-id': expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
    await eventually(() => expect(lead?.events).toMatchObject([{ id, state: 'pending' }]));
    await add({ requestor: 'bob', teamId: 'web' });
    await decide('lead', id, 'reject', 'no');
    await eventually(() => {
      expect(lead?.events).toMatchObject([
        { state: 'pending' },
        { id, state: 'rejected', note: 'no' },
      ]);
      expect(ann?.events).toHaveLength(2);
      expect(boss?.events).toMatchObject([{ requestor: 'bob', state: 'pending' }]);
    });
  });

  it('hears of what another gateway on the same store did', async () => {
    const { gateway, keys, add } = await opened();
    const other = await LiveGateway.open({ store: gateway.store });
    const stream = await follow(gateway, keys.lead);
    const id = await add();
    await eventually(() => expect(stream.events).toHaveLength(1));
    await other.ask(`/api/v1/approvals/${id}/approve`, { key: keys.lead, body: {} });
    await eventually(() => expect(stream.events).toMatchObject([{}, { id, state: 'approved' }]));
  });

  it('ends when its key is revoked', async () => {
    const { gateway, keys } = await opened({ limits: { keepAliveMs: 20 } });
    const stream = await follow(gateway, keys.ann);
    const path = '/api/v1/admin/users/ann/api-keys/revoke-all';
    await gateway.ask(path, { key: keys.root, body: {} });
    await stream.ended;
    expect(stream.response.complete).toBe(true);
  });

  it('shows no more than the role of its key now allows', async () => {
    const { gateway, keys, add } = await opened({ limits: { keepAliveMs: 20 } });
    const stream = await follow(gateway, keys.lead);
    await add();
    await eventually(() => expect(stream.events).toHaveLength(1));
    const body = { role: 'developer' };
    await gateway.ask('/api/v1/admin/users/lead/role', { key: keys.root, body });
    const refreshed = vi.spyOn(gateway.authenticator, 'refreshed');
    await eventually(() => expect(refreshed.mock.calls.length).toBeGreaterThan(2));
    await add();
    await add({ requestor: 'lead' });
    await eventually(() => expect(stream.events).toMatchObject([{}, { requestor: 'lead' }]));
  });

  it('lets nobody take the place of all others', async () => {
    const { gateway, keys } = await opened({ limits: { userStreamsMax: 2 } });
    for (let n = 0; n < 2; n++) await follow(gateway, keys.ann);
    expect((await follow(gateway, keys.ann)).response.statusCode).toBe(429);
    expect((await follow(gateway, keys.lead)).response.statusCode).toBe(200);
  });

  it('lets only so many in, and makes room when one leaves', async () => {
    const { gateway, keys } = await opened({ limits: { streamsMax: 1 } });
    const first = await follow(gateway, keys.ann);
    expect((await follow(gateway, keys.lead)).response.statusCode).toBe(503);
    first.close();
    await first.ended;
    await eventually(async () => {
      const next = await follow(gateway, keys.lead);
      const { statusCode } = next.response;
      if (statusCode !== 200) next.close();
      expect(statusCode).toBe(200);
    });
  });
});
