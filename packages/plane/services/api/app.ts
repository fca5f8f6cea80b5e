// The endpoints of the API, answered from the ledger and the desk of approvals.
import {
  API_ENDPOINTS,
  API_POLICIES_LIMIT,
  type ApiHealth,
  PACK_VERSION,
} from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { Hono } from 'hono';
import { listedCall } from '../../stores/ledger/index.ts';
import { ApprovalDesk, type DeskOptions } from './approval-desk.ts';
import { callFilter, pageRequest, rangeFilter, runFilter } from './call-queries.ts';
import { addCallTimes } from './call-time-routes.ts';
import { apiResponse, failureResponse } from './http-answer.ts';
import { httpFailure, isHttpFailure, NOT_FOUND, thrownByLedger } from './http-failure.ts';
import { readLines } from './read-request.ts';
import { addRecords } from './record-routes.ts';
import { type ApiApp, get, parametersOf, post } from './routes.ts';
import { runLines, runSummary } from './run-events.ts';
import { addServerSeries, addServers } from './server-routes.ts';
import { addSessions, type SessionRoutesOptions } from './session-routes.ts';
import { addSteward } from './steward-relay.ts';
import type { ApiLimits, ApiOptions } from './types.ts';
import { addPolicy } from './workbench-routes.ts';

interface AppOptions extends Omit<ApiOptions, 'limits'>, SessionRoutesOptions {
  readonly limits: ApiLimits;
  /** How many streams are open. */
  readonly streams: () => number;
}

const LINES_TYPE = 'application/x-ndjson; charset=utf-8';
const WARNING_LENGTH_MAX = 500;

export function createApp(options: AppOptions): ApiApp {
  const app: ApiApp = new Hono();
  addHealth(app, options);
  app.use(async (_context, next) => {
    options.onRequest?.();
    await next();
  });
  addSessions(app, options);
  addOverview(app, options);
  addCallTimes(app, options);
  addRuns(app, options);
  addIngest(app, options);
  if (options.desk !== undefined) addApprovals(app, options.desk);
  addServerSeries(app, options);
  if (options.runDir !== undefined) addSteward(app, { ...options, runDir: options.runDir });
  if (options.workbench !== undefined) {
    addPolicy(app, options.workbench);
    addServers(app, options.workbench);
    addRecords(app, options.workbench);
  }
  app.get(API_ENDPOINTS.stream.path, (context) => {
    const failure = httpFailure(426, 'SUB_API_REQUEST', 'The stream is a WebSocket.');
    const headers = { upgrade: 'websocket', connection: 'Upgrade' };
    return failureResponse(context, { ...failure, headers });
  });
  app.notFound((context) => failureResponse(context, NOT_FOUND));
  app.onError((cause, context) => {
    const failure = thrownByLedger(cause);
    if (failure.status >= 500) warn(options, cause);
    return failureResponse(context, failure);
  });
  return app;
}

function addHealth(app: ApiApp, options: AppOptions): void {
  const { reader, version, nowMs, streams } = options;
  const started_at_ms = nowMs();
  get(app, API_ENDPOINTS.health, async (): Promise<ApiHealth> => {
    const [ledger_id, { seq: tip_seq }] = await Promise.all([reader.ledgerId(), reader.tip()]);
    const ledger = { version, v: PACK_VERSION, ledger_id, tip_seq };
    return { status: 'ok', ...ledger, streams: streams(), started_at_ms, now_ms: nowMs() };
  });
}

function addOverview(app: ApiApp, { reader }: AppOptions): void {
  const { stats, policies, calls, call } = API_ENDPOINTS;
  get(app, stats, (query) => reader.stats(rangeFilter(query)));
  get(app, policies, async ({ limit = API_POLICIES_LIMIT.fallback }) => ({
    rows: await reader.policies(limit),
  }));
  get(app, calls, async (query) => {
    const filter = await callFilter(query, reader);
    const page = await reader.calls(filter, { ...pageRequest(query), withArgs: true });
    return { ...page, rows: page.rows.map((row) => listedCall(row)) };
  });
  get(app, call, (_, { run_id = '', call_id = '' }) => reader.call(run_id, call_id));
}

function addRuns(app: ApiApp, options: AppOptions): void {
  const { reader, limits } = options;
  const { runs, run, summary, events } = API_ENDPOINTS;
  get(app, runs, (query) => reader.runs(runFilter(query), pageRequest(query)));
  get(app, run, (_, { run_id = '' }) => reader.run(run_id));
  get(app, summary, (_, { run_id: runId = '' }, context) => {
    const { signal } = context.req.raw;
    const { summaryEventsMax: eventsMax } = limits;
    return runSummary({ reader, runId, signal, eventsMax });
  });
  get(app, events, async ({ after = 0, call_id: callId }, { run_id: runId = '' }, context) => {
    const call = callId === undefined ? undefined : await reader.call(runId, callId);
    if (callId !== undefined && call === undefined) return undefined;
    // The id of a call is the seq of its first event.
    const afterSeq = Math.max(after, (call?.id ?? 0) - 1);
    const onFailure = (cause: unknown) => {
      warn(options, cause);
      context.env.outgoing.destroy();
    };
    const { isEmpty, body } = await runLines({ reader, runId, callId, afterSeq, onFailure });
    if (isEmpty && (await reader.run(runId)) === undefined) return undefined;
    return context.body(body, 200, { 'content-type': LINES_TYPE });
  });
}

function addIngest(app: ApiApp, { take }: AppOptions): void {
  const { ingest } = API_ENDPOINTS;
  app.post(ingest.path, async (context) => {
    const query = parametersOf(context, ingest.query);
    if (isHttpFailure(query)) return failureResponse(context, query);
    const lines = await readLines(context.env.incoming, query);
    return apiResponse(context, isHttpFailure(lines) ? lines : await take(lines));
  });
}

/** Calls that wait for a person, and grants. */
function addApprovals(app: ApiApp, options: DeskOptions): void {
  const desk = new ApprovalDesk(options);
  const { approvals, approval, approve, reject, grants, revoke } = API_ENDPOINTS;
  get(app, approvals, async (query) => desk.approvals(query));
  get(app, approval, async (_, { id = '' }) => desk.approval(id));
  get(app, grants, async (query) => desk.grants(query));
  post(app, approve, (input, { id = '' }) => desk.approve(id, input));
  post(app, reject, (input, { id = '' }) => desk.reject(id, input));
  post(app, revoke, (_, { id = '' }) => desk.revoke(id));
}

function warn({ onWarning }: AppOptions, cause: unknown): void {
  onWarning?.(`The API could not answer: ${visible(String(cause), WARNING_LENGTH_MAX)}`);
}
