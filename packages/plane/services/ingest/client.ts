// Talks to a running `sub ledgerd`. Light: the shim and every command may import it.
import { connect } from 'node:net';
import {
  ERROR_CODES,
  type Event,
  errorFix,
  type Failure,
  failure,
  parseEventLine,
} from '@subluminal/contracts';
import { LineReader } from './peer.ts';
import {
  CONTROL_HELLO,
  FOLLOW_HELLO,
  isObject,
  type LedgerStatus,
  LINE_BYTES_MAX,
  type NumberedLine,
  type PruneCounts,
  type PruneFilter,
  type Request,
  readObject,
  type TakenCounts,
} from './protocol.ts';

export interface FollowOptions {
  /** Everything behind this event. */
  readonly after?: number;
  /** Without `after`: so many of the last events first; 0. */
  readonly backlog?: number;
  readonly signal: AbortSignal;
}

export interface FollowedEvent {
  /** Its place in the ledger. They go up, not always by one: the ledger has events of its own. */
  readonly seq: number;
  readonly event: Event;
}

export interface LedgerClient {
  /**
   * True when everything that had reached the socket or the spool is committed; false when nobody
   * listens or the time is up.
   */
  sync(timeoutMs: number): Promise<boolean>;
  /** Undefined when nobody listens. */
  status(timeoutMs?: number): Promise<LedgerStatus | undefined>;
  prune(
    request: PruneFilter,
    options?: { readonly dryRun?: boolean },
  ): Promise<PruneCounts | Failure>;
  /** Lines with the names of their producers, each taken once. */
  ingest(
    lines: readonly NumberedLine[],
    options?: { readonly durable?: boolean },
  ): Promise<TakenCounts | Failure>;
  /** From now on it ends only when told to; false when nobody listens, or it is too old for that. */
  stay(timeoutMs?: number): Promise<boolean>;
  /** True when the daemon has ended, or when none was there. */
  stop(timeoutMs: number): Promise<boolean>;
  /** Events in order, as they are committed. Ends with the daemon, or with the signal. */
  follow(options: FollowOptions): AsyncIterable<FollowedEvent>;
}

const STATUS_TIMEOUT_MS = 2_000;
const WORK_TIMEOUT_MS = 600_000;
/** The event and a few words around it. */
const FOLLOWED_BYTES_MAX = LINE_BYTES_MAX + 1_024;

export function createLedgerClient({ socketPath }: { readonly socketPath: string }): LedgerClient {
  const work = { socketPath, timeoutMs: WORK_TIMEOUT_MS };
  return {
    sync: async (timeoutMs) => isOk(await ask({ socketPath, timeoutMs, request: { do: 'sync' } })),
    status: async (timeoutMs = STATUS_TIMEOUT_MS) => {
      const reply = await ask({ socketPath, timeoutMs, request: { do: 'status' } });
      const status = reply.kind === 'answer' ? reply.value['status'] : undefined;
      // One of an older version does not say; nobody should end what may be meant to stay.
      if (!isStatus(status)) return undefined;
      return { ...status, stays: status.stays ?? true, conflicts: status.conflicts ?? 0 };
    },
    prune: async (request, { dryRun = false } = {}) => {
      const asked = { do: 'prune', request, dry_run: dryRun } as const;
      return resultOf(await ask({ ...work, request: asked }), isPruneCounts);
    },
    ingest: async (lines, { durable = false } = {}) => {
      const asked = { do: 'ingest', lines, durable } as const;
      return resultOf(await ask({ ...work, request: asked }), isTakenCounts);
    },
    stay: async (timeoutMs = STATUS_TIMEOUT_MS) =>
      isOk(await ask({ socketPath, timeoutMs, request: { do: 'stay' } })),
    stop: async (timeoutMs) => {
      const request = { do: 'stop' } as const;
      const reply = await ask({ socketPath, timeoutMs, request, untilEnd: true });
      return reply.kind === 'nobody' || isOk(reply);
    },
    follow: (options) => follow(socketPath, options),
  };
}

function isOk(reply: Reply): boolean {
  return reply.kind === 'answer' && reply.value['ok'] === true;
}

function resultOf<T>(reply: Reply, is: (value: unknown) => value is T): T | Failure {
  if (reply.kind === 'timeout')
    return daemonFailure('SUB_LEDGER_BUSY', 'the daemon does not answer');
  if (reply.kind === 'nobody') return daemonFailure('SUB_LEDGER_IO', 'the daemon is gone');
  const { ok, result, code, error } = reply.value;
  if (ok === true && is(result)) return result;
  return daemonFailure(code, typeof error === 'string' ? error : 'the daemon gave no known answer');
}

