// How Steward is: what was odd, what it has spent today, where it can be reached, and its last tasks.
import type { ApiAnswerOf } from '@subluminal/contracts';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { asked, post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { countText, dollarsText, durationText, shortCount } from '../../parts/amounts.ts';
import { Button } from '../../parts/buttons.tsx';
import type { TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainLine, plainText } from '../../parts/plain-text.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { AGAIN_MS, type StewardTask, useDecision } from './use-steward.ts';

type StewardStatus = ApiAnswerOf<'stewardStatus'>;
type Spent = StewardStatus['spending'][number];
type MonitorRule = StewardStatus['monitor_rules'][number];
type StewardAlert = StewardStatus['alerts'][number];

export function MonitorTab() {
  const { data } = useQuery({ ...asked('stewardStatus'), refetchInterval: AGAIN_MS });
  const { data: last } = useQuery({
    ...asked('stewardTasks', { query: { limit: 50 } }),
    refetchInterval: AGAIN_MS,
  });
  if (data === undefined) return null;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="flex max-w-[1080px] flex-col gap-6 p-4 max-sm:p-3">
        <Facts status={data} />
        <Alerts alerts={data.alerts} />
        <Part title="Today (UTC)">
          <SmallTable
            label="Spent today"
            columns={SPENT}
            rows={data.spending}
            rowKey={({ purpose }) => purpose}
            empty="No model was asked today."
          />
        </Part>
        <Part title="Last tasks">
          <SmallTable
            label="Last tasks"
            columns={TASKS}
            rows={last?.tasks ?? []}
            rowKey={({ id }) => id}
            empty="No task yet. Say something in the chat."
          />
        </Part>
        <Part title="What the monitor watches">
          <SmallTable
            label="Rules of the monitor"
            columns={RULES}
            rows={data.monitor_rules}
            rowKey={({ name }) => name}
            empty="Nothing."
          />
          <p className="text-12 text-dim">
            The thresholds stand under <code>monitor</code> in guardrails.yaml.
          </p>
        </Part>
      </div>
    </div>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-1">
      <h2 className="text-12 text-dim">{title}</h2>
      {children}
    </section>
  );
}

function Alerts({ alerts }: { readonly alerts: readonly StewardAlert[] }) {
  const mayAct = useMay('owner');
  const acknowledge = useDecision((ids: number[]) => post('stewardAcknowledgeAlerts', { ids }));
  const news = alerts.filter(({ acknowledged }) => acknowledged === null);
  return (
    <Part title="Alerts of the last day">
      <SmallTable
        label="Alerts"
        columns={ALERTS}
        rows={alerts}
        rowKey={({ id }) => String(id)}
        empty="Nothing odd was found."
      />
      {mayAct && news.length > 0 && (
        <Button
          className="self-start max-md:h-11"
          disabled={acknowledge.isPending}
          onClick={() => acknowledge.mutate(news.map(({ id }) => id))}
        >
          Acknowledge {news.length === 1 ? 'the new alert' : `${news.length} new alerts`}
        </Button>
      )}
      {acknowledge.error !== null && <FailureText cause={acknowledge.error} />}
    </Part>
  );
}

function Facts({ status }: { readonly status: StewardStatus }) {
  const { pid, version, started_at_ms, config_folder, channels } = status;
  const { config_problems: problems, restart_needed: waits } = status;
  return (
    <FactList>
      <Fact label="Runs">
        since <Ago atMs={started_at_ms} />, process {pid}, version {plainText(version)}
      </Fact>
      <Fact label="Configuration">
        <Value text={config_folder} lengthMax={100} />
      </Fact>
      {problems.map((problem) => (
        <Fact key={problem} label="Not in force">
          <span className="text-danger">■ {plainText(problem)}</span>
        </Fact>
      ))}
      {waits.length > 0 && <Fact label="After a restart">{plainText(waits.join(', '))}</Fact>}
      <Fact label="Waits for you">
        {counted(status.pending_confirmations, 'call')}, {counted(status.pending_changes, 'change')}
      </Fact>
      {channels.map(({ name, trouble }) => (
        <Fact key={name} label={`On ${plainText(name)}`}>
          {trouble === null ? 'works' : <span className="text-danger">■ {plainText(trouble)}</span>}
        </Fact>
      ))}
    </FactList>
  );
}

