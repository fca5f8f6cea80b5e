// A shim's way to the hub of its run.

import {
  type EvaluateRequest,
  type HeartbeatRequest,
  HUB_HEARTBEAT_INTERVAL_MS,
  HUB_READINESS,
  HUB_TIMEOUTS,
  HUB_UNLIKE_LENGTH_MAX,
  MAX_INSPECT_BYTES,
  parseHeartbeatResponse,
  type ResultRequest,
  type ShimSummary,
  type SnapshotFile,
  type TerminateRequest,
} from '@subluminal/contracts';
import { awaitsResult } from '@subluminal/core/policy';
import { ask, unavailable } from './ask.ts';
import { readEndpoint, type Target } from './endpoint.ts';
import { Heartbeat } from './heartbeat.ts';
import { Line, type Unread } from './line.ts';
import { tellOf } from './observe.ts';
import { waitForHub } from './ready.ts';
import type {
  Evaluated,
  HubClient,
  HubClientLimits,
  HubClientMade,
  HubClientOptions,
  HubReadiness,
  Observed,
} from './types.ts';

/** As much as a hub takes. */
const BODY_BYTES_MAX = 8 * MAX_INSPECT_BYTES + 2 * 1024 * 1024;

const LIMITS: HubClientLimits = {
  heartbeatMs: HUB_HEARTBEAT_INTERVAL_MS,
  heartbeatRetryMs: 1_000,
  goneRetryMs: 200,
  missesMax: 3,
  ...HUB_TIMEOUTS.evaluate,
  observeMs: HUB_TIMEOUTS.observe.totalMs,
  readiness: HUB_READINESS,
  readyMs: 60_000,
  queueMax: 10_000,
  requestBytesMax: BODY_BYTES_MAX,
  responseBytesMax: BODY_BYTES_MAX,
};

const FULL: Unread = { reason: 'too much waits for the hub', status: 0, gone: false };

/** Each request of these has the same answer. */
type HubNotice =
  | { readonly to: 'heartbeat'; readonly body: HeartbeatRequest }
  | { readonly to: 'result'; readonly body: ResultRequest }
  | { readonly to: 'terminate'; readonly body: TerminateRequest };

class ShimHubClient implements HubClient {
  readonly #options: HubClientOptions;
  readonly #limits: HubClientLimits;
  /** Calls and their results share a connection: a result counts before the next call does. */
  readonly #calls: Line;
  /** All else goes by another, so that a call never waits for a heartbeat. */
  readonly #rest: Line;
  /** What servers answer can be long; neither a call nor a heartbeat waits for it. */
  readonly #answers: Line;
  readonly #heartbeat: Heartbeat;
  /** Calls that a breaker of the hub waits to hear of. */
  readonly #watched = new Set<string>();
  readonly #closing = new AbortController();
  #hasSeenShutdown = false;
  #unlikeRun: string | undefined;
  #leaving: Promise<boolean> | undefined;

