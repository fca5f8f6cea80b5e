// From a line as received to an event that can be stored, or the reason why not.
import { isUtf8 } from 'node:buffer';
import { type Event, isObject, type Mismatch, parseEventLine } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';
import { digestOf, sameBytes } from './hash-chain.ts';

/** Bytes wait for their turn outside of the heap, where no collection of garbage copies them. */
export type LineText = string | Buffer;

export interface IncomingLine<T extends LineText = string> {
  readonly producer: string;
  /** The ordinal of the line with its producer. */
  readonly seq: number;
  readonly line: T;
}

type JsonFields = Record<string, unknown>;

export interface LineFacts {
  readonly type: string;
  readonly tsMs: number | null;
  readonly runId: string | null;
}

export type ReadLine =
  | ({ readonly ok: true; readonly bytes: Buffer; readonly event: Event | undefined } & LineFacts)
  | { readonly ok: false; readonly reason: string };

const PRODUCER_LENGTH_MAX = 256;
const SURROGATE = /[\uD800-\uDFFF]/;
/** Behind an even number of backslashes, or it is a backslash and some letters. */
const ESCAPED_NUL = /(?<!\\)((?:\\\\)*)\\u0000/g;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** Why a line cannot be stored at all, whatever it holds. */
export function keyProblem({ producer, seq }: Omit<IncomingLine, 'line'>): string | undefined {
  if (producer === '' || producer.length > PRODUCER_LENGTH_MAX) {
    return `the producer's name must have 1 to ${PRODUCER_LENGTH_MAX} characters`;
  }
  if (storable(producer) !== producer) return "the producer's name is not valid text";
  if (!Number.isSafeInteger(seq) || seq < 0) return 'the number of the line is not a count';
  return undefined;
}

/** Reads one line. An event of an unknown type is kept, and makes no rows yet. */
export function readLine(received: LineText): ReadLine {
  // What is stored is UTF-8: what does not fit in there must not be hashed or read either.
  const bytes = utf8(received);
  const line = typeof received === 'string' ? wellFormed(received) : bytes.toString('utf8');
  const parsed = parseEventLine(withoutNul(line));
  if (parsed.ok) {
    const { event } = parsed;
    const { type, ts, run_id } = event;
    return { ok: true, bytes, event, type, tsMs: Date.parse(ts), runId: wellFormed(run_id) };
  }
  if (parsed.kind === 'unknown_type') {
    return { ok: true, bytes, event: undefined, ...factsOf(line) };
  }
  return { ok: false, reason: `${parsed.code}: ${wordsOf(parsed.mismatches[0])}` };
}

/** Type, time and run of a line that is known to be a JSON object with a type. */
export function factsOf(line: string): LineFacts {
  const value: unknown = JSON.parse(withoutNul(line));
  const { type, ts, run_id: runId } = isObject(value) ? value : {};
  const tsMs = typeof ts === 'string' && TIME.test(ts) ? Date.parse(ts) : Number.NaN;
  return {
    type: typeof type === 'string' ? type : '',
    tsMs: Number.isNaN(tsMs) ? null : tsMs,
    runId: typeof runId === 'string' && runId !== '' ? wellFormed(runId) : null,
  };
}

/** The part of an event that has its preview: the call at its start, the event itself at its end. */
export function previewHolder(event: JsonFields): JsonFields | undefined {
  const isStart = event['type'] === 'tool_call_start' || event['type'] === 'turn_start';
  const holder = isStart ? event['call'] : event;
  return isObject(holder) && isObject(holder['preview']) ? holder : undefined;
}

function utf8(text: LineText): Buffer {
  if (typeof text !== 'string' && isUtf8(text)) return text;
  return Buffer.from(text.toString('utf8'), 'utf8');
}

function wellFormed(text: string): string {
  return SURROGATE.test(text) ? Buffer.from(text, 'utf8').toString('utf8') : text;
}

/**
 * The line with U+FFFD in place of an escaped NUL, which no database keeps in a text. The line is
 * stored as it came; what is read from it must fit.
 */
export function withoutNul(line: string): string {
  return line.includes(String.raw`\u0000`) ? line.replaceAll(ESCAPED_NUL, '$1\\ufffd') : line;
}

/** Any text as databases can keep it. */
export function storable(text: string): string {
  return wellFormed(text).replaceAll('\0', '\uFFFD');
}

function wordsOf(mismatch: Mismatch | undefined): string {
  if (mismatch === undefined) return 'not an event';
  const { path, expected, got } = mismatch;
  const place = path.length === 0 ? '' : `${path.join('.')}: `;
  return `${place}expected ${expected}, got ${got}`;
}

// Whether a line that comes under a number which the ledger has is the one that it has.

/** What is stored of a line: the line, or what pruning left of it with the digest of the whole. */
export interface StoredLine {
  readonly line: string | null;
  readonly digest: Uint8Array | null;
}

/** Why a line was set aside whose number another line has. */
export const CONFLICT_REASON = 'SUB_EVENT_CONFLICT: another line came before under this number';

/**
 * A shim that sends again may have left out previews since, and so may the ledger by pruning: where
 * one of two lines says so, the rest decides.
 */
export function isSameLine(stored: StoredLine, line: string): boolean {
  if (stored.digest === null && stored.line === line) return true;
  if (stored.digest !== null && sameBytes(stored.digest, digestOf(line))) return true;
  if (stored.line === null) return false;
  const [ours, theirs] = [withoutPreview(stored.line), withoutPreview(line)];
  return (ours.isLean || theirs.isLean) && ours.text === theirs.text;
}

/** The event with nothing in place of its preview, and whether it says that its preview was left out. */
function withoutPreview(line: string): { readonly text: string; readonly isLean: boolean } {
  const value = parseJson(line);
  const holder = isObject(value) ? previewHolder(value) : undefined;
  const preview = holder?.['preview'];
  if (holder === undefined || !isObject(preview)) return { text: line, isLean: false };
  // The order of the fields stays.
  holder['preview'] = null;
  const isLean = preview['previews_dropped'] === true || preview['pruned'] === true;
  return { text: JSON.stringify(value), isLean };
}
