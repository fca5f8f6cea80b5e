// What the shims of one run share: counters, an end of the run, and knowing of each other. A hub without
// sockets: requests in, answers out.
import {
  type ContentOutcome,
  type Decision,
  definedFields,
  type EvaluateRequest,
  type EvaluateResponse,
  type HeartbeatRequest,
  type HeartbeatResponse,
  isObject,
  type ObserveRequest,
  type ObserveResponse,
  type PolicyResponse,
  type ResultRequest,
  type TerminateRequest,
} from '@subluminal/contracts';
import type {
  Lease,
  LeaseRequest,
  LeaseResponse,
  ReturnRequest,
} from '@subluminal/contracts/hub-frames';
import {
  awaitsResult,
  type Call,
  candidatesFor,
  countersOf,
  decide,
  leasableRule,
  type Outcome,
  type PolicyState,
  policiesIn,
  recordResult,
  type Snapshot,
  settleCost,
  type TraceStep,
} from '@subluminal/core/policy';
import type { RunTerms } from './client/client.ts';
import { judgeEnforces, named, refusalBy, type Said, weigh } from './gates.ts';
import {
  ANSWERS_LENGTH_MAX,
  approvedIn,
  type Given,
  isHeld,
  isSameCall,
  lengthOf,
} from './given-answer.ts';
import { HUB_LIMITS, type HubOptions, type HubRefusal, refused } from './hub-options.ts';
import { type LeaseHolder, Leases } from './leases.ts';
import { ManifestLimits } from './manifest-limits.ts';
import { type HubPolicy, Policies } from './policies.ts';
import { type AskedCall, readCall, withoutArgs } from './read-call.ts';
import { Recent } from './recent.ts';
import { Shims } from './shims.ts';
import { RunTaint } from './taint.ts';

const OTHER_RUN = refused(400, 'this is the hub of another run');

/** A forwarded call that a breaker waits to hear of. */
interface Watched {
  readonly policy: HubPolicy;
  readonly snapshot: Snapshot;
  readonly call: Call;
  readonly trace: readonly TraceStep[];
}

/** The rules and all that stands beside them. */
interface Weighed {
  readonly decision: Decision;
  readonly content?: ContentOutcome;
  /** Whether the call is counted now, or when it is decided again. */
  readonly counts: boolean;
}

export class Hub {
  /** Who decides beside the rules. */
  readonly judges: readonly string[];
  readonly terms: RunTerms;
  readonly shims: Shims;
  readonly #options: HubOptions;
  readonly #taint = new RunTaint();
  readonly #limits = new ManifestLimits();
  readonly #leases: Leases;
  readonly #policies: Policies;
  readonly #given: Recent<Given>;
  readonly #watched: Recent<Watched>;
  #isStopping = false;
  #terminated: TerminateRequest | null = null;
  /** The same, as states hold it. */
  #termination: PolicyState['terminated'] = null;

