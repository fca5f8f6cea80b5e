// Rates, durations and times of day as people write them: `30/minute`, `15m`, `09:00`.
import type { HoursFields } from '@subluminal/contracts';

/** A token bucket: as many calls at once, and as many again over each period. */
export interface Rate {
  readonly calls: number;
  readonly periodMs: number;
}

export interface Hours {
  readonly fromMinute: number;
  /** Before `fromMinute` when the window runs over midnight. */
  readonly toMinute: number;
  /** Days on which the window opens, Sunday is 0. */
  readonly days: readonly number[];
  readonly offsetMinutes: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const CALLS_MAX = 1_000_000;
const DURATION_MS_MAX = 366 * DAY_MS;
const OFFSET_MINUTES_MAX = 14 * 60;
const DAY_MINUTES = 24 * 60;

const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ...['s', 'sec', 'second', 'seconds'].map((unit) => [unit, SECOND_MS] as const),
  ...['m', 'min', 'minute', 'minutes'].map((unit) => [unit, MINUTE_MS] as const),
  ...['h', 'hour', 'hours'].map((unit) => [unit, HOUR_MS] as const),
  ...['d', 'day', 'days'].map((unit) => [unit, DAY_MS] as const),
]);
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** `30/minute`. */
export function readRate(written: string): Rate | undefined {
  const [, count = '', unit = ''] = /^(\d{1,9}) ?(?:\/|per) ?([a-z]+)$/.exec(written) ?? [];
  const calls = Number(count);
  const periodMs = UNITS_MS.get(unit);
  if (periodMs === undefined || calls < 1 || calls > CALLS_MAX) return undefined;
  return { calls, periodMs };
}

/** `500ms`, `30s`, `15m`, `2h`, `1d`. */
export function readDuration(written: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,12}) ?([a-z]+)$/.exec(written) ?? [];
  const ms = Number(count) * (UNITS_MS.get(unit) ?? Number.NaN);
  return ms >= 1 && ms <= DURATION_MS_MAX ? ms : undefined;
}

/** `09:00` in minutes; `24:00` is the end of a day. */
function readMinute(written: string): number | undefined {
  const [, hours = '', minutes = ''] = /^(\d{2}):(\d{2})$/.exec(written) ?? [];
  const value = Number(hours) * 60 + Number(minutes);
  return hours === '' || Number(minutes) > 59 || value > DAY_MINUTES ? undefined : value;
}

/** `+02:00`, `-05:30`, `Z`. */
function readOffset(written: string): number | undefined {
  if (written === 'Z' || written === 'UTC') return 0;
  const size = /^[+-]/.test(written) ? readMinute(written.slice(1)) : undefined;
  if (size === undefined || size > OFFSET_MINUTES_MAX) return undefined;
  return written.startsWith('-') ? 0 - size : size;
}

type WrongHours = Exclude<keyof HoursFields, 'days'>;

const NO_CLOCK = 'Write it like `"09:00"`; the end must differ from the start.';
/** What to say about a field of a window that is wrong. */
export const HOURS_FAULTS: {
  readonly [F in WrongHours]: { readonly message: string; readonly fix: string };
} = {
  from: { message: '`from` is no time of this form', fix: NO_CLOCK },
  to: { message: '`to` is no time of this form', fix: NO_CLOCK },
  utc_offset: {
    message: '`utc_offset` is no time of this form',
    fix: 'Write it like `"+02:00"`, at most 14 hours.',
  },
};

/** The window, or the name of the field that is wrong. */
export function readHours(fields: HoursFields): Hours | WrongHours {
  const fromMinute = readMinute(fields.from);
  const toMinute = readMinute(fields.to);
  const offsetMinutes = readOffset(fields.utc_offset ?? 'Z');
  if (fromMinute === undefined || fromMinute === DAY_MINUTES) return 'from';
  if (toMinute === undefined || toMinute === fromMinute) return 'to';
  if (offsetMinutes === undefined) return 'utc_offset';
  const days = new Set((fields.days ?? DAYS).map((day) => DAYS.indexOf(day)));
  return { fromMinute, toMinute, days: [...days].toSorted((a, b) => a - b), offsetMinutes };
}

/** How long until the window is open: 0 when it is. */
export function untilOpenMs(hours: Hours, nowMs: number): number {
  const localMs = nowMs + hours.offsetMinutes * MINUTE_MS;
  const today = Math.floor(localMs / DAY_MS);
  const lengthMinutes =
    hours.toMinute > hours.fromMinute
      ? hours.toMinute - hours.fromMinute
      : DAY_MINUTES - hours.fromMinute + hours.toMinute;
  // Yesterday's window may still be open, and the next may be a week away.
  for (let day = today - 1; day <= today + 7; day++) {
    if (!hours.days.includes(dayOfWeek(day))) continue;
    const opensMs = day * DAY_MS + hours.fromMinute * MINUTE_MS;
    if (localMs >= opensMs + lengthMinutes * MINUTE_MS) continue;
    return Math.max(0, opensMs - localMs);
  }
  return 7 * DAY_MS;
}

/** The first day of the epoch was a Thursday. */
function dayOfWeek(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

export function hoursInWords(hours: Hours): string {
  const days =
    hours.days.length === 7 ? '' : ` on ${hours.days.map((day) => DAYS[day]).join(', ')}`;
  const { offsetMinutes } = hours;
  const size = Math.abs(offsetMinutes);
  const zone = offsetMinutes === 0 ? 'UTC' : `${offsetMinutes < 0 ? '-' : '+'}${clock(size)}`;
  return `from ${clock(hours.fromMinute)} to ${clock(hours.toMinute)} (${zone})${days}`;
}

function clock(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** A wait as a person would say it, never shorter than it is. */
export function inWords(ms: number): string {
  if (ms < SECOND_MS) return `${Math.ceil(ms)} ms`;
  if (ms < 2 * MINUTE_MS) return `${Math.ceil(ms / SECOND_MS)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.ceil(ms / MINUTE_MS)} min`;
  return `${Math.ceil(ms / HOUR_MS)} h`;
}
