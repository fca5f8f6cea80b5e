// The options of `sub tail`.
import { choice, type OptionValues, textOption } from '../input/command.ts';
import { DECISION_FILTERS } from '../input/shared-options.ts';

export const TAIL_OPTIONS = {
  run: textOption('id', 'Only this run; `last` is the newest run in the ledger'),
  agent: textOption('id', 'Only this agent'),
  server: textOption('name', 'Only calls to this server'),
  tool: textOption('name', 'Only calls of this tool'),
  decision: choice(DECISION_FILTERS, 'Only this decision; REFUSED is any decision except ALLOW'),
  backlog: textOption('count', 'Start with this many matching past calls (default: 10)'),
  since: textOption('time', 'Start at this time instead: 2026-01-31T12:00:00Z, or 15m, 2h, 3d ago'),
  'no-follow': 'Print what the ledger has, and end',
  json: 'Print one JSON object per line: one per call, and one per notice',
};

export type TailOptions = OptionValues<typeof TAIL_OPTIONS>;
