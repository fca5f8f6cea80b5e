import { expect, it } from 'vitest';
import { envelope } from '../../core/routing/rules/worked-policy.test-support.ts';
import { runningGateway } from './testing/running-gateway.ts';

const POLICY = `version: 1
defaults: { on_no_match: { action: route, model_pool: standard, reasons: [default] } }
rules:
  - { id: DEAR, when: 'request.model == "dear"', action: block }
  - { id: LONG, when: 'request.max_tokens > 1000', action: require_approval }
  - { id: SECRET, when: server_class.has_secret_finding, action: redact }
  - { id: DEBUG, when: 'server_class.task_type == "debug"', action: route, model_pool: cheap }
`;

it('explains what a turn with this model, size and content would meet', async () => {
  const gateway = await runningGateway({ files: { 'policies/main.yaml': POLICY } });
  const explained = async (asked: object) => {
    const body = { envelope: envelope({}), ...asked };
    const answer = await gateway.ask('/api/v1/policy/decision/explain', { body });
    return (await answer.json()) as { decision: unknown };
  };
  expect(await explained({ request: { model: 'dear' } })).toMatchObject({
    decision: { primary_action: 'block', reasons: ['DEAR'] },
  });
  expect(await explained({ request: { model: 'any', max_tokens: 2_000 } })).toMatchObject({
    decision: { primary_action: 'require_approval', reasons: ['LONG'] },
  });
  const classifier = { task_type: 'debug', has_secret_finding: true };
  expect(await explained({ request: { model: 'any' }, classifier })).toMatchObject({
    decision: { primary_action: 'route', modifiers: ['redact'], model_pool: 'cheap' },
  });
  expect(await explained({ request: { modle: 'any' } })).toMatchObject({
    error: { code: 'SUB_API_REQUEST' },
  });
});
