import { durationText, momentText, usageText } from '../../parts/amounts.ts';
import type { TableColumn } from '../../parts/data-table.tsx';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { FoldedValue, Value } from '../../parts/texts.tsx';
import { callName } from './call-name.ts';
import { type CallBar, isRefused } from './lanes.ts';
import { offsetText } from './offset-text.ts';
import { argumentOf } from './run-calls.ts';

export function callColumns(startMs: number): readonly TableColumn<CallBar>[] {
  return [
    {
      id: 'at',
      title: 'At',
      width: '88px',
      align: 'right',
      cell: ({ fromMs }) => <span title={momentText(fromMs)}>{offsetText(fromMs - startMs)}</span>,
    },
    {
      id: 'decision',
      title: 'Decision',
      width: '88px',
      cell: ({ decision }) => <DecisionMark decision={decision} />,
    },
    {
      id: 'call',
      title: 'Call',
      width: 'minmax(120px, 2fr)',
      cell: ({ call }) => <Value text={callName(call)} lengthMax={80} />,
    },
    {
      id: 'argument',
      title: 'Argument',
      width: 'minmax(80px, 2fr)',
      hiddenBelow: 760,
      cell: ({ call }) => (
        <div className="text-dim">
          <FoldedValue text={call.kind === 'turn' ? usageText(call) : (argumentOf(call) ?? '')} />
        </div>
      ),
    },
    {
      id: 'retry',
      title: 'Again',
      width: '48px',
      hiddenBelow: 640,
      cell: ({ retries }) =>
        retries > 0 && (
          <span
            className="text-dim"
            title={`The same call with the same arguments, time ${retries + 1}`}
          >
            ↻ {retries + 1}
          </span>
        ),
    },
    ...OUTCOME,
  ];
}

const OUTCOME: readonly TableColumn<CallBar>[] = [
  {
    id: 'rule',
    title: 'Rule',
    width: 'minmax(80px, 1fr)',
    hiddenBelow: 900,
    cell: ({ call }) => call.rule_id !== null && <Value text={call.rule_id} lengthMax={40} />,
  },
  {
    id: 'waited',
    title: 'Waited',
    width: '72px',
    align: 'right',
    hiddenBelow: 1024,
    cell: ({ wait }) =>
      wait !== undefined && (
        <span className="text-ask-ink">{durationText(wait.toMs - wait.fromMs)}</span>
      ),
  },
  {
    id: 'status',
    title: 'Status',
    width: '80px',
    hiddenBelow: 640,
    cell: (bar) => <CallStatusText bar={bar} />,
  },
  {
    id: 'latency',
    title: 'Latency',
    width: '72px',
    align: 'right',
    hiddenBelow: 480,
    cell: ({ call }) => (call.latency_ms === null ? '' : durationText(call.latency_ms)),
  },
];

function CallStatusText({ bar }: { readonly bar: CallBar }) {
  const { status } = bar.call;
  if (isRefused(bar.call)) return <span className="text-dim">refused</span>;
  if (status === null)
    return <span className="text-ask-ink">{bar.decision === 'ASK' ? 'waits' : 'running'}</span>;
  const word = plainLine(status).toLowerCase();
  return status === 'OK' ? word : <span className="text-danger">{word}</span>;
}
