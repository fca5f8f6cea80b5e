// The events of recorded runs, read in slices and within bounds.
import { type Event, type Failure, failure, parseEventLine } from '@subluminal/contracts';
import type { StoreReader } from '@subluminal/plane/ledger';
import { eventRows, unknownRun } from '../ledger/user-ledger.ts';
import type { Slices } from './slices.ts';

export type RunReader = Pick<StoreReader, 'runs' | 'run' | 'events'>;

interface WantedRuns {
  readonly run_ids?: readonly string[] | undefined;
  readonly since_ms?: number | undefined;
}

/** The newest runs are what a person may remember. */
const RUNS_MAX = 100;

/** The ids of the runs that are meant, the newest first. */
export async function chosenRuns(
  reader: RunReader,
  { run_ids, since_ms }: WantedRuns,
): Promise<readonly string[] | Failure> {
  if (run_ids !== undefined && since_ms !== undefined) {
    const fix = 'Give one of them.';
    return failure('SUB_API_REQUEST', '`run_ids` and `since_ms` exclude each other.', fix);
  }
  if (run_ids === undefined) {
    const filter = since_ms === undefined ? {} : { fromMs: since_ms };
    const { rows } = await reader.runs(filter, { limit: RUNS_MAX });
    return rows.map(({ run_id }) => run_id);
  }
  const ids = [...new Set(run_ids)];
  for (const id of ids) if ((await reader.run(id)) === undefined) return missingRun(id);
  return ids;
}

export function missingRun(id: string): Failure {
  const { message, fix } = unknownRun(id);
  return failure('SUB_API_NOT_FOUND', message, fix);
}

export interface ReadRuns {
  readonly pruned: number;
  /** Why not all was read. */
  readonly cut: 'events' | 'time' | null;
}

interface RunsWork {
  readonly slices: Slices;
  readonly eventsMax: number;
  /** False ends the reading. */
  readonly take: (event: Event) => boolean;
}

/** Gives the events of one run after the other to `take`. */
export async function readRuns(
  reader: RunReader,
  runIds: readonly string[],
  { slices, eventsMax, take }: RunsWork,
): Promise<ReadRuns> {
  let [pruned, count] = [0, 0];
  for (const runId of runIds) {
    for await (const { line } of eventRows(reader, { runId })) {
      if (count >= eventsMax) return { pruned, cut: 'events' };
      if (slices.isLate) return { pruned, cut: 'time' };
      count += 1;
      const parsed = line === null ? undefined : parseEventLine(line);
      if (parsed === undefined) pruned += 1;
      else if (parsed.ok && !take(parsed.event)) return { pruned, cut: null };
      await slices.pause();
    }
  }
  return { pruned, cut: null };
}
