import { replay } from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import { badUsage, defineCommand, orThrow, textOption } from '../input/command.ts';
import { COMPARE_OPTION, RUN_ID_DOC } from '../input/shared-options.ts';
import { eventsOfRun } from '../ledger/recorded-events.ts';
import { readFreshLedger } from '../ledger/user-ledger.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import { warn } from '../terminal/report-failure.ts';
import { plural } from '../terminal/text.ts';
import { replayPrintout } from './policy-compare.ts';

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
      await readFreshLedger(io, (reader) => eventsOfRun(reader, args.run)),
    );
    if (prunedCount > 0) {
      const what = plural(prunedCount, 'event');
      warn(io, `pruned: ${what} of this run, so counters may stand too low.`);
    }
    return replayPrintout(replay(policy.snapshot, events, { sha256, compare }), io);
  },
});
