// Checks of the ledger, its signed head, its daemon and the socket. Starts nothing: without a daemon,
// shims start one.
import { lstatSync, statSync } from 'node:fs';
import { isFailure } from '@subluminal/contracts';
import { findVerifier } from '@subluminal/plane/daemon';
import { createLedgerClient } from '@subluminal/plane/ingest';
import {
  fileWitness,
  type Head,
  openSqliteReader,
  parseWitness,
  type StoreReader,
} from '@subluminal/plane/ledger';
import { isAnswered } from '@subluminal/plane/os';
import { ageText, plural, sizeText } from '../terminal/text.ts';
import { broken, brokenBy, type Finding, ledgerPlaces, type Machine, ok, warn } from './check.ts';

const NONE = 'there is none yet; it is made when something is recorded';

export async function checkLedger(machine: Machine): Promise<Finding> {
  const { file } = ledgerPlaces(machine);
  return withLedger(file, async (reader) => {
    const { seq } = await reader.tip();
    const size = [file, `${file}-wal`].reduce((sum, path) => sum + sizeOf(path), 0);
    return ok(`${file}, ${plural(seq, 'event')}, ${sizeText(size)}`);
  });
}

const LOST_DAYS = 7;
const LOST_COUNTED_MAX = 1_000;

/** Runs and calls whose processes were killed before they could record the end. */
export async function checkRuns(machine: Machine): Promise<Finding> {
  const { file } = ledgerPlaces(machine);
  return withLedger(file, async (reader) => {
    const lost = { status: 'LOST', fromMs: machine.nowMs - LOST_DAYS * 86_400_000 } as const;
    const page = { limit: LOST_COUNTED_MAX };
    const [runs, calls] = [await reader.runs(lost, page), await reader.calls(lost, page)];
    const counts = `${plural(runs.rows.length, 'run')} and ${plural(calls.rows.length, 'call')}`;
    const text = `${counts} were lost in the last ${LOST_DAYS} days`;
    if (runs.rows.length + calls.rows.length === 0) return ok(text);
    return warn(
      `${text}: their processes were killed, or the machine was, or the disk was full`,
      'See `sub query --runs --status LOST` and `sub query --status LOST`; what the agent did until then is on record.',
    );
  });
}

export async function checkHead(machine: Machine): Promise<Finding> {
  const { file } = ledgerPlaces(machine);
  const path = `${file.replace(/\.db$/, '')}.head`;
  return withLedger(file, async (reader) => {
    const last = await reader.lastHead();
    if (last === undefined) {
      const { seq } = await reader.tip();
      return seq === 0 ? ok('nothing was signed yet') : broken('no event is signed', VERIFY);
    }
    const noKey = await keyFault(machine.paths.ledgerKey);
    return noKey ?? judged(reader, { path, last, kept: await fileWitness(path).read() });
  });
}

const VERIFY = 'Run `sub ledger verify` to see what was changed.';

/** A ledger that was signed is not written to without its key. */
async function keyFault(path: string): Promise<Finding | undefined> {
  const found = await findVerifier(path);
  if (found === undefined) {
    const text = `${path} is missing, and the ledger was signed with it: nothing more is recorded`;
    return broken(text, 'Put the key back, or move the ledger away.');
  }
  return isFailure(found) ? brokenBy(found) : undefined;
}

interface Signed {
  readonly path: string;
  readonly last: Head;
  readonly kept: string | undefined;
}

/** The last head against its witness outside, and against the event that it was signed over. */
async function judged(reader: StoreReader, { path, last, kept }: Signed): Promise<Finding> {
  if (kept === undefined) return warn(`${path} is missing`, VERIFY);
  const witnessed = parseWitness(kept);
  if (witnessed === undefined) return broken(`${path} cannot be read`, VERIFY);
  const isOther = witnessed.ledgerId !== (await reader.ledgerId());
  if (isOther) return broken(`${path} belongs to another ledger`, VERIFY);
  // The daemon may have signed on between the two readings.
  if (witnessed.head.n > last.n + 1) {
    return broken('the ledger is older than its last signed head', VERIFY);
  }
  if (!(await isSignedEvent(reader, last))) {
    return broken(`event ${last.seq} is not the one that was signed`, VERIFY);
  }
  const ageSeq = (await reader.tip()).seq - last.seq;
  return ok(`head ${last.n} covers event ${last.seq}, ${plural(ageSeq, 'event')} came after it`);
}

async function isSignedEvent(reader: StoreReader, { seq, hash }: Head): Promise<boolean> {
  const [event] = await reader.events({ afterSeq: seq - 1, limit: 1 });
  return event?.seq === seq && Buffer.from(event.hash).toString('hex') === hash;
}

async function withLedger(
  file: string,
  look: (reader: StoreReader) => Promise<Finding>,
): Promise<Finding> {
  // What may not be looked at is not missing.
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return ok(NONE);
  try {
    const reader = await openSqliteReader({ file });
    try {
      return await look(reader);
    } finally {
      await reader.close();
    }
  } catch (cause) {
    if (!isFailure(cause)) throw cause;
    return brokenBy(cause);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The shortest that a system allows for a Unix socket, its closing zero left out. */
const SOCKET_BYTES_MAX = 103;
const ANSWER_TIMEOUT_MS = 2_000;

export async function checkDaemon(machine: Machine): Promise<Finding> {
  const { socket } = ledgerPlaces(machine);
  const there = await isAnswered(socket);
  if (!there) return ok('not running; it is started when a shim has something to record');
  const status = await createLedgerClient({ socketPath: socket }).status(ANSWER_TIMEOUT_MS);
  if (status === undefined) {
    return broken(
      `something listens on ${socket} and does not answer as a ledger`,
      'Stop that process, or set ledger.socket to another path.',
    );
  }
  const { pid, version, started_at, connections, conflicts } = status;
  const age = ageText(machine.nowMs - Date.parse(started_at));
  const text = `runs as ${pid} for ${age}, ${plural(connections, 'connection')}`;
  if (conflicts > 0) {
    const lines = plural(conflicts, 'line');
    return warn(
      `${text}, ${lines} set aside because another had the same number`,
      'Run `sub ledger verify` to see when; somebody may write in the name of a shim.',
    );
  }
  if (version === machine.versions.sub) return ok(`${text}, version ${version}`);
  return warn(
    `${text}, version ${version}, but this is ${machine.versions.sub}`,
    'Stop it with `sub ledgerd --stop`; the next shim starts the new one.',
  );
}

export async function checkSocket(machine: Machine): Promise<Finding> {
  const { socket: path } = ledgerPlaces(machine);
  const bytes = Buffer.byteLength(path);
  if (bytes > SOCKET_BYTES_MAX) {
    return broken(
      `${path} has ${bytes} bytes, a socket may have ${SOCKET_BYTES_MAX}`,
      'Set ledger.socket, or SUB_HOME, to a shorter path.',
    );
  }
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return ok(`${path} is free`);
  if (!stats.isSocket()) return broken(`${path} is no socket`, `Move it away: ${path}`);
  if (await isAnswered(path)) return ok(`${path} is in use`);
  return warn(`${path} was left by a daemon that is gone`, 'The next daemon takes its place.');
}
