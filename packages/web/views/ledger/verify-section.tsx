// Verify: every hash and signature is computed again, and every row derived again from its events.
import type { ApiVerifyJob, ApiVerifyReport } from '@subluminal/contracts';
import { useMutation } from '@tanstack/react-query';
import { post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { countText } from '../../parts/amounts.ts';
import { Button } from '../../parts/buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { JobProgress } from './job-progress.tsx';

interface VerifyProps {
  readonly job: ApiVerifyJob | null;
  readonly onChange: () => void;
}

export function VerifySection({ job, onChange }: VerifyProps) {
  const may = useMay('owner');
  const start = useMutation({
    mutationFn: (quick: boolean) => post('verify', { quick }),
    onSuccess: onChange,
  });
  const isRunning = job?.state === 'running';
  const title = may ? undefined : 'A viewer may only look.';
  return (
    <section aria-label="Verify" className="flex flex-col gap-2">
      <h2 className="text-14">Verify</h2>
      <p className="text-dim">
        Finds events and rows that were changed, removed or added since they were recorded.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button
          look="primary"
          disabled={!may || isRunning}
          title={title}
          className="max-md:h-11"
          onClick={() => start.mutate(false)}
        >
          Verify all
        </Button>
        <Button
          disabled={!may || isRunning}
          title={title}
          className="max-md:h-11"
          onClick={() => start.mutate(true)}
        >
          Quick check
        </Button>
      </div>
      {start.error !== null && <FailureText cause={start.error} />}
      {job !== null && <JobProgress job={job} done={job.checked} total={job.total} />}
      {job !== null && job.report !== null && <Report report={job.report} />}
    </section>
  );
}

function Report({ report }: { readonly report: ApiVerifyReport }) {
  return (
    <div role="status" className="flex flex-col gap-1">
      <p className={report.ok ? 'text-allow-ink' : 'text-danger'}>
        {report.ok ? '● Untouched: ' : '■ Not as it was recorded: '}
        {countText(report.events)} events
        {report.signatures === 'checked'
          ? ', signatures checked'
          : ', no key to check signatures with'}
      </p>
      <ul>
        {report.findings.map(({ level, message, from_seq }, at) => (
          <li key={at} className={level === 'error' ? 'text-danger' : 'text-dim'}>
            {from_seq === null ? '' : `${countText(from_seq)}: `}
            {plainText(message)}
          </li>
        ))}
      </ul>
      {report.findings_total > report.findings.length && (
        <p className="text-dim">
          {countText(report.findings_total - report.findings.length)} more findings
        </p>
      )}
    </div>
  );
}
