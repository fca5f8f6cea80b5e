import { failure, isFailure } from '@subluminal/contracts';
import { type Hinted, hintId, hintsOf } from '../hints/find.ts';
import { defineCommand, done, EXIT, textOption } from '../input/command.ts';
import { JSON_FLAG, RUN_OPTION } from '../input/shared-options.ts';
import { freshen } from '../ledger/fresh.ts';
import { findLedger, withReader } from '../ledger/home.ts';
import { tableText } from '../terminal/table.ts';
import { jsonText } from '../terminal/text.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1_000;
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
    json: JSON_FLAG,
  },
  examples: ['sub hints list', 'sub hints', 'sub hints --run last --json'],
  exitCodes: { 0: 'the hints are listed', 2: 'wrong flags, or no ledger' },
  run: async ({ options }, io) => {
    const { run: runName, limit: count = String(LIMIT_DEFAULT), json } = options;
    const limit = /^\d{1,4}$/.test(count) ? Number(count) : 0;
    if (limit < 1 || limit > LIMIT_MAX) {
      const message = `--limit \`${count}\` is no count from 1 to ${LIMIT_MAX}.`;
      return failure('SUB_USAGE', message, 'Write such a number.');
    }
    const home = await findLedger();
    if (isFailure(home)) return home;
    await freshen(home, io);
    const hints = await withReader(home, (reader) => hintsOf(reader, { run: runName, limit }));
    if (isFailure(hints)) return hints;
    if (json) io.out.write(jsonText({ hints: hints.map(jsonOf) }));
    else if (hints.length === 0) io.out.write('There are no hints.\n');
    else io.out.write(tableText(COLUMNS, hints.map(rowOf), (line) => line));
    return done(EXIT.fine);
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
  const { call_id: id, run_id, agent_id, server_name, tool_name, args_hash } = call;
  const { args_preview, rule_id, reason_code, summary, hint } = call;
  const named = { id, run_id, agent_id, server_name, tool_name, args_hash, args_preview };
  return { ...named, rule_id, reason_code, summary, hint };
}
