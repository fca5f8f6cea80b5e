import { badUsage, defineCommand, orThrow, printout, textOption } from '../input/command.ts';
import { ID_DOC, NO_LEDGER } from '../input/shared-options.ts';
import { callRecord, findCall, recordDocument } from '../ledger/call-record.ts';
import { callText } from '../ledger/call-text.ts';
import { readFreshLedger } from '../ledger/user-ledger.ts';

export const command = defineCommand({
  description:
    'Shows all that the ledger has about one call: its arguments and result (secrets removed), the decision with every rule that matched, the hint, who approved it, and its events. Says what was not kept, and why.',
  args: { call: `${ID_DOC}; \`last\` is the newest call` },
  options: { run: textOption('id', 'The run of the call, where several runs have such a call') },
  examples: ['sub show last', 'sub show 1f0c9a77', 'sub show 1f0c9a77 --json'],
  exitCodes: { 0: 'the call is shown', 2: NO_LEDGER },
  run: async ({ args, options }, io) => {
    if (args.call === '') return badUsage('the id of the call is empty.', 'See `sub query`.');
    const record = orThrow(
      await readFreshLedger(io, async (reader) => {
        const call = orThrow(await findCall(reader, args.call, options.run));
        return callRecord(reader, call);
      }),
    );
    return printout(recordDocument(record), callText(record, io.out));
  },
});
