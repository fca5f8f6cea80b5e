import { type Failure, isFailure } from '@subluminal/contracts';
import { openUpstream } from '@subluminal/plane/upstream';
import { expect, it, onTestFinished } from 'vitest';
import { runningGateway } from '../serve/testing/running-gateway.ts';
import { GatewayClient } from './gateway-client.ts';

const ASKED = { model: 'dear', max_tokens: 100, messages: [{ role: 'user', content: 'Hello?' }] };
const POLICY = `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: ASK, priority: 10, when: 'request.model == "dear"', action: require_approval }
`;

function clientOf(gatewayUrl: string, apiKey?: string) {
  const upstream = openUpstream({});
  onTestFinished(() => upstream.close());
  const key = apiKey === undefined ? {} : { apiKey };
  return new GatewayClient({ gatewayUrl, upstream, version: '0.1.0', ...key });
}

function must<T>(value: T): Exclude<T, Failure> {
  if (isFailure(value)) throw new Error(value.message);
  return value as Exclude<T, Failure>;
}

it('invites a user, who waits for the approval of the admin', async () => {
  const gateway = await runningGateway({ files: { 'policies/main.yaml': POLICY } });
  const admin = clientOf(gateway.url, gateway.key);
  const invite = must(await admin.invite('grace', 'developer'));
  const grace = must(await clientOf(gateway.url).exchangeInvite(invite.invite_token, 'machine-1'));
  expect(grace).toMatchObject({ user_id: 'grace', role: 'developer' });
  const turn = gateway.turn(ASKED, { key: grace.api_key });
  let waiting = must(await admin.pendingApprovals()).approvals;
  while (waiting.length === 0) waiting = must(await admin.pendingApprovals()).approvals;
  const [{ id } = { id: '' }] = waiting;
  expect(waiting).toMatchObject([{ requestor: 'grace', state: 'pending' }]);
  const own = await clientOf(gateway.url, grace.api_key).resolveApproval(id, 'approve', undefined);
  expect(own).toMatchObject({ code: 'SUB_GATEWAY_ROLE' });
  const approved = must(await admin.resolveApproval(id, 'approve', 'once'));
  expect(approved).toMatchObject({
    changed: true,
    approval: { state: 'approved', resolver: 'ada' },
  });
  expect((await turn).status).toBe(200);
  const again = must(await admin.resolveApproval(id, 'reject', undefined));
  expect(again).toMatchObject({ changed: false, approval: { state: 'approved' } });
});
