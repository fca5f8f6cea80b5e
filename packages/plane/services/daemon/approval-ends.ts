// Records the ends of approval requests that no shim records: the one that asked may be gone when a
// person answers, or when the time is up.
import { type ApprovalEnd, eventWriter, isFailure, parseEventLine } from '@subluminal/contracts';
import { readRegularFile } from '../../os/index.ts';
import type { Desk, Entry, Owner, Stoppable } from '../../stores/approvals/index.ts';
import type { StoreReader } from '../../stores/ledger/index.ts';
import { eventPages } from '../../stores/ledger/store/stored-rows.ts';
import type { IngestServer } from '../ingest/server.ts';

interface EndsOptions {
  readonly desk: Desk;
  readonly reader: Pick<StoreReader, 'events'>;
  readonly server: Pick<IngestServer, 'take' | 'sync' | 'hold'>;
  readonly isGone: (owner: Owner) => boolean;
  /** The file that names this machine. */
  readonly hostIdFile: string;
  readonly log: (message: string) => void;
}

export interface Ends {
  stop(): Promise<void>;
}

const HOST_ID_BYTES_MAX = 65_536;
/** Marks requests whose end the ledger has. */
const MARK = 'ledger';
/** Of those that ended while no daemon ran, so many at a time. */
const CATCH_UP_MAX = 1_000;
/** A request that was asked and answered between two looks is found in this time. */
const LOOK_MS = 600_000;
const EVENTS_MAX = 1_000_000;

/** Keeps the daemon running while requests wait, and records the ends that no shim records. */
export function recordEnds(options: EndsOptions): Ends {
  const { desk, server, isGone, log } = options;
  const waiting = new Map<string, () => void>();
  let work: Promise<void> = Promise.resolve();
  let isStopped = false;
  const look = (entry: Entry) => {
    work = work.then(async () => {
      if (isStopped) return;
      try {
        await recordEnd(entry, options);
      } catch (cause) {
        log(`the end of the approval ${entry.request.id} was not recorded: ${String(cause)}`);
      }
    });
  };
  const following: Stoppable = desk.queue.follow({
    onRequest: ({ request }) => waiting.set(request.id, server.hold()),
    onEnd: (ended) => {
      const id = ended.kind === 'request' ? ended.request.id : ended.id;
      waiting.get(id)?.();
      waiting.delete(id);
      if (ended.kind === 'request' && isGone(ended.request.asked_by)) look(ended);
    },
  });
  const catchUp = () => {
    for (const entry of unrecorded(options)) look(entry);
  };
  catchUp();
  const timer = setInterval(catchUp, LOOK_MS);
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      following.stop();
      for (const release of waiting.values()) release();
      await work;
    },
  };
}

function unrecorded({ desk, isGone }: EndsOptions): readonly Entry[] {
  const all = desk.queue.list();
  if (isFailure(all)) return [];
  const open = all.found.filter(
    ({ request, outcome }) =>
      outcome !== null &&
      desk.queue.marked(request.id, MARK) === undefined &&
      isGone(request.asked_by),
  );
  return open.slice(-CATCH_UP_MAX);
}

async function recordEnd(entry: Entry, options: EndsOptions): Promise<void> {
  const { desk, server } = options;
  const { request, outcome } = entry;
  if (outcome === null || desk.queue.marked(request.id, MARK) !== undefined) return;
  // Its last words may still be on their way.
  await server.sync();
  if (!(await isRecorded(entry, options))) {
    const line = lineOf(entry, outcome, options);
    await server.take([{ producer: `approval-${request.id}`, seq: 0, line }]);
  }
  desk.queue.mark(request.id, MARK, {});
}

/** Whether the ledger has the end already. A run that is too long to search counts as recorded. */
async function isRecorded({ request }: Entry, { reader }: EndsOptions): Promise<boolean> {
  const { id, call } = request;
  let events = 0;
  for await (const rows of eventPages(reader, { runId: call.run_id })) {
    if (rows.some(({ line }) => line !== null && isEndOf(line, id))) return true;
    events += rows.length;
    if (events > EVENTS_MAX) return true;
  }
  return false;
}

function isEndOf(line: string, id: string): boolean {
  if (!line.includes(id)) return false;
  const parsed = parseEventLine(line);
  if (!parsed.ok || parsed.event.type !== 'approval') return false;
  const { approval } = parsed.event;
  return approval.id === id && approval.state !== 'asked';
}

function lineOf({ request }: Entry, outcome: ApprovalEnd, { hostIdFile }: EndsOptions): string {
  const { agent, call, created_at } = request;
  const { state, by, channel, grant, at } = outcome;
  const writer = eventWriter({
    run_id: call.run_id,
    ...agent,
    source: { host_id: hostIdOf(hostIdFile), proc_id: `pid-${process.pid}`, shim_id: 'ledgerd' },
  });
  const waited_ms = Math.max(0, Date.parse(at) - Date.parse(created_at));
  const step = { id: request.id, rule_id: call.rule_id, state, by, channel, waited_ms };
  const approval = { ...step, ...(grant !== undefined && { grant_id: grant }) };
  return writer.line('approval', { call: { call_id: call.call_id }, approval }, at);
}

function hostIdOf(file: string): string {
  const read = readRegularFile(file, { bytesMax: HOST_ID_BYTES_MAX });
  const text = read.kind === 'read' ? read.bytes.toString('utf8') : '';
  return text.trim().slice(0, 128) || 'unknown';
}
