import { type Failure, failure, isFailure } from '@subluminal/contracts';
import type { StoreReader } from '@subluminal/plane/ledger';
import { badUsage, defineCommand, orThrow, printout, textOption } from '../input/command.ts';
import { ID_DOC, NO_LEDGER } from '../input/shared-options.ts';
import { type CallRecord, callRecord, findCall, recordDocument } from '../ledger/call-record.ts';
import { callText } from '../ledger/call-text.ts';
import { type RunRecord, runDocument, runRecord, runText } from '../ledger/run-record.ts';
import { LAST, readFreshLedger } from '../ledger/user-ledger.ts';

export const command = defineCommand({
  description:
    'Shows all that the ledger has about one call: its arguments and result (secrets removed), the decision with every rule that matched, the hint, who approved it, and its events. Says what was not kept, and why. For the id of a run: who started it, what it did, and where it was decided or recorded by less than it should be, such as tools that reached no hook.',
  args: { call: `${ID_DOC}, or of a run; \`last\` is the newest call` },
  options: { run: textOption('id', 'The run of the call, where several runs have such a call') },
  examples: ['sub show last', 'sub show 1f0c9a77', 'sub show 1f0c9a77 --json'],
  exitCodes: { 0: 'the call or the run is shown', 2: NO_LEDGER },
  run: async ({ args, options }, io) => {
    if (args.call === '') return badUsage('the id of the call is empty.', 'See `sub query`.');
    const found = orThrow(
      await readFreshLedger(io, (reader) => find(reader, args.call, options.run)),
    );
    return 'call' in found
      ? printout(recordDocument(found), callText(found, io.out))
      : printout(runDocument(found), runText(found, io.out));
  },
});

/** A call, or else a run. */
async function find(
  reader: StoreReader,
  name: string,
  run: string | undefined,
): Promise<CallRecord | RunRecord | Failure> {
  const call = await findCall(reader, name, run);
  if (call !== undefined) return isFailure(call) ? call : callRecord(reader, call);
  const found = run === undefined && name !== LAST ? await runRecord(reader, name) : undefined;
  if (found !== undefined) return found;
  const what = run === undefined ? 'neither a call nor a run' : 'no call';
  const fix = 'See `sub query` and `sub query --runs`.';
  return failure('SUB_LEDGER_QUERY', `the ledger has ${what} \`${name}\`.`, fix);
}
