// A shim's way to the hub of its run.
import { setTimeout as delay } from 'node:timers/promises';
import {
  definedFields,
  type EvaluateRequest,
  type EvaluateResponse,
  type Failure,
  type HealthResponse,
  type HeartbeatRequest,
  HUB_HEARTBEAT_INTERVAL_MS,
  HUB_OBSERVED_CHARS_MAX,
  HUB_READINESS,
  HUB_TIMEOUTS,
  HUB_UNLIKE_LENGTH_MAX,
  isFailure,
  type ObserveRequest,
  parseHealthResponse,
  parseHeartbeatResponse,
  parseObserveResponse,
  type ResultRequest,
  type ShimCounts,
  type ShimSummary,
  type SnapshotFile,
  type TerminateRequest,
} from '@subluminal/contracts';
import {
  HUB_LEASE_TIMES,
  type LeaseRequest,
  type LeaseResponse,
  parseLeaseResponse,
  parseRecall,
  type Recall,
  type ReturnRequest,
} from '@subluminal/contracts/hub-frames';
import { awaitsResult } from '@subluminal/core/policy';
import { Connection, hubBodyBytesMax } from './connection.ts';
import { readEndpoint, type Target } from './endpoint.ts';
import { Heartbeat, type Loss } from './heartbeat.ts';
import { parseEvaluated, sendWithPolicy } from './send-with-policy.ts';
import { Turns } from './turns.ts';
import type { Unread } from './unread.ts';

const LIMITS = {
  heartbeatMs: HUB_HEARTBEAT_INTERVAL_MS,
  /** The pause after a heartbeat that failed; shorter, so that a loss is noticed soon. */
  heartbeatRetryMs: 1_000,
  /** The pause before checking again that nobody listens. */
  goneRetryMs: 200,
  /** So many heartbeats in a row must fail before the hub counts as lost. */
  missesMax: 3,
  ...HUB_TIMEOUTS.evaluate,
  /** How long the hub may take to read an answer of the server. */
  observeMs: HUB_TIMEOUTS.observe.totalMs,
  /** How long a lease may take: the hub may have to recall others first. */
  leaseMs: HUB_LEASE_TIMES.totalMs,
  ...HUB_READINESS,
  /** How long `ready` waits for the hub, however few attempts that were. */
  readyMs: 60_000,
  /** Requests that wait for their turn, and forwarded calls that wait for their result. */
  queueMax: 10_000,
};

type LimitName = keyof typeof LIMITS | 'requestBytesMax' | 'responseBytesMax';
type HubClientLimits = { readonly [N in LimitName]: number };

export interface HubClientOptions {
  /** `unix:/path` or `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  /** Needed with `http:`. */
  readonly token?: string;
  readonly runId: string;
  readonly shimId: string;
  readonly serverId: string;
  /** What the shim has counted so far; goes with each heartbeat. */
  readonly summary: () => ShimSummary;
  /** The same for its metrics; goes with each heartbeat, and with the goodbye. */
  readonly counts?: () => ShimCounts | undefined;
  /** The hub wants its shims to finish and stop. Called once. */
  readonly onShutdown?: () => void;
  /**
   * The hub does not answer. Called once, again when it turns out to be gone, and again when it had
   * come back and is lost again.
   */
  readonly onLost?: (loss: Loss) => void;
  /** Gives leased calls back that others need; those that it keeps, it uses. */
  readonly onRecall?: (counters: Recall['leases']) => ReturnedLeases | undefined;
  /** The connection has ended: what was leased over it belongs to nobody. */
  readonly onBroken?: () => void;
  /** Warns the operator, for example of a result that could not be reported. */
  readonly warn?: (text: string) => void;
  /** The largest call that the shim inspects; the hub must have the same. */
  readonly inspectBytesMax?: number;
  readonly limits?: Partial<HubClientLimits>;
}

/** `unavailable`: nobody has decided; the profile says what that means. */
export type Evaluated =
  | { readonly kind: 'answer'; readonly response: EvaluateResponse }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Leased calls that were not used, and the policy that they were leased by. */
export type ReturnedLeases = Pick<ReturnRequest, 'policy_hash' | 'leases'>;

