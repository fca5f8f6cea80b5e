import { failure } from '@subluminal/contracts';
import { readLogin } from '@subluminal/gateway/proxy/login';
import { homePaths } from '@subluminal/plane/config';
import type { TurnTotal } from '@subluminal/plane/ledger';
import { choice, defineCommand, orThrow, printout, textOption } from '../input/command.ts';
import { timeOption } from '../input/read-option.ts';
import { NO_LEDGER } from '../input/shared-options.ts';
import { costText, countText } from '../ledger/turn-text.ts';
import { readFreshLedger } from '../ledger/user-ledger.ts';
import type { Output } from '../terminal/io.ts';
import { type Cell, tableText } from '../terminal/table.ts';

const OPTIONS = {
  by: choice(
    ['model', 'user', 'repo', 'team', 'task', 'agent', 'run'],
    'What to add up by (default: model)',
  ),
  local: 'Add up the ledger of this machine, although it is logged in to a gateway',
  from: textOption(
    'time',
    'From this time on: 2026-01-31T12:00:00Z, or 15m, 2h, 7d ago (default: 7d)',
  ),
  to: textOption('time', 'Before this time'),
};

export const command = defineCommand({
  description:
    'Adds up turns: how many there were, the tokens that they used, and what they cost. A machine that is logged in asks its gateway for what you may see, and warns of budgets that are nearly used up; all others, and `--by agent` and `--by run`, look into the ledger. A turn of a model whose price is not known costs nothing in the ledger, and is counted as unpriced.',
  options: OPTIONS,
  examples: ['sub stats', 'sub stats --by team --from 7d', 'sub stats --by run --from 24h --json'],
  exitCodes: {
    0: 'the sums are printed; there may be none',
    2: `${NO_LEDGER}, or the gateway cannot be reached`,
  },
  run: async ({ options }, io) => {
    const nowMs = Date.now();
    const { by = 'model' } = options;
    const fromMs = timeOption('from', options.from ?? '7d', nowMs) ?? 0;
    const toMs = timeOption('to', options.to, nowMs) ?? nowMs + 1;
    if (by !== 'agent' && by !== 'run') {
      const login = options.local ? undefined : orThrow(readLogin(homePaths(process.env).home));
      if (login !== undefined) {
        const { gatewayStats } = await import('../proxy/gateway-stats.ts');
        return gatewayStats({ by, fromMs, toMs }, io.out);
      }
    }
    if (by === 'team' || by === 'task') {
      const message = `The ledger of this machine does not know the ${by} of a turn; a gateway does.`;
      return failure('SUB_GATEWAY_LOGIN', message, 'Log in with `sub login`, without --local.');
    }
    return readFreshLedger(io, async (reader) => {
      const rows = await reader.turnTotals({ by, fromMs, toMs });
      const span = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
      return printout({ by, ...span, rows }, statsText(by, rows, io.out));
    });
  },
});

function statsText(by: string, rows: readonly TurnTotal[], { columns }: Output): string {
  if (rows.length === 0)
    return 'No turns on record. `sub run --models -- AGENT` and `sub proxy` record them.\n';
  const titles = [
    { title: by.toUpperCase(), widthMin: 12 },
    ...['TURNS', 'REFUSED', 'FAILED', 'TOKENS IN', 'TOKENS OUT', 'COST'].map((title) => ({
      title,
      right: true,
    })),
  ];
  const cells = rows.map(cellsOf);
  const all = rows.length > 1 ? [cellsOf(sumOf(rows))] : [];
  const unpriced = rows.reduce((sum, one) => sum + one.unpriced, 0);
  const note = unpriced === 0 ? '' : `${countText(unpriced)} turns have no known price.\n`;
  return `${tableText(titles, [...cells, ...all], { width: columns })}${note}`;
}

function cellsOf(total: TurnTotal): readonly Cell[] {
  const { name, turns, refused, failed, tokens_in, tokens_out, cost_micros } = total;
  const counts = [turns, refused, failed, tokens_in, tokens_out].map(countText);
  return [name === '' ? '-' : name, ...counts, costText(cost_micros)];
}

function sumOf(rows: readonly TurnTotal[]): TurnTotal {
  const sum = (field: Exclude<keyof TurnTotal, 'name'>) =>
    rows.reduce((total, row) => total + row[field], 0);
  return {
    name: 'all',
    turns: sum('turns'),
    refused: sum('refused'),
    failed: sum('failed'),
    tokens_in: sum('tokens_in'),
    tokens_out: sum('tokens_out'),
    cost_micros: sum('cost_micros'),
    unpriced: sum('unpriced'),
  };
}
