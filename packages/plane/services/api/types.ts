// What the API needs of the rest of the daemon. The reader of a ledger's store fits as it is: where the
// daemon passes it, the compiler holds its rows against the contract.
import type {
  ApiCallDetail,
  ApiCost,
  ApiHistogram,
  ApiPolicies,
  ApiRun,
  ApiRunsActivity,
  ApiServerSeries,
  ApiStats,
} from '@subluminal/contracts';
import type { System } from '../../os/index.ts';
import type {
  CallFilter,
  CallRow,
  EventsRequest,
  HistogramRequest,
  IncomingLine,
  IngestResult,
  Page,
  PageRequest,
  RunFilter,
  ServerSeriesQuery,
  TurnCostsQuery,
} from '../../stores/ledger/index.ts';
import type { DeskOptions } from './approval-desk.ts';
import type { Workbench } from './workbench.ts';

export interface StoredEvent {
  readonly seq: number;
  /** Null once it was pruned. */
  readonly line: string | null;
}

/** What is read of the ledger. Events that the feed has announced must be there to read. */
export interface ApiReader {
  ledgerId(): Promise<string>;
  tip(): Promise<{ readonly seq: number }>;
  /** In the order of seq. */
  events(request: EventsRequest): Promise<readonly StoredEvent[]>;
  runs(filter: RunFilter, page: PageRequest): Promise<Page<ApiRun>>;
  run(runId: string): Promise<ApiRun | undefined>;
  calls(filter: CallFilter, page: PageRequest): Promise<Page<CallRow>>;
  call(runId: string, callId: string): Promise<ApiCallDetail | undefined>;
  stats(filter: { readonly fromMs?: number; readonly toMs?: number }): Promise<ApiStats>;
  serverSeries(query: ServerSeriesQuery): Promise<ApiServerSeries>;
  policies(limit: number): Promise<ApiPolicies['rows']>;
  histogram(filter: CallFilter, request: HistogramRequest): Promise<ApiHistogram>;
  activity(runIds: readonly string[], parts: number): Promise<ApiRunsActivity['rows']>;
  turnCosts(query: TurnCostsQuery): Promise<Pick<ApiCost, 'total' | 'rows'>>;
}

/** Announces that events were committed. */
export interface Feed {
  subscribe(listener: () => void): () => void;
  /** The seq of the last committed event. */
  tip(): number;
}

interface CallbackRequest {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly rawBody: Uint8Array;
}

/** Takes messages of a service; their signature must show who sent them. */
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

export interface PagesOptions {
  /** The built files. */
  readonly folder: string;
  /** Seals the sessions: they last as long as it does. */
  readonly secret: string;
}

export interface ApiOptions {
  readonly reader: ApiReader;
  /** Takes lines in, each once; committed when it resolves. */
  readonly take: (lines: readonly IncomingLine[]) => Promise<IngestResult>;
  readonly feed: Feed;
  /** Without it, the API serves no approvals. */
  readonly desk?: DeskOptions | undefined;
  /** Loads what the commands of `sub` can do; without it, the API serves nothing of that. */
  readonly workbench?: (() => Promise<Workbench>) | undefined;
  /** Paths that need no token. */
  readonly callbacks?: Callbacks | undefined;
  /** Called for each request but those for `health`. */
  readonly onRequest?: () => void;
  /** The page and its sessions. Without it, the token alone lets in. */
  readonly pages?: PagesOptions | undefined;
  /** The folder of agent files, by which processes of governed runs are known. Without it, nobody is taken for one. */
  readonly runDir?: string | undefined;
  /** Whether Steward is set up in this home. Its socket is in `runDir`. */
  readonly hasSteward?: (() => boolean) | undefined;
  /** Of this system, whom the daemon belongs to. */
  readonly user: string;
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
  /** Tests have another one. */
  readonly system?: System;
}

export interface Api {
  /** Like `http://127.0.0.1:43210`. */
  readonly url: string;
  /** Ends all connections. The reader and the feed stay open. */
  close(): Promise<void>;
}

export const LIMITS = {
  /** Connections that have shown the token. */
  connectionsMax: 128,
  /** Connections that have not; beyond it the oldest that say nothing are dropped. */
  waitingMax: 64,
  streamsMax: 32,
  /** Request line and headers; room for the longest cursor. */
  headerBytesMax: 131_072,
  /** From the first byte of a request to its last. */
  requestMs: 10_000,
  keepAliveMs: 5_000,
  /** A client that takes nothing for so long is cut off. */
  stallMs: 60_000,
  /** How often a stream is asked whether its client is still there. */
  pingMs: 30_000,
  /** What may wait in memory for one stream before it is fed from the store. */
  streamBytesMax: 1_048_576,
  /** How long `close` waits for answers under way. */
  closeMs: 1_000,
  /** A summary is made of so many events at most. */
  summaryEventsMax: 500_000,
};

export type ApiLimits = { readonly [K in keyof typeof LIMITS]: number };
