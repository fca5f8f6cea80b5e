// The time that calls are counted in. It stands in the address, and its start moves on by the minute.
import { goTo, useAddress } from '../../address/address.ts';
import { useNow } from '../../parts/clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const SPANS = {
  '1h': ['Last hour', HOUR_MS],
  '24h': ['Last 24 hours', 24 * HOUR_MS],
  '7d': ['Last 7 days', 7 * 24 * HOUR_MS],
  '30d': ['Last 30 days', 30 * 24 * HOUR_MS],
} as const;
const FALLBACK = '24h';

function isSpan(text: string): text is keyof typeof SPANS {
  return Object.hasOwn(SPANS, text);
}

function useSpan(): keyof typeof SPANS {
  const since = useAddress().params['since'] ?? '';
  return isSpan(since) ? since : FALLBACK;
}

export function useTimeSpan(): { readonly from_ms: number; readonly to_ms: number } {
  const span = useSpan();
  const to_ms = (Math.floor(useNow() / MINUTE_MS) + 1) * MINUTE_MS;
  return { from_ms: to_ms - SPANS[span][1], to_ms };
}

export function TimeSpanSelect() {
  const span = useSpan();
  return (
    <select
      aria-label="Time"
      value={span}
      onChange={({ target }) => goTo({ params: { since: target.value } }, 'replace')}
      className="h-7 rounded-4 border border-line bg-page px-1 max-md:h-11"
    >
      {Object.entries(SPANS).map(([id, [label]]) => (
        <option key={id} value={id}>
          {label}
        </option>
      ))}
    </select>
  );
}
