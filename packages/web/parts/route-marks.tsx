// How an attempt to reach a model ended, and what its route could not carry.
import { plainLine } from './plain-text.ts';

export function RouteOutcome({ error }: { readonly error: string | null }) {
  return error === null ? (
    <span className="text-allow-ink">● answered</span>
  ) : (
    <span className="text-block-ink" title={plainLine(error)}>
      ■ {plainLine(error)}
    </span>
  );
}

export function Degraded({ features }: { readonly features: readonly string[] }) {
  return features.length === 0 ? (
    <span className="text-dim">nothing</span>
  ) : (
    <span className="text-throttle-ink" title={features.map(plainLine).join(', ')}>
      ▲ {features.map(plainLine).join(', ')}
    </span>
  );
}
