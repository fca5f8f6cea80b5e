import type { ApiRun } from '@subluminal/contracts';
import type { ReactNode } from 'react';
import { countText, dollarsText, shortCount } from '../../parts/amounts.ts';
import type { TableColumn } from '../../parts/data-table.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import {
  DegradedMark,
  RunDuration,
  RunStatus,
  refusedCount,
  runStartMs,
} from '../../parts/run-status.tsx';
import { Spark } from '../../parts/spark.tsx';
import { Ago, Value } from '../../parts/texts.tsx';
import type { RunActivity } from './run-rows.ts';

interface ColumnSource {
  readonly activity: ReadonlyMap<string, RunActivity>;
  readonly chosen: readonly string[];
  readonly toggle: (runId: string) => void;
}

export function runColumns(source: ColumnSource): readonly TableColumn<ApiRun>[] {
  return [
    {
      id: 'choose',
      title: '',
      width: '16px',
      cell: (run) => <ChooseBox run={run} source={source} />,
    },
    { id: 'status', title: 'Status', width: '96px', cell: (run) => <RunStatus run={run} /> },
    {
      id: 'degraded',
      title: '',
      width: '16px',
      hiddenBelow: 640,
      cell: (run) => <DegradedMark run={run} />,
    },
    { id: 'agent', title: 'Agent', width: 'minmax(80px, 1.4fr)', cell: agentCell },
    {
      id: 'client',
      title: 'Client',
      width: 'minmax(56px, 0.6fr)',
      hiddenBelow: 900,
      cell: ({ client }) => word(client),
    },
    {
      id: 'person',
      title: 'Person',
      width: 'minmax(64px, 1fr)',
      hiddenBelow: 760,
      cell: ({ principal }) => word(principal),
    },
    {
      id: 'run',
      title: 'Run',
      width: '104px',
      hiddenBelow: 1280,
      cell: ({ run_id }) => <Value text={run_id} lengthMax={13} />,
    },
    {
      id: 'activity',
      title: 'Calls over time',
      width: '96px',
      hiddenBelow: 1024,
      cell: ({ run_id }) => <RunSpark row={source.activity.get(run_id)} />,
    },
    {
      id: 'started',
      title: 'Started',
      width: '80px',
      align: 'right',
      hiddenBelow: 480,
      cell: (run) => <Ago atMs={runStartMs(run)} />,
    },
    {
      id: 'duration',
      title: 'Duration',
      width: '88px',
      align: 'right',
      hiddenBelow: 560,
      cell: (run) => <RunDuration run={run} />,
    },
    ...NUMBERS,
  ];
}

const agentCell = ({ agent_id, run_id }: ApiRun) => (
  <Value text={agent_id ?? run_id} lengthMax={40} />
);

const NUMBERS: readonly TableColumn<ApiRun>[] = [
  number('calls', 'Calls', { value: ({ calls }) => calls.total, width: '56px' }),
  number('refused', 'Refused', {
    value: refusedCount,
    width: '56px',
    ink: 'text-block-ink',
  }),
  number('hints', 'Hints', { value: ({ hints }) => hints, width: '48px', hiddenBelow: 900 }),
  number('errors', 'Errors', {
    value: ({ calls }) => calls.errors,
    width: '48px',
    ink: 'text-danger',
    hiddenBelow: 640,
  }),
  {
    id: 'tokens',
    title: 'Tokens',
    width: '56px',
    align: 'right',
    hiddenBelow: 1100,
    cell: ({ tokens_in, tokens_out }) => (
      <span title={`${countText(tokens_in)} in, ${countText(tokens_out)} out`}>
        {quietZero(tokens_in + tokens_out, shortCount(tokens_in + tokens_out))}
      </span>
    ),
  },
  {
    id: 'cost',
    title: 'Cost',
    width: '64px',
    align: 'right',
    hiddenBelow: 760,
    cell: ({ cost_micros }) => quietZero(cost_micros, dollarsText(cost_micros)),
  },
];

interface NumberColumn {
  readonly value: (run: ApiRun) => number;
  readonly width: string;
  readonly ink?: string;
  readonly hiddenBelow?: number;
}

function number(id: string, title: string, options: NumberColumn): TableColumn<ApiRun> {
  const { value, ink = '', width, hiddenBelow = 0 } = options;
  return {
    id,
    title,
    width,
    align: 'right',
    hiddenBelow,
    cell: (run) => <span className={ink}>{quietZero(value(run), countText(value(run)))}</span>,
  };
}

/** What is nought needs no attention. */
function quietZero(value: number, text: string): ReactNode {
  return value === 0 ? <span className="text-dim">{text}</span> : text;
}

function word(text: string | null): ReactNode {
  return text === null ? <span className="text-dim">–</span> : plainLine(text);
}

function RunSpark({ row }: { readonly row: RunActivity | undefined }) {
  if (row === undefined) return null;
  const total = row.calls.reduce((sum, count) => sum + count, 0);
  const refused = row.refused.reduce((sum, count) => sum + count, 0);
  const label = `${total} calls, ${refused} refused`;
  return <Spark label={label} calls={row.calls} refused={row.refused} />;
}

function ChooseBox({ run, source }: { readonly run: ApiRun; readonly source: ColumnSource }) {
  const { run_id, agent_id } = run;
  return (
    <input
      type="checkbox"
      className="block size-4 accent-accent"
      aria-label={`Compare ${plainLine(agent_id ?? '')} ${plainLine(run_id)}`}
      checked={source.chosen.includes(run_id)}
      onChange={() => source.toggle(run_id)}
      // A click on the row opens it.
      onClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => event.stopPropagation()}
    />
  );
}
