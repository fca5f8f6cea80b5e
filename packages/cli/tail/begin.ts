// Where a tail begins: so many calls before the end of the ledger, or at a time.
import type { CallFilter, ChainReader, StoreReader } from '@subluminal/plane/ledger';
import type { TailFilter } from './filter.ts';

export interface Beginning {
  /** Everything behind this event is looked at. */
  readonly afterSeq: number;
  /** The last event that was there at the start. */
  readonly tipSeq: number;
}

interface BacklogRequest {
  readonly filter: TailFilter;
  /** So many calls that fit. */
  readonly backlog: number;
}

/** Nothing was recorded yet, so all that comes is new. */
export const NOTHING: Beginning = { afterSeq: 0, tipSeq: 0 };
const PAGE_MAX = 1_000;
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

/** The event before the first one of the last calls that fit. */
async function seqOfBacklog(
  reader: StoreReader,
  { filter, backlog }: BacklogRequest,
  tipSeq: number,
): Promise<number> {
  let firstSeq = tipSeq + 1;
  let cursor: string | null = null;
  for (let left = backlog; left > 0; ) {
    const page = await reader.calls(callFilterOf(filter), {
      limit: Math.min(PAGE_MAX, left),
      ...(cursor !== null && { cursor }),
    });
    for (const { id } of page.rows) firstSeq = Math.min(firstSeq, id);
    left -= page.rows.length;
    cursor = page.next;
    if (cursor === null) break;
  }
  return firstSeq - 1;
}

function callFilterOf(filter: TailFilter): CallFilter {
  const { fromMs: _handled, ...rest } = filter;
  return rest;
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
