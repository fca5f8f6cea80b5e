// A call as the list keeps it: a hundred thousand of them stay in memory.
import type { ApiCall } from '@subluminal/contracts';
import { usageText } from '../../parts/amounts.ts';

export interface LiveCall {
  /** Its run and its id. */
  readonly key: string;
  readonly id: number;
  readonly runId: string;
  readonly callId: string;
  /** The server and the tool, or the provider and the model. */
  readonly place: string;
  readonly name: string;
  readonly isTurn: boolean;
  readonly argument: string;
  readonly agent: string;
  readonly rule: string;
  readonly decision: string | null;
  /** What an enforcing policy would have done, where that is something else. */
  readonly would: string | null;
  readonly status: string | null;
  readonly latencyMs: number | null;
  readonly atMs: number;
}

const NAMES_MAX = 20_000;
const names = new Map<string, string>();

/** The same text once: names repeat in most rows. */
function once(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  if (names.size >= NAMES_MAX) names.clear();
  names.set(name, name);
  return name;
}

export function callKey(runId: string, callId: string): string {
  return `${runId} ${callId}`;
}

/** A question about one call has no argument in its answer; what was known of it stays. */
export function liveCall(
  row:
    | (Omit<Extract<ApiCall, { kind: 'tool_call' }>, 'argument'> & { argument?: string | null })
    | Extract<ApiCall, { kind: 'turn' }>,
  argument = '',
): LiveCall {
  const isTurn = row.kind === 'turn';
  const { decision, would_action: would } = row;
  return {
    key: callKey(row.run_id, row.call_id),
    id: row.id,
    runId: once(row.run_id),
    callId: row.call_id,
    place: once(isTurn ? row.provider : row.server_name),
    name: once(isTurn ? row.model : row.tool_name),
    isTurn,
    argument: isTurn ? usageText(row) : (row.argument ?? argument),
    agent: once(row.agent_id),
    rule: once(row.rule_id ?? row.would_rule_id ?? ''),
    decision: decision === null ? null : once(decision),
    would: would === null || would === decision ? null : once(would),
    status: row.status === null ? null : once(row.status),
    latencyMs: row.latency_ms,
    atMs: row.created_at_ms,
  };
}

function isNewer(a: LiveCall, b: LiveCall): boolean {
  return a.atMs === b.atMs ? a.id > b.id : a.atMs > b.atMs;
}

/** Both lists are newest first. A call that stands in both is taken from the second. */
export function mergeCalls(
  rows: readonly LiveCall[],
  added: readonly LiveCall[],
): readonly LiveCall[] {
  if (added.length === 0) return rows;
  const replaced = new Set(added.map(({ key }) => key));
  const merged: LiveCall[] = [];
  let at = 0;
  for (const row of rows) {
    if (replaced.has(row.key)) continue;
    for (let next = added[at]; next !== undefined && isNewer(next, row); next = added[++at]) {
      merged.push(next);
    }
    merged.push(row);
  }
  return merged.concat(added.slice(at));
}
