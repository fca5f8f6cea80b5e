import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  anthropicAnswer,
  runningGateway,
  type TestGatewayOptions,
} from '../serve/testing/running-gateway.ts';
import { runningProxyFor, type TestProxyOptions } from './testing/running-proxy.ts';

const ASKED = { model: 'any', max_tokens: 100, messages: [{ role: 'user', content: 'Hello?' }] };
const MESSAGES = '/anthropic/v1/messages';

async function behindGateway(
  gatewayOptions: TestGatewayOptions = {},
  proxyOptions: Partial<TestProxyOptions> = {},
) {
  const gateway = await runningGateway(gatewayOptions);
  const { url: gatewayUrl, key: apiKey } = gateway;
  const proxy = await runningProxyFor({ gatewayUrl, apiKey, ...proxyOptions });
  return { gateway, proxy };
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
}

const START = event('message_start', {
  message: { ...anthropicAnswer(''), content: [], stop_reason: null },
});
const TEXT =
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello.' } });
const END =
  event('content_block_stop', { index: 0 }) +
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 100 } }) +
  event('message_stop', {});

function streamed(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(START + TEXT + END);
}

describe('a turn through the proxy', () => {
  it('goes to the gateway with the key of the login, and the client gets the answer', async () => {
    const { gateway, proxy } = await behindGateway();
    const answer = await proxy.ask(MESSAGES, ASKED, { 'x-claude-code-session-id': 'session-1' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual(anthropicAnswer('Hello.'));
    const traceId = answer.headers.get('x-aicg-trace-id') ?? '';
    const trace = await (await gateway.ask(`/api/v1/audit/${traceId}`)).json();
    expect(trace).toMatchObject({
      events: [{ user_id: 'ada', session_id: 'session-1' }],
      costs: [{ cost_micros: 4_500 }],
    });
    const events = await proxy.close();
    expect(events.map(({ type }) => type)).toEqual([
      'run_start',
      'turn_start',
      'turn_decision',
      'turn_end',
      'run_end',
    ]);
    expect(events[3]).toMatchObject({
      status: 'OK',
      usage: { tokens_in: 1_000, tokens_out: 100, cost_micros: 4_500 },
    });
  });

  it('streams, and the events of the gateway stay out of it', async () => {
    const { proxy } = await behindGateway({ answer: streamed });
    const answer = await proxy.ask(MESSAGES, { ...ASKED, stream: true });
    expect(await answer.text()).toBe(START + TEXT + END);
    const events = await proxy.close();
    expect(events.at(-2)).toMatchObject({ type: 'turn_end', usage: { cost_micros: 4_500 } });
  });

  it('is refused with 503 when the gateway is away', async () => {
    const { gateway, proxy } = await behindGateway();
    await gateway.close();
    const answer = await proxy.ask(MESSAGES, ASKED);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toMatch(/^\{"type":"error",.*cannot be reached/);
    const events = await proxy.close();
    expect(events[2]).toMatchObject({
      type: 'turn_decision',
      decision: { action: 'BLOCK', explain: { reason_code: 'GATEWAY_UNAVAILABLE' } },
    });
  });
});
