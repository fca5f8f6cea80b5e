// The filter and the time range of a list stand in the address: `q`, `since`, or `from` and `to`.
import type { CallSearch } from '@subluminal/contracts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../parts/amounts.ts';

const DAY = { id: '24h', title: '24 h', ms: DAY_MS } as const;
export const SINCE_CHOICES = [
  { id: '15m', title: '15 min', ms: 15 * MINUTE_MS },
  { id: '1h', title: '1 h', ms: HOUR_MS },
  { id: '6h', title: '6 h', ms: 6 * HOUR_MS },
  DAY,
  { id: '7d', title: '7 d', ms: 7 * DAY_MS },
  { id: 'all', title: 'All time', ms: Number.POSITIVE_INFINITY },
] as const;

/** Of views whose time is a span up to now. */
export const SPANS = [
  { id: '1h', title: 'Last hour', ms: HOUR_MS },
  { id: '24h', title: 'Last 24 hours', ms: DAY_MS },
  { id: '7d', title: 'Last 7 days', ms: 7 * DAY_MS },
  { id: '30d', title: 'Last 30 days', ms: 30 * DAY_MS },
] as const;

export type ShownRange =
  /** Up to now, which moves on. */
  | { readonly kind: 'since'; readonly id: string; readonly ms: number }
  | {
      readonly kind: 'span';
      readonly fromMs: number | undefined;
      readonly toMs: number | undefined;
    };

export interface RangeTimes {
  readonly from_ms?: number;
  readonly to_ms?: number;
}

export function rangeOf(params: Readonly<Record<string, string>>): ShownRange {
  const fromMs = timeOf(params['from']);
  const toMs = timeOf(params['to']);
  if (fromMs !== undefined || toMs !== undefined) return { kind: 'span', fromMs, toMs };
  const { id, ms } = SINCE_CHOICES.find((one) => one.id === params['since']) ?? DAY;
  return { kind: 'since', id, ms };
}

function timeOf(text = ''): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export function rangeTimes(range: ShownRange, nowMs: number): RangeTimes {
  if (range.kind === 'since') {
    return Number.isFinite(range.ms) ? { from_ms: nowMs - range.ms } : {};
  }
  const { fromMs, toMs } = range;
  return {
    ...(fromMs !== undefined && { from_ms: fromMs }),
    ...(toMs !== undefined && { to_ms: toMs }),
  };
}

/** What takes a range out of the address and puts another one in. */
export function rangeParams(range: { readonly since: string } | { from: number; to: number }) {
  return 'since' in range
    ? { since: range.since === DAY.id ? '' : range.since, from: '', to: '' }
    : { since: '', from: String(Math.floor(range.from)), to: String(Math.ceil(range.to)) };
}

export interface ShownFilter {
  readonly text: string;
  readonly search: CallSearch;
  readonly range: ShownRange;
}
