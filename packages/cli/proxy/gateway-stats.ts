// What turns have cost by the records of the gateway, for `sub stats`.
import { type BUDGET_STATES, type Infer, isFailure } from '@subluminal/contracts';
import { type Outcome, orThrow, printout } from '../input/command.ts';
import { costText, countText } from '../ledger/turn-text.ts';
import type { Output } from '../terminal/io.ts';
import { tableText } from '../terminal/table.ts';
import { harmlessLine } from '../terminal/text.ts';
import { developerMachine, requireLogin, withGateway } from './developer-machine.ts';

/** What the gateway sums by, for each `--by`. */
const DIMENSIONS = {
  model: 'model',
  team: 'team',
  user: 'user',
  repo: 'repo',
  task: 'task_type',
} as const;

interface StatsQuestion {
  readonly by: keyof typeof DIMENSIONS;
  readonly fromMs: number;
  readonly toMs: number;
}

type BudgetState = Infer<typeof BUDGET_STATES>['budgets'][number];

/** The sums that the user may see. Throws its failure. */
export async function gatewayStats(
  { by, fromMs, toMs }: StatsQuestion,
  { columns }: Output,
): Promise<Outcome> {
  const machine = await developerMachine();
  const login = await requireLogin(machine);
  const span = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
  const [found, limits] = orThrow(
    await withGateway(machine, login, async (client) => {
      const sums = await client.costSummary({ dim: DIMENSIONS[by], ...span });
      if (isFailure(sums)) return sums;
      const budgets = await client.budgets();
      return isFailure(budgets) ? budgets : ([sums, budgets] as const);
    }),
  );
  const rows = found.rows
    .map((row) => ({
      name: row.dim_value,
      calls: row.n_requests,
      failed: row.n_failed,
      tokens_in: row.input_tokens,
      tokens_out: row.output_tokens,
      cost_micros: row.cost_micros,
    }))
    .toSorted((a, b) => b.cost_micros - a.cost_micros);
  const titles = [
    { title: by.toUpperCase(), widthMin: 12 },
    ...['CALLS', 'FAILED', 'TOKENS IN', 'TOKENS OUT', 'COST'].map((title) => ({
      title,
      right: true,
    })),
  ];
  const cells = rows.map(({ name, calls, failed, tokens_in, tokens_out, cost_micros }) => [
    name === '' ? '-' : name,
    ...[calls, failed, tokens_in, tokens_out].map(countText),
    costText(cost_micros),
  ]);
  const table =
    rows.length === 0
      ? 'No turns on record at the gateway.\n'
      : tableText(titles, cells, { width: columns });
  const warnings = limits.budgets.filter(({ is_soft_hit }) => is_soft_hit);
  const notes = warnings.map((one) => harmlessLine(budgetText(one)));
  const document = { by, ...span, gateway_url: login.gatewayUrl, rows, budgets: warnings };
  return printout(document, `${table}${notes.join('')}`);
}

function budgetText({ scope, key, period, used_micros, cap_micros, is_hard_hit }: BudgetState) {
  const left = is_hard_hit ? 'used up' : 'nearly used up';
  const amounts = `${costText(used_micros)} of ${costText(cap_micros)}`;
  return `! The budget ${scope} of ${key} (${period}) is ${left}: ${amounts}.`;
}
