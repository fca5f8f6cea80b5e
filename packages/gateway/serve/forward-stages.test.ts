// The stages of `POST /v1/agent/forward`, in their order: what one stage refuses, no later one sees.
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { envelope } from '../../core/routing/rules/worked-policy.test-support.ts';
import {
  anthropicAnswer,
  runningGateway,
  type TestGateway,
  type TestGatewayOptions,
} from './testing/running-gateway.ts';

const TOKEN = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');
const REMOTE = 'git@github.com:acme/payments.git';
const POLICY = `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: REDACT, priority: 10, when: server_class.has_secret_finding, action: redact }
  - { id: CLOSED, priority: 20, when: 'request.model == "closed"', action: block }
`;
/** What a client claims that wants to look harmless. */
const CLAIM = envelope({ hints: { task_type: 'summary', data_sensitivity: 'low' } });

const USED = { input_tokens: 100_000, output_tokens: 10_000 };

const open = (files: TestGatewayOptions['files'] = {}) =>
  runningGateway({
    files: { 'policies/main.yaml': POLICY, ...files },
    answer: (response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...anthropicAnswer('Done.'), usage: USED }));
    },
  });

function forward(
  gateway: TestGateway,
  sent: { key?: string; headers?: { [name: string]: string }; model?: string; words?: string } = {},
) {
  const { key, headers, model = 'any', words = 'Hello?' } = sent;
  const messages = [{ role: 'user', content: words }];
  return gateway.ask('/v1/agent/forward', {
    ...(key !== undefined && { key }),
    ...(headers !== undefined && { headers }),
    body: {
      envelope: { ...CLAIM, repo: { remote_url: REMOTE } },
      wire: {
        protocol: 'anthropic_messages',
        stream: false,
        body: { model, max_tokens: 100, messages },
      },
    },
  });
}

const json = async (gateway: TestGateway, path: string): Promise<unknown> =>
  (await gateway.ask(path)).json();

describe('a turn that is forwarded', () => {
  it('goes through all stages, and each has left its mark', async () => {
    verifies('R-8', 'R-11', 'R-15');
    const gateway = await open();
    const answer = await forward(gateway, { words: `Fix the parser. The token is ${TOKEN}.` });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-aicg-cost-cents')).toBe('45');
    expect(gateway.upstream[0]?.body).toContain('[REDACTED-GITHUB-TOKEN-');
    const trace = await json(
      gateway,
      `/api/v1/audit/${answer.headers.get('x-aicg-trace-id') ?? ''}`,
    );
    expect(trace).toMatchObject({
      events: [
        {
          event_type: 'turn',
          user_id: 'ada',
          team_id: 'platform',
          repo_id: 'payments',
          decision: { primary_action: 'route', modifiers: ['redact'], model_pool: 'standard' },
          // As the gateway found it, and not as the client says.
          request_summary: {
            data_sensitivity: 'high',
            findings: [{ type: 'github_token', confidence: 'certain' }],
          },
          routed_to: 'hosted:claude-sonnet-4-6',
        },
      ],
      routing: [{ pool: 'standard', seed: expect.stringMatching(/^[0-9a-f]{32}$/) as string }],
      costs: [{ cost_micros: 450_000, cost_source: 'provider_usage' }],
    });
    const { budgets } = (await json(gateway, '/api/v1/budget')) as { budgets: unknown[] };
    expect(budgets[0]).toMatchObject({ used_micros: 450_000, reserved_micros: 0 });
  });

  it.each([
    ['a key that is not known', { key: 'sk-sub-wrong' }, 401, []],
    [
      'a binding that is not signed',
      { headers: { 'x-aicg-repo-binding': 'subrb1.e30.k.s' } },
      451,
      [],
    ],
    ['a rule that blocks', { model: 'closed' }, 451, ['turn_blocked']],
    ['a budget that is used up', {}, 429, ['turn_over_budget']],
  ])('is stopped by %s before any later stage', async (_what, sent, status, events) => {
    verifies('R-8');
    const gateway = await open({
      'budgets.yaml': 'defaults:\n  user_daily: { cap_usd: 0.000001 }\n',
    });
    const answer = await forward(gateway, sent);
    expect(answer.status, await answer.text()).toBe(status);
    expect(gateway.upstream).toEqual([]);
    const found = (await json(gateway, '/api/v1/audit/search')) as {
      items: { event_type: string }[];
    };
    const told = found.items.map(({ event_type: type }) => type);
    expect(told.filter((type) => type.startsWith('turn'))).toEqual(events);
    const { budgets } = (await json(gateway, '/api/v1/budget')) as {
      budgets: { used_micros: number; reserved_micros: number }[];
    };
    for (const budget of budgets) {
      expect(budget).toMatchObject({ used_micros: 0, reserved_micros: 0 });
    }
  });

  it('waits for a person where the budget that is used up asks for one', async () => {
    verifies('R-P1.3');
    const gateway = await open({
      'budgets.yaml':
        'defaults:\n  user_daily: { cap_usd: 0.000001, on_exceeded: require_approval }\n',
    });
    const waiting = forward(gateway);
    let id: string | undefined;
    while (id === undefined) {
      const { approvals } = (await json(gateway, '/api/v1/approvals?state=pending')) as {
        approvals: { id: string }[];
      };
      id = approvals[0]?.id;
    }
    expect(gateway.upstream).toEqual([]);
    await gateway.ask(`/api/v1/approvals/${id}/approve`, { body: {} });
    expect((await waiting).status).toBe(200);
  });
});
