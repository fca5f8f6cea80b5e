import { SPANS } from './given-policy.ts';

interface SpanSelectProps {
  /** The place in `SPANS`. */
  readonly span: number;
  readonly onSpan: (span: number) => void;
}

/** Which past runs are looked at. */
export function SpanSelect({ span, onSpan }: SpanSelectProps) {
  return (
    <select
      aria-label="Which runs"
      value={span}
      onChange={({ target }) => onSpan(Number(target.value))}
      className="h-7 rounded-4 border border-line bg-page px-1 max-md:h-11"
    >
      {SPANS.map(([label], at) => (
        <option key={label} value={at}>
          {label}
        </option>
      ))}
    </select>
  );
}

export function sinceOf(span: number): { since_ms?: number } {
  const ms = SPANS[span]?.[1];
  return ms === undefined ? {} : { since_ms: Date.now() - ms };
}
