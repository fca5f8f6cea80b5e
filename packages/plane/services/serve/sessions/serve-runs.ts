// The runs of `sub serve`: all sessions of one principal, and of the run that it names, are one run. It ends when none of
// them has been open for a while. Under `sub run` all sessions belong to the run that has started this process.
import { eventWriter, NO_CALLS, type Producer, SHIM_COUNTERS } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { visible } from '@subluminal/core/visible';
import { uuidv7 } from 'uuidv7';
import { sha256 } from '../../../os/crypto/index.ts';
import { monotonicClock } from '../../../os/index.ts';
import { registerRun, type ShimAccount } from '../../../stores/identity/index.ts';
import { Recorder } from '../../governor/events.ts';
import type { LocalHub } from '../../governor/local-hub.ts';
import { Hub, type Judge } from '../../hub/index.ts';
import type { BatchingSink } from '../../sink/index.ts';
import type { Principal } from '../auth/types.ts';
import type { Caller } from '../http/endpoint.ts';

export interface ServeRunsOptions {
  /** This machine; for the run of `sub run`, also the run and its agent. */
  readonly machine: Producer;
  /** Whether `sub run` has started this process. */
  readonly isHosted: boolean;
  readonly sink: BatchingSink;
  readonly snapshot: () => Snapshot;
  readonly judge: Judge | undefined;
  readonly runDir: string;
  readonly idleMs: () => number;
  /** Of one caller; beyond it, those without a session end at once. */
  readonly runsMax: () => number;
  readonly warn: (text: string) => void;
}

const NAME_LENGTH_MAX = 256;
/** Of a longer id, so much is shown before its digest. */
const CUT_LENGTH = 200;
const DIGEST_LENGTH = 40;

/** What one run needs of them. */
export type ServeRunOptions = Pick<
  ServeRunsOptions,
  'isHosted' | 'sink' | 'snapshot' | 'judge' | 'runDir' | 'idleMs' | 'warn'
>;

export class ServeRun {
  readonly producer: Producer;
  /** Undefined where the hub of `sub run` counts. */
  readonly hub: Hub | undefined;
  readonly #options: ServeRunOptions;
  readonly #recorder: Recorder;
  readonly #release: () => void;
  readonly #members = new Set<LocalHub>();
  /** The hashes of the policies that its record holds whole. */
  readonly #policies = new Set<string>();
  readonly #startedMs = Date.now();
  #sessions = 0;
  #idleSinceMs = performance.now();
  #summary = { ...NO_CALLS };
  #hasSucceeded = false;
  #isTerminated = false;
  #isOver = false;

  constructor(
    options: ServeRunOptions,
    producer: Producer,
    meta: { readonly [name: string]: string },
  ) {
    const { sink, warn, snapshot, judge, runDir, isHosted } = options;
    this.#options = options;
    this.producer = producer;
    this.#recorder = new Recorder(eventWriter(producer), sink, warn);
    this.hub = isHosted
      ? undefined
      : new Hub({
          runId: producer.run_id,
          nowMs: monotonicClock(),
          sha256,
          ...(judge !== undefined && { judge }),
          onTerminate: () => this.#terminate(),
        });
    this.#release = isHosted ? () => {} : registerRun(runDir, producer.run_id);
    if (isHosted) return;
    const { document, ref: policy } = snapshot();
    const started_at = new Date().toISOString();
    this.#recorder.record('run_start', { run: { started_at, mode: document.mode, policy, meta } });
    sink.push();
  }

  /** The policy has ended it: no call of it passes any more. */
  get isTerminated(): boolean {
    return this.#isTerminated;
  }

  get hasSessions(): boolean {
    return this.#sessions > 0;
  }

  join(): void {
    this.#sessions += 1;
  }

  /** A session that uses the hub of this process. */
  add(member: LocalHub): void {
    this.#members.add(member);
  }

