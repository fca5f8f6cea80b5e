// The protocols of the ledger's socket: lines of text, the first of which names the protocol.
import { definedFields, isObject } from '@subluminal/contracts';
import { parseJson } from '../../os/system-error.ts';
import type {
  IncomingLine,
  IngestResult,
  Ledger,
  LineText,
  PruneRequest,
} from '../../stores/ledger/index.ts';

const INGEST_HELLO = 'subluminal.ingest.v1';
export const CONTROL_HELLO = 'subluminal.control.v1';
export const FOLLOW_HELLO = 'subluminal.follow.v1';

/** As the spool: no line is longer. */
export const LINE_BYTES_MAX = 32 * 1024 * 1024;
/** A request may carry a batch of lines, quoted: the longest event, and some more. */
export const REQUEST_BYTES_MAX = 56 * 1024 * 1024;
/** What a date can say. */
const MOMENT_MS_MAX = 8.64e15;

export interface LedgerStatus {
  readonly pid: number;
  readonly version: string;
  /** RFC 3339. */
  readonly started_at: string;
  /** Connections that are open, this one included. */
  readonly connections: number;
  /** Events that this daemon has put into the ledger since it started. */
  readonly events_committed: number;
  /** Until it is told to end; otherwise it ends when nobody has needed it for a while. */
  readonly stays: boolean;
  /** Lines that it has set aside since, because another line had their number. */
  readonly conflicts: number;
  /** Where the HTTP API listens, when it does. */
  readonly http?: {
    readonly url: string;
    /** Where the page is, when it is served. */
    readonly page?: string;
  };
  /** Why it does not, when it should. */
  readonly http_error?: string;
  /** The channels by which it asks people for approvals, when it does. */
  readonly channels?: readonly string[];
}

export type PruneFilter = Pick<PruneRequest, 'olderThanMs' | 'keepRuns' | 'what'>;

export interface PruneCounts {
  readonly runs: number;
  /** Null where nothing was removed, only counted. */
  readonly events: number | null;
}

/** A line with its producer, and its number with that producer. */
export type NumberedLine = IncomingLine;
/** The same as it came, which may be bytes. */
export type TakenLine = IncomingLine<LineText>;

export type TakenCounts = IngestResult;

export type Request =
  | { readonly do: 'sync' }
  | { readonly do: 'status' }
  /** Do not end by yourself. */
  | { readonly do: 'stay' }
  | { readonly do: 'stop' }
  | { readonly do: 'prune'; readonly request: PruneFilter; readonly dry_run?: boolean }
  | {
      readonly do: 'ingest';
      readonly lines: readonly NumberedLine[];
      /** On disk, and signed, when the answer comes. */
      readonly durable?: boolean;
    };

export type Hello =
  | { readonly kind: 'ingest'; readonly producer: string }
  | { readonly kind: 'control' }
  | { readonly kind: 'follow'; readonly after?: number; readonly backlog?: number };

export function readHello(line: string): Hello | undefined {
  const value = readObject(line);
  if (value === undefined) return undefined;
  const { hello, producer, after, backlog } = value;
  if (hello === CONTROL_HELLO) return { kind: 'control' };
  if (hello === INGEST_HELLO) {
    return typeof producer === 'string' && producer !== ''
      ? { kind: 'ingest', producer }
      : undefined;
  }
  if (hello !== FOLLOW_HELLO || !isCountOrNone(after) || !isCountOrNone(backlog)) return undefined;
  return { kind: 'follow', ...definedFields({ after, backlog }) };
}

export function readRequest(line: string): Request | undefined {
  const value = readObject(line);
  switch (value?.['do']) {
    case 'sync':
    case 'status':
    case 'stay':
    case 'stop':
      return { do: value['do'] };
    case 'prune': {
      const request = readPruneFilter(value['request']);
      if (request === undefined) return undefined;
      return { do: 'prune', request, dry_run: value['dry_run'] === true };
    }
    case 'ingest': {
      const { lines } = value;
      if (!Array.isArray(lines) || !lines.every(isNumberedLine)) return undefined;
      return { do: 'ingest', lines, durable: value['durable'] === true };
    }
    default:
      return undefined;
  }
}

function readPruneFilter(value: unknown): PruneFilter | undefined {
  if (!isObject(value)) return undefined;
  const { olderThanMs, keepRuns, what } = value;
  if (!isMomentOrNone(olderThanMs) || !isCountOrNone(keepRuns)) return undefined;
  if (what !== undefined && what !== 'all' && what !== 'previews') return undefined;
  return definedFields({ olderThanMs, keepRuns, what });
}

function isNumberedLine(value: unknown): value is NumberedLine {
  if (!isObject(value)) return false;
  const { producer, seq, line } = value;
  return typeof producer === 'string' && typeof seq === 'number' && typeof line === 'string';
}

function isMomentOrNone(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === 'number' && Math.abs(value) <= MOMENT_MS_MAX);
}

function isCountOrNone(value: unknown): value is number | undefined {
  return value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0);
}

export function readObject(line: string): { readonly [name: string]: unknown } | undefined {
  const value = parseJson(line);
  return isObject(value) ? value : undefined;
}

/** The part of the ledger that the socket needs. */
export type IngestLedger = Pick<Ledger, 'ingest' | 'seal' | 'prune' | 'store'>;
