import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { verifierFromPems } from '@subluminal/plane/crypto';
import { createLedgerClient } from '@subluminal/plane/ingest';
import {
  type LedgerFinding,
  parseWitness,
  type VerifyReport,
  verifyLedger,
  type WitnessedHead,
} from '@subluminal/plane/ledger';
import { isAnswered } from '@subluminal/plane/os';
import { defineCommand, done, EXIT, orThrow, textsOption } from '../input/command.ts';
import { KEY_BYTES_MAX, readFileBytes } from '../input/read-file.ts';
import { NO_LEDGER } from '../input/shared-options.ts';
import {
  findLedger,
  findVerifier,
  freshen,
  type LedgerHome,
  withReader,
} from '../ledger/user-ledger.ts';
import { firstError, verifyText } from '../ledger/verify-text.ts';
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

const HEAD_BYTES_MAX = 65_536;

export const command = defineCommand({
  description:
    'Checks the hash chain over all events, the signed heads, `ledger.head` and every row that was derived from the events, and names the first one that was changed, removed or added. Reports what is not signed yet and what was pruned.',
  options: {
    quick: 'Only count the rows instead of deriving each again from its events',
    deep: 'Compare the rows (default)',
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
      return failure('SUB_USAGE', '--deep and --quick exclude each other.', 'Give one.');
    }
    const kept = orThrow(await keptHeads(options.head, io));
    const given = orThrow(options.key.length === 0 ? undefined : await givenKeys(options.key, io));
    const home = orThrow(await findLedger());
    await freshen(home, io, true);
    const isWritten = await signed(home);
    const verifier = orThrow(given ?? (await findVerifier(home.paths.ledgerKey)));
    const { witness } = home;
    const asked = { verifier, witness, kept, isWritten, deep: !options.quick };
    const report = await withReader(home, (reader) => verifyLedger(reader, asked));
    if (isFailure(report)) return roomFor(report);
    io.out.write(
      options.json
        ? jsonText(documentOf(report, home.file))
        : verifyText(report, { file: home.file, colors: io.out.colors }),
    );
    return done(report.ok ? EXIT.fine : EXIT.findings);
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
      return failure('SUB_USAGE', `${file} is no copy of ledger.head.`, 'Name such a copy.');
    }
    heads.push(head);
  }
  return heads;
}

/** Whoever checks somebody else's ledger has only the public part of its key, and trusts no other. */
async function givenKeys(files: readonly string[], io: Io) {
  const pems: string[] = [];
  for (const file of files) {
    const read = orThrow(await readFileBytes(file, { io, bytesMax: KEY_BYTES_MAX }));
    pems.push(Buffer.from(read.bytes).toString('utf8'));
  }
  const made = verifierFromPems(pems);
  if (!isFailure(made)) return made;
  const fix = 'Make one with `openssl pkey -in ledger.key -pubout -out ledger.pub`.';
  return failure(made.code, `${files.join(', ')}: ${made.message}`, fix);
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
