// The endpoints of servers, their pins, hints and secrets.
import { API_ENDPOINTS, API_SERIES_BUCKETS, type ApiSeriesQuery } from '@subluminal/contracts';
import { badRequest } from './http-failure.ts';
import { type ApiApp, get, post } from './routes.ts';
import type { ApiReader } from './types.ts';
import type { Workbench } from './workbench.ts';
import { JobSlots, workbenchAnswer } from './workbench-routes.ts';

const DAY_MS = 86_400_000;

/** What the ledger alone tells of servers. */
export function addServerSeries(
  app: ApiApp,
  {
    reader,
    nowMs,
  }: { readonly reader: Pick<ApiReader, 'serverSeries'>; readonly nowMs: () => number },
): void {
  get(app, API_ENDPOINTS.serverSeries, async (query: ApiSeriesQuery, { server_name = '' }) => {
    const { to_ms: toMs = nowMs(), buckets = API_SERIES_BUCKETS.fallback } = query;
    const { from_ms: fromMs = Math.max(0, toMs - DAY_MS), tool_name: toolName } = query;
    if (fromMs >= toMs) return badRequest('`from_ms` must be before `to_ms`.');
    return reader.serverSeries({ serverName: server_name, toolName, fromMs, toMs, buckets });
  });
}

/** What needs pins, manifests and configuration, too. */
export function addServers(app: ApiApp, load: () => Promise<Workbench>): void {
  const jobs = new JobSlots();
  const answer = (work: (workbench: Workbench) => Promise<object>) => workbenchAnswer(load, work);
  const { servers: all, server, secrets, hints: allHints, promoteHint } = API_ENDPOINTS;
  const { pinsDiff, pinsProbe, pinsAccept } = API_ENDPOINTS;
  get(app, all, (query) => answer(({ servers }) => servers.list(query)));
  get(app, server, (query, { server_name = '' }) =>
    answer(({ servers }) => servers.one(server_name, query)),
  );
  get(app, secrets, () => answer(({ servers }) => servers.secrets()));
  get(app, pinsDiff, (_, { server_name = '' }) => answer(({ pins }) => pins.diff(server_name)));
  // One server is started at a time, whoever asks.
  post(app, pinsProbe, (input, { server_name = '' }) =>
    jobs.run('probe', () => answer(({ pins }) => pins.probe(server_name, input))),
  );
  post(app, pinsAccept, (input, { server_name = '' }) =>
    answer(({ pins }) => pins.accept(server_name, input)),
  );
  get(app, allHints, (query) => answer(({ hints }) => hints.list(query)));
  post(app, promoteHint, (input, { run_id: runId = '', call_id: callId = '' }) =>
    jobs.run('promote', () => answer(({ hints }) => hints.promote({ runId, callId }, input))),
  );
}
