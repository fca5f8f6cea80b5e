import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { SpanExporter, type TurnSpan } from './index.ts';

const TRACE = '019a91c0-7b1e-7abc-8def-0123456789ab';
const SPAN: TurnSpan = {
  traceId: TRACE,
  startMs: 1_794_916_800_000,
  endMs: 1_794_916_801_500,
  provider: 'anthropic',
  requestModel: 'claude-sonnet',
  responseModel: 'claude-sonnet-4-6',
  inputTokens: 1_000,
  outputTokens: 50,
  finishReason: 'end_turn',
  attributes: { pool: 'standard', cost_micros: 4_500, is_private: false },
};

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}
interface Export {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

async function collector(statuses: number[] = []) {
  const received: { path: string; headers: IncomingHttpHeaders; spans: readonly Span[] }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Export;
      const spans = body.resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
      received.push({ path: request.url ?? '', headers: request.headers, spans });
      response.writeHead(statuses.shift() ?? 200).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it('sends a turn as a span with the names of the GenAI conventions', async () => {
  const { received, endpoint } = await collector();
  const exporter = new SpanExporter({ endpoint, authorization: 'Bearer x', version: '1.2.3' });
  exporter.record(SPAN);
  exporter.record({ ...SPAN, errorType: 'upstream_5xx', finishReason: undefined });
  await exporter.close();
  const [{ path, headers, spans } = { path: '', headers: {}, spans: [] }] = received;
  expect([path, headers['content-type'], headers.authorization]).toEqual([
    '/v1/traces',
    'application/json',
    'Bearer x',
  ]);
  expect(spans[0]).toMatchObject({
    traceId: TRACE.replaceAll('-', ''),
    name: 'chat claude-sonnet',
    kind: 3,
    startTimeUnixNano: '1794916800000000000',
    endTimeUnixNano: '1794916801500000000',
    status: {},
  });
  expect(spans[0]?.spanId).toMatch(/^[0-9a-f]{16}$/);
  const attributes = Object.fromEntries(
    spans[0]?.attributes.map(({ key, value }) => [key, value]) ?? [],
  );
  expect(attributes).toEqual({
    'gen_ai.operation.name': { stringValue: 'chat' },
    'gen_ai.provider.name': { stringValue: 'anthropic' },
    'gen_ai.request.model': { stringValue: 'claude-sonnet' },
    'gen_ai.response.model': { stringValue: 'claude-sonnet-4-6' },
    'gen_ai.usage.input_tokens': { intValue: '1000' },
    'gen_ai.usage.output_tokens': { intValue: '50' },
    'gen_ai.response.finish_reasons': { arrayValue: { values: [{ stringValue: 'end_turn' }] } },
    'subluminal.pool': { stringValue: 'standard' },
    'subluminal.cost_micros': { intValue: '4500' },
    'subluminal.is_private': { boolValue: false },
  });
  expect(spans[1]).toMatchObject({ status: { code: 2 } });
});

it('sends batches, and keeps one for later when the collector is busy', async () => {
  const { received, endpoint } = await collector([503]);
  const exporter = new SpanExporter({
    endpoint: `${endpoint}/v1/traces/`,
    version: '1',
    limits: { batchMax: 10 },
  });
  for (let n = 0; n < 25; n++) exporter.record(SPAN);
  await exporter.close();
  await exporter.close();
  expect(received.map(({ spans }) => spans.length)).toEqual([10, 10, 10, 5]);
  expect(exporter.dropped).toBe(0);
});

it('does not ask a busy collector again with each turn that ends', async () => {
  const { received, endpoint } = await collector([503, 503]);
  const limits = { batchMax: 1, intervalMs: 3_600_000 };
  const exporter = new SpanExporter({ endpoint, version: '1', limits });
  exporter.record(SPAN);
  await exporter.flush();
  exporter.record(SPAN);
  await exporter.close();
  expect(received).toHaveLength(2);
});

it('drops what does not fit, what is refused, and what nobody takes', async () => {
  const { endpoint } = await collector([400]);
  const refused = new SpanExporter({ endpoint, version: '1' });
  refused.record(SPAN);
  await refused.close();
  expect(refused.dropped).toBe(1);
  const warnings: string[] = [];
  const away = new SpanExporter({
    endpoint: 'http://127.0.0.1:1',
    version: '1',
    onWarning: (message) => warnings.push(message),
    limits: { queueMax: 3, intervalMs: 3_600_000 },
  });
  for (let n = 0; n < 5; n++) away.record(SPAN);
  expect(away.dropped).toBe(2);
  for (let n = 0; n < 5; n++) await away.flush();
  expect(away.dropped).toBe(5);
  expect(warnings).toEqual(['The collector of traces did not take 3 spans.']);
});