/** The daemon may be of another version: a code that is not known counts as an error of its disk. */
function daemonFailure(given: unknown, text: string): Failure {
  const code = ERROR_CODES.find((known) => known === given) ?? 'SUB_LEDGER_IO';
  return failure(code, text.endsWith('.') ? text : `${text}.`, errorFix(code));
}

type Newer = 'stays' | 'conflicts';
type AnyStatus = Omit<LedgerStatus, Newer> & Partial<Pick<LedgerStatus, Newer>>;

function isStatus(value: unknown): value is AnyStatus {
  if (!isObject(value)) return false;
  const { pid, version, started_at, connections, events_committed, stays, http } = value;
  const { conflicts, http_error, channels } = value;
  return (
    [pid, connections, events_committed].every(Number.isSafeInteger) &&
    typeof version === 'string' &&
    typeof started_at === 'string' &&
    (stays === undefined || typeof stays === 'boolean') &&
    (conflicts === undefined || Number.isSafeInteger(conflicts)) &&
    (http_error === undefined || typeof http_error === 'string') &&
    (channels === undefined || isNames(channels)) &&
    (http === undefined || (isObject(http) && typeof http['url'] === 'string'))
  );
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function isPruneCounts(value: unknown): value is PruneCounts {
  if (!isObject(value) || !Number.isSafeInteger(value['runs'])) return false;
  return value['events'] === null || Number.isSafeInteger(value['events']);
}

function isTakenCounts(value: unknown): value is TakenCounts {
  if (!isObject(value)) return false;
  return ['accepted', 'duplicates', 'rejected'].every((name) => Number.isSafeInteger(value[name]));
}

async function* follow(
  socketPath: string,
  { after, backlog, signal }: FollowOptions,
): AsyncGenerator<FollowedEvent, undefined> {
  if (signal.aborted) return undefined;
  const socket = connect(socketPath);
  const stop = () => socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const lines = new LineReader(FOLLOWED_BYTES_MAX);
  try {
    socket.write(`${JSON.stringify({ hello: FOLLOW_HELLO, after, backlog })}\n`);
    // Read only as fast as the events are taken: the daemon waits for us, and for nobody else.
    const chunks: AsyncIterable<Buffer> = socket;
    for await (const chunk of chunks) {
      const found: FollowedEvent[] = [];
      lines.read(chunk, (line) => {
        const followed = typeof line === 'string' ? readFollowed(line) : undefined;
        if (followed !== undefined) found.push(followed);
      });
      yield* found;
    }
  } catch {
    // The daemon is gone, or was told to stop: there is nothing more to follow.
  } finally {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  }
  return undefined;
}

/** `{"seq":N,"event":{…}}`; undefined for an event of a type that this version does not know. */
function readFollowed(line: string): FollowedEvent | undefined {
  const parts = /^\{"seq":(\d{1,15}),"event":(\{.*\})\}$/s.exec(line);
  const parsed = parts?.[2] === undefined ? undefined : parseEventLine(parts[2]);
  return parsed?.ok === true ? { seq: Number(parts?.[1]), event: parsed.event } : undefined;
}

// One request to the daemon, on a connection of its own.

export interface DaemonRequest {
  readonly socketPath: string;
  readonly request: Request;
  readonly timeoutMs: number;
  /** Wait for the end of the connection, too: the daemon keeps it until it is done. */
  readonly untilEnd?: boolean;
}

export type Reply =
  | { readonly kind: 'answer'; readonly value: { readonly [name: string]: unknown } }
  /** Nobody listens, or what listens is no ledger. */
  | { readonly kind: 'nobody' }
  | { readonly kind: 'timeout' };

const ANSWER_BYTES_MAX = 1024 * 1024;

function ask({ socketPath, request, timeoutMs, untilEnd = false }: DaemonRequest): Promise<Reply> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const lines = new LineReader(ANSWER_BYTES_MAX);
    let answer: Reply = { kind: 'nobody' };
    const timer = setTimeout(() => finish({ kind: 'timeout' }), timeoutMs);
    const finish = (reply: Reply) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reply);
    };
    socket.on('connect', () => {
      socket.write(`${JSON.stringify({ hello: CONTROL_HELLO })}\n${JSON.stringify(request)}\n`);
    });
    socket.on('data', (chunk: Buffer) => {
      lines.read(chunk, (line) => {
        const value = typeof line === 'string' ? readObject(line) : undefined;
        answer = value === undefined ? { kind: 'nobody' } : { kind: 'answer', value };
        if (!untilEnd) finish(answer);
      });
      if (lines.restLength > ANSWER_BYTES_MAX) finish({ kind: 'nobody' });
    });
    socket.on('error', () => finish(answer));
    socket.on('close', () => finish(answer));
  });
}
