import { type Event, failure, parseEventLine } from '@subluminal/contracts';
import { replay } from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import type { ChainReader } from '@subluminal/plane/ledger';
import { badUsage, defineCommand, orThrow, textOption } from '../input/command.ts';
import { COMPARE_OPTION, RUN_ID_DOC } from '../input/shared-options.ts';
import { eventRows, findRun, readFreshLedger } from '../ledger/user-ledger.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import { warn } from '../terminal/report-failure.ts';
import { plural } from '../terminal/text.ts';
import { replayPrintout } from './policy-compare.ts';

/** As much as `sub policy replay` takes from a file. */
const RECORDING_LENGTH_MAX = 268_435_456;

export const command = defineCommand({
  description:
    'Reads the calls of a run from the ledger, decides them by this policy and shows the differences. Arguments are known where their preview is complete and unredacted; where a rule needs other arguments, the result is undetermined.',
  args: { run: RUN_ID_DOC },
  options: {
    policy: textOption('file', 'The bundle or snapshot to decide by; required'),
    compare: COMPARE_OPTION,
  },
  examples: [
    'sub replay last --policy new-policy.yaml',
    'sub replay 0198c0de-7a11-7000-8000-000000000001 --policy new-policy.yaml --json',
  ],
  exitCodes: {
    0: 'every call is treated as it was',
    1: 'at least one call is treated more strictly or more loosely',
    2: 'wrong flags, no such run, or a policy or ledger that cannot be read',
  },
  run: async ({ args, options }, io) => {
    const { policy: path, compare = 'action' } = options;
    if (path === undefined || path === '') {
      return badUsage('no policy is given.', 'Name one with --policy.');
    }
    const policy = orThrow(await loadPolicy(path, { io }));
    const { events, prunedCount } = orThrow(
      await readFreshLedger(io, async (reader) => {
        const runId = orThrow(await findRun(reader, args.run));
        return reader.snapshot((view) => readRun(view, runId));
      }),
    );
    if (prunedCount > 0) {
      const what = plural(prunedCount, 'event');
      warn(io, `${what} of this run were pruned, so counters may stand too low.`);
    }
    return replayPrintout(replay(policy.snapshot, events, { sha256, compare }), io);
  },
});

/** The events of a run, and how many of them were pruned. */
async function readRun(reader: ChainReader, runId: string) {
  const events: Event[] = [];
  let prunedCount = 0;
  let length = 0;
  for await (const { line } of eventRows(reader, { runId })) {
    length += line?.length ?? 0;
    if (length > RECORDING_LENGTH_MAX) {
      const message = `the run holds more than ${RECORDING_LENGTH_MAX} characters of events.`;
      return failure('SUB_LEDGER_QUERY', message, 'Export it, and replay a part of events.jsonl.');
    }
    const parsed = line === null ? undefined : parseEventLine(line);
    if (parsed === undefined) prunedCount++;
    // The ledger holds only events; one of an unknown type was written by a later version.
    else if (parsed.ok) events.push(parsed.event);
  }
  return { events, prunedCount };
}
