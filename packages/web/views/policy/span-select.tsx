import { SPANS } from '../../search/ranges.ts';

interface SpanSelectProps {
  /** One of `SPANS`; empty for the newest runs, whenever they were. */
  readonly span: string;
  readonly onSpan: (span: string) => void;
}

/** Which past runs are looked at. */
export function SpanSelect({ span, onSpan }: SpanSelectProps) {
  return (
    <select
      aria-label="Which runs"
      value={span}
      onChange={({ target }) => onSpan(target.value)}
      className="h-7 rounded-4 border border-line bg-page px-1 max-md:h-11"
    >
      <option value="">The newest 100 runs</option>
      {SPANS.map(({ id, title }) => (
        <option key={id} value={id}>
          {title}
        </option>
      ))}
    </select>
  );
}

export function sinceOf(span: string): { since_ms?: number } {
  const ms = SPANS.find(({ id }) => id === span)?.ms;
  return ms === undefined ? {} : { since_ms: Date.now() - ms };
}
