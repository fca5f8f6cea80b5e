// What is odd in the events of the ledger: pure, bounded, and with no text of an agent or a server in what it says but
// names, which are shown as harmless.
import type { Event, EventOf, GuardrailsFile } from '@subluminal/contracts';
import { readHours, untilOpenMs } from '@subluminal/core/quantities';
import { visible } from '@subluminal/core/visible';

export type MonitorSettings = GuardrailsFile['monitor'];

export interface Anomaly {
  /** The same cause is told once in its window. */
  readonly cause: string;
  readonly text: string;
}

/** What was seen so far. */
export interface MonitorState {
  readonly tools: Map<string, ToolRate>;
  /** Verdicts of the guardian, the newest last. */
  verdicts: readonly { readonly atMs: number; readonly isBlock: boolean }[];
  /** Moments of findings of injection. */
  injections: readonly number[];
}

interface ToolRate {
  /** Moments of its calls in the last minute. */
  minute: readonly number[];
  /** Calls of the hour that is counted now, and of the hours before it in which there were some. */
  hour: number;
  count: number;
  before: readonly number[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const TOOLS_MAX = 500;
const SEEN_MAX = 10_000;
const NAME_LENGTH_MAX = 60;
const REASON_LENGTH_MAX = 160;
/** Fewer verdicts say nothing of a share. */
export const VERDICTS_MIN = 5;
/** A rate is a spike by itself when it is so much more than in the hours before, of which so many are known. */
export const USUAL_TIMES = 5;
const USUAL_HOURS_MIN = 3;
const USUAL_HOURS_MAX = 48;
export const SPIKE_CALLS_MIN = 20;

export interface MonitorMoment {
  readonly settings: MonitorSettings;
  readonly nowMs: number;
}

export function newMonitorState(): MonitorState {
  return { tools: new Map(), verdicts: [], injections: [] };
}

/** What this event makes odd. Changes the state. */
export function judgeEvent(
  state: MonitorState,
  event: Event,
  now: MonitorMoment,
): readonly Anomaly[] {
  switch (event.type) {
    case 'tool_call_decision':
      return [
        ...guardianBlocks(state, event, now),
        ...injections(state, event.call.content?.findings, now),
        ...(event.decision.action === 'ALLOW' ? allowedCall(state, event, now) : []),
      ];
    case 'tool_call_end':
      return injections(state, event.call.content?.findings, now);
    case 'breaker_trip': {
      const { rule_id, server_name = '', tool_name = '', cause, count } = event.breaker;
      const of = tool_name === '' ? shown(rule_id) : action(server_name, tool_name);
      return [{ cause: `breaker:${of}`, text: `The breaker of ${of} is open: ${count} ${cause}.` }];
    }
    case 'shim_health': {
      const { status, reason = 'no reason given' } = event.health;
      if (status !== 'degraded') return [];
      const why = visible(reason, REASON_LENGTH_MAX);
      return [{ cause: `health:${why}`, text: `Governance is degraded: ${why}` }];
    }
    default:
      return [];
  }
}

type DecidedToolCall = EventOf<'tool_call_decision'>;

function guardianBlocks(
  state: MonitorState,
  { judgements = [] }: DecidedToolCall,
  { settings, nowMs }: MonitorMoment,
): readonly Anomaly[] {
  const own = judgements.find(({ by }) => by === 'guardian');
  if (own === undefined) return [];
  const isBlock = own.verdict === 'BLOCK';
  state.verdicts = [
    ...state.verdicts.filter(({ atMs }) => atMs > nowMs - HOUR_MS).slice(-SEEN_MAX),
    { atMs: nowMs, isBlock },
  ];
  const all = state.verdicts.length;
  const blocks = state.verdicts.filter((verdict) => verdict.isBlock).length;
  const percent = Math.round((blocks / all) * 100);
  if (!isBlock || all < VERDICTS_MIN || percent <= settings.blocks_percent) return [];
  const text = `The guardian has blocked ${blocks} of ${all} actions within an hour (${percent} %).`;
  return [{ cause: 'guardian_blocks', text }];
}

function injections(
  state: MonitorState,
  findings: readonly string[] = [],
  { settings, nowMs }: MonitorMoment,
): readonly Anomaly[] {
  if (!findings.some((finding) => /^(?:injection|hidden_text):/.test(finding))) return [];
  const recent = state.injections.filter((atMs) => atMs > nowMs - HOUR_MS).slice(-SEEN_MAX);
  state.injections = [...recent, nowMs];
  const count = state.injections.length;
  if (count <= settings.injections_per_hour) return [];
  const text = `${count} contents with injected instructions came within an hour.`;
  return [{ cause: 'injections', text }];
}

function allowedCall(
  state: MonitorState,
  { call: { server_name, tool_name } }: DecidedToolCall,
  now: MonitorMoment,
): readonly Anomaly[] {
  const name = action(server_name, tool_name);
  return [...spike(state, name, now), ...quietHours(name, now)];
}

function spike(
  state: MonitorState,
  name: string,
  { settings, nowMs }: MonitorMoment,
): readonly Anomaly[] {
  const hour = Math.floor(nowMs / HOUR_MS);
  const known = state.tools.get(name) ?? { minute: [], hour, count: 0, before: [] };
  const isSameHour = known.hour === hour;
  const before = isSameHour ? known.before : [...known.before, known.count].slice(-USUAL_HOURS_MAX);
  const minute = [...known.minute.filter((atMs) => atMs > nowMs - MINUTE_MS), nowMs];
  const count = isSameHour ? known.count + 1 : 1;
  const rate = { hour, before, count, minute: minute.slice(-SEEN_MAX) };
  // The tool that was quiet for longest goes first.
  state.tools.delete(name);
  state.tools.set(name, rate);
  const [oldest] = state.tools.keys();
  if (state.tools.size > TOOLS_MAX && oldest !== undefined) state.tools.delete(oldest);
  if (rate.minute.length > settings.calls_per_minute) {
    const text = `${name} was called ${rate.minute.length} times within a minute.`;
    return [{ cause: `spike:${name}`, text }];
  }
  const usual = before.reduce((sum, calls) => sum + calls, 0) / Math.max(1, before.length);
  const isOdd =
    before.length >= USUAL_HOURS_MIN && count >= SPIKE_CALLS_MIN && count > usual * USUAL_TIMES;
  if (!isOdd) return [];
  const text = `${name} was called ${count} times in this hour; ${usual.toFixed(1)} is usual.`;
  return [{ cause: `spike:${name}`, text }];
}

function quietHours(name: string, { settings, nowMs }: MonitorMoment): readonly Anomaly[] {
  if (settings.quiet_hours === undefined) return [];
  const hours = readHours(settings.quiet_hours);
  if (typeof hours === 'string' || untilOpenMs(hours, nowMs) > 0) return [];
  return [{ cause: 'quiet_hours', text: `${name} was called in the quiet hours.` }];
}

function action(server: string, tool: string): string {
  return `${shown(server)}.${shown(tool)}`;
}

function shown(name: string): string {
  return visible(name, NAME_LENGTH_MAX);
}