  constructor(options: HubClientOptions, target: Target) {
    const limits = { ...LIMITS, ...options.limits };
    this.#options = options;
    this.#limits = limits;
    this.#calls = new Line({ target, ...limits });
    this.#rest = new Line({ target, ...limits });
    this.#answers = new Line({ target, ...limits });
    this.#heartbeat = new Heartbeat({
      ...limits,
      send: async () => {
        const unread = await this.#tell(this.#rest, this.#beat({ summary: options.summary() }));
        return unread && { reason: unread.reason, isGone: unread.gone };
      },
      onLost: (loss) => options.onLost?.(loss),
    });
  }

  ready(): Promise<HubReadiness> {
    const { readiness, readyMs, totalMs } = this.#limits;
    return waitForHub(this.#rest, { readiness, readyMs, totalMs, signal: this.#closing.signal });
  }

  start(): void {
    this.#heartbeat.start();
  }

  async evaluate(request: EvaluateRequest, snapshotFile: () => SnapshotFile): Promise<Evaluated> {
    const { totalMs, queueMax } = this.#limits;
    const { turns } = this.#calls;
    if (turns.waiting >= queueMax) return unavailable('too many calls wait for the hub');
    const untilMs = performance.now() + totalMs;
    const asked = { request, snapshotFile, untilMs, policyMs: totalMs };
    try {
      const evaluated = await turns.run(() => ask(this.#calls, asked));
      if (evaluated.kind === 'answer') this.#note(request.call_id, evaluated.response);
      return evaluated;
    } catch (cause) {
      const what = cause instanceof Error ? cause.message : String(cause);
      return unavailable(`the hub could not be asked: ${what}`);
    }
  }

  result(callId: string, result: ResultRequest['result']): void {
    if (!this.#watched.delete(callId)) return;
    const body = { run_id: this.#options.runId, call_id: callId, result };
    this.#tellAndWarn(this.#calls, { to: 'result', body });
  }

  async observe(observed: Observed, snapshotFile: () => SnapshotFile): Promise<boolean> {
    const { runId: run_id, serverId: server_id, warn } = this.#options;
    const { observeMs: totalMs, queueMax } = this.#limits;
    const { turns } = this.#answers;
    const telling = { request: { run_id, server_id, ...observed }, snapshotFile, totalMs };
    const told =
      turns.waiting < queueMax ? await turns.run(() => tellOf(this.#answers, telling)) : FULL;
    if ('reason' in told) {
      warn?.(`the hub was not told (observe): ${told.reason}`);
      return false;
    }
    if (told.shutdown) this.#shutdown();
    return true;
  }

  terminate({ code, message }: { readonly code: string; readonly message: string }): void {
    const { runId: run_id, serverId: server_id } = this.#options;
    this.#tellAndWarn(this.#rest, { to: 'terminate', body: { run_id, code, message, server_id } });
  }

  tellUnlike(reason: string): void {
    this.#unlikeRun = reason.slice(0, HUB_UNLIKE_LENGTH_MAX);
  }

  async refuse(reason: string): Promise<void> {
    this.tellUnlike(reason);
    const unread = await this.#tell(this.#rest, this.#beat({ leaving: true }));
    if (unread === undefined) return;
    this.#options.warn?.(`the hub was not told (heartbeat): ${unread.reason}`);
  }

  leave(summary: ShimSummary, timeoutMs: number): Promise<boolean> {
    this.#leaving ??= this.#leave(summary, timeoutMs);
    return this.#leaving;
  }

  close(): void {
    this.#heartbeat.stop();
    this.#closing.abort();
    this.#calls.close();
    this.#rest.close();
    this.#answers.close();
  }

  async #leave(summary: ShimSummary, timeoutMs: number): Promise<boolean> {
    this.#heartbeat.stop();
    const goodbye = this.#calls.turns
      .idle()
      .then(() => this.#tell(this.#rest, this.#beat({ summary, leaving: true })));
    const late = new Promise<'late'>((resolve) => {
      setTimeout(resolve, timeoutMs, 'late').unref();
    });
    return (await Promise.race([goodbye, late])) === undefined;
  }

  #beat(more: Pick<HeartbeatRequest, 'summary' | 'leaving'>): HubNotice {
    const { runId: run_id, shimId: shim_id, serverId: server_id } = this.#options;
    const counts = this.#options.counts?.();
    const unlike_run = this.#unlikeRun;
    const body = {
      server_id,
      run_id,
      shim_id,
      ...more,
      ...(counts !== undefined && { counts }),
      ...(unlike_run !== undefined && { unlike_run }),
    };
    return { to: 'heartbeat', body };
  }

  /** Remembers what a later result is for, and heeds the hub. */
  #note(callId: string | undefined, response: Answered): void {
    if (response.shutdown) this.#shutdown();
    const { decision, trace = [] } = response;
    const isWatched = decision === 'forward' && trace.some(awaitsResult);
    if (!isWatched || callId === undefined) return;
    for (const oldest of this.#watched) {
      if (this.#watched.size < this.#limits.queueMax) break;
      this.#watched.delete(oldest);
    }
    this.#watched.add(callId);
  }

  #tellAndWarn(line: Line, told: HubNotice): void {
    void this.#tell(line, told).then((unread) => {
      if (unread !== undefined)
        this.#options.warn?.(`the hub was not told (${told.to}): ${unread.reason}`);
    });
  }

  /** Sends it when its turn has come; gives the reason when it did not get through. */
  async #tell(line: Line, { to, body }: HubNotice): Promise<Unread | undefined> {
    const { totalMs, queueMax } = this.#limits;
    if (line.turns.waiting >= queueMax) return FULL;
    const untilMs = performance.now() + totalMs;
    const message = { to, body: JSON.stringify(body), untilMs, parse: parseHeartbeatResponse };
    const read = await line.turns.run(() => line.send(message));
    if (!read.ok) return read;
    if (read.value.shutdown) this.#shutdown();
    return undefined;
  }

  #shutdown(): void {
    if (this.#hasSeenShutdown || this.#closing.signal.aborted) return;
    this.#hasSeenShutdown = true;
    this.#options.onShutdown?.();
  }
}

type Answered = Extract<Evaluated, { readonly kind: 'answer' }>['response'];

/** A client of the hub at that address; an address that may not be used is told, not thrown. */
export function createHubClient(options: HubClientOptions): HubClientMade {
  const read = readEndpoint(options.endpoint, options.token);
  if (read.ok) return { kind: 'client', client: new ShimHubClient(options, read.target) };
  return { kind: 'refused', code: 'SUB_HUB_ENDPOINT', message: read.message };
}
