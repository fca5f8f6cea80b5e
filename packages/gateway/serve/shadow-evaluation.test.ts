import { expect, it } from 'vitest';
import { runningGateway } from './testing/running-gateway.ts';

const ASKED = { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'Hello?' }] };

async function traceOf(policy: string, model = 'claude') {
  const gateway = await runningGateway({ files: { 'policies/main.yaml': policy } });
  const answer = await gateway.turn({ ...ASKED, model });
  const traceId = answer.headers.get('x-aicg-trace-id') ?? '';
  const trace = (await (await gateway.ask(`/api/v1/audit/${traceId}`)).json()) as {
    routing: { is_shadow: boolean; pool: string; member: object; seed: string }[];
    costs: { is_shadow: boolean }[];
  };
  return { gateway, answer, trace };
}

const SHADOW = `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: CLOSED, when: 'request.model == "closed"', action: block }
  - { id: EVAL, when: "true", action: shadow_eval, model_pool: cheap }
`;

it('a shadow evaluation is a second routing event beside the turn, and is not sent', async () => {
  const { gateway, answer, trace } = await traceOf(SHADOW);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-aicg-side-effects')).toBe('shadow_eval');
  expect(trace.routing.map(({ is_shadow, pool }) => [is_shadow, pool])).toEqual([
    [false, 'standard'],
    [true, 'cheap'],
  ]);
  expect(trace.routing[1]?.seed).not.toBe(trace.routing[0]?.seed);
  expect(trace.costs).toMatchObject([{ is_shadow: false }]);
  expect(gateway.upstream).toHaveLength(1);
});

it('a turn that is blocked has no shadow', async () => {
  const { answer, trace } = await traceOf(SHADOW, 'closed');
  expect(answer.status).toBe(451);
  expect(trace.routing).toEqual([]);
});