/** `unavailable`: nothing was leased. */
export type Leased =
  | { readonly kind: 'answer'; readonly response: LeaseResponse }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** An answer of this shim's server. */
type Observed = Pick<ObserveRequest, 'policy_hash' | 'call_id' | 'tool_name' | 'text'>;

/** The settings of the run, as its hub reports them. */
export type RunTerms = Pick<
  HealthResponse,
  'profile' | 'policy_hash' | 'policy_reload' | 'settings'
>;

export type HubReadiness =
  /** `judges`: who decides at the hub beside the rules, so that every call must be asked for. */
  | { readonly kind: 'ready'; readonly judges: readonly string[]; readonly terms: RunTerms }
  | { readonly kind: 'unavailable'; readonly code: 'SUB_HUB_DOWN'; readonly reason: string };

/** Requests whose answer is that of a heartbeat. */
type HubNotice =
  | { readonly to: 'heartbeat'; readonly body: HeartbeatRequest }
  | { readonly to: 'result'; readonly body: ResultRequest }
  | { readonly to: 'terminate'; readonly body: TerminateRequest };

const OBSERVE_ATTEMPTS_MAX = 2;
/** A client without access now has none in a moment either. */
const NO_ACCESS: ReadonlySet<number> = new Set([401, 403]);

export class HubClient {
  readonly #options: HubClientOptions;
  readonly #limits: HubClientLimits;
  readonly #connection: Connection;
  /** Calls and their results go one after the other: a result counts before the next call does. */
  readonly #calls: Turns;
  /** Heartbeats and the like have a queue of their own, so that a call never waits for them. */
  readonly #rest: Turns;
  /** The hub may take long to read an answer; neither a call nor a heartbeat waits for that. */
  readonly #answers: Turns;
  readonly #heartbeat: Heartbeat;
  /** Calls that a breaker of the hub waits to hear of. */
  readonly #watched = new Set<string>();
  readonly #closing = new AbortController();
  #hasSeenShutdown = false;
  #unlikeRun: string | undefined;
  #leaving: Promise<boolean> | undefined;

