// Numbers as people read them, each with its unit.
const COUNT = new Intl.NumberFormat('en');
const CENTS = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const KILO = 1_000;
const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
const MICROS = 1_000_000;

export function countText(count: number): string {
  return COUNT.format(count);
}

/** `1.2k`, `3.4M`: where there is little room. */
export function shortCount(count: number): string {
  if (count < KILO) return String(count);
  if (count < KILO * KILO) return `${trimmed(count / KILO)}k`;
  return `${trimmed(count / KILO / KILO)}M`;
}

export function bytesText(bytes: number): string {
  if (bytes < KILO) return `${bytes} B`;
  if (bytes < KILO * KILO) return `${trimmed(bytes / KILO)} kB`;
  if (bytes < KILO * KILO * KILO) return `${trimmed(bytes / KILO / KILO)} MB`;
  return `${trimmed(bytes / KILO / KILO / KILO)} GB`;
}

export function durationText(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${trimmed(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS)
    return `${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`;
  if (ms < DAY_MS)
    return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
  return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / HOUR_MS)} h`;
}

export function dollarsText(micros: number): string {
  const dollars = micros / MICROS;
  if (dollars === 0) return '$0';
  return dollars < 0.01 ? `$${dollars.toFixed(4)}` : `$${CENTS.format(dollars)}`;
}

/** What a turn used; empty where nobody counted. */
export function usageText(turn: {
  readonly tokens_in: number | null;
  readonly tokens_out: number | null;
  readonly cost_micros: number | null;
}): string {
  const { tokens_in, tokens_out, cost_micros } = turn;
  if (tokens_in === null && tokens_out === null) return '';
  const cost = cost_micros === null ? '' : `, ${dollarsText(cost_micros)}`;
  return `${shortCount(tokens_in ?? 0)} tokens in, ${shortCount(tokens_out ?? 0)} out${cost}`;
}

/** `12 s ago`; what lies ahead is `in 12 s`. */
export function agoText(atMs: number, nowMs: number): string {
  const distanceMs = Math.abs(nowMs - atMs);
  const words = distanceWords(distanceMs);
  if (words === undefined) return 'now';
  return atMs > nowMs ? `in ${words}` : `${words} ago`;
}

function distanceWords(ms: number): string | undefined {
  if (ms < SECOND_MS) return undefined;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

/** `2026-01-31 12:00:00.123`, in the time zone of the browser. */
export function momentText(atMs: number): string {
  const at = new Date(atMs);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${day} ${time}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

function trimmed(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value));
}
