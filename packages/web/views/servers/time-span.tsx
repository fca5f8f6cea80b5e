// The time that calls are counted in. It stands in the address, and its start moves on by the minute.
import { goTo, useAddress } from '../../address/address.ts';
import { MINUTE_MS } from '../../parts/amounts.ts';
import { useNow } from '../../parts/clock.ts';
import { SPANS } from '../../search/ranges.ts';

const [, DAY] = SPANS;

function useSpan(): (typeof SPANS)[number] {
  const { since } = useAddress().params;
  return SPANS.find(({ id }) => id === since) ?? DAY;
}

export function useTimeSpan(): { readonly from_ms: number; readonly to_ms: number } {
  const { ms } = useSpan();
  const to_ms = (Math.floor(useNow() / MINUTE_MS) + 1) * MINUTE_MS;
  return { from_ms: to_ms - ms, to_ms };
}

export function TimeSpanSelect() {
  const { id: chosen } = useSpan();
  return (
    <select
      aria-label="Time"
      value={chosen}
      onChange={({ target }) => goTo({ params: { since: target.value } }, 'replace')}
      className="h-7 rounded-4 border border-line bg-page px-1 max-md:h-11"
    >
      {SPANS.map(({ id, title }) => (
        <option key={id} value={id}>
          {title}
        </option>
      ))}
    </select>
  );
}
