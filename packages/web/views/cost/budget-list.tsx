// Budgets: what is spent, what turns under way may still spend, and the two limits.
import type { GatewayAnswerOf } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { askedGateway } from '../../api/gateway.ts';
import { dollarsText } from '../../parts/amounts.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import type { TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { Value } from '../../parts/texts.tsx';

type GatewayBudget = GatewayAnswerOf<'budgets'>['budgets'][number];

const AGAIN_MS = 5_000;
const SCOPES = { team_month: 'Team, monthly', user_day: 'Person, daily', run: 'Run' } as const;
const THEN = {
  refuse: 'refuses turns',
  require_approval: 'asks for approval',
  warn: 'warns',
} as const;

export function BudgetList() {
  const { data, error } = useQuery({
    ...askedGateway('budgets', { query: { limit: 500 } }),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      {error !== null && <FailureText cause={error} />}
      {data?.budgets.length === 0 && (
        <EmptyState title="No budgets." command="sub gateway check DIR">
          Limits for teams, people and runs stand in budgets.yaml of the gateway. The command checks
          the folder before the gateway takes it over.
        </EmptyState>
      )}
      {data !== undefined && data.budgets.length > 0 && (
        <>
          <Legend />
          <SmallTable
            label="Budgets"
            columns={COLUMNS}
            rows={data.budgets}
            rowKey={({ scope, key, period }) => `${scope} ${key} ${period}`}
          />
        </>
      )}
      {data !== undefined && data.left_out > 0 && (
        <p className="px-3 py-2 text-dim">{data.left_out} further budgets were not looked at.</p>
      )}
    </div>
  );
}

const COLUMNS: readonly TableColumn<GatewayBudget>[] = [
  {
    id: 'name',
    title: 'For',
    width: 'auto',
    cell: ({ name, key }) => <Value text={name ?? key} lengthMax={32} />,
  },
  {
    id: 'scope',
    title: 'Limit',
    width: '184px',
    hiddenBelow: 800,
    cell: ({ scope, period }) => (
      <>
        {SCOPES[scope]} <span className="text-dim">{plainLine(period)}</span>
      </>
    ),
  },
  {
    id: 'state',
    title: 'State',
    width: '80px',
    cell: (budget) => <BudgetState {...budget} />,
  },
  { id: 'bar', title: 'Used', width: 'auto', cell: (budget) => <BudgetBar budget={budget} /> },
  {
    id: 'used',
    title: 'Settled',
    width: '80px',
    align: 'right',
    hiddenBelow: 640,
    cell: ({ used_micros }) => dollarsText(used_micros),
  },
  {
    id: 'reserved',
    title: 'Reserved',
    width: '80px',
    align: 'right',
    hiddenBelow: 800,
    cell: ({ reserved_micros }) => (
      <span className={reserved_micros === 0 ? 'text-dim' : ''}>
        {dollarsText(reserved_micros)}
      </span>
    ),
  },
  {
    id: 'cap',
    title: 'Cap',
    width: '88px',
    align: 'right',
    cell: ({ cap_micros }) => dollarsText(cap_micros),
  },
  {
    id: 'then',
    title: 'Then it',
    width: '136px',
    hiddenBelow: 1000,
    cell: ({ on_exceeded }) => THEN[on_exceeded],
  },
];

function BudgetState({ is_hard_hit, is_soft_hit }: GatewayBudget) {
  if (is_hard_hit) return <span className="text-block-ink">■ used up</span>;
  if (is_soft_hit) return <span className="text-throttle-ink">▲ warns</span>;
  return <span className="text-allow-ink">● fine</span>;
}

/** The bar ends at the cap, or at what is used beyond it. */
function BudgetBar({ budget }: { readonly budget: GatewayBudget }) {
  const { used_micros: used, reserved_micros: reserved, cap_micros: cap } = budget;
  const whole = Math.max(1, cap, used + reserved);
  const share = (micros: number) => `${(Math.min(micros, whole) / whole) * 100}%`;
  const words = `${dollarsText(used)} settled and ${dollarsText(reserved)} reserved of ${dollarsText(cap)}, warns from ${dollarsText(budget.soft_micros)}`;
  return (
    <svg role="img" aria-label={words} width="100%" height="16" className="block">
      <title>{words}</title>
      <rect width="100%" y="4" height="8" fill="var(--color-line)" />
      <rect width={share(used + reserved)} y="4" height="8" fill="var(--part-2)" />
      <rect width={share(used)} y="4" height="8" fill="var(--part-1)" />
      <Limit at={share(budget.soft_micros)} color="var(--color-throttle)" />
      <Limit at={share(cap)} color="var(--color-block)" isLast={cap >= whole} />
    </svg>
  );
}

function Limit(props: { readonly at: string; readonly color: string; readonly isLast?: boolean }) {
  const { at, color, isLast = false } = props;
  return (
    <rect x={at} width="2" height="16" fill={color} transform={isLast ? 'translate(-2)' : ''} />
  );
}

const MARKS = [
  ['var(--part-1)', 'settled'],
  ['var(--part-2)', 'reserved by turns under way'],
  ['var(--color-throttle)', 'soft limit: warns'],
  ['var(--color-block)', 'hard limit'],
] as const;

function Legend() {
  return (
    <p className="flex flex-wrap gap-x-4 px-3 py-2 text-12 text-dim">
      {MARKS.map(([color, words], at) => (
        <span key={words} className="inline-flex items-center gap-1">
          <span
            aria-hidden="true"
            className={at < 2 ? 'size-2' : 'h-3 w-0.5'}
            style={{ background: color }}
          />
          {words}
        </span>
      ))}
    </p>
  );
}
