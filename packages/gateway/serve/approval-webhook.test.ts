import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { envelope } from '../../core/routing/rules/worked-policy.test-support.ts';
import { bodyOf, loopback } from '../turns/testing/loopback.ts';
import { runningGateway } from './testing/running-gateway.ts';

const SECRET = 'a-secret-of-webhooks';
const WORDS = 'What is the launch code?';

interface Message {
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Takes messages, and hands them out one by one. */
async function receiver() {
  const messages: Message[] = [];
  let arrived = () => {};
  const { url } = await loopback(async (request, response) => {
    messages.push({ headers: request.headers, text: (await bodyOf(request)).toString() });
    response.end();
    arrived();
  });
  const next = async (): Promise<Message> => {
    for (;;) {
      const message = messages.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
  };
  return { url, next };
}

it('a turn that waits is told by a signed webhook, whose id an admin approves', async () => {
  verifies('R-P1.6');
  const { url, next } = await receiver();
  const folder = mkdtempSync(join(tmpdir(), 'sub-webhook-secret-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, SECRET, { mode: 0o600 });
  const gateway = await runningGateway({
    files: {
      'policies/main.yaml': `version: 1
rules:
  - { id: ASK, when: 'request.model == "dear"', action: require_approval }
`,
      'webhooks.yaml': `allowed_hosts: ["127.0.0.1"]
allow_private_addresses: true
webhooks:
  - { id: people, url: "${url}", events: [approval_pending, approval_resolved], secret_ref: "file://${secretFile}" }
`,
    },
  });
  const messages = [{ role: 'user', content: WORDS }];
  const waiting = gateway.ask('/v1/agent/forward', {
    body: {
      envelope: { ...envelope({}), repo: { remote_url: 'git@github.com:acme/payments.git' } },
      wire: {
        protocol: 'anthropic_messages',
        stream: false,
        body: { model: 'dear', max_tokens: 10, messages },
      },
    },
  });
  const { headers, text } = await next();
  const { event, data } = JSON.parse(text) as { event: string; data: { approval_id: string } };
  expect(event).toBe('approval_pending');
  expect(data).toMatchObject({
    user_id: 'ada',
    team_id: 'platform',
    repo_id: 'payments',
    owners: [{ user_id: 'ada', email: 'ada@example.com' }],
  });
  expect(text).not.toContain(WORDS);
  const signed = ['v1', headers['x-aicg-timestamp'], headers['x-aicg-delivery'], text].join(':');
  const signature = createHmac('sha256', SECRET).update(signed).digest('hex');
  expect(headers['x-aicg-signature']).toBe(`v1=${signature}`);
  expect(gateway.upstream).toEqual([]);

  const said = await gateway.ask(`/api/v1/approvals/${data.approval_id}/approve`, { body: {} });
  expect(said.status).toBe(200);
  expect((await waiting).status).toBe(200);
  expect(JSON.parse((await next()).text)).toMatchObject({ event: 'approval_resolved' });
});