  constructor(options: HubOptions) {
    const limits = { ...HUB_LIMITS, ...options.limits };
    const { sha256, verifier, nowMs } = options;
    this.#options = options;
    this.terms = options.terms ?? {};
    this.judges = options.judge === undefined ? [] : [options.judge.name];
    this.#policies = new Policies({ sha256, ...definedFields({ verifier }), ...limits });
    this.shims = new Shims({ nowMs, ...limits, onUnlike: options.onUnlike });
    this.#leases = new Leases(nowMs, limits.recallMs);
    this.#given = new Recent(limits.answersMax, ANSWERS_LENGTH_MAX);
    this.#watched = new Recent(limits.watchedMax);
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Decides one call, at once: the call that arrives first counts first. */
  evaluate(request: EvaluateRequest): EvaluateResponse | HubRefusal {
    const asked = readCall(request, this.#options.runId);
    return typeof asked === 'string' ? refused(400, asked) : this.evaluateCall(asked);
  }

  /** The same for a call of this process, as its session has read it. */
  evaluateCall(asked: AskedCall): EvaluateResponse | HubRefusal {
    const { callId, call, profile, policyHash } = asked;
    if (call.identity.run_id !== this.#options.runId) return OTHER_RUN;
    const given = this.#given.get(callId);
    if (given !== undefined) {
      if (!isSameCall(given, asked)) return refused(409, 'this call_id was of another call');
      // A shim whose connection broke asks again: the call counts once.
      const isRepeated = given.policyHash === policyHash && given.approved === approvedIn(call);
      if (isRepeated) return { ...given.response, shutdown: this.#isStopping };
      // Only a call that was held has not been counted, and may be decided again.
      if (!isHeld(given.response)) return refused(409, 'this call_id has been decided');
    }
    const policy = this.#policies.find(policyHash);
    if (policy === undefined) {
      return { decision: 'deny', needs_policy: true, shutdown: this.#isStopping };
    }
    const response = this.#decide(asked, policy, policy.snapshot[profile]);
    const { server_name, tool_name, args_hash } = call;
    const approved = approvedIn(call);
    this.#given.add(
      callId,
      { profile, server_name, tool_name, args_hash, policyHash, approved, response },
      lengthOf(response),
    );
    return response;
  }

  /** The same, once others have returned what they hold of counters that are used up. */
  evaluateRequest(
    request: EvaluateRequest,
  ): EvaluateResponse | HubRefusal | Promise<EvaluateResponse | HubRefusal> {
    const asked = readCall(request, this.#options.runId);
    if (typeof asked === 'string') return refused(400, asked);
    return (
      this.whenReturned(asked)?.then(() => this.evaluateCall(asked)) ?? this.evaluateCall(asked)
    );
  }

  /** Whether shims hold calls that this call needs. */
  mustWait(asked: AskedCall): boolean {
    return this.#needed(asked)?.isShort() === true;
  }

  /** Settles when nothing more can be returned that this call needs; undefined when nothing is held of it. */
  whenReturned(asked: AskedCall): Promise<void> | undefined {
    return this.#needed(asked)?.recall();
  }

  /** What a call needs of counters that are leased; undefined when none is. */
  #needed({ call, policyHash, profile, callId }: AskedCall) {
    const policy = this.#leases.isHolding ? this.#policies.find(policyHash) : undefined;
    if (policy === undefined || this.#given.get(callId) !== undefined) return undefined;
    const snapshot = policy.snapshot[profile];
    const rules = policiesIn(snapshot).flatMap((one) => candidatesFor(one, call));
    const leasable = rules.filter(
      ({ slot }) => leasableRule(snapshot, snapshot.layout.owners[slot] ?? '') !== undefined,
    );
    const needed = countersOf(snapshot, leasable, call).map((counter) => ({
      ...counter,
      calls: 1,
    }));
    return {
      isShort: () => this.#leases.isHeldElsewhere(policy, needed),
      recall: () => this.#leases.recallFor(policy, needed),
    };
  }

  /** A connection over which calls may be leased. */
  join(holder: LeaseHolder): void {
    this.#leases.join(holder);
  }

  /** It has ended: what was leased over it and not returned is used. */
  leave(holder: LeaseHolder): void {
    this.#leases.leave(holder);
  }

  /** Leases calls to a shim, which then counts them by itself. */
  async lease(request: LeaseRequest, holder: LeaseHolder): Promise<LeaseResponse | HubRefusal> {
    const { run_id, policy_hash, leases: needed } = request;
    if (run_id !== this.#options.runId) return OTHER_RUN;
    const policy = this.#policies.find(policy_hash);
    if (policy === undefined) {
      return { leases: [], needs_policy: true, shutdown: this.#isStopping };
    }
    const leases =
      this.#termination === null
        ? await this.#leases.lease(holder, policy, needed)
        : needed.map((need): Lease => ({ ...need, calls: 0 }));
    const shutdown = this.#isStopping;
    const terminated = this.#termination;
    return terminated === null ? { leases, shutdown } : { leases, shutdown, terminated };
  }

  /** Takes back what a shim has not used. */
  giveBack({ policy_hash, ...returned }: ReturnRequest, holder: LeaseHolder): void {
    this.#leases.giveBack(holder, this.#policies.find(policy_hash), returned);
  }

  /** Takes a sealed snapshot, as it came in. */
  async policy(file: unknown): Promise<PolicyResponse | HubRefusal> {
    const hash = isObject(file) ? file['policy_hash'] : undefined;
    if (typeof hash !== 'string') return refused(400, '`policy_hash` is missing');
    const reason = await this.#policies.take(file, hash);
    return reason === undefined ? { accepted: true } : { accepted: false, reason };
  }

  result({ run_id, call_id, result }: ResultRequest): HeartbeatResponse | HubRefusal {
    if (run_id !== this.#options.runId) return OTHER_RUN;
    const watched = this.#watched.take(call_id);
    if (watched !== undefined && result === 'error') {
      const { policy, snapshot, call, trace } = watched;
      const { counters } = policy;
      const ended = { call, result, trace, nowMs: this.#options.nowMs() };
      counters.keep(recordResult(snapshot, ended, counters.for(snapshot)));
    }
    return { shutdown: this.#isStopping };
  }

  /**
   * Takes back what a turn has reserved, and counts what it cost. Only the process of the hub can say it: an
   * agent that reached this would spend without limit.
   */
  settle(callId: string, ended: { readonly micros: number; readonly isError: boolean }): void {
    const watched = this.#watched.take(callId);
    if (watched === undefined) return;
    const { policy, snapshot, call, trace } = watched;
    const { counters } = policy;
    const nowMs = this.#options.nowMs();
    const { micros, isError } = ended;
    const settled = settleCost(snapshot, { call, micros, trace, nowMs }, counters.for(snapshot));
    const result = isError ? 'error' : 'ok';
    counters.keep(recordResult(snapshot, { call, result, trace, nowMs }, settled));
  }

  /** Remembers what a server has answered. */
  observe(request: ObserveRequest): ObserveResponse | HubRefusal {
    if (request.run_id !== this.#options.runId) return OTHER_RUN;
    const shutdown = this.#isStopping;
    const policy = this.#policies.find(request.policy_hash);
    if (policy === undefined) return { heard: false, needs_policy: true, shutdown };
    this.#taint.observe(request, policy.taint);
    return { heard: true, shutdown };
  }

  /** What the user has said. Only the process of the hub can say it: an agent that reached this would free any value. */
  said(text: string): void {
    this.#taint.said(text);
  }

  heartbeat(request: HeartbeatRequest): HeartbeatResponse | HubRefusal {
    const { run_id } = request;
    if (run_id !== undefined && run_id !== this.#options.runId) return OTHER_RUN;
    if (!this.shims.heard(request)) return refused(503, 'the run has too many shims');
    return { shutdown: this.#isStopping };
  }

  terminate(request: TerminateRequest): HeartbeatResponse | HubRefusal {
    if (request.run_id !== this.#options.runId) return OTHER_RUN;
    this.#end(request, '');
    return { shutdown: this.#isStopping };
  }

  /** Why the run was ended; null while it was not. */
  terminated(): TerminateRequest | null {
    return this.#terminated;
  }

  /** From now on every answer tells the shims to finish and stop. */
  stopTaking(): void {
    this.#isStopping = true;
  }

  /** The same, and tells those at once that are connected. */
  shutdown(): void {
    this.#isStopping = true;
    for (const holder of this.#leases.holders) holder.stop();
  }

  /** From the question to the counted answer without a pause: nothing can come in between. */
  #decide(
    { callId, call, beside, limits }: AskedCall,
    policy: HubPolicy,
    snapshot: Snapshot,
  ): EvaluateResponse {
    const { counters } = policy;
    const state = { ...counters.for(snapshot), terminated: this.#termination };
    const nowMs = this.#options.nowMs();
    const outcome = decide(snapshot, call, state, nowMs);
    const weighed = this.#weigh({ call, beside, nowMs, outcome }, policy, snapshot);
    const decision = named(weighed.decision);
    const passes = decision.action === 'ALLOW';
    const limit = passes ? this.#limits.take(call.server_name, limits, nowMs) : undefined;
    // What a limit stops did not pass: its retry is no repeat.
    const isForwarded = passes && limit?.limit_wait === undefined;
    if (weighed.counts && isForwarded) counters.keep(outcome.state);
    // A refused turn costs nothing, whatever it has reserved.
    if (weighed.counts && !passes) {
      const { trace, state: counted } = outcome;
      const isTurn = call.subject === 'turn';
      const free = { call, micros: 0, trace, nowMs };
      counters.keep(isTurn ? settleCost(snapshot, free, counted) : counted);
    }
    if (isForwarded && policy.taint) this.#taint.passed({ callId, call, beside }, policy.taint);
    // Made before it ends the run: this answer is the one that tells the agent why.
    const response: EvaluateResponse = {
      decision: passes ? 'forward' : 'deny',
      policy_id: snapshot.ref.policy_id,
      reason: decision.summary,
      shutdown: this.#isStopping,
      call_decision: decision,
      counter_scope: 'run',
      risk_class: outcome.risk_class,
      trace: outcome.trace,
      ...(weighed.content !== undefined && { content: weighed.content }),
      ...limit,
    };
    if (isForwarded && (call.subject === 'turn' || outcome.trace.some(awaitsResult))) {
      const { trace } = outcome;
      this.#watched.add(callId, { policy, snapshot, call: withoutArgs(call), trace });
    }
    const ended = outcome.state.terminated;
    if (ended !== null && this.#termination === null) {
      const { terminate_code: code, terminate_message: message, rule_id } = ended;
      const { runId: run_id } = this.#options;
      this.#end({ run_id, code, message, server_id: call.server_name }, rule_id);
    }
    return response;
  }

  /** Asks the gates beside the rules, even where the rules wait for a person. */
  #weigh(
    { call, beside, nowMs, outcome }: DecidedCall,
    policy: HubPolicy,
    snapshot: Snapshot,
  ): Weighed {
    const rules = outcome.decision;
    // The gates of the hub judge calls of tools alone.
    if (call.subject !== undefined) {
      return { decision: rules, counts: rules.approval?.wait !== 'hold' };
    }
    const { judge } = this.#options;
    const said: Said[] = [];
    const riskClass = outcome.risk_class;
    const refusal = judge && refusalBy(judge, { call, riskClass, nowMs });
    if (refusal !== undefined) said.push({ decision: refusal, enforced: judgeEnforces(snapshot) });
    const rulesOnTaint = policy.taint && policy.taintFor(call.identity);
    const taint = rulesOnTaint && this.#taint.judge(call, beside, rulesOnTaint);
    const enforced = snapshot.profile === 'production' && rulesOnTaint?.mode !== 'observe';
    for (const decision of taint?.decisions ?? []) said.push({ decision, enforced });
    const decision = weigh(rules, said);
    const note = taint?.note;
    // A call that waits for a person is decided again, and counted when it passes. One that a gate
    // has questions about would else be a repetition when it is tried again.
    const waits = decision.approval !== undefined;
    const counts = !waits || (decision === rules && decision.approval?.wait === 'hint');
    if (note === undefined) return { decision, counts };
    return { decision, counts, content: enforced ? note : { ...note, action: 'tag' } };
  }

  /** Ends the run for every policy; the first reason stays. */
  #end(request: TerminateRequest, ruleId: string): void {
    if (this.#terminated !== null) return;
    const { code, message } = request;
    this.#terminated = request;
    this.#termination = {
      rule_id: ruleId,
      terminate_code: code,
      terminate_message: message === '' ? code : message,
    };
    this.shutdown();
    this.#options.onTerminate?.(request);
  }
}

interface DecidedCall {
  readonly call: Call;
  readonly beside: unknown;
  readonly nowMs: number;
  readonly outcome: Outcome<PolicyState>;
}
