// Times as people write them, in a zone, and as calendars keep them.

/** A day, or a point in time. */
export type EventTime =
  | { readonly kind: 'day'; readonly day: string }
  | { readonly kind: 'time'; readonly ms: number };

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const LOCAL = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::\d{2})?$/;
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;
const HOUR_MS = 3_600_000;

export function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Undefined when it is no time. */
export function readTime(text: string, zone: string): EventTime | undefined {
  if (DAY.test(text)) return isRealDay(text) ? { kind: 'day', day: text } : undefined;
  if (WITH_OFFSET.test(text)) {
    const ms = Date.parse(text);
    return Number.isNaN(ms) ? undefined : { kind: 'time', ms };
  }
  const [, day, time] = LOCAL.exec(text) ?? [];
  if (day === undefined || time === undefined || !isRealDay(day)) return undefined;
  const ms = zonedMs(Date.parse(`${day}T${time}:00Z`), zone);
  return ms === undefined ? undefined : { kind: 'time', ms };
}

function isRealDay(day: string): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/**
 * The time at which clocks in the zone show this. Where they are put forward over it, the time an hour later; where
 * they show it twice, the first.
 */
export function zonedMs(shownMs: number, zone: string): number | undefined {
  if (Number.isNaN(shownMs)) return undefined;
  const candidates = [shownMs - 24 * HOUR_MS, shownMs + 24 * HOUR_MS]
    .map((near) => shownMs - offsetMs(near, zone))
    .toSorted((one, other) => one - other);
  return candidates.find((ms) => ms + offsetMs(ms, zone) === shownMs) ?? candidates.at(-1);
}

/** How far clocks in the zone are ahead of UTC. */
function offsetMs(ms: number, zone: string): number {
  return (
    Date.parse(`${shownAt(ms, zone).replace(' ', 'T')}:00Z`) - Math.floor(ms / 60_000) * 60_000
  );
}

/** As `2026-11-20 16:00`. */
export function shownAt(ms: number, zone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(ms);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}`;
}

export function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 24 * HOUR_MS).toISOString().slice(0, 10);
}
