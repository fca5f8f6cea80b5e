// A client that does not wait is told by 202, and sends the request again when a person has approved it.
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { envelope } from '../../core/routing/rules/worked-policy.test-support.ts';
import { runningGateway, type TestGateway } from './testing/running-gateway.ts';

const POLICY = `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: ASK, when: 'request.model == "dear"', action: require_approval }
`;
const ASKED = {
  model: 'dear',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'Hello?' }],
};
const TOLD = { accept: 'application/vnd.subluminal+json' };

const open = (files = {}) => runningGateway({ files: { 'policies/main.yaml': POLICY, ...files } });

async function told(gateway: TestGateway, body: object = ASKED): Promise<string> {
  const answer = await gateway.turn(body, { headers: TOLD });
  expect(answer.status).toBe(202);
  return answer.headers.get('x-aicg-approval-id') ?? '';
}

const decide = (gateway: TestGateway, id: string, verdict: 'approve' | 'reject') =>
  gateway.ask(`/api/v1/approvals/${id}/${verdict}`, { body: {} });

const again = (gateway: TestGateway, id: string, body: object = ASKED, key = gateway.key) =>
  gateway.turn(body, { key, headers: { ...TOLD, 'x-aicg-approval-id': id } });

async function audited(gateway: TestGateway, eventType: string) {
  const answer = await gateway.ask(`/api/v1/audit/search?event_type=${eventType}`);
  const { items } = (await answer.json()) as { items: { detail: object }[] };
  return items.map(({ detail }) => detail);
}

