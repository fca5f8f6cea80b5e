// Parameters of the API, as questions to the ledger.
import {
  API_PAGE_LIMIT,
  type ApiCallFilter,
  type ApiCallsQuery,
  type ApiRunsQuery,
  definedFields,
} from '@subluminal/contracts';
import {
  argFilter,
  type CallFilter,
  namePattern,
  pathAnywhereFilter,
  type RunFilter,
} from '../../stores/ledger/index.ts';
import type { ApiReader } from './types.ts';

type TimeRange = { readonly from_ms?: number | undefined; readonly to_ms?: number | undefined };

export function rangeFilter({ from_ms, to_ms }: TimeRange) {
  return definedFields({ fromMs: from_ms, toMs: to_ms });
}

export function pageRequest(query: Pick<ApiCallsQuery, 'limit' | 'cursor'>) {
  const { limit = API_PAGE_LIMIT.fallback, cursor } = query;
  return definedFields({ limit, cursor });
}

export function runFilter({
  agent_id,
  principal,
  client,
  status,
  ...range
}: ApiRunsQuery): RunFilter {
  return {
    ...definedFields({ agentId: agent_id, principal: namePattern(principal), client, status }),
    ...rangeFilter(range),
  };
}

const LAST = 'last';

export async function callFilter(
  query: ApiCallFilter,
  reader: Pick<ApiReader, 'runs'>,
): Promise<CallFilter> {
  const [newest] = query.run_id === LAST ? (await reader.runs({}, { limit: 1 })).rows : [];
  const { decision, status, text, kind, provider, model } = query;
  return {
    ...definedFields({ decision, status, text, kind, provider, model }),
    ...definedFields({
      runId: newest?.run_id ?? query.run_id,
      agentId: query.agent_id,
      serverName: namePattern(query.server_name),
      toolName: namePattern(query.tool_name),
      principal: namePattern(query.principal),
      approvedBy: namePattern(query.approved_by),
      path: query.path === undefined ? undefined : pathAnywhereFilter(query.path),
      args: query.arg?.map(argFilter),
      ruleId: query.rule_id,
      argsHash: query.args_hash,
    }),
    ...rangeFilter(query),
  };
}