function counted(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

const ALERTS: readonly TableColumn<StewardAlert>[] = [
  {
    id: 'text',
    title: 'Alert',
    width: '1fr',
    cell: ({ text, acknowledged }) =>
      acknowledged === null ? (
        <span title={plainLine(text)}>▲ {plainLine(text)}</span>
      ) : (
        <span className="text-dim" title={plainLine(text)}>
          {plainLine(text)}
        </span>
      ),
  },
  { id: 'count', title: 'Times', width: '64px', align: 'right', cell: ({ count }) => count },
  {
    id: 'told',
    title: 'Told',
    width: '88px',
    hiddenBelow: 640,
    cell: ({ is_told }) => (is_told ? 'you' : 'on record'),
  },
  {
    id: 'acknowledged',
    title: 'Acknowledged',
    width: '128px',
    hiddenBelow: 640,
    cell: ({ acknowledged }) =>
      acknowledged === null ? 'new' : `by ${plainText(acknowledged.by)}`,
  },
  {
    id: 'when',
    title: 'When',
    width: '96px',
    align: 'right',
    cell: ({ last_at_ms }) => <Ago atMs={last_at_ms} />,
  },
];

const RULES: readonly TableColumn<MonitorRule>[] = [
  { id: 'name', title: 'Watched', width: '160px', cell: ({ name }) => plainText(name) },
  {
    id: 'alerts',
    title: 'Alert when',
    width: '1fr',
    cell: ({ alerts }) => <span title={plainLine(alerts)}>{plainLine(alerts)}</span>,
  },
];

const SPENT: readonly TableColumn<Spent>[] = [
  { id: 'purpose', title: 'Purpose', width: '1fr', cell: ({ purpose }) => plainText(purpose) },
  { id: 'turns', title: 'Turns', width: '64px', align: 'right', cell: ({ turns }) => turns },
  { id: 'steps', title: 'Steps', width: '64px', align: 'right', cell: ({ steps }) => steps },
  {
    id: 'tokens',
    title: 'Tokens',
    width: '120px',
    align: 'right',
    hiddenBelow: 640,
    cell: ({ input_tokens, output_tokens }) =>
      `${shortCount(input_tokens)} in, ${shortCount(output_tokens)} out`,
  },
  {
    id: 'work',
    title: 'Work',
    width: '96px',
    align: 'right',
    hiddenBelow: 640,
    cell: ({ work_ms }) => durationText(work_ms),
  },
  {
    id: 'cost',
    title: 'Cost',
    width: '80px',
    align: 'right',
    cell: ({ cost_micros }) => dollarsText(cost_micros),
  },
];

const TASKS: readonly TableColumn<StewardTask>[] = [
  {
    id: 'request',
    title: 'Request',
    width: '1fr',
    cell: ({ request }) => <Value text={request} lengthMax={120} />,
  },
  { id: 'state', title: 'State', width: '72px', cell: ({ state }) => state },
  {
    id: 'refused',
    title: 'Refused',
    width: '72px',
    align: 'right',
    hiddenBelow: 640,
    cell: ({ steps }) => steps.filter(({ state }) => state === 'refused').length,
  },
  {
    id: 'steps',
    title: 'Steps',
    width: '64px',
    align: 'right',
    hiddenBelow: 640,
    cell: ({ steps }) => steps.length,
  },
  {
    id: 'cost',
    title: 'Cost',
    width: '80px',
    align: 'right',
    cell: ({ cost_micros }) => dollarsText(cost_micros),
  },
  {
    id: 'when',
    title: 'When',
    width: '96px',
    align: 'right',
    cell: ({ created_at_ms }) => <Ago atMs={created_at_ms} />,
  },
];
