// How a call was decided: every rule and gate, the hint, and the people who were asked.
import type { ApiCallRecord } from '@subluminal/contracts';
import type { ReactNode } from 'react';
import { Link } from '../../address/link.tsx';
import { panelAddress } from '../../address/panel-address.ts';
import { durationText, momentText } from '../../parts/amounts.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { plainLine, plainText } from '../../parts/plain-text.ts';
import { Value } from '../../parts/texts.tsx';
import { PanelSection } from './panel-section.tsx';

export function CallRules({ record }: { readonly record: ApiCallRecord }) {
  const { trace, gates, judgements = [] } = record;
  const rows = [
    ...gates.map(({ gate, about, outcome, findings }, at) => ({
      key: `gate ${at}`,
      name: `gate:${gate}`,
      kind: about,
      outcome,
      detail: findings.join(', '),
    })),
    ...judgements.map(({ by, verdict, reason, model }, at) => ({
      key: `judgement ${at}`,
      name: by,
      kind: model === undefined ? 'judgement' : `judgement by ${model}`,
      outcome: verdict.toLowerCase(),
      detail: reason,
    })),
    ...(trace ?? []).map(({ rule_id, kind, outcome, tally, note }) => ({
      key: `rule ${rule_id}`,
      name: rule_id,
      kind,
      outcome,
      detail: [tally === null ? '' : `${tally.count} of ${tally.limit}`, note ?? '']
        .filter(Boolean)
        .join(' · '),
    })),
  ];
  return (
    <PanelSection title="Gates and rules" note={rows.length > 0 && rows.length}>
      {rows.length === 0 ? (
        <p className="text-dim">
          {trace === null
            ? 'The rules that matched were not recorded.'
            : 'No rule matched, and no gate said anything.'}
        </p>
      ) : (
        <table className="w-full text-12">
          <thead className="text-left text-dim">
            <tr>
              <th className="pr-2 font-normal">Rule or gate</th>
              <th className="pr-2 font-normal">Kind</th>
              <th className="pr-2 font-normal">Outcome</th>
              <th className="font-normal">Count, findings</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, name, kind, outcome, detail }) => (
              <tr key={key} className="border-t border-line align-top">
                <td className="py-1 pr-2">
                  <Value text={name} lengthMax={32} />
                </td>
                <td className="py-1 pr-2">{plainLine(kind)}</td>
                <td className="py-1 pr-2">{plainLine(outcome).replaceAll('_', ' ')}</td>
                <td className="py-1 break-words">{plainLine(detail)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </PanelSection>
  );
}

export function CallHint({ record }: { readonly record: ApiCallRecord }) {
  const { hint } = record.call;
  if (hint === null) return null;
  return (
    <PanelSection title="Hint" note={plainLine(hint.hint_kind ?? '')}>
      <p>{plainText(hint.hint_text)}</p>
      {hint.retry_advice !== null && <p className="text-dim">{plainText(hint.retry_advice)}</p>}
      {hint.suggested_args_json !== null && <SuggestedArgs text={hint.suggested_args_json} />}
    </PanelSection>
  );
}

function SuggestedArgs({ text }: { readonly text: string }) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = text;
  }
  return (
    <>
      <h4 className="mt-1 text-dim">Suggested arguments</h4>
      <JsonTree value={value} />
    </>
  );
}

export function CallApprovals({ record }: { readonly record: ApiCallRecord }) {
  const { approvals } = record;
  if (approvals.length === 0) return null;
  return (
    <PanelSection title="Approval">
      <ol className="flex flex-col gap-1">
        {approvals.map((one, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- A step is its place in the record.
          <li key={at} className="flex flex-wrap gap-x-2">
            <span className="text-ask-ink">{plainLine(one.state).replaceAll('_', ' ')}</span>
            <time className="text-dim" dateTime={one.ts}>
              {momentText(Date.parse(one.ts))}
            </time>
            <Part label="by">{one.by}</Part>
            <Part label="on">{one.channel}</Part>
            <Part label="rule">{one.rule_id}</Part>
            {one.waited_ms !== undefined && <span>waited {durationText(one.waited_ms)}</span>}
            <Part label="grant">{one.grant_id}</Part>
            {one.id !== undefined && one.state === 'asked' && (
              <Link to={{ path: ['approvals', one.id] }} className="text-accent hover:underline">
                open
              </Link>
            )}
          </li>
        ))}
      </ol>
    </PanelSection>
  );
}

function Part({
  label,
  children,
}: {
  readonly label: string;
  readonly children: string | undefined;
}): ReactNode {
  return children === undefined ? null : (
    <span>
      <span className="text-dim">{label} </span>
      <Value text={children} lengthMax={40} />
    </span>
  );
}

/** What the answer of a model asked for, and the turn that asked for a call. */
export function CallLinks({ record }: { readonly record: ApiCallRecord }) {
  const { asked_by, tool_calls = [], call } = record;
  const to = (callId: string) => ({ params: panelAddress('call', call.run_id, callId) });
  if ((asked_by ?? null) === null && tool_calls.length === 0) return null;
  return (
    <PanelSection title={call.kind === 'turn' ? 'Asked for' : 'Asked by'}>
      {asked_by && (
        <Link to={to(asked_by.turn)} className="text-accent hover:underline">
          turn {plainLine(asked_by.turn)}
        </Link>
      )}
      <ul>
        {tool_calls.map(({ id, name, call_id }) => (
          <li key={id} className="flex gap-2">
            <Value text={name} />
            {call_id === null ? (
              <span className="text-dim">did not come</span>
            ) : (
              <Link to={to(call_id)} className="text-accent hover:underline">
                {plainLine(call_id)}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </PanelSection>
  );
}
