// What is asked by path and parameters, answered from the ledger.
import type { HttpBindings } from '@hono/node-server';
import {
  API_ENDPOINTS,
  API_PAGE_LIMIT,
  API_POLICIES_LIMIT,
  type ApiCallsQuery,
  type ApiHealth,
  type ApiQuery,
  type ApiRunsQuery,
  PACK_VERSION,
} from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { type Context, Hono } from 'hono';
import type { CallFilter, RunFilter } from '../../stores/ledger/index.ts';
import { addApprovals } from './approvals.ts';
import { bodyOf, JSON_TYPE, ledgerProblem, type Problem } from './http-server.ts';
import { readLines, readParameters } from './read-request.ts';
import { runLines, runSummary } from './run-events.ts';
import type { ApiLimits, ApiOptions } from './types.ts';

interface AppOptions extends Omit<ApiOptions, 'limits'> {
  readonly limits: ApiLimits;
  /** How many streams are open. */
  readonly streams: () => number;
}

type Env = { Bindings: HttpBindings };
type Asked = Context<Env>;

const LINES_TYPE = 'application/x-ndjson; charset=utf-8';
const WARNING_LENGTH_MAX = 500;

export function appOf(options: AppOptions): Hono<Env> {
  const app = new Hono<Env>();
  addOverview(app, options);
  addRuns(app, options);
  addCalls(app, options);
  addIngest(app, options);
  addApprovals(app, options.desk);
  app.get(API_ENDPOINTS.stream.path, (asked) => {
    const detail = 'The stream is a WebSocket.';
    const headers = { upgrade: 'websocket', connection: 'Upgrade' };
    return refuse(asked, { status: 426, code: 'SUB_API_REQUEST', detail, headers });
  });
  app.notFound((asked) => refuse(asked, NOT_FOUND));
  app.onError((cause, asked) => {
    const problem = ledgerProblem(cause);
    if (problem.status >= 500) warn(options, cause);
    return refuse(asked, problem);
  });
  return app;
}

const NOT_FOUND: Problem = { status: 404, code: 'SUB_API_NOT_FOUND' };

function addOverview(app: Hono<Env>, options: AppOptions): void {
  const { reader, version, nowMs, streams } = options;
  const started_at_ms = nowMs();
  const { health, stats, policies } = API_ENDPOINTS;
  app.get(health.path, (asked) =>
    withQuery(asked, health.query, async () => {
      const [ledger_id, { seq: tip_seq }] = await Promise.all([reader.ledgerId(), reader.tip()]);
      const where = { version, v: PACK_VERSION, ledger_id, tip_seq };
      const when = { started_at_ms, now_ms: nowMs() };
      const answer: ApiHealth = { status: 'ok', ...where, streams: streams(), ...when };
      return json(asked, answer);
    }),
  );
  app.get(stats.path, (asked) =>
    withQuery(asked, stats.query, async (query) => json(asked, await reader.stats(rangeOf(query)))),
  );
  app.get(policies.path, (asked) =>
    withQuery(asked, policies.query, async ({ limit = API_POLICIES_LIMIT.fallback }) =>
      json(asked, { rows: await reader.policies(limit) }),
    ),
  );
}

function addRuns(app: Hono<Env>, options: AppOptions): void {
  const { reader, summarizer, limits } = options;
  const { runs, run, summary, events } = API_ENDPOINTS;
  app.get(runs.path, (asked) =>
    withQuery(asked, runs.query, async (query) =>
      json(asked, await reader.runs(runFilterOf(query), pageOf(query))),
    ),
  );
  app.get(pathOf(run.path), (asked) =>
    withQuery(asked, run.query, async () => found(asked, await reader.run(id(asked, 'run_id')))),
  );
  app.get(pathOf(summary.path), (asked) =>
    withQuery(asked, summary.query, async () => {
      const runId = id(asked, 'run_id');
      const { signal } = asked.req.raw;
      const of = { reader, runId, signal, eventsMax: limits.summaryEventsMax };
      return found(asked, await runSummary({ ...of, summarizer: summarizer() }));
    }),
  );
  app.get(pathOf(events.path), (asked) =>
    withQuery(asked, events.query, async ({ after: afterSeq = 0 }) => {
      const runId = id(asked, 'run_id');
      const onFailure = (cause: unknown) => {
        warn(options, cause);
        asked.env.outgoing.destroy();
      };
      const { isEmpty, body } = await runLines({ reader, runId, afterSeq, onFailure });
      const isKnown = !isEmpty || (await reader.run(runId)) !== undefined;
      if (!isKnown) return refuse(asked, NOT_FOUND);
      return asked.body(body, 200, { 'content-type': LINES_TYPE });
    }),
  );
}

