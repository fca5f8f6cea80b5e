// Talks to a running `sub ledgerd`. Light: the shim and every command may import it.
import { connect } from 'node:net';
import {
  ERROR_CODES,
  type Event,
  errorFix,
  type Failure,
  failure,
  isObject,
  parseEventLine,
} from '@subluminal/contracts';
import { LineReader } from '../../os/line-reader.ts';
import {
  CONTROL_HELLO,
  FOLLOW_HELLO,
  type LedgerStatus,
  LINE_BYTES_MAX,
  type NumberedLine,
  type PruneCounts,
  type PruneFilter,
  type Request,
  readObject,
  type TakenCounts,
} from './protocol.ts';

interface FollowOptions {
  /** Everything behind this event. */
  readonly after?: number;
  /** Without `after`: so many of the last events first; 0. */
  readonly backlog?: number;
  readonly signal: AbortSignal;
}

interface FollowedEvent {
  /** Its place in the ledger. They go up, not always by one: the ledger has events of its own. */
  readonly seq: number;
  readonly event: Event;
}

export type LedgerClient = ReturnType<typeof createLedgerClient>;

const STATUS_TIMEOUT_MS = 2_000;
const WORK_TIMEOUT_MS = 600_000;
/** The event and a few words around it. */
const FOLLOWED_BYTES_MAX = LINE_BYTES_MAX + 1_024;

export function createLedgerClient({ socketPath }: { readonly socketPath: string }) {
  const ask = (request: Request, timeoutMs = WORK_TIMEOUT_MS): Promise<Reply> =>
    askDaemon({ socketPath, request, timeoutMs });
  return {
    /**
     * True when everything that had reached the socket or the spool is committed; false when nobody
     * listens or the time is up.
     */
    sync: async (timeoutMs: number) => isOk(await ask({ do: 'sync' }, timeoutMs)),
    /** Undefined when nobody listens. */
    status: async (timeoutMs = STATUS_TIMEOUT_MS): Promise<LedgerStatus | undefined> => {
      const reply = await ask({ do: 'status' }, timeoutMs);
      const status = reply.kind === 'answer' ? reply.value['status'] : undefined;
      // An older version does not tell; a daemon that may be meant to stay must not be ended.
      if (!isStatus(status)) return undefined;
      return { ...status, stays: status.stays ?? true, conflicts: status.conflicts ?? 0 };
    },
    prune: async (request: PruneFilter, { dryRun = false } = {}) =>
      resultOf(await ask({ do: 'prune', request, dry_run: dryRun }), isPruneCounts),
    /** Lines with the names of their producers, each taken once. */
    ingest: async (lines: readonly NumberedLine[], { durable = false } = {}) =>
      resultOf(await ask({ do: 'ingest', lines, durable }), isTakenCounts),
    /** From now on it ends only when told to; false when nobody listens, or it is too old for that. */
    stay: async (timeoutMs = STATUS_TIMEOUT_MS) => isOk(await ask({ do: 'stay' }, timeoutMs)),
    /** True when the daemon has ended, or when none was there. */
    stop: async (timeoutMs: number) => {
      const request = { do: 'stop' } as const;
      const reply = await askDaemon({ socketPath, timeoutMs, request, untilEnd: true });
      return reply.kind === 'nobody' || isOk(reply);
    },
    /** Events in order, as they are committed. Ends with the daemon, or with the signal. */
    follow: (options: FollowOptions) => follow(socketPath, options),
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
    (http === undefined || isAddress(http))
  );
}

function isAddress(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { url, page } = value;
  return typeof url === 'string' && (page === undefined || typeof page === 'string');
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
        const followed = line === undefined ? undefined : readFollowed(line);
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

interface DaemonRequest {
  readonly socketPath: string;
  readonly request: Request;
  readonly timeoutMs: number;
  /** Wait for the end of the connection, too: the daemon keeps it until it is done. */
  readonly untilEnd?: boolean;
}

type Reply =
  | { readonly kind: 'answer'; readonly value: { readonly [name: string]: unknown } }
  /** Nobody listens, or what listens is no ledger. */
  | { readonly kind: 'nobody' }
  | { readonly kind: 'timeout' };

const ANSWER_BYTES_MAX = 1024 * 1024;

function askDaemon(options: DaemonRequest): Promise<Reply> {
  const { socketPath, request, timeoutMs, untilEnd = false } = options;
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
        const value = line === undefined ? undefined : readObject(line);
        answer = value === undefined ? { kind: 'nobody' } : { kind: 'answer', value };
        if (!untilEnd) finish(answer);
      });
      if (lines.restLength > ANSWER_BYTES_MAX) finish({ kind: 'nobody' });
    });
    socket.on('error', () => finish(answer));
    socket.on('close', () => finish(answer));
  });
}
