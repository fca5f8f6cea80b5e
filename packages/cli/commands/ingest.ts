import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Failure, failure, type ParsedEvent, parseEventLine } from '@subluminal/contracts';
import type { NumberedLine } from '@subluminal/plane/ingest';
import { dropSpool, listSpool, readSpool } from '@subluminal/plane/sink';
import { defineCommand, EXIT, many, orThrow, printout } from '../input/command.ts';
import { emptyName, errorCode, STDIO, stdinTwice, unreadable } from '../input/read-file.ts';
import { type LineBatch, lineBatches } from '../ledger/line-batches.ts';
import { findLedger } from '../ledger/user-ledger.ts';
import { changeLedger, type LedgerWriter } from '../ledger/writer.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, plural, shortened } from '../terminal/text.ts';

interface Reason {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

/** What became of the lines so far. */
interface Tally {
  accepted: number;
  known: number;
  rejected: number;
  /** The last lines of files that were not finished. */
  cut: number;
  readonly reasons: Reason[];
}

/** A file that a shim has left. */
const SPOOLED = /-\d{1,9}\.jsonl(?:\.\d{1,9}\.part)?$/;
const REASONS_MAX = 5;
const REASON_LENGTH_MAX = 200;

export const command = defineCommand({
  description:
    'Stores the events that a shim left in a file (`--events file:PATH`) in the ledger, and creates the ledger when there is none. Events that the ledger has already are skipped, so a file that has grown can be given again. A folder written by `sub run --bundle` or `sub export run` is read by its events.jsonl; any other folder is read as the spool of a shim that found no ledger, and stored events are removed from it.',
  args: {
    file: many(
      'Files of events, one JSON object per line; - reads standard input; a folder is a spool or a bundle',
    ),
  },
  examples: [
    'sub ingest events.jsonl',
    'sub ingest ~/.subluminal/spool',
    'cat a.jsonl | sub ingest -',
  ],
  exitCodes: {
    0: 'every line is stored, or was stored before',
    1: 'some lines are not events and were skipped',
    2: 'wrong flags, a file that cannot be read, or a ledger that cannot be written',
  },
  run: async ({ args }, io) => {
    orThrow(stdinTwice(args.file));
    const sources: EventSource[] = [];
    // Before a ledger is created for nothing.
    for (const file of args.file) sources.push(orThrow(await findSource(file)));
    const home = orThrow(await findLedger());
    const tally: Tally = { accepted: 0, known: 0, rejected: 0, cut: 0, reasons: [] };
    orThrow(
      await changeLedger(home, { io, create: true }, async (ledger) => {
        for (const source of sources) await takeSource({ ...source, ledger, io, tally });
      }),
    );
    const exitCode = tally.rejected > 0 ? EXIT.findings : EXIT.fine;
    return printout({ ledger: home.file, ...tally }, textOf(tally, home.file), exitCode);
  },
});

interface EventSource {
  readonly kind: 'stdin' | 'file' | 'spool';
  readonly file: string;
}

interface IngestSource extends EventSource {
  readonly ledger: LedgerWriter;
  readonly io: Io;
  readonly tally: Tally;
}

async function findSource(file: string): Promise<EventSource | Failure> {
  if (file === STDIO) return { kind: 'stdin', file: '<stdin>' };
  if (file === '') return emptyName();
  try {
    if ((await stat(file)).isDirectory()) return folderOf(file, await readdir(file));
    await (await open(file, 'r')).close();
    return { kind: 'file', file };
  } catch (cause) {
    return unreadable(file, cause);
  }
}

/** A bundle has its summary beside its events. A spool has files of its own names, or none. */
function folderOf(folder: string, names: readonly string[]): EventSource | Failure {
  if (names.includes('summary.json') && names.includes('events.jsonl')) {
    return { kind: 'file', file: join(folder, 'events.jsonl') };
  }
  const shown = names.filter((name) => !name.startsWith('.'));
  if (shown.length === 0 || shown.some((name) => SPOOLED.test(name))) {
    return { kind: 'spool', file: folder };
  }
  const message = `${folder} is neither a spool nor a bundle.`;
  return failure('SUB_FILE_READ', message, 'Name the files of events in it.');
}

async function takeSource(source: IngestSource): Promise<void> {
  const { kind, file, io } = source;
  if (kind === 'spool') return takeSpool(source);
  if (kind === 'stdin' && io.stdinIsTerminal) {
    io.err.write('sub: reading standard input; end it with Ctrl-D.\n');
  }
  const batches = lineBatches(kind === 'file' ? createReadStream(file) : io.stdin);
  for (;;) {
    // Only reading is caught: a failure of the ledger is not one of the file.
    const next = orThrow(await batches.next().catch((cause: unknown) => unreadable(file, cause)));
    if (next.done === true) return;
    await takeBatch(next.value, source);
  }
}

async function takeBatch(batch: LineBatch, source: IngestSource): Promise<void> {
  const { file, tally } = source;
  for (const line of batch.tooLong) reject(tally, { file, line, reason: 'the line is too long' });
  const { cut } = batch;
  const isCut = cut !== undefined && reasonOf(cut.line) !== undefined;
  if (isCut) tally.cut += 1;
  const lines = cut === undefined || isCut ? batch.lines : [...batch.lines, cut];
  const { rejected } = await store(lines, source);
  if (rejected === 0) return;
  for (const [index, { line }] of batch.lines.entries()) {
    if (tally.reasons.length >= REASONS_MAX) return;
    const reason = reasonOf(line);
    if (reason !== undefined) explain(tally, { file, line: batch.numbers[index] ?? 0, reason });
  }
}

async function store(lines: readonly NumberedLine[], { ledger, tally }: IngestSource) {
  if (lines.length === 0) return { rejected: 0, conflicts: 0 };
  const { accepted, duplicates, rejected, conflicts = 0 } = await ledger.ingest(lines);
  tally.accepted += accepted;
  tally.known += duplicates;
  tally.rejected += rejected;
  return { rejected, conflicts };
}

/** Takes the events that a shim kept because it found no ledger. Their lines have own numbers. */
async function takeSpool(source: IngestSource): Promise<void> {
  const { ledger, tally } = source;
  for (const spooled of await listSpool(source.file)) {
    const { path: file, producer } = spooled;
    let endOffset = 0;
    for await (const batch of readSpool(spooled)) {
      const lines = batch.lines.map((line) => ({ producer, ...line }));
      const { rejected, conflicts } = await store(lines, source);
      if (conflicts > 0) {
        const reason = `${plural(conflicts, 'line')} came under a number that another line has`;
        explain(tally, { file, line: lines[0]?.seq ?? 0, reason });
      }
      for (const { seq, line } of rejected > 0 ? lines : []) {
        const reason = reasonOf(line);
        if (reason !== undefined) explain(tally, { file, line: seq, reason });
      }
      for (let count = 0; count < batch.damaged; count++) {
        reject(tally, { file, line: 0, reason: 'a line is damaged' });
      }
      endOffset = batch.endOffset;
    }
    // On disk before the only other copy goes.
    await ledger.seal();
    // The daemon may have been faster.
    await dropSpool(spooled, endOffset).catch(ignoreMissing);
  }
}

function ignoreMissing(cause: unknown): void {
  if (errorCode(cause) !== 'ENOENT') throw cause;
}

function reject(tally: Tally, reason: Reason): void {
  tally.rejected += 1;
  explain(tally, reason);
}

function explain({ reasons }: Tally, reason: Reason): void {
  if (reasons.length < REASONS_MAX) reasons.push(reason);
}

/** Why the ledger does not take a line; undefined when it does. */
function reasonOf(line: string): string | undefined {
  const parsed: ParsedEvent = parseEventLine(line);
  if (parsed.ok || parsed.kind === 'unknown_type') return undefined;
  const [first] = parsed.mismatches;
  if (first === undefined) return 'not an event';
  const place = first.path.length === 0 ? '' : `${first.path.join('.')}: `;
  return shortened(`${place}expected ${first.expected}, got ${first.got}`, REASON_LENGTH_MAX);
}

function textOf({ accepted, known, rejected, cut, reasons }: Tally, ledger: string): string {
  const lines = [
    `${plural(accepted, 'event')} taken into ${ledger}, ${known} known already, ${rejected} rejected.`,
    ...reasons.map(({ file, line, reason }) => `  ${file}:${line}: ${reason}`),
    ...(rejected > reasons.length ? [`  … and ${rejected - reasons.length} more.`] : []),
    ...(cut > 0
      ? [`${plural(cut, 'unfinished last line')} left out; give the file again later.`]
      : []),
  ];
  return `${lines.map(harmless).join('\n')}\n`;
}
