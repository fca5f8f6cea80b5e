// How a run stands: a word with a shape, so that nobody depends on the colour.
import type { ApiRun, ApiRunsQuery } from '@subluminal/contracts';
import { durationText } from './amounts.ts';
import { useNow } from './clock.ts';
import { plainLine } from './plain-text.ts';

type ShownStatus = NonNullable<ApiRunsQuery['status']>;

interface StatusLook {
  readonly word: string;
  readonly shape: string;
  readonly ink: string;
}

const LOOKS: { readonly [status in ShownStatus]: StatusLook } = {
  RUNNING: { word: 'running', shape: '▸', ink: 'text-ask-ink' },
  SUCCEEDED: { word: 'succeeded', shape: '✓', ink: 'text-allow-ink' },
  FAILED: { word: 'failed', shape: '!', ink: 'text-block-ink' },
  TERMINATED: { word: 'terminated', shape: '✕', ink: 'text-terminate-ink' },
  CANCELLED: { word: 'cancelled', shape: '–', ink: 'text-dim' },
  LOST: { word: 'lost', shape: '?', ink: 'text-throttle-ink' },
};

export const RUN_STATUSES: readonly (readonly [value: string, word: string])[] = Object.entries(
  LOOKS,
).map(([value, { word }]) => [value, word]);

export function isRunStatus(status: string): status is ShownStatus {
  return Object.hasOwn(LOOKS, status);
}

export function RunStatus({ run }: { readonly run: ApiRun }) {
  const status = run.status ?? 'RUNNING';
  const unknown = { word: status, shape: '·', ink: 'text-dim' };
  const { word, shape, ink } = isRunStatus(status) ? LOOKS[status] : unknown;
  return (
    <span className={`inline-flex items-baseline gap-1 whitespace-nowrap ${ink}`}>
      <span className="inline-block w-3 text-center" aria-hidden="true">
        {shape}
      </span>
      {plainLine(word)}
    </span>
  );
}

/** When it began, as far as it is known. */
export function runStartMs(run: ApiRun): number {
  return run.started_at_ms ?? run.first_at_ms;
}

/** Undefined while it goes on. */
export function runEndMs(run: ApiRun): number | undefined {
  return run.ended_at_ms ?? (run.status === null ? undefined : run.last_at_ms);
}

/** How long it took; of a run that goes on it ticks. */
export function RunDuration({ run }: { readonly run: ApiRun }) {
  const endMs = runEndMs(run);
  return endMs === undefined ? (
    <Ticking startMs={runStartMs(run)} />
  ) : (
    durationText(Math.max(0, endMs - runStartMs(run)))
  );
}

function Ticking({ startMs }: { readonly startMs: number }) {
  const nowMs = useNow();
  return durationText(Math.max(0, Math.floor((nowMs - startMs) / 1_000) * 1_000));
}

/** Calls that did not pass. */
export function refusedCount({ calls }: ApiRun): number {
  return calls.blocked + calls.throttled;
}

/** That it was decided or recorded by less than it should be. */
export function DegradedMark({ run }: { readonly run: ApiRun }) {
  return run.degraded_reason === null ? null : (
    <span className="text-throttle-ink" title={plainLine(run.degraded_reason)}>
      <span aria-hidden="true">⚠</span>
      <span className="sr-only">degraded: {plainLine(run.degraded_reason)}</span>
    </span>
  );
}