describe('an approval that was told by 202', () => {
  it('lets the same request through, once', async () => {
    verifies('R-P1.6');
    const gateway = await open();
    const id = await told(gateway);
    const early = await again(gateway, id);
    expect(early.status).toBe(202);
    expect(early.headers.get('x-aicg-approval-id')).toBe(id);
    await decide(gateway, id, 'approve');
    const answers = await Promise.all([again(gateway, id), again(gateway, id), again(gateway, id)]);
    const statuses = answers.map(({ status }) => String(status));
    expect(statuses.toSorted()).toEqual(['200', '451', '451']);
    expect(gateway.upstream).toHaveLength(1);
    expect(await audited(gateway, 'approval_used')).toEqual([{ approval_id: id, resolver: 'ada' }]);
    const used = { approval_id: id, reason: 'used' };
    expect(await audited(gateway, 'approval_refused')).toEqual([used, used]);
    const { approvals } = (await (await gateway.ask('/api/v1/approvals')).json()) as {
      approvals: { used_at_ms: number | null }[];
    };
    expect(approvals.map(({ used_at_ms }) => typeof used_at_ms)).toEqual(['number']);
  });

  it.each([
    ['another body', { ...ASKED, max_tokens: 11 }],
    ['the same body in another order', Object.fromEntries(Object.entries(ASKED).toReversed())],
  ])('does not count for %s', async (_what, body) => {
    const gateway = await open();
    const id = await told(gateway);
    await decide(gateway, id, 'approve');
    expect((await again(gateway, id, body)).status).toBe(451);
    expect(gateway.upstream).toEqual([]);
    const refused = { approval_id: id, reason: 'other_request' };
    expect(await audited(gateway, 'approval_refused')).toEqual([refused]);
  });

  it('does not count for another key, which does not learn of it', async () => {
    const gateway = await open();
    const id = await told(gateway);
    await decide(gateway, id, 'approve');
    const made = await gateway.ask('/api/v1/me/api-keys', { body: { name: 'other' } });
    const { key } = (await made.json()) as { key: string };
    const answer = await again(gateway, id, ASKED, key);
    expect(answer.status).toBe(451);
    expect(await answer.text()).toContain('is not known to this key');
    const unknown = { approval_id: null, reason: 'unknown' };
    expect(await audited(gateway, 'approval_refused')).toEqual([unknown]);
  });

  it('does not count when it was rejected', async () => {
    const gateway = await open();
    const id = await told(gateway);
    await decide(gateway, id, 'reject');
    const answer = await again(gateway, id);
    expect(answer.status).toBe(451);
    expect(await answer.text()).toContain('was rejected');
  });

  it('ends by itself', async () => {
    const gateway = await open({ 'gateway.yaml': 'approvals: { expires_ms: 1000 }\n' });
    const id = await told(gateway);
    await expect
      .poll(async () => (await again(gateway, id)).text(), { timeout: 10_000 })
      .toContain('has expired');
    const expired = { approval_id: id, reason: 'expired' };
    expect(await audited(gateway, 'approval_refused')).toEqual([expired]);
  });

  it('of a turn that was held can not be used by another', async () => {
    const gateway = await open();
    const held = gateway.turn(ASKED);
    let id = '';
    await expect
      .poll(async () => {
        const { approvals } = (await (await gateway.ask('/api/v1/approvals')).json()) as {
          approvals: { id: string }[];
        };
        id = approvals[0]?.id ?? '';
        return id;
      })
      .not.toBe('');
    await decide(gateway, id, 'approve');
    expect((await held).status).toBe(200);
    expect((await again(gateway, id)).status).toBe(451);
  });

  it('of the policy does not let a turn go beyond a budget; the next one is for both', async () => {
    const gateway = await open({
      'budgets.yaml':
        'defaults:\n  user_daily: { cap_usd: 0.000001, on_exceeded: require_approval }\n',
    });
    const first = await told(gateway);
    await decide(gateway, first, 'approve');
    const answer = await again(gateway, first);
    expect(answer.status).toBe(202);
    const second = answer.headers.get('x-aicg-approval-id') ?? '';
    expect(second).not.toBe(first);
    expect(gateway.upstream).toEqual([]);
    await decide(gateway, second, 'approve');
    expect((await again(gateway, second)).status).toBe(200);
    expect(gateway.upstream).toHaveLength(1);
  });

  it('does not count for another rule that the same bytes meet on another branch', async () => {
    const rules = ['dev', 'main'].map(
      (name) =>
        `  - { id: ASK-${name}, when: 'envelope.repo.branch == "${name}"', action: require_approval }\n`,
    );
    const gateway = await open({ 'policies/main.yaml': POLICY + rules.join('') });
    const forward = (branch: string, headers = {}) =>
      gateway.ask('/v1/agent/forward', {
        headers: { ...TOLD, ...headers },
        body: {
          envelope: envelope({ repo: { branch } }),
          wire: { protocol: 'anthropic_messages', body: { ...ASKED, model: 'any' } },
        },
      });
    const id = (await forward('dev')).headers.get('x-aicg-approval-id') ?? '';
    await decide(gateway, id, 'approve');
    const approved = { 'x-aicg-approval-id': id };
    expect((await forward('main', approved)).status).toBe(451);
    expect(await audited(gateway, 'approval_refused')).toEqual([
      { approval_id: id, reason: 'other_scope' },
    ]);
    expect(gateway.upstream).toEqual([]);
    expect((await forward('dev', approved)).status).toBe(200);
  });

  it('of the limit of a run does not count in another run', async () => {
    const gateway = await open({
      'policies/main.yaml': POLICY.replace('"dear"', '"none"'),
      'budgets.yaml': 'defaults:\n  run: { cap_usd: 0.000001, on_exceeded: require_approval }\n',
    });
    const inRun = (run: string, headers = {}) =>
      gateway.turn(ASKED, { headers: { ...TOLD, 'x-aicg-session-id': run, ...headers } });
    const id = (await inRun('one')).headers.get('x-aicg-approval-id') ?? '';
    await decide(gateway, id, 'approve');
    const approved = { 'x-aicg-approval-id': id };
    expect((await inRun('two', approved)).status).toBe(451);
    expect((await inRun('one', approved)).status).toBe(200);
  });
});
