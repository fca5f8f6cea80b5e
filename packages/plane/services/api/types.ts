// What the API needs of the rest of the daemon. The reader of a ledger's store and its
// `RunSummarizer` fit as they are; whoever wires them together shows that to the compiler.
import type {
  ApiApproval,
  ApiApprovals,
  ApiApprovalsQuery,
  ApiApprove,
  ApiCall,
  ApiCallDetail,
  ApiDecided,
  ApiGrants,
  ApiGrantsQuery,
  ApiPolicies,
  ApiReject,
  ApiRevoked,
  ApiRun,
  ApiRunSummary,
  ApiStats,
  Event,
} from '@subluminal/contracts';
import type {
  CallFilter,
  EventsRequest,
  IncomingLine,
  IngestResult,
  Page,
  PageRequest,
  RunFilter,
} from '../../stores/ledger/index.ts';
import type { HttpFailure } from './http-failure.ts';

export interface StoredEvent {
  readonly seq: number;
  /** Null once it was pruned. */
  readonly line: string | null;
}

/** What is read of the ledger. Whatever was announced by the feed must be there to read. */
export interface ApiReader {
  ledgerId(): Promise<string>;
  tip(): Promise<{ readonly seq: number }>;
  /** In the order of seq. */
  events(request: EventsRequest): Promise<readonly StoredEvent[]>;
  runs(filter: RunFilter, page: PageRequest): Promise<Page<ApiRun>>;
  run(runId: string): Promise<ApiRun | undefined>;
  calls(filter: CallFilter, page: PageRequest): Promise<Page<ApiCall>>;
  call(runId: string, callId: string): Promise<ApiCallDetail | undefined>;
  stats(filter: { readonly fromMs?: number; readonly toMs?: number }): Promise<ApiStats>;
  policies(limit: number): Promise<ApiPolicies['rows']>;
}

export interface FeedItem {
  readonly seq: number;
  readonly event: Event;
}

/** Announces events once they are committed: each once, in the order of seq. */
export interface Feed {
  subscribe(listener: (events: readonly FeedItem[]) => void): () => void;
  /** The seq of the last committed event. */
  tip(): number;
}

/** Takes the lines of one run and says what it did. */
export interface Summarizer {
  addLine(line: string): void;
  finish(): ApiRunSummary;
}

/** Where people decide. Ids are whole ones. */
export interface ApiDesk {
  approvals(query: ApiApprovalsQuery): ApiApprovals | HttpFailure;
  approval(id: string): ApiApproval | HttpFailure;
  approve(id: string, wish: ApiApprove): ApiDecided | HttpFailure;
  reject(id: string, wish: ApiReject): ApiDecided | HttpFailure;
  grants(query: ApiGrantsQuery): ApiGrants | HttpFailure;
  revoke(id: string): ApiRevoked | HttpFailure;
}

interface CallbackRequest {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly rawBody: Uint8Array;
}

/** Takes what a service sends by itself. It must find out by a signature who that is. */
export interface Callback {
  readonly bytesMax: number;
  readonly answer: (
    request: CallbackRequest,
  ) =>
    | { readonly status: number; readonly body: object }
    | Promise<{ readonly status: number; readonly body: object }>;
}

/** By their whole paths. */
export type Callbacks = ReadonlyMap<string, Callback>;

export interface ApiOptions {
  readonly reader: ApiReader;
  /** Takes lines in, each once; committed when it resolves. */
  readonly take: (lines: readonly IncomingLine[]) => Promise<IngestResult>;
  readonly feed: Feed;
  readonly summarizer: () => Summarizer;
  /** Without it, there are no approvals to be had. */
  readonly desk?: ApiDesk;
  /** Paths that need no token. */
  readonly callbacks?: Callbacks;
  /** 32 to 512 letters, digits, `-`, `.`, `_`, `~`. */
  readonly token: string;
  /** `127.0.0.1`, `::1` or `localhost`, which is the first. */
  readonly host?: string;
  /** 0 lets the system choose. */
  readonly port?: number;
  /** Of the product, for `health`. */
  readonly version: string;
  readonly nowMs: () => number;
  /** Other origins that may ask, like `http://localhost:5173`. */
  readonly origins?: readonly string[];
  /** For what goes wrong without stopping anything. It never holds a token. */
  readonly onWarning?: (message: string) => void;
  /** Tests make them smaller. */
  readonly limits?: Partial<ApiLimits>;
}

export interface ApiLimits {
  /** Connections that have shown the token. */
  readonly connectionsMax: number;
  /** Connections that have not; beyond it the oldest that say nothing are dropped. */
  readonly waitingMax: number;
  readonly streamsMax: number;
  /** Request line and headers; room for the longest cursor. */
  readonly headerBytesMax: number;
  /** From the first byte of a request to its last. */
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** A client that takes nothing for so long is cut off. */
  readonly stallMs: number;
  /** How often a stream is asked whether somebody is still there. */
  readonly pingMs: number;
  /** What may wait in memory for one stream before it is fed from the store. */
  readonly streamBytesMax: number;
  /** How long `close` waits for answers under way. */
  readonly closeMs: number;
  /** A summary is made of so many events at most. */
  readonly summaryEventsMax: number;
}

export interface Api {
  /** Like `http://127.0.0.1:43210`. */
  readonly url: string;
  /** Ends all connections. The reader and the feed stay open. */
  close(): Promise<void>;
}

// How much of everything.

export const LIMITS: ApiLimits = {
  connectionsMax: 128,
  waitingMax: 64,
  streamsMax: 32,
  headerBytesMax: 131_072,
  requestMs: 10_000,
  keepAliveMs: 5_000,
  stallMs: 60_000,
  pingMs: 30_000,
  streamBytesMax: 1_048_576,
  closeMs: 1_000,
  summaryEventsMax: 500_000,
};
