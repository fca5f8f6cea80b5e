import { useQuery } from '@tanstack/react-query';
import { asked } from '../../api/ledger.ts';
import { durationText } from '../../parts/amounts.ts';
import type { TableColumn } from '../../parts/data-table.tsx';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { foldedLine, plainLine } from '../../parts/plain-text.ts';
import { Ago, FoldedValue, Value } from '../../parts/texts.tsx';
import type { LiveCall } from './live-call.ts';

const ID_SHOWN = 8;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The end of a UUID is random; ids that other programs chose stay whole. */
function shownId(id: string): string {
  return UUID.test(id) ? id.slice(-ID_SHOWN) : foldedLine(id, 24);
}

function Decision(call: LiveCall) {
  const { decision, would, status } = call;
  return (
    <span className="inline-flex gap-1">
      {decision === null && status === null ? (
        <OpenDecision {...call} />
      ) : (
        <DecisionMark decision={decision} />
      )}
      {would !== null && (
        <span className="text-dim" title="What an enforcing policy would have done">
          (<DecisionMark decision={would} isWord={false} />)
        </span>
      )}
    </span>
  );
}

/** A call without a decision is on its way, or waits for a person. */
function useIsAsked({ runId, callId }: LiveCall): boolean {
  const { data } = useQuery(asked('approvals', { query: { state: 'pending' } }));
  const isOurs = (call: { readonly run_id: string; readonly call_id: string }) =>
    call.run_id === runId && call.call_id === callId;
  return data?.rows.some(({ request }) => isOurs(request.call)) ?? false;
}

function OpenDecision(call: LiveCall) {
  return <DecisionMark decision={useIsAsked(call) ? 'ASK' : null} />;
}

function OpenStatus(call: LiveCall) {
  return useIsAsked(call) ? (
    <span className="text-ask-ink">waits</span>
  ) : (
    <span className="text-dim">running</span>
  );
}

function Status(call: LiveCall) {
  const { decision, status } = call;
  // For its agent a refusal is an error, but not one of the server, which never got the call.
  if (decision !== null && decision !== 'ALLOW') return <span className="text-dim">refused</span>;
  if (status === null && decision === null) return <OpenStatus {...call} />;
  if (status === null) return <span className="text-dim">running</span>;
  const look = status === 'OK' ? 'text-dim' : 'text-danger';
  return <span className={look}>{plainLine(status.toLowerCase())}</span>;
}

function Name({ place, name, isTurn }: LiveCall) {
  return (
    <span className="font-mono text-12" title={`${plainLine(place)}/${plainLine(name)}`}>
      <span className="text-dim">{foldedLine(place, 24)}/</span>
      <span className={isTurn ? 'italic' : ''}>{foldedLine(name, 40)}</span>
    </span>
  );
}

export const CALL_COLUMNS: readonly TableColumn<LiveCall>[] = [
  { id: 'time', title: 'Time', width: '80px', cell: ({ atMs }) => <Ago atMs={atMs} /> },
  { id: 'decision', title: 'Decision', width: '104px', cell: (call) => <Decision {...call} /> },
  {
    id: 'call',
    title: 'Call',
    width: 'minmax(120px, 1.5fr)',
    cell: (call) => <Name {...call} />,
  },
  {
    id: 'argument',
    title: 'Argument',
    width: 'minmax(120px, 2fr)',
    hiddenBelow: 900,
    cell: ({ argument }) => (
      <div className="text-dim">
        <FoldedValue text={argument} />
      </div>
    ),
  },
  {
    id: 'agent',
    title: 'Agent',
    width: 'minmax(64px, 120px)',
    hiddenBelow: 700,
    cell: ({ agent }) => <Value text={agent} lengthMax={24} />,
  },
  {
    id: 'run',
    title: 'Run',
    width: '88px',
    hiddenBelow: 1200,
    cell: ({ runId }) => (
      <span className="font-mono text-12 text-dim" title={plainLine(runId)}>
        {shownId(runId)}
      </span>
    ),
  },
  {
    id: 'rule',
    title: 'Rule',
    width: 'minmax(64px, 160px)',
    hiddenBelow: 1000,
    cell: ({ rule }) => <Value text={rule} lengthMax={32} />,
  },
  {
    id: 'status',
    title: 'Status',
    width: '72px',
    hiddenBelow: 600,
    cell: (call) => <Status {...call} />,
  },
  {
    id: 'latency',
    title: 'Latency',
    width: '72px',
    align: 'right',
    hiddenBelow: 600,
    cell: ({ latencyMs }) => (latencyMs === null ? '' : durationText(latencyMs)),
  },
];
