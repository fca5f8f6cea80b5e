// Past calls, decided again by the edited policy.
import type { ApiPolicyReplay } from '@subluminal/contracts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from '../../address/link.tsx';
import { panelAddress } from '../../address/panel-address.ts';
import { post } from '../../api/ledger.ts';
import { countText } from '../../parts/amounts.ts';
import { Button } from '../../parts/buttons.tsx';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Value } from '../../parts/texts.tsx';
import { type GivenPolicy, givenBody } from './given-policy.ts';
import { OldResult } from './old-result.tsx';
import { SpanSelect, sinceOf } from './span-select.tsx';

export function ReplayTool({ given }: { readonly given: GivenPolicy }) {
  const [span, setSpan] = useState('');
  const [run, setRun] = useState('');
  const replay = useMutation({
    mutationFn: (asked: GivenPolicy) => {
      const chosen = run.trim() === '' ? sinceOf(span) : { run_ids: [run.trim()] };
      return post('policyReplay', { ...givenBody(asked), ...chosen });
    },
  });
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <SpanSelect span={span} onSpan={setSpan} />
        <input
          aria-label="Only this run"
          placeholder="Only this run"
          value={run}
          onChange={({ target }) => setRun(target.value)}
          className="h-7 min-w-32 flex-1 rounded-4 border border-line bg-page px-2 font-mono text-12 max-md:h-11"
        />
        <Button disabled={replay.isPending} onClick={() => replay.mutate(given)}>
          {replay.isPending ? 'Replaying…' : 'Replay'}
        </Button>
      </div>
      {replay.error !== null && <FailureText cause={replay.error} />}
      {replay.data !== undefined && (
        <>
          {replay.variables.text !== given.text && <OldResult />}
          <ReplaySummary replay={replay.data} />
          <ReplayedCalls replay={replay.data} />
        </>
      )}
    </div>
  );
}

const VERDICTS: { readonly [verdict: string]: string } = {
  same: 'as they were',
  stricter: 'stricter',
  looser: 'looser',
  different_rule: 'by another rule',
  undetermined: 'cannot be known',
  unrecorded: 'without a decision on record',
};

function counted(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function ReplaySummary({ replay }: { readonly replay: ApiPolicyReplay }) {
  const { summary, cut } = replay;
  const verdicts = Object.entries(summary.verdicts).filter(([, count]) => count > 0);
  return (
    <div role="status">
      <p>
        {counted(summary.calls, 'call')} of {counted(summary.runs, 'run')} decided again:{' '}
        {verdicts
          .map(([verdict, count]) => `${countText(count)} ${VERDICTS[verdict] ?? verdict}`)
          .join(', ')}
      </p>
      {cut !== null && (
        <p className="text-dim">
          Older runs were left out: too many {cut === 'time' ? 'for the time' : 'events'}.
        </p>
      )}
    </div>
  );
}

function ReplayedCalls({ replay }: { readonly replay: ApiPolicyReplay }) {
  return (
    <>
      <ul>
        {replay.calls.map((call) => (
          <li key={`${call.run_id} ${call.call_id}`} className="border-t border-line py-1">
            <Link
              to={{ params: panelAddress('call', call.run_id, call.call_id) }}
              className="text-accent"
            >
              <Value text={`${call.server_name}/${call.tool_name}`} lengthMax={40} />
            </Link>{' '}
            <span className="text-dim">{VERDICTS[call.verdict]}</span>
            <div className="flex flex-wrap gap-x-2">
              <Decided {...(call.recorded ?? NOTHING)} />
              <span aria-hidden="true">→</span>
              <span className="sr-only">would be</span>
              <Decided {...(call.replayed ?? NOTHING)} />
            </div>
          </li>
        ))}
      </ul>
      {replay.calls_left_out > 0 && (
        <p className="text-dim">{countText(replay.calls_left_out)} further calls are not listed.</p>
      )}
    </>
  );
}

const NOTHING = { action: null, rule_id: null } as const;

function Decided(props: { readonly action: string | null; readonly rule_id: string | null }) {
  const { action, rule_id } = props;
  return (
    <span className="inline-flex items-baseline gap-1">
      <DecisionMark decision={action} />
      {rule_id !== null && <span className="text-dim">by {plainText(rule_id)}</span>}
    </span>
  );
}
