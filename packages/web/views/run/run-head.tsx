import type { ApiRun } from '@subluminal/contracts';
import type { ReactNode } from 'react';
import { Link } from '../../address/link.tsx';
import { countText, dollarsText, shortCount } from '../../parts/amounts.ts';
import { CommandLine, CopyButton } from '../../parts/buttons.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { RunDuration, RunStatus, refusedCount, runStartMs } from '../../parts/run-status.tsx';
import { shellWord } from '../../parts/shell-word.ts';
import { Ago, Value } from '../../parts/texts.tsx';

export function RunHead({ run }: { readonly run: ApiRun }) {
  const { run_id, agent_id, degraded_reason } = run;
  return (
    <header className="flex flex-col gap-1 border-b border-line px-3 py-2">
      <div className="flex flex-wrap items-center gap-x-3">
        <Link to={{ path: ['runs'] }} className="text-accent hover:underline">
          Runs ›
        </Link>
        <h1 className="flex min-w-0 items-center text-14">
          <Value text={agent_id ?? run_id} lengthMax={40} />
        </h1>
        <RunStatus run={run} />
        <span className="inline-flex min-w-0 items-center text-dim">
          <Value text={run_id} lengthMax={24} />
          <CopyButton text={run_id} label="Copy the id of the run" />
        </span>
        <div className="ml-auto w-60 max-lg:hidden">
          <CommandLine command={`sub query --run ${shellWord(run_id, 'RUN')}`} />
        </div>
      </div>
      {degraded_reason !== null && (
        <p className="text-throttle-ink">
          <span aria-hidden="true">⚠ </span>
          Decided or recorded by less than it should be: {plainLine(degraded_reason)}
        </p>
      )}
      <RunFacts run={run} />
    </header>
  );
}

function RunFacts({ run }: { readonly run: ApiRun }) {
  const { calls, tokens_in, tokens_out } = run;
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1">
      <Pair label="Person">{text(run.principal)}</Pair>
      <Pair label="Client">{text(run.client)}</Pair>
      <Pair label="Env">{text(run.env)}</Pair>
      <Pair label="Started">
        <Ago atMs={runStartMs(run)} />
      </Pair>
      <Pair label="Duration">
        <RunDuration run={run} />
      </Pair>
      <Pair label="Calls">{countText(calls.total)}</Pair>
      <Pair label="Refused">{countText(refusedCount(run))}</Pair>
      <Pair label="Hints">{countText(run.hints)}</Pair>
      <Pair label="Errors">{countText(calls.errors)}</Pair>
      {run.turns > 0 && (
        <>
          <Pair label="Turns">{countText(run.turns)}</Pair>
          <Pair label="Tokens">
            {shortCount(tokens_in)} in, {shortCount(tokens_out)} out
          </Pair>
          <Pair label="Cost">{dollarsText(run.cost_micros)}</Pair>
        </>
      )}
      <Pair label="Policy">
        <PolicyName run={run} />
      </Pair>
    </dl>
  );
}

function PolicyName({ run }: { readonly run: ApiRun }) {
  const { policy_id, policy_version, policy_hash, mode } = run;
  if (policy_id === null) return '–';
  return (
    <span title={policy_hash === null ? undefined : plainLine(policy_hash)}>
      <Value text={`${policy_id} ${policy_version ?? ''}`} lengthMax={40} />
      {mode !== null && <span className="text-dim"> {plainLine(mode)}</span>}
    </span>
  );
}

function Pair({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="flex gap-1 whitespace-nowrap">
      <dt className="text-dim">{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function text(value: string | null): ReactNode {
  return value === null ? '–' : <Value text={value} lengthMax={32} />;
}