function addCalls(app: Hono<Env>, { reader }: AppOptions): void {
  const { calls, call } = API_ENDPOINTS;
  app.get(calls.path, (asked) =>
    withQuery(asked, calls.query, async (query) =>
      json(asked, await reader.calls(callFilterOf(query), pageOf(query))),
    ),
  );
  app.get(pathOf(call.path), (asked) =>
    withQuery(asked, call.query, async () =>
      found(asked, await reader.call(id(asked, 'run_id'), id(asked, 'call_id'))),
    ),
  );
}

function addIngest(app: Hono<Env>, { take }: AppOptions): void {
  const { ingest } = API_ENDPOINTS;
  app.post(ingest.path, (asked) =>
    withQuery(asked, ingest.query, async (query) => {
      const read = await readLines(asked.env.incoming, query);
      return read.ok ? json(asked, await take(read.lines)) : refuse(asked, read.problem);
    }),
  );
}

async function withQuery<T>(
  asked: Asked,
  query: ApiQuery<T>,
  answer: (query: T) => Promise<Response>,
): Promise<Response> {
  const read = readParameters(query, asked.env.incoming.url ?? '');
  return read.ok ? answer(read.value) : refuse(asked, read.problem);
}

/** `/runs/{run_id}` as the router writes it. */
function pathOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function id(asked: Asked, name: string): string {
  return asked.req.param(name) ?? '';
}

type Range = { readonly from_ms?: number | undefined; readonly to_ms?: number | undefined };

function rangeOf({ from_ms, to_ms }: Range) {
  return {
    ...(from_ms !== undefined && { fromMs: from_ms }),
    ...(to_ms !== undefined && { toMs: to_ms }),
  };
}

function pageOf({
  limit = API_PAGE_LIMIT.fallback,
  cursor,
}: Pick<ApiCallsQuery, 'limit' | 'cursor'>) {
  return { limit, ...(cursor !== undefined && { cursor }) };
}

function runFilterOf({ agent_id, status, ...range }: ApiRunsQuery): RunFilter {
  return {
    ...(agent_id !== undefined && { agentId: agent_id }),
    ...(status !== undefined && { status }),
    ...rangeOf(range),
  };
}

function callFilterOf(query: ApiCallsQuery): CallFilter {
  const { run_id, agent_id, server_name, tool_name, rule_id, args_hash } = query;
  const { decision, status, text, kind, provider, model } = query;
  return {
    ...(run_id !== undefined && { runId: run_id }),
    ...(agent_id !== undefined && { agentId: agent_id }),
    ...(server_name !== undefined && { serverName: server_name }),
    ...(tool_name !== undefined && { toolName: tool_name }),
    ...(rule_id !== undefined && { ruleId: rule_id }),
    ...(args_hash !== undefined && { argsHash: args_hash }),
    ...(decision !== undefined && { decision }),
    ...(status !== undefined && { status }),
    ...(text !== undefined && { text }),
    ...(kind !== undefined && { kind }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...rangeOf(query),
  };
}

function json(asked: Asked, value: object): Response {
  return asked.body(JSON.stringify(value), 200, { 'content-type': JSON_TYPE });
}

function found(asked: Asked, value: object | undefined): Response {
  return value === undefined ? refuse(asked, NOT_FOUND) : json(asked, value);
}

function refuse(asked: Asked, problem: Problem): Response {
  const headers = { ...problem.headers, 'content-type': JSON_TYPE };
  return asked.body(bodyOf(problem), problem.status, headers);
}

function warn({ onWarning }: AppOptions, cause: unknown): void {
  onWarning?.(`The API could not answer: ${visible(String(cause), WARNING_LENGTH_MAX)}`);
}
