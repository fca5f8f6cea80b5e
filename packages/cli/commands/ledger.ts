// `sub ledger`: verify, prune and accept the ledger.
import { type Failure, isFailure } from '@subluminal/contracts';
import type { Config } from '@subluminal/plane/config';
import { createLedgerClient, type PruneFilter } from '@subluminal/plane/ingest';
import {
  type LedgerFinding,
  parseWitness,
  type VerifyReport,
  verifyLedger,
  type WitnessedHead,
} from '@subluminal/plane/ledger';
import { isAnswered } from '@subluminal/plane/os';
import {
  badUsage,
  defineCommand,
  EXIT,
  type OptionValues,
  orThrow,
  printout,
  textOption,
  textsOption,
} from '../input/command.ts';
import { readFileBytes } from '../input/read-file.ts';
import { readPublicKeys } from '../input/read-keys.ts';
import { numberOption, timeOption } from '../input/read-option.ts';
import { NO_LEDGER } from '../input/shared-options.ts';
import { pruneRequests } from '../ledger/prune-requests.ts';
import {
  findLedger,
  findVerifier,
  freshen,
  type LedgerHome,
  withReader,
  withWriter,
} from '../ledger/user-ledger.ts';
import { firstError, progressLine, verifyText } from '../ledger/verify-text.ts';
import { changeLedger } from '../ledger/writer.ts';
import type { Io } from '../terminal/io.ts';
import { plural } from '../terminal/text.ts';

const HEAD_BYTES_MAX = 65_536;
const MAKE_KEY = 'Make one with `openssl pkey -in ledger.key -pubout -out ledger.pub`.';

export const verify = defineCommand({
  description:
    'Checks the hash chain over all events, the signed heads, `ledger.head` and every row that was derived from the events, and names the first one that was changed, removed or added. Reports what is not signed yet and what was pruned.',
  options: {
    quick: 'Only count the rows instead of deriving each again from its events',
    deep: 'Compare the rows (default)',
    progress: 'Print on standard error how many events are checked so far',
    head: textsOption('file', 'A copy of ledger.head that was kept elsewhere'),
    key: textsOption('file', 'Trust only this public key, instead of ledger.key'),
  },
  examples: [
    'sub ledger verify',
    'sub ledger verify --quick --json',
    'sub ledger verify --key ledger.pub --head ledger.head.copy',
  ],
  exitCodes: {
    0: 'nothing was changed, removed or added up to the last signed event',
    1: 'an event was changed, removed or added, or the key or ledger.head is missing',
    2: NO_LEDGER,
  },
  run: async ({ options }, io) => {
    if (options.deep && options.quick) {
      return badUsage('--deep and --quick exclude each other.', 'Give one.');
    }
    const kept = orThrow(await keptHeads(options.head, io));
    const given = await readPublicKeys({ paths: options.key, fix: MAKE_KEY }, io);
    const home = orThrow(await findLedger());
    await freshen(home, io, true);
    const isWritten = await signed(home);
    const verifier = orThrow(given ?? (await findVerifier(home.paths.ledgerKey)));
    const { witness, file } = home;
    const onProgress = options.progress ? progressTo(io) : undefined;
    const asked = { verifier, witness, kept, isWritten, deep: !options.quick, onProgress };
    const report = await withReader(home, (reader) => verifyLedger(reader, asked));
    if (isFailure(report)) return roomFor(report);
    const text = verifyText(report, { file, colors: io.out.colors });
    return printout(documentOf(report, file), text, report.ok ? EXIT.fine : EXIT.findings);
  },
});

/** Copies of `ledger.head` that were kept where the ledger's owner cannot change them. */
async function keptHeads(
  files: readonly string[],
  io: Io,
): Promise<readonly WitnessedHead[] | Failure> {
  const heads: WitnessedHead[] = [];
  for (const file of files) {
    const read = orThrow(await readFileBytes(file, { io, bytesMax: HEAD_BYTES_MAX }));
    const head = parseWitness(Buffer.from(read.bytes).toString('utf8'));
    if (head === undefined) {
      return badUsage(`${file} is no copy of ledger.head.`, 'Name such a copy.');
    }
    heads.push(head);
  }
  return heads;
}

/** Lets a daemon that runs sign what it has written; true when one runs. */
async function signed({ config }: LedgerHome): Promise<boolean> {
  const socketPath = config['ledger.socket'];
  if (!(await isAnswered(socketPath))) return false;
  // When it cannot, the last events are reported as not signed.
  await createLedgerClient({ socketPath }).ingest([], { durable: true });
  return true;
}

function roomFor(cause: Failure): Failure {
  if (cause.code !== 'SUB_LEDGER_FULL') return cause;
  const fix = 'Free some space: the rows are made anew beside the ledger. --quick needs no room.';
  return { ...cause, fix };
}

