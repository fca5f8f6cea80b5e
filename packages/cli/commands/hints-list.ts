import { type Hinted, hintId, listHints } from '../hints/find.ts';
import { defineCommand, orThrow, printout, textOption } from '../input/command.ts';
import { numberOption } from '../input/read-option.ts';
import { RUN_OPTION } from '../input/shared-options.ts';
import { readFreshLedger } from '../ledger/user-ledger.ts';
import { tableText } from '../terminal/table.ts';

const COLUMNS = [
  { title: 'ID', lengthMax: 36 },
  { title: 'WHEN' },
  { title: 'CALL', lengthMax: 48 },
  { title: 'AGENT', lengthMax: 24 },
  { title: 'RULE', lengthMax: 32 },
  { title: 'HINT', lengthMax: 80 },
];

export const command = defineCommand({
  description:
    'Lists calls that were rejected with a hint, newest first: the rule that rejected each, and the hint that the agent got. `sub hints` alone does the same.',
  options: {
    run: RUN_OPTION,
    limit: textOption('count', 'Maximum number of hints (default: 50)'),
  },
  examples: ['sub hints list', 'sub hints', 'sub hints --run last --json'],
  exitCodes: { 0: 'the hints are listed', 2: 'wrong flags, or no ledger' },
  run: async ({ options }, io) => {
    const limit = numberOption('limit', options.limit, { min: 1, max: 1_000 }) ?? 50;
    const hints = orThrow(
      await readFreshLedger(io, (reader) => listHints(reader, options.run, limit)),
    );
    const table = tableText(COLUMNS, hints.map(rowOf));
    const document = { hints: hints.map(jsonOf) };
    return printout(document, hints.length === 0 ? 'There are no hints.\n' : table);
  },
});

function rowOf(call: Hinted): readonly string[] {
  return [
    hintId(call.call_id),
    new Date(call.hint.created_at_ms).toISOString().slice(0, 19).concat('Z'),
    `${call.server_name}/${call.tool_name}`,
    call.agent_id,
    call.rule_id ?? '',
    call.hint.hint_text,
  ];
}

function jsonOf(call: Hinted) {
  const { call_id: id, run_id, agent_id, server_name, tool_name, args_hash, args_preview } = call;
  const { rule_id, reason_code, summary, hint } = call;
  const named = { id, run_id, agent_id, server_name, tool_name, args_hash, args_preview };
  return { ...named, rule_id, reason_code, summary, hint };
}
