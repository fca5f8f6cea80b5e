// Approvals as server-sent events: first those that wait, then each change, whichever gateway made it. A stream ends
// when its key does.
import type { Caller } from '@subluminal/core/routing';
import { type HttpFailure, httpFailure } from '@subluminal/plane/api/http-failure';
import type { TurnApprovalRow } from '../store/types.ts';
import { approvalAnswer } from './record-answers.ts';
import { maySee } from './scope.ts';
import { API_LIMITS, type GatewayApiOptions } from './types.ts';

interface Stream {
  caller: Caller;
  /** The state in which each approval was last sent. */
  readonly sent: Map<string, TurnApprovalRow['state']>;
  readonly write: (text: string) => void;
  /** Whether the client takes what it is sent. */
  readonly isReady: () => boolean;
  readonly end: () => void;
}

export class ApprovalStreams {
  readonly #options: GatewayApiOptions;
  readonly #streams = new Set<Stream>();
  #watching: Promise<() => Promise<void>> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;
  #isStale = false;

  constructor(options: GatewayApiOptions) {
    this.#options = options;
  }

  open(caller: Caller, signal: AbortSignal): ReadableStream | HttpFailure {
    const { streamsMax, userStreamsMax } = { ...API_LIMITS, ...this.#options.limits };
    const own = [...this.#streams].filter((one) => one.caller.userId === caller.userId);
    if (own.length >= userStreamsMax) {
      return httpFailure(429, 'SUB_GATEWAY_LIMIT', 'You have too many streams.');
    }
    if (this.#streams.size >= streamsMax) {
      return httpFailure(503, 'SUB_GATEWAY_LIMIT', 'There are too many streams.');
    }
    let stream: Stream | undefined;
    const leave = () => {
      if (stream !== undefined) this.#leave(stream);
    };
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const encoder = new TextEncoder();
          stream = {
            caller,
            sent: new Map(),
            write: (text) => controller.enqueue(encoder.encode(text)),
            isReady: () => (controller.desiredSize ?? 0) > 0,
            end: () => controller.close(),
          };
          this.#streams.add(stream);
          signal.addEventListener('abort', leave, { once: true });
          stream.write(': approvals\n\n');
          this.#start();
          this.#refresh();
        },
        // The client has taken something: what it missed meanwhile follows.
        pull: () => this.#refresh(),
        cancel: leave,
      },
      { highWaterMark: 16 },
    );
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) this.#end(stream);
    await this.#stop();
  }

  #start(): void {
    const { keepAliveMs } = { ...API_LIMITS, ...this.#options.limits };
    if (this.#watching === undefined) {
      this.#watching = this.#options.store.approvals.watch(() => this.#refresh());
      // What changed before it began to watch was not announced.
      this.#watching.then(
        () => this.#refresh(),
        () => this.#fail(),
      );
    }
    this.#timer ??= setInterval(() => void this.#keepAlive(), keepAliveMs).unref();
  }

  async #stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const watching = this.#watching;
    this.#watching = undefined;
    const stop = await watching?.catch(() => undefined);
    await stop?.();
  }

  /** Reads once for all streams; a change while it reads is read after it. */
  #refresh(): void {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#readUntilFresh()
      .catch(() => this.#fail())
      .finally(() => {
        this.#isReading = false;
      });
  }

  async #readUntilFresh(): Promise<void> {
    while (this.#isStale && this.#streams.size > 0) {
      this.#isStale = false;
      const rows = await this.#options.store.approvals.list(this.#options.tenantId, null);
      for (const stream of this.#streams) sendChanges(stream, rows);
    }
  }

  /** What cannot be read is not passed over in silence: clients come again. */
  #fail(): void {
    this.#options.onWarning?.('The approvals cannot be read: their streams have ended.');
    for (const stream of this.#streams) this.#end(stream);
  }

  async #keepAlive(): Promise<void> {
    for (const stream of this.#streams) {
      const caller = await this.#options.authenticator
        .refreshed(stream.caller)
        .catch(() => undefined);
      if (caller === undefined) this.#end(stream);
      // It may have left meanwhile.
      if (caller === undefined || !this.#streams.has(stream)) continue;
      stream.caller = caller;
      if (stream.isReady()) stream.write(': ping\n\n');
    }
    this.#refresh();
  }

  #end(stream: Stream): void {
    if (!this.#streams.has(stream)) return;
    this.#leave(stream);
    stream.end();
  }

  #leave(stream: Stream): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) void this.#stop();
  }
}

function sendChanges(
  { caller, sent, write, isReady }: Stream,
  rows: readonly TurnApprovalRow[],
): void {
  const ids = new Set(rows.map(({ id }) => id));
  for (const id of sent.keys()) if (!ids.has(id)) sent.delete(id);
  // Oldest first, as they happened.
  for (const row of rows.toReversed()) {
    if (!isReady()) return;
    if (!maySee(caller, { userId: row.requestor, teamId: row.teamId })) continue;
    const before = sent.get(row.id);
    // How others ended before the stream began is no news.
    if (before === row.state || (before === undefined && row.state !== 'pending')) continue;
    sent.set(row.id, row.state);
    write(`event: approval\ndata: ${JSON.stringify(approvalAnswer(row))}\n\n`);
  }
}
