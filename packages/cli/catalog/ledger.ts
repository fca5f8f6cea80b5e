// The ledger: taking events in, asking it, checking it, thinning it out and taking runs out of it.
import {
  choice,
  createCommand,
  flag,
  type Input,
  many,
  one,
  text,
  texts,
} from '../input/command.ts';

const INTERNAL = 'a defect in sub itself';
const NO_LEDGER = 'wrong flags, or a ledger that is missing, locked or cannot be read';
const jsonFlag = flag('print one JSON document instead of text');

const INGEST_ARGS = {
  file: many(
    'files of events, one JSON object per line; - reads standard input; a folder is a spool or a bundle',
  ),
};
const INGEST_OPTIONS = { json: jsonFlag };

const ingest = createCommand({
  path: ['ingest'],
  summary: 'take recorded events into the ledger',
  description:
    'Takes the events that a shim left in a file (`--events file:PATH`) into the ledger, and makes the ledger when there is none. Events that are there already are not taken twice, so a file that has grown can be given again. A folder that `sub run --bundle` or `sub export run` has written is taken by its events.jsonl; any other is taken as the spool of a shim that found no ledger, and what was taken is removed from it.',
  args: INGEST_ARGS,
  options: INGEST_OPTIONS,
  examples: [
    'sub ingest events.jsonl',
    'sub ingest ~/.subluminal/spool',
    'cat a.jsonl | sub ingest -',
  ],
  exitCodes: {
    0: 'every line was taken, or known already',
    1: 'some lines are no events and were left out',
    2: 'wrong flags, a file that cannot be read, or a ledger that cannot be written',
    70: INTERNAL,
  },
  load: () => import('../commands/ingest.ts'),
});

const DECISIONS = [
  'ALLOW',
  'BLOCK',
  'THROTTLE',
  'REJECT_WITH_HINT',
  'TERMINATE_RUN',
  'REFUSED',
] as const;
export const CALL_STATUSES = ['OK', 'ERROR', 'TIMEOUT', 'CANCELLED', 'FAILED', 'PENDING'] as const;
export const RUN_STATUSES = ['SUCCEEDED', 'FAILED', 'TERMINATED', 'CANCELLED', 'RUNNING'] as const;

const QUERY_ARGS = {};
const QUERY_OPTIONS = {
  runs: flag('list runs instead of calls'),
  run: text('id', 'only this run; last is the newest that the ledger has'),
  agent: text('id', 'only this agent'),
  server: text('name', 'only this server'),
  tool: text('name', 'only this tool'),
  decision: choice(DECISIONS, 'only this decision; REFUSED is every one but ALLOW'),
  status: choice(
    [...new Set([...CALL_STATUSES, ...RUN_STATUSES])],
    'only this end; FAILED is every one but OK, also of refused calls; PENDING and RUNNING have none yet',
  ),
  rule: text('id', 'only what this rule decided'),
  since: text('time', 'from this time on: 2026-01-31T12:00:00Z, or 15m, 2h, 3d ago'),
  until: text('time', 'before this time'),
  'args-hash': text('hash', 'only calls with these arguments'),
  text: text('words', 'only what has this text in a name, a reason, an error or a preview'),
  limit: text('count', 'at most so many; 50 unless given, at most 10000'),
  after: text('cursor', 'go on where the last answer ended'),
  json: jsonFlag,
  csv: flag('print comma-separated values'),
};

const query = createCommand({
  path: ['query'],
  summary: 'find calls and runs in the ledger',
  description:
    'Lists the calls that fit all filters, or the runs, the newest first. A call that was refused ends with ERROR for its agent and is listed as REFUSED; the ERRORS of a run are calls that passed and failed.',
  args: QUERY_ARGS,
  options: QUERY_OPTIONS,
  examples: [
    'sub query --decision REFUSED --since 2h',
    'sub query --run last --server files --tool write_file --json',
    'sub query --runs',
  ],
  exitCodes: { 0: 'the answer was printed, also when it is empty', 2: NO_LEDGER, 70: INTERNAL },
  load: () => import('../commands/query.ts'),
});

const VERIFY_ARGS = {};
const VERIFY_OPTIONS = {
  quick: flag('only count the rows instead of making each anew from its events to compare'),
  deep: flag('compare the rows; that is the default'),
  head: texts('file', 'a copy of ledger.head that was kept elsewhere'),
  key: texts('file', 'trust this public key only, instead of ledger.key'),
  json: jsonFlag,
};

const verify = createCommand({
  path: ['ledger', 'verify'],
  summary: 'prove that the ledger is what was written',
  description:
    'Checks the hash chain over all events, the signed heads, `ledger.head` and every row that was made from the events, and names the first that was changed, removed or added. What is not signed yet and what was pruned is told.',
  args: VERIFY_ARGS,
  options: VERIFY_OPTIONS,
  examples: [
    'sub ledger verify',
    'sub ledger verify --quick --json',
    'sub ledger verify --key ledger.pub --head ledger.head.copy',
  ],
  exitCodes: {
    0: 'nothing was changed, removed or added, up to the last signed event',
    1: 'something was, or the key or ledger.head is missing; the first is named',
    2: NO_LEDGER,
    70: INTERNAL,
  },
  load: () => import('../commands/ledger-verify.ts'),
});

