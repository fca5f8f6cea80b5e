// Prune: what is old may go. First it is counted, then a person says yes.
import type { ApiLedger, ApiPruneJob } from '@subluminal/contracts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { countText, DAY_MS } from '../../parts/amounts.ts';
import { Button, CommandLine } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { Ago } from '../../parts/texts.tsx';
import { JobProgress } from './job-progress.tsx';

interface PruneProps {
  readonly job: ApiPruneJob | null;
  readonly retention: ApiLedger['retention'];
  readonly onChange: () => void;
}

const DAYS = { fallback: 90, max: 36_500 };

export function PruneSection({ job, retention, onChange }: PruneProps) {
  const may = useMay('owner');
  const [days, setDays] = useState(String(retention?.days ?? DAYS.fallback));
  const [isPreviews, setPreviews] = useState(false);
  /** The moment that was counted: exactly that much is removed. */
  const [counted, setCounted] = useState<number>();
  const prune = useMutation({
    mutationFn: ({ olderMs, isDry }: { readonly olderMs: number; readonly isDry: boolean }) =>
      post('prune', { older_than_ms: olderMs, previews_only: isPreviews, dry_run: isDry }),
    onSuccess: onChange,
  });
  const count = Number(days);
  const isWrong = !Number.isInteger(count) || count < 0 || count > DAYS.max || days === '';
  const isRunning = job?.state === 'running';
  const look = () => {
    const olderMs = Date.now() - count * DAY_MS;
    setCounted(olderMs);
    prune.mutate({ olderMs, isDry: true });
  };
  // What was counted is told to whoever asked, and kept by nobody.
  const countJob = counted !== undefined && prune.data?.dry_run === true ? prune.data : undefined;
  const shown = countJob ?? job;
  const isCounted = countJob?.state === 'done' && countJob.steps.some(({ runs }) => runs > 0);
  return (
    <section aria-label="Prune" className="flex flex-col gap-2">
      <h2 className="text-14">Prune</h2>
      {retention !== null && <RetentionLine retention={retention} />}
      <div className="flex flex-wrap items-center gap-2">
        <AgeFields
          {...{ days, isPreviews, isWrong }}
          onChange={(wish) => {
            setDays(wish.days);
            setPreviews(wish.isPreviews);
            setCounted(undefined);
          }}
        />
      </div>
      <div className="flex gap-2">
        <Button
          disabled={!may || isWrong || isRunning || prune.isPending}
          title={may ? undefined : 'A viewer may only look.'}
          className="max-md:h-11"
          onClick={look}
        >
          Count
        </Button>
        <Button
          look="danger"
          disabled={!may || !isCounted || isRunning || prune.isPending}
          title={isCounted ? undefined : 'Count first.'}
          className="max-md:h-11"
          onClick={() => {
            if (counted !== undefined) prune.mutate({ olderMs: counted, isDry: false });
            setCounted(undefined);
          }}
        >
          Prune
        </Button>
      </div>
      {prune.error !== null && <FailureText cause={prune.error} />}
      {shown !== null && <JobProgress job={shown} />}
      {shown !== null && <Steps job={shown} />}
      <CommandLine
        command={`sub ledger prune --older-than ${isWrong ? DAYS.fallback : count}d${isPreviews ? ' --previews-only' : ''} --dry-run`}
      />
    </section>
  );
}

interface AgeWish {
  readonly days: string;
  readonly isPreviews: boolean;
}

function AgeFields(
  props: AgeWish & { readonly isWrong: boolean; readonly onChange: (wish: AgeWish) => void },
) {
  const { days, isPreviews, isWrong, onChange } = props;
  return (
    <>
      <label htmlFor="prune-days">Runs older than</label>
      <input
        id="prune-days"
        inputMode="numeric"
        value={days}
        aria-invalid={isWrong}
        onChange={({ target }) => onChange({ days: target.value.trim(), isPreviews })}
        className="h-7 w-16 rounded-4 border border-line bg-page px-2 text-right"
      />
      <span>days</span>
      <label className="ml-2 inline-flex items-center gap-1">
        <input
          type="checkbox"
          checked={isPreviews}
          onChange={({ target }) => onChange({ days, isPreviews: target.checked })}
        />
        only arguments and results
      </label>
    </>
  );
}

function RetentionLine({ retention }: { readonly retention: NonNullable<ApiLedger['retention']> }) {
  const { days, previews_days, last_at_ms } = retention;
  return (
    <p className="text-dim">
      {`Runs are kept for ${days} days, arguments and results for ${previews_days}. `}
      {last_at_ms !== null && (
        <>
          Last applied <Ago atMs={last_at_ms} />.
        </>
      )}
    </p>
  );
}

function Steps({ job }: { readonly job: ApiPruneJob }) {
  return (
    <div role="status">
      <ul>
        {job.steps.map(({ what, runs }) => (
          <li key={what}>
            {what === 'all' ? '' : 'Arguments and results of '}
            {countText(runs)} {runs === 1 ? 'run' : 'runs'}{' '}
            {job.dry_run ? 'would be removed' : 'removed'}
          </li>
        ))}
      </ul>
    </div>
  );
}
