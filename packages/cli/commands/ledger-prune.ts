import type { Config } from '@subluminal/plane/config';
import type { Ledger, PruneRequest } from '@subluminal/plane/ledger';
import type { LedgerPruneInput } from '../catalog/ledger.ts';
import { done, type Outcome } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type Failure, failure, isFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { findLedger, withWriter } from '../ledger/home.ts';
import { momentMs } from '../ledger/moment.ts';
import { jsonText, plural } from '../text.ts';

type Options = LedgerPruneInput['options'];

interface Step {
  readonly what: 'all' | 'previews';
  readonly runs: number;
  /** Null where nothing was removed. */
  readonly events: number | null;
}

const DAY_MS = 86_400_000;
const COUNTED_MAX = 1_000_000;

async function run({ options }: LedgerPruneInput, io: Io): Promise<Outcome> {
  if (options.yes && options['dry-run']) {
    return failure('SUB_USAGE', '--yes and --dry-run exclude each other.', 'Give one.');
  }
  const home = await findLedger();
  if (isFailure(home)) return home;
  const requests = requestsOf(options, home.config);
  if (isFailure(requests)) return requests;
  const steps = await withWriter(home, { io, create: false }, async (ledger) => {
    const all: Step[] = [];
    for (const request of requests) {
      all.push(options.yes ? await remove(ledger, request) : await count(ledger, request));
    }
    return all;
  });
  if (isFailure(steps)) return steps;
  const wanted = steps.reduce((sum, { runs }) => sum + runs, 0);
  if (!options.yes && !options['dry-run'] && wanted > 0) {
    const what = steps.map((step) => phrase(step)).join(' and ');
    return failure('SUB_USAGE', `${what} would be removed for good.`, 'Add --yes, or --dry-run.');
  }
  io.out.write(
    options.json ? jsonText({ removed: options.yes, steps }) : textOf(steps, options.yes),
  );
  return done(EXIT.fine);
}

function requestsOf(options: Options, config: Config): readonly PruneRequest[] | Failure {
  const { 'older-than': age, 'keep-runs': keep } = options;
  const nowMs = Date.now();
  const previews = { what: 'previews' } as const;
  if (age === undefined && keep === undefined) {
    const before = (days: number) => ({ olderThanMs: nowMs - days * DAY_MS });
    const lean = { ...before(config['ledger.retention_previews_days']), ...previews };
    const whole = before(config['ledger.retention_days']);
    return options['previews-only'] ? [lean] : [whole, lean];
  }
  const olderThanMs = age === undefined ? undefined : momentMs(age, nowMs);
  if (age !== undefined && olderThanMs === undefined) {
    return failure('SUB_USAGE', `--older-than \`${age}\` is no age.`, 'Write 30d, 12h, or a time.');
  }
  if (keep !== undefined && !/^\d{1,9}$/.test(keep)) {
    return failure('SUB_USAGE', `--keep-runs \`${keep}\` is no count.`, 'Write a number.');
  }
  return [
    {
      ...(olderThanMs !== undefined && { olderThanMs }),
      ...(keep !== undefined && { keepRuns: Number(keep) }),
      ...(options['previews-only'] && previews),
    },
  ];
}

async function remove(ledger: Ledger, request: PruneRequest): Promise<Step> {
  const { runs, events } = await ledger.prune(request);
  return { what: request.what ?? 'all', runs, events };
}

async function count(ledger: Ledger, request: PruneRequest): Promise<Step> {
  const { olderThanMs, keepRuns, what = 'all' } = request;
  const stale = await ledger.store.transaction((transaction) =>
    transaction.staleRuns({
      ...(olderThanMs !== undefined && { beforeMs: olderThanMs }),
      ...(keepRuns !== undefined && { keepRuns }),
      withPreviews: what === 'previews',
      limit: COUNTED_MAX,
    }),
  );
  return { what, runs: stale.length, events: null };
}

function phrase({ what, runs }: Step): string {
  return what === 'all' ? plural(runs, 'run') : `the previews of ${plural(runs, 'run')}`;
}

function textOf(steps: readonly Step[], removed: boolean): string {
  const lines = steps.map((step) => {
    const events = step.events === null ? '' : ` (${plural(step.events, 'event')})`;
    return `${removed ? 'Removed' : 'Would remove'} ${phrase(step)}${events}.\n`;
  });
  return lines.join('');
}

export { run };