const ACCEPT_ARGS = {};
const ACCEPT_OPTIONS = {
  yes: flag('do it; without this nothing is changed'),
  json: jsonFlag,
};

const accept = createCommand({
  path: ['ledger', 'accept'],
  summary: 'go on with a ledger that is not what was signed',
  description:
    'A ledger that was put back to an older state, cut or changed is not written to any more. This goes on with what is there, signs it, and records in the ledger for good that it did so, and why.',
  args: ACCEPT_ARGS,
  options: ACCEPT_OPTIONS,
  examples: ['sub ledger accept', 'sub ledger accept --yes'],
  exitCodes: {
    0: 'it was accepted, or there was nothing to accept',
    2: 'no --yes, or a ledger that is missing, locked or cannot be written',
    70: INTERNAL,
  },
  requires: 'person',
  load: () => import('../commands/ledger-accept.ts'),
});

const PRUNE_ARGS = {};
const PRUNE_OPTIONS = {
  'older-than': text('age', 'runs whose last event is older: 30d, 12h, or a time'),
  'keep-runs': text('count', 'all but so many of the newest runs'),
  'previews-only': flag('only what arguments and results looked like'),
  'dry-run': flag('say what would go, and change nothing'),
  yes: flag('do it; without this nothing is removed'),
  json: jsonFlag,
};

const prune = createCommand({
  path: ['ledger', 'prune'],
  summary: 'remove old runs from the ledger',
  description:
    'Removes runs, or only their previews, and signs what was removed, so that the ledger still verifies. Without --older-than and --keep-runs the retention of the configuration holds.',
  args: PRUNE_ARGS,
  options: PRUNE_OPTIONS,
  examples: [
    'sub ledger prune --older-than 30d --dry-run',
    'sub ledger prune --keep-runs 100 --yes',
  ],
  exitCodes: {
    0: 'it was removed, or nothing was that old; with --dry-run: it was counted',
    2: 'wrong flags, no --yes, or a ledger that is missing or cannot be written',
    70: INTERNAL,
  },
  requires: 'person',
  load: () => import('../commands/ledger-prune.ts'),
});

const EXPORT_ARGS = { id: one('the id of the run, as `sub query --runs` lists it; or last') };
const EXPORT_OPTIONS = {
  out: text('dir', 'the folder for the files; it is made', 'o'),
  force: flag('overwrite files that are there'),
  json: jsonFlag,
};

const exportRun = createCommand({
  path: ['export', 'run'],
  summary: 'write a run as files',
  description:
    'Writes events.jsonl, policy.json, summary.json and summary.md of one run into a folder.',
  args: EXPORT_ARGS,
  options: EXPORT_OPTIONS,
  examples: [
    'sub export run last -o trace',
    'sub export run 0198c0de-7a11-7000-8000-000000000001 -o trace',
  ],
  exitCodes: {
    0: 'the files were written',
    2: 'wrong flags, no such run, files that exist, or a ledger that is missing',
    70: INTERNAL,
  },
  load: () => import('../commands/export-run.ts'),
});

const LEDGERD_ARGS = {};
const LEDGERD_OPTIONS = {
  foreground: flag('serve in this process until a signal ends it, and say what happens'),
  auto: flag('as a shim starts it: serve in this process, and end when nobody needs it any more'),
  status: flag('say whether one runs, and what it has done'),
  stop: flag('end the one that runs, and wait for it'),
  json: jsonFlag,
};

const ledgerd = createCommand({
  path: ['ledgerd'],
  summary: 'start, stop or ask the daemon that takes events in',
  description:
    'Starts the daemon that writes to the ledger, in the background. A shim that finds none starts one by itself, which ends when nobody has needed it for a while; one that was started by this command stays until `--stop`.',
  args: LEDGERD_ARGS,
  options: LEDGERD_OPTIONS,
  examples: ['sub ledgerd', 'sub ledgerd --status --json', 'sub ledgerd --stop'],
  exitCodes: {
    0: 'it runs, or ran and has ended; with --stop: none runs any more',
    1: 'with --status: none runs',
    2: 'wrong flags, or it could not be started, served or stopped',
    70: INTERNAL,
  },
  load: () => import('../commands/ledgerd.ts'),
});

export const LEDGER_COMMANDS = [ledgerd, ingest, query, verify, prune, accept, exportRun];

export type LedgerdInput = Input<typeof LEDGERD_ARGS, typeof LEDGERD_OPTIONS>;
export type IngestInput = Input<typeof INGEST_ARGS, typeof INGEST_OPTIONS>;
export type QueryInput = Input<typeof QUERY_ARGS, typeof QUERY_OPTIONS>;
export type LedgerVerifyInput = Input<typeof VERIFY_ARGS, typeof VERIFY_OPTIONS>;
export type LedgerAcceptInput = Input<typeof ACCEPT_ARGS, typeof ACCEPT_OPTIONS>;
export type LedgerPruneInput = Input<typeof PRUNE_ARGS, typeof PRUNE_OPTIONS>;
export type ExportRunInput = Input<typeof EXPORT_ARGS, typeof EXPORT_OPTIONS>;