  /** Whether its record holds this policy; from now on, it does. A policy is long, and sessions are many. */
  hasWritten(policyHash: string): boolean {
    // What `sub run` has started is compared with its policy, each by itself.
    if (this.#options.isHosted) return false;
    const has = this.#policies.has(policyHash);
    this.#policies.add(policyHash);
    return has;
  }

  leave(account: ShimAccount, member: LocalHub | undefined): void {
    this.#sessions -= 1;
    this.#idleSinceMs = performance.now();
    if (member !== undefined) this.#members.delete(member);
    for (const name of SHIM_COUNTERS) {
      this.#summary[name] = (this.#summary[name] ?? 0) + (account.summary[name] ?? 0);
    }
    if (!account.hasFailed) this.#hasSucceeded = true;
    if (account.isTerminated) this.#isTerminated = true;
  }

  isIdle(nowMs: number): boolean {
    return this.#sessions === 0 && nowMs - this.#idleSinceMs >= this.#options.idleMs();
  }

  /** Records what is said of the run as a whole. */
  recordHealth(status: 'ok' | 'degraded', reason: string): void {
    const uptime_ms = Math.max(0, Date.now() - this.#startedMs);
    this.#recorder.record('shim_health', { health: { status, reason, uptime_ms } });
    this.#options.sink.push();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { isHosted, sink } = this.#options;
    if (isHosted) return;
    const { calls_spared: _, ...counts } = this.#summary;
    const summary = { ...counts, duration_ms: Math.max(0, Date.now() - this.#startedMs) };
    const ended_at = new Date().toISOString();
    const status = this.#isTerminated ? 'TERMINATED' : this.#hasSucceeded ? 'SUCCEEDED' : 'FAILED';
    this.#recorder.record('run_end', { run: { ended_at, status, summary } });
    sink.push();
    this.#release();
  }

  #terminate(): void {
    this.#isTerminated = true;
    // The call that was the reason gets its answer first.
    setImmediate(() => {
      for (const member of [...this.#members]) member.shutdown();
    });
  }
}

export class ServeRuns {
  readonly #options: ServeRunsOptions;
  /** By caller, then by the name that the caller gives. */
  readonly #runs = new Map<string, Map<string | undefined, ServeRun>>();

  constructor(options: ServeRunsOptions) {
    this.#options = options;
  }

  /** The run that a session of this caller belongs to; one that the policy has ended stays that for a while. */
  of({ principal, runName }: Caller): ServeRun {
    const { isHosted, runsMax } = this.#options;
    const owner = isHosted ? '' : principal.id;
    const name = isHosted ? undefined : runName;
    const own = this.#runs.get(owner) ?? new Map<string | undefined, ServeRun>();
    const known = own.get(name);
    if (known !== undefined) return known;
    this.#runs.set(owner, own);
    if (own.size >= runsMax()) endUnused(own);
    const run = this.#begin(principal, runName);
    own.set(name, run);
    return run;
  }

  recordHealth(status: 'ok' | 'degraded', reason: string): void {
    for (const run of this.#all()) run.recordHealth(status, reason);
  }

  /** Ends the runs that nobody uses any more. */
  tick(nowMs: number): void {
    for (const [owner, own] of this.#runs) {
      for (const [name, run] of own) {
        const isIdle = run.isIdle(nowMs);
        if (isIdle || (run.isTerminated && !run.hasSessions)) run.end();
        if (isIdle) own.delete(name);
      }
      if (own.size === 0) this.#runs.delete(owner);
    }
  }

  close(): void {
    for (const run of this.#all()) run.end();
    this.#runs.clear();
  }

  #all(): readonly ServeRun[] {
    return [...this.#runs.values()].flatMap((own) => [...own.values()]);
  }

  #begin(principal: Principal, runName: string | undefined): ServeRun {
    const { machine, isHosted } = this.#options;
    if (isHosted) return new ServeRun(this.#options, machine, {});
    const isOther = principal.kind !== 'local';
    const producer: Producer = {
      ...machine,
      run_id: uuidv7(),
      // Not its name, which it may choose itself.
      ...(isOther && { principal: recordedId(principal.id) }),
    };
    return new ServeRun(this.#options, producer, {
      through: 'sub serve',
      ...(isOther && { caller: visible(principal.name, NAME_LENGTH_MAX) }),
      ...(runName !== undefined && { run: visible(runName, NAME_LENGTH_MAX) }),
    });
  }
}

/** Ends the oldest run of a caller that has no session: it leaves room for a new one. */
function endUnused(own: Map<string | undefined, ServeRun>): void {
  for (const [name, run] of own) {
    if (run.hasSessions || run.isTerminated) continue;
    own.delete(name);
    return run.end();
  }
}

/** Policies, approvals and records know a caller by it: two that were only cut could be one. */
function recordedId(id: string): string {
  const shown = visible(id, Number.MAX_SAFE_INTEGER);
  if (shown.length <= NAME_LENGTH_MAX) return shown;
  return `${visible(id, CUT_LENGTH)}${sha256(id).slice(0, DIGEST_LENGTH)}`;
}