function documentOf(report: VerifyReport, file: string) {
  const first = firstError(report);
  return {
    ok: report.ok,
    ledger: file,
    ledger_id: report.ledgerId,
    events: report.events,
    pruned: report.pruned,
    prunes: {
      total: report.prunes.total,
      last: report.prunes.last.map(({ seq, atMs, ...rest }) => ({ seq, at_ms: atMs, ...rest })),
    },
    heads: report.heads,
    signed_seq: report.signedSeq,
    key_id: report.keyId,
    tip: report.tip,
    signatures: report.signatures,
    rows: report.projections,
    first: first === undefined ? null : findingOf(first),
    findings: report.findings.map(findingOf),
    findings_total: report.findingsTotal,
  };
}

function findingOf({ kind, level, fromSeq, toSeq, message }: LedgerFinding) {
  return { kind, level, from_seq: fromSeq, to_seq: toSeq, message };
}

interface PruneStep {
  readonly what: 'all' | 'previews';
  readonly runs: number;
  /** Null where nothing was removed. */
  readonly events: number | null;
}

const KEPT_RUNS_MAX = 999_999_999;

const PRUNE_OPTIONS = {
  'older-than': textOption('age', 'Runs whose last event is older than this: 30d, 12h, or a time'),
  'keep-runs': textOption('count', 'All runs except this many of the newest'),
  'previews-only': 'Remove only the previews of arguments and results',
  'dry-run': 'Print what would be removed, and change nothing',
  yes: 'Remove it; without this flag nothing changes',
};
type PruneOptions = OptionValues<typeof PRUNE_OPTIONS>;

/** Told to the process that has started this one; when that is gone, nobody waits for the result. */
function progressTo({ err }: Io): (checked: number, total: number) => void {
  const starter = process.ppid;
  return (checked, total) => {
    if (process.ppid !== starter) process.exit(EXIT.brokenPipe);
    err.write(progressLine(checked, total));
  };
}

export const prune = defineCommand({
  description:
    'Removes runs, or only their previews, and signs a record of what was removed, so that the ledger still verifies. Without --older-than and --keep-runs it applies the retention of the configuration.',
  options: PRUNE_OPTIONS,
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
      return badUsage('--yes and --dry-run exclude each other.', 'Give one.');
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
      return badUsage(`${what} would be removed for good.`, 'Add --yes, or --dry-run.');
    }
    return printout({ removed: options.yes, steps }, prunedText(steps, options.yes));
  },
});

function requestsOf(options: PruneOptions, config: Config): readonly PruneFilter[] {
  const { 'older-than': age, 'keep-runs': keep, 'previews-only': isPreviewsOnly } = options;
  const nowMs = Date.now();
  const olderThanMs = timeOption('older-than', age, nowMs);
  const keepRuns = numberOption('keep-runs', keep, { min: 0, max: KEPT_RUNS_MAX });
  return pruneRequests({ olderThanMs, keepRuns, isPreviewsOnly }, config, nowMs);
}

function phrase({ what, runs }: PruneStep): string {
  return what === 'all' ? plural(runs, 'run') : `the previews of ${plural(runs, 'run')}`;
}

function prunedText(steps: readonly PruneStep[], removed: boolean): string {
  const lines = steps.map((step) => {
    const events = step.events === null ? '' : ` (${plural(step.events, 'event')})`;
    return `${removed ? 'Removed' : 'Would remove'} ${phrase(step)}${events}.\n`;
  });
  return lines.join('');
}

const REFUSED: ReadonlySet<string> = new Set(['SUB_LEDGER_ROLLED_BACK', 'SUB_LEDGER_TAMPERED']);

export const accept = defineCommand({
  description:
    'A ledger that was rolled back, cut or changed takes no more events. This accepts its present content, signs it, and records permanently in the ledger that it did so, and why.',
  options: { yes: 'Accept it; without this flag nothing changes' },
  examples: ['sub ledger accept', 'sub ledger accept --yes'],
  exitCodes: {
    0: 'the ledger is accepted, or there was nothing to accept',
    2: 'no --yes, or a ledger that is missing, locked or cannot be written',
  },
  requires: 'person',
  run: async ({ options }, io) => {
    const home = orThrow(await findLedger());
    const create = false;
    // No daemon runs with a ledger that was changed or rolled back.
    const opened = (await isAnswered(home.config['ledger.socket']))
      ? undefined
      : await withWriter(home, { io, create }, async () => undefined);
    if (opened === undefined) {
      const text = 'There is nothing to accept: the ledger follows from what was signed.\n';
      return printout({ accepted: false }, text);
    }
    if (!REFUSED.has(opened.code)) return opened;
    const { message: reason } = opened;
    if (!options.yes) {
      return badUsage(reason, 'See `sub ledger verify`; add --yes to go on with it all the same.');
    }
    const event = orThrow(
      await withWriter(home, { io, create, acceptsRollback: true }, async ({ store }) => {
        return (await store.tip()).seq;
      }),
    );
    const text = 'Accepted. The ledger says so from now on, and `sub ledger verify` tells of it.\n';
    return printout({ accepted: true, event, reason }, text);
  },
});
