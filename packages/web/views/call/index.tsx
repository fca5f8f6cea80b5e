// All that is known about one call, at the right of any view.
import type { ApiCallRecord } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '../../address/link.tsx';
import type { PanelProps } from '../../address/panel-address.ts';
import { asked } from '../../api/ledger.ts';
import { useLiveSignal } from '../../api/live-signal.ts';
import { bytesText, countText, dollarsText, durationText } from '../../parts/amounts.ts';
import { CommandLine } from '../../parts/buttons.tsx';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainLine, plainText } from '../../parts/plain-text.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { CallApprovals, CallHint, CallLinks, CallRules } from './call-decision.tsx';
import { CallEvents } from './call-events.tsx';
import { CallArguments, CallResult } from './call-payload.tsx';
import { WhatIf } from './what-if.tsx';

export function CallPanel({ ids }: PanelProps) {
  const [run_id = '', call_id = ''] = ids;
  const { data, error, refetch } = useQuery({
    ...asked('record', { ids: { run_id, call_id } }),
    placeholderData: keepPreviousData,
  });
  useLiveSignal(({ calls, isAll }) => {
    const isOurs = calls.some(({ runId, callId }) => runId === run_id && callId === call_id);
    if (isOurs || isAll) void refetch({ cancelRefetch: false });
  });
  if (error !== null) return <FailureText cause={error} />;
  return data === undefined ? null : <CallDetail record={data} />;
}

function CallDetail({ record }: { readonly record: ApiCallRecord }) {
  const { call } = record;
  const key = `${call.run_id} ${call.call_id}`;
  return (
    <article className="flex flex-col gap-3 text-13" aria-label="Call">
      <CallHead record={record} />
      <div>
        <CallArguments key={`args ${key}`} record={record} />
        {call.kind === 'tool_call' && <CallResult key={`result ${key}`} record={record} />}
        <CallRules record={record} />
        <CallHint record={record} />
        <CallApprovals record={record} />
        <CallLinks record={record} />
        <WhatIf key={`if ${key}`} record={record} />
        <CallEvents record={record} />
      </div>
    </article>
  );
}

function CallHead({ record }: { readonly record: ApiCallRecord }) {
  const { call, why } = record;
  const name =
    call.kind === 'turn'
      ? `${call.provider}/${call.model}`
      : `${call.server_name}/${call.tool_name}`;
  const isWaiting = call.decision === null && call.status === null;
  const isAsked = isWaiting && record.approvals.some(({ state }) => state === 'asked');
  return (
    <header className="flex flex-col gap-2">
      <h2 className="text-16 break-words">
        <Value text={name} lengthMax={120} />
      </h2>
      <p>
        <DecisionMark decision={isAsked ? 'ASK' : call.decision} />{' '}
        <RuleLink id={call.rule_id ?? ''} />
      </p>
      <p>
        <span className="text-dim">Why? </span>
        {plainText(why)}
      </p>
      <CommandLine
        command={`sub show ${shellWord(call.call_id, 'CALL')} --run ${shellWord(call.run_id, 'RUN')}`}
      />
      <CallFacts record={record} />
    </header>
  );
}

/** A gate is no rule of a policy. */
function RuleLink({ id }: { readonly id: string }) {
  const shown = plainLine(id);
  if (id === '' || id.startsWith('gate:')) return <span className="text-dim">{shown}</span>;
  return (
    <Link
      to={{ path: ['policy'], params: { rule: id } }}
      title="Show the rule in the policy"
      className="text-accent hover:underline"
    >
      {shown}
    </Link>
  );
}

/** For its agent a refusal is an error, but not one of the server, which never got the call. */
function endText({ decision, status, latency_ms }: ApiCallRecord['call']): string {
  if (decision !== null && decision !== 'ALLOW') return 'refused';
  const took = latency_ms === null ? '' : ` in ${durationText(latency_ms)}`;
  return plainLine(status ?? 'not yet').toLowerCase() + took;
}

function CallFacts({ record }: { readonly record: ApiCallRecord }) {
  const { call, decision } = record;
  return (
    <FactList>
      <Fact label="When">
        <Ago atMs={call.created_at_ms} />
      </Fact>
      <Fact label="Ended">{endText(call)}</Fact>
      <Fact label="Run">
        <Link to={{ path: ['runs', call.run_id] }} className="text-accent hover:underline">
          <Value text={call.run_id} lengthMax={40} />
        </Link>
      </Fact>
      <Fact label="Agent">
        <Value text={[call.agent_id, call.client].filter(Boolean).join(', ')} />
        {call.principal !== null && (
          <span className="text-dim"> for {plainLine(call.principal)}</span>
        )}
      </Fact>
      {decision !== null && (
        <Fact label="Policy">
          <Value text={`${decision.policy.policy_id} ${decision.policy.policy_version}`} />
        </Fact>
      )}
      {decision?.would !== undefined && (
        <Fact label="Would be">
          <DecisionMark decision={decision.would.action} /> {plainText(decision.would.summary)}
        </Fact>
      )}
      {call.risk_class.length > 0 && (
        <Fact label="Risk">{plainLine(call.risk_class.join(', '))}</Fact>
      )}
      <Fact label="Size">
        {bytesText(call.bytes_in ?? 0)} in, {bytesText(call.bytes_out ?? 0)} out
      </Fact>
      {call.kind === 'turn' && call.tokens_in !== null && (
        <Fact label="Tokens">
          {countText(call.tokens_in)} in, {countText(call.tokens_out ?? 0)} out
          {call.cost_micros !== null && `, ${dollarsText(call.cost_micros)}`}
        </Fact>
      )}
    </FactList>
  );
}
