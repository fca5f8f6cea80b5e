// The events of recorded runs, to decide their calls again or to learn from them.
import {
  definedFields,
  type Event,
  type Failure,
  failure,
  parseEventLine,
} from '@subluminal/contracts';
import type { ChainReader, StoreReader } from '@subluminal/plane/ledger';
import { eventRows, findRun } from './user-ledger.ts';

export interface RecordedEvents {
  readonly kind: 'recorded';
  readonly events: readonly Event[];
  readonly prunedCount: number;
}

/** As much as `sub policy replay` takes from a file. */
const RECORDING_LENGTH_MAX = 268_435_456;
/** Recent is what a person may remember, and what fits into memory with room to spare. */
const RECENT_RUNS_MAX = 100;
const RECENT_LENGTH_MAX = 67_108_864;

/** The events of one run, by its id or `last`. */
export async function eventsOfRun(
  reader: StoreReader,
  name: string,
): Promise<RecordedEvents | Failure> {
  const runId = await findRun(reader, name);
  if (typeof runId !== 'string') return runId;
  const read = await reader.snapshot((view) => readRun(view, runId, RECORDING_LENGTH_MAX));
  if (read !== undefined) return { kind: 'recorded', ...read };
  const message = `the run holds more than ${RECORDING_LENGTH_MAX} characters of events.`;
  return failure('SUB_LEDGER_QUERY', message, 'Export it, and replay a part of events.jsonl.');
}

/** The events of the newest runs, as many as fit; with `fromMs`, of those that began since. */
export async function recentEvents(
  reader: StoreReader,
  fromMs: number | undefined,
): Promise<RecordedEvents> {
  const { rows } = await reader.runs(definedFields({ fromMs }), { limit: RECENT_RUNS_MAX });
  const runs: Event[][] = [];
  let prunedCount = 0;
  let left = RECENT_LENGTH_MAX;
  for (const { run_id } of rows) {
    const read = await reader.snapshot((view) => readRun(view, run_id, left));
    if (read === undefined) break;
    left -= read.length;
    prunedCount += read.prunedCount;
    runs.push(read.events);
  }
  return { kind: 'recorded', events: runs.toReversed().flat(), prunedCount };
}

/** Undefined when the events have more characters. */
async function readRun(reader: ChainReader, runId: string, lengthMax: number) {
  const events: Event[] = [];
  let prunedCount = 0;
  let length = 0;
  for await (const { line } of eventRows(reader, { runId })) {
    length += line?.length ?? 0;
    if (length > lengthMax) return undefined;
    const parsed = line === null ? undefined : parseEventLine(line);
    if (parsed === undefined) prunedCount++;
    // The ledger holds only events; one of an unknown type was written by a later version.
    else if (parsed.ok) events.push(parsed.event);
  }
  return { events, prunedCount, length };
}
