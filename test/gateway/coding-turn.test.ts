// A coding client, simulated with the official SDK, edits a file through a gateway of its own process: what the client
// got, what the provider was asked, and what the gateway has on record agree.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ModelServer, startModelServer } from '../clients/model-server.ts';
import { calls, text } from '../clients/script.ts';
import { proxyHome } from '../e2e/proxy-home.ts';
import { ensureBuilt } from '../e2e/sub.ts';
import { freePort } from '../free-port.ts';
import { verifies } from '../requirements.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { SDKS } from './sdks.ts';

const EDIT = { tool: 'edit_file', args: { path: 'src/parser.ts', old: 'a', new: 'b' } };

interface Turn {
  readonly trace_id: string;
  readonly routed_to: string;
  readonly detail: {
    readonly status: number;
    readonly partial: boolean;
    readonly cost_micros: number;
  };
}

let model: ModelServer;
let gateway: GatewayProcess;
beforeAll(async () => {
  ensureBuilt();
  model = await startModelServer();
  gateway = await startGatewayProcess({ upstream: model.url });
});
afterAll(async () => {
  await gateway?.close();
  await model?.close();
});

test('an edit that is streamed has its cost, seed and audit, and is replayed as it was', async () => {
  verifies('R-22', 'R-13');
  model.play([calls(EDIT), text('The parser is fixed.')]);
  const [anthropic] = SDKS;
  if (anthropic === undefined) throw new Error('there is no SDK');
  const client = anthropic.open({ url: gateway.url, key: gateway.key });
  const task = await client.task('claude-sonnet-4-6', true);
  expect(task.calls).toMatchObject([{ name: EDIT.tool, args: EDIT.args }]);
  expect(task.text).toBe('The parser is fixed.');

  const { items } = await gateway.api('/api/v1/audit/search?event_type=turn');
  const turns = items as readonly Turn[];
  expect(turns.map(({ detail }) => detail)).toMatchObject([
    { status: 200, partial: false },
    { status: 200, partial: false },
  ]);
  let spentMicros = 0;
  for (const { trace_id: trace, routed_to: routedTo, detail } of turns) {
    const { costs, routing } = await gateway.api(`/api/v1/audit/${trace}`);
    expect(costs).toMatchObject([
      { cost_micros: detail.cost_micros, cost_source: 'provider_usage' },
    ]);
    expect(routing).toMatchObject([{ seed: expect.stringMatching(/^[0-9a-f]{32}$/) as string }]);
    expect(detail.cost_micros).toBeGreaterThan(0);
    spentMicros += detail.cost_micros;
    const replayed = await gateway.sub('routing', 'replay', trace, '--config', 'config');
    expect(replayed, replayed.stdout).toMatchObject({ code: 0, stderr: '' });
    expect(replayed.stdout).toContain(`Attempt 1: as recorded: ${routedTo} (`);
  }
  expect(await gateway.api('/api/v1/cost/summary?dim=user')).toMatchObject({
    rows: [{ dim_value: 'ada', n_requests: 2, cost_micros: spentMicros }],
  });
});

interface ProxyStatus {
  readonly url: string;
  readonly sessions: readonly {
    readonly turns: number;
    readonly cost_micros: number;
    readonly last_trace_id: string;
  }[];
}

test('the same edit by the proxy of a developer is the same everywhere', async () => {
  verifies('R-22');
  const { invite_token: token } = await gateway.api('/api/v1/admin/invites', {
    body: { user_id: 'grace', role: 'developer' },
  });
  const machine = proxyHome();
  await machine.sub(['login', '--gateway', gateway.url, '--invite', '-'], {
    input: String(token),
  });
  const start = await machine.sub(['proxy', 'start', '--port', await freePort(), '--json']);
  expect(start).toMatchObject({ code: 0, stderr: '' });
  const { url } = JSON.parse(start.stdout) as ProxyStatus;
  model.play([calls(EDIT), text('The parser is fixed.')]);
  const [anthropic] = SDKS;
  if (anthropic === undefined) throw new Error('there is no SDK');
  const client = anthropic.open({ url: `${url}/anthropic`, key: 'sk-aicg-noop' });
  const task = await client.task('claude-sonnet-4-6', true);
  expect(task.text).toBe('The parser is fixed.');

  const { items } = await gateway.api('/api/v1/audit/search?event_type=turn&user_id=grace');
  const turns = items as readonly Turn[];
  expect(turns).toHaveLength(2);
  const costMicros = turns.reduce((sum, { detail }) => sum + detail.cost_micros, 0);
  const { sessions } = JSON.parse(
    (await machine.sub(['proxy', 'status', '--json'])).stdout,
  ) as ProxyStatus;
  expect(sessions).toMatchObject([{ turns: 2, cost_micros: costMicros }]);
  const traces = turns.map(({ trace_id }) => trace_id);
  expect(traces).toContain(sessions[0]?.last_trace_id);
  for (const trace of traces) {
    const { costs, routing } = await gateway.api(`/api/v1/audit/${trace}`);
    expect(costs).toHaveLength(1);
    expect(routing).toMatchObject([{ seed: expect.stringMatching(/^[0-9a-f]{32}$/) as string }]);
    const replayed = await gateway.sub('routing', 'replay', trace, '--config', 'config');
    expect(replayed, replayed.stdout).toMatchObject({ code: 0, stderr: '' });
  }
  await machine.sub(['proxy', 'stop']);
  const local = await machine.sub(['stats', '--local', '--json']);
  expect(JSON.parse(local.stdout)).toMatchObject({ rows: [{ turns: 2, cost_micros: costMicros }] });
});
