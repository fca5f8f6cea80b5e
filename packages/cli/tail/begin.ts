// Where a tail begins: so many calls before the end of the ledger, or at a time.
import type { ChainReader, StoreReader } from '@subluminal/plane/ledger';
import { gatherPages } from '../ledger/user-ledger.ts';
import type { TailFilter } from './filter.ts';

export interface Beginning {
  /** The tail begins behind this event. */
  readonly afterSeq: number;
  /** The last event that was there at the start. */
  readonly tipSeq: number;
}

interface BacklogRequest {
  readonly filter: TailFilter;
  /** How many of the last calls that match. */
  readonly backlog: number;
}

/** Nothing was recorded yet, so all that comes is new. */
export const NOTHING: Beginning = { afterSeq: 0, tipSeq: 0 };
const PEEK_EVENTS = 32;

export async function beginningOf(
  reader: StoreReader,
  request: BacklogRequest,
): Promise<Beginning> {
  const { seq: tipSeq } = await reader.tip();
  const { fromMs } = request.filter;
  if (fromMs !== undefined) return { tipSeq, afterSeq: await seqBefore(reader, fromMs, tipSeq) };
  return { tipSeq, afterSeq: await seqOfBacklog(reader, request, tipSeq) };
}

/** The event before the first one of the last calls that match. */
async function seqOfBacklog(
  reader: StoreReader,
  { filter: { fromMs: _handled, ...filter }, backlog }: BacklogRequest,
  tipSeq: number,
): Promise<number> {
  const { rows } = await gatherPages((request) => reader.calls(filter, request), backlog);
  return Math.min(tipSeq, ...rows.map(({ id }) => id - 1));
}

/**
 * The last event before a time, by halving. Events are in the order in which they were committed:
 * one that waited in a spool may stand behind younger ones, so this is near, and a filter is exact.
 */
async function seqBefore(reader: ChainReader, fromMs: number, tipSeq: number): Promise<number> {
  let low = 0;
  let high = tipSeq;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const timeMs = await timeAfter(reader, middle);
    if (timeMs === undefined || timeMs >= fromMs) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The time of the next event that has one. */
async function timeAfter(reader: ChainReader, afterSeq: number): Promise<number | undefined> {
  const rows = await reader.events({ afterSeq, limit: PEEK_EVENTS });
  return rows.find(({ tsMs }) => tsMs !== null)?.tsMs ?? undefined;
}
