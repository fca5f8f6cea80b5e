// The calls of a run as bars: a lane for the model and one for each server.
import type { ApiCall } from '@subluminal/contracts';
import type { TimeSpan } from './time-axis.ts';

export interface CallBar extends TimeSpan {
  readonly call: ApiCall;
  /** As the decision is shown: `ASK` while the call waits for a person. */
  readonly decision: string | null;
  /** When it waited for a person. */
  readonly wait: TimeSpan | undefined;
  /** The same call with the same arguments, made before it. */
  readonly retryOf: CallBar | undefined;
  /** How many such calls there were before it. */
  readonly retries: number;
  readonly lane: number;
  /** Calls at the same time stand below each other. */
  readonly row: number;
}

export interface Lane {
  readonly name: string;
  readonly kind: 'model' | 'server';
  readonly rows: number;
  readonly calls: number;
  readonly refused: number;
}

export interface Lanes {
  readonly lanes: readonly Lane[];
  /** By their start. */
  readonly bars: readonly CallBar[];
}

/** More calls at the same time share the last row. */
const ROWS_MAX = 4;

export interface LaneSource {
  /** By their start. */
  readonly calls: readonly ApiCall[];
  /** By the id of the call. */
  readonly waits: ReadonlyMap<string, TimeSpan>;
  /** Where a call ends that has not ended yet. */
  readonly nowMs: number;
}

export function callLanes({ calls, waits, nowMs }: LaneSource): Lanes {
  const names = laneNames(calls);
  const rowEnds = names.map((): number[] => []);
  const before = new Map<string, CallBar>();
  const bars = calls.map((call): CallBar => {
    const lane = names.indexOf(laneName(call));
    const wait = waits.get(call.call_id);
    const span = barSpan(call, wait, nowMs);
    const same = sameCall(call);
    const retryOf = same === undefined ? undefined : before.get(same);
    const isWaiting = call.decision === null && call.status === null && wait !== undefined;
    const bar = {
      call,
      ...span,
      decision: isWaiting ? 'ASK' : call.decision,
      wait,
      retryOf,
      retries: retryOf === undefined ? 0 : retryOf.retries + 1,
      lane,
      row: takeRow(rowEnds[lane] ?? [], span),
    };
    if (same !== undefined) before.set(same, bar);
    return bar;
  });
  const lanes = names.map((name, at) => {
    const own = bars.filter(({ lane }) => lane === at);
    return {
      name,
      kind: name === MODEL_LANE ? ('model' as const) : ('server' as const),
      rows: Math.max(1, rowEnds[at]?.length ?? 1),
      calls: own.length,
      refused: own.filter(({ call }) => isRefused(call)).length,
    };
  });
  return { lanes, bars };
}

export function isRefused({ decision }: ApiCall): boolean {
  return decision !== null && decision !== 'ALLOW';
}

/** Servers have other names: theirs are not empty. */
const MODEL_LANE = '';

function laneName(call: ApiCall): string {
  return call.kind === 'turn' ? MODEL_LANE : call.server_name;
}

/** The model first, then servers as they were first called. */
function laneNames(calls: readonly ApiCall[]): readonly string[] {
  const names = new Set(calls.map(laneName));
  const servers = [...names].filter((name) => name !== MODEL_LANE);
  return names.has(MODEL_LANE) ? [MODEL_LANE, ...servers] : servers;
}

function barSpan(call: ApiCall, wait: TimeSpan | undefined, nowMs: number): TimeSpan {
  const fromMs = call.created_at_ms;
  const endMs = call.status === null ? nowMs : fromMs + (call.latency_ms ?? 0);
  return { fromMs, toMs: Math.max(fromMs, endMs, wait?.toMs ?? 0) };
}

function sameCall(call: ApiCall): string | undefined {
  if (call.kind === 'turn') return undefined;
  return JSON.stringify([call.server_name, call.tool_name, call.args_hash]);
}

/** The first row that is free; notes until when it is taken. */
function takeRow(ends: number[], { fromMs, toMs }: TimeSpan): number {
  const free = ends.findIndex((endMs) => endMs <= fromMs);
  const row = free >= 0 ? free : Math.min(ends.length, ROWS_MAX - 1);
  ends[row] = Math.max(ends[row] ?? 0, toMs);
  return row;
}
