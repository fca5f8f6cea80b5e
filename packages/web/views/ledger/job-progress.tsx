import type { ApiVerifyJob } from '@subluminal/contracts';
import { countText } from '../../parts/amounts.ts';
import { plainText } from '../../parts/plain-text.ts';

interface JobProps {
  readonly job: Pick<ApiVerifyJob, 'state' | 'error'>;
  readonly done?: number;
  readonly total?: number;
}

/** How far a job is, or why it failed. Its room is kept, so that nothing jumps. */
export function JobProgress({ job, done = 0, total = 0 }: JobProps) {
  if (job.state === 'failed') {
    return (
      <p role="alert" className="text-danger">
        {plainText(job.error?.message ?? 'It failed.')}
      </p>
    );
  }
  if (job.state !== 'running') return null;
  return (
    <p className="flex items-center gap-2" role="status">
      <progress
        max={total || undefined}
        value={total === 0 ? undefined : done}
        className="h-2 w-40 accent-accent"
        aria-label="Progress"
      />
      <span className="text-dim">
        {total === 0 ? 'running' : `${countText(done)} of ${countText(total)}`}
      </span>
    </p>
  );
}