  constructor(options: HubClientOptions, target: Target) {
    const bytesMax = hubBodyBytesMax(options.inspectBytesMax);
    const bodies = { requestBytesMax: bytesMax, responseBytesMax: bytesMax };
    const limits = { ...LIMITS, ...bodies, ...options.limits };
    this.#options = options;
    this.#limits = limits;
    this.#connection = new Connection({
      target,
      ...limits,
      pushed: (push, body) => this.#pushed(push, body),
      broken: () => options.onBroken?.(),
    });
    this.#calls = new Turns(limits.queueMax);
    this.#rest = new Turns(limits.queueMax);
    this.#answers = new Turns(limits.queueMax);
    this.#heartbeat = new Heartbeat({
      ...limits,
      send: () => this.#tell(this.#rest, this.#beat({ summary: options.summary() })),
      onLost: (loss) => options.onLost?.(loss),
    });
  }

  /** Polls until the hub is healthy, with growing pauses, or gives up. */
  async ready(): Promise<HubReadiness> {
    const { attemptsMax, backoffFirstMs, backoffMaxMs, readyMs, totalMs } = this.#limits;
    const { signal } = this.#closing;
    const endMs = performance.now() + readyMs;
    let pauseMs = backoffFirstMs;
    let reason = '';
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const untilMs = performance.now() + totalMs;
      const read = await this.#connection.send({
        to: 'health',
        untilMs,
        parse: parseHealthResponse,
      });
      if (read.ok && read.value.status === 'ok') {
        const { judges = [], v: _version, status: _status, ...terms } = read.value;
        return { kind: 'ready', judges, terms };
      }
      reason = read.ok ? 'the hub is stopping' : read.reason;
      if (read.ok || NO_ACCESS.has(read.status) || signal.aborted) break;
      if (attempt === attemptsMax || performance.now() + pauseMs >= endMs) break;
      await delay(pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, backoffMaxMs);
    }
    return { kind: 'unavailable', code: 'SUB_HUB_DOWN', reason };
  }

  /** Registers the shim with a first heartbeat, and goes on with one every few seconds. */
  start(): void {
    this.#heartbeat.start();
  }

  /**
   * Asks for one call. Calls are asked one after the other, in the order of this method being
   * called. The hub is given the policy when it does not have it. Never rejects.
   */
  async evaluate(request: EvaluateRequest, snapshotFile: () => SnapshotFile): Promise<Evaluated> {
    const { totalMs: policyMs } = this.#limits;
    const untilMs = performance.now() + policyMs;
    const read = await this.#calls.take(() => {
      const body = JSON.stringify(request);
      const times = { untilMs, policyMs, snapshotFile };
      const message = { to: 'evaluate', body, parse: parseEvaluated, ...times } as const;
      return sendWithPolicy(this.#connection, message);
    });
    if (!read.ok) return { kind: 'unavailable', reason: read.reason };
    this.#note(request.call_id, read.value);
    return { kind: 'answer', response: read.value };
  }

  /**
   * Asks for calls to count here. What comes too late goes back at once. Never rejects.
   */
  async lease(
    { policy_hash, leases }: Pick<LeaseRequest, 'policy_hash' | 'leases'>,
    snapshotFile: () => SnapshotFile,
  ): Promise<Leased> {
    const { runId: run_id } = this.#options;
    const { leaseMs: policyMs } = this.#limits;
    const untilMs = performance.now() + policyMs;
    const late = (body: unknown): void => {
      const parsed = parseLeaseResponse(body);
      if (parsed.ok) this.giveBack({ policy_hash, leases: parsed.value.leases });
    };
    const read = await this.#calls.take(() => {
      const body = JSON.stringify({ run_id, policy_hash, leases });
      const times = { untilMs, policyMs, snapshotFile };
      const message = { to: 'lease', body, parse: parseLeaseResponse, late, ...times } as const;
      return sendWithPolicy(this.#connection, message);
    });
    if (!read.ok) return { kind: 'unavailable', reason: read.reason };
    if (read.value.shutdown) this.#shutdown();
    return { kind: 'answer', response: read.value };
  }

  /** Returns leased calls that were not used. */
  giveBack(returned: ReturnedLeases): void {
    if (returned.leases.length > 0) this.#connection.tell('return', returned);
  }

  /**
   * Tells how a call has ended, before any later call is asked for. Sent only for calls that the
   * hub has decided and that a breaker watches.
   */
  result(callId: string, result: 'ok' | 'error'): void {
    if (!this.#watched.delete(callId)) return;
    const body = { run_id: this.#options.runId, call_id: callId, result };
    void this.#tellOrWarn(this.#calls, { to: 'result', body });
  }

  /**
   * Tells what a server has answered; true when the hub will hold later calls against it. Tried
   * twice: a machine under load is late, not gone. Never rejects.
   */
  async observe(observed: Observed, snapshotFile: () => SnapshotFile): Promise<boolean> {
    const { runId: run_id, serverId: server_id } = this.#options;
    const { observeMs: policyMs } = this.#limits;
    const read = await this.#answers.take(async () => {
      const body = JSON.stringify({ run_id, server_id, ...bounded(observed) });
      const message = { to: 'observe', body, parse: parseObserveResponse } as const;
      for (let attempt = 1; ; attempt++) {
        const times = { untilMs: performance.now() + policyMs, policyMs, snapshotFile };
        const tried = await sendWithPolicy(this.#connection, { ...message, ...times });
        if (tried.ok || attempt === OBSERVE_ATTEMPTS_MAX) return tried;
      }
    });
    if (!read.ok) return this.#warn('observe', read);
    if (read.value.shutdown) this.#shutdown();
    return read.value.heard;
  }

  /** Tells the hub that a rule has ended the run. */
  terminate({ code, message }: { readonly code: string; readonly message: string }): void {
    const { runId: run_id, serverId: server_id } = this.#options;
    const body = { run_id, code, message, server_id };
    void this.#tellOrWarn(this.#rest, { to: 'terminate', body });
  }

  /** Tells how the shim is looser than its run, in words; each heartbeat says so from now on. */
  tellUnlike(reason: string): void {
    this.#unlikeRun = reason.slice(0, HUB_UNLIKE_LENGTH_MAX);
  }

  /** Says goodbye before the server has started, and why. Never rejects. */
  async refuse(reason: string): Promise<void> {
    this.tellUnlike(reason);
    await this.#tellOrWarn(this.#rest, this.#beat({ leaving: true }));
  }

  /** Flushes what is on its way and says goodbye; false when that did not get through in time. */
  leave(summary: ShimSummary, timeoutMs: number): Promise<boolean> {
    this.#leaving ??= this.#leave(summary, timeoutMs);
    return this.#leaving;
  }

  /** Drops everything at once. Calls that still wait are `unavailable`. */
  close(): void {
    this.#heartbeat.stop();
    this.#closing.abort();
    this.#connection.close();
  }

  async #leave(summary: ShimSummary, timeoutMs: number): Promise<boolean> {
    this.#heartbeat.stop();
    const goodbye = this.#calls
      .idle()
      .then(() => this.#tell(this.#rest, this.#beat({ summary, leaving: true })));
    const late = delay(timeoutMs, 'late', { ref: false });
    return (await Promise.race([goodbye, late])) === undefined;
  }

  #beat(more: Pick<HeartbeatRequest, 'summary' | 'leaving'>): HubNotice {
    const { runId, shimId: shim_id, serverId: server_id } = this.#options;
    // A shim that has not started yet may not know its run.
    const run_id = runId || undefined;
    const optional = { run_id, counts: this.#options.counts?.(), unlike_run: this.#unlikeRun };
    const body = { server_id, shim_id, ...more, ...definedFields(optional) };
    return { to: 'heartbeat', body };
  }

  /** Remembers the calls whose result the hub wants. */
  #note(callId: string | undefined, { shutdown, decision, trace = [] }: EvaluateResponse): void {
    if (shutdown) this.#shutdown();
    const isWatched = decision === 'forward' && trace.some(awaitsResult);
    if (!isWatched || callId === undefined) return;
    for (const oldest of this.#watched) {
      if (this.#watched.size < this.#limits.queueMax) break;
      this.#watched.delete(oldest);
    }
    this.#watched.add(callId);
  }

  async #tellOrWarn(turns: Turns, notice: HubNotice): Promise<void> {
    const problem = await this.#tell(turns, notice);
    if (problem !== undefined) this.#warn(notice.to, problem);
  }

  #warn(to: string, { reason }: Unread): false {
    this.#options.warn?.(`the hub was not told (${to}): ${reason}`);
    return false;
  }

  /** Sends it when its turn has come; returns why it did not get through. */
  async #tell(turns: Turns, { to, body }: HubNotice): Promise<Unread | undefined> {
    const untilMs = performance.now() + this.#limits.totalMs;
    const message = { to, body: JSON.stringify(body), untilMs, parse: parseHeartbeatResponse };
    const read = await turns.take(() => this.#connection.send(message));
    if (!read.ok) return read;
    if (read.value.shutdown) this.#shutdown();
    return undefined;
  }

  /** What the hub says without being asked. */
  #pushed(push: string, body: unknown): void {
    if (push === 'stop') return this.#shutdown();
    const recalled = parseRecall(body);
    if (push !== 'recall' || !recalled.ok) return;
    const { recall, leases } = recalled.value;
    const returned = this.#options.onRecall?.(leases);
    // Every recall is answered: the hub waits for it.
    if (returned !== undefined) this.#connection.tell('return', { ...returned, recall });
  }

  #shutdown(): void {
    if (this.#hasSeenShutdown || this.#closing.signal.aborted) return;
    this.#hasSeenShutdown = true;
    this.#options.onShutdown?.();
  }
}

/** A hub remembers of a longer text that it did not see all of it. */
function bounded(observed: Observed): Omit<ObserveRequest, 'run_id' | 'server_id'> {
  if (observed.text.length <= HUB_OBSERVED_CHARS_MAX) return observed;
  return { ...observed, text: observed.text.slice(0, HUB_OBSERVED_CHARS_MAX), partial: true };
}

/** A client of the hub at that address, or why the address may not be used. */
export function createHubClient(options: HubClientOptions): HubClient | Failure {
  const target = readEndpoint(options.endpoint, options.token);
  return isFailure(target) ? target : new HubClient(options, target);
}
