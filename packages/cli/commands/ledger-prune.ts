import { definedFields, failure } from '@subluminal/contracts';
import type { Config } from '@subluminal/plane/config';
import { retentionRequests } from '@subluminal/plane/daemon';
import type { PruneFilter } from '@subluminal/plane/ingest';
import {
  defineCommand,
  done,
  EXIT,
  type OptionValues,
  orThrow,
  textOption,
} from '../input/command.ts';
import { numberOption, timeOption } from '../input/read-option.ts';
import { findLedger, freshen } from '../ledger/user-ledger.ts';
import { changeLedger } from '../ledger/writer.ts';
import { jsonText, plural } from '../terminal/text.ts';

interface PruneStep {
  readonly what: 'all' | 'previews';
  readonly runs: number;
  /** Null where nothing was removed. */
  readonly events: number | null;
}

const KEPT_RUNS_MAX = 999_999_999;

const OPTIONS = {
  'older-than': textOption('age', 'Runs whose last event is older than this: 30d, 12h, or a time'),
  'keep-runs': textOption('count', 'All runs except this many of the newest'),
  'previews-only': 'Remove only the previews of arguments and results',
  'dry-run': 'Print what would be removed, and change nothing',
  yes: 'Remove it; without this flag nothing changes',
};
type PruneOptions = OptionValues<typeof OPTIONS>;

export const command = defineCommand({
  description:
    'Removes runs, or only their previews, and signs a record of what was removed, so that the ledger still verifies. Without --older-than and --keep-runs it applies the retention of the configuration.',
  options: OPTIONS,
  examples: [
    'sub ledger prune --older-than 30d --dry-run',
    'sub ledger prune --keep-runs 100 --yes',
  ],
  exitCodes: {
    0: 'the runs are removed, or none was that old; with --dry-run: the runs are counted',
    2: 'wrong flags, no --yes, or a ledger that is missing or cannot be written',
  },
  requires: 'person',
  run: async ({ options }, io) => {
    if (options.yes && options['dry-run']) {
      return failure('SUB_USAGE', '--yes and --dry-run exclude each other.', 'Give one.');
    }
    const home = orThrow(await findLedger());
    const requests = requestsOf(options, home.config);
    await freshen(home, io);
    const steps = orThrow(
      await changeLedger(home, { io, create: false }, async (writer) => {
        const all: PruneStep[] = [];
        for (const request of requests) {
          const counts = await (options.yes ? writer.prune(request) : writer.count(request));
          all.push({ what: request.what ?? 'all', ...counts });
        }
        return all;
      }),
    );
    const wanted = steps.reduce((sum, { runs }) => sum + runs, 0);
    if (!options.yes && !options['dry-run'] && wanted > 0) {
      const what = steps.map((step) => phrase(step)).join(' and ');
      return failure('SUB_USAGE', `${what} would be removed for good.`, 'Add --yes, or --dry-run.');
    }
    io.out.write(
      options.json ? jsonText({ removed: options.yes, steps }) : textOf(steps, options.yes),
    );
    return done(EXIT.fine);
  },
});

function requestsOf(options: PruneOptions, config: Config): readonly PruneFilter[] {
  const { 'older-than': age, 'keep-runs': keep, 'previews-only': isPreviewsOnly } = options;
  const nowMs = Date.now();
  const what = isPreviewsOnly ? ('previews' as const) : undefined;
  if (age === undefined && keep === undefined) {
    const all = retentionRequests(config, nowMs);
    return isPreviewsOnly ? all.filter((request) => request.what === what) : all;
  }
  const olderThanMs = timeOption('older-than', age, nowMs);
  const keepRuns = numberOption('keep-runs', keep, { min: 0, max: KEPT_RUNS_MAX });
  return [definedFields({ olderThanMs, keepRuns, what })];
}

function phrase({ what, runs }: PruneStep): string {
  return what === 'all' ? plural(runs, 'run') : `the previews of ${plural(runs, 'run')}`;
}

function textOf(steps: readonly PruneStep[], removed: boolean): string {
  const lines = steps.map((step) => {
    const events = step.events === null ? '' : ` (${plural(step.events, 'event')})`;
    return `${removed ? 'Removed' : 'Would remove'} ${phrase(step)}${events}.\n`;
  });
  return lines.join('');
}
