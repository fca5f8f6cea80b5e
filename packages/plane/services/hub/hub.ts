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
  HUB_HEARTBEAT_INTERVAL_MS,
  isObject,
  type ObserveRequest,
  type ObserveResponse,
  type PolicyResponse,
  type Profile,
  type ResultRequest,
  type TerminateRequest,
} from '@subluminal/contracts';
import {
  awaitsResult,
  type Call,
  decide,
  type Outcome,
  type PolicyState,
  policiesIn,
  recordResult,
  type Snapshot,
  settleCost,
  strictestMode,
  type TraceStep,
} from '@subluminal/core/policy';
import type { Sha256, Verifier } from '@subluminal/core/ports';
import type { RunTerms } from './client/client.ts';
import { type Judge, refusalBy, type Said, weigh } from './gates.ts';
import { ManifestLimits } from './manifest-limits.ts';
import type { RefusalStatus } from './metrics.ts';
import { type HubPolicy, Policies } from './policies.ts';
import { type AskedCall, readCall } from './read-call.ts';
import { Recent } from './recent.ts';
import { Shims, type UnlikeShim } from './shims.ts';
import { RunTaint } from './taint.ts';

const LIMITS = {
  /** Compiled policies that are kept; the one that was not used for longest goes first. */
  policiesMax: 64,
  /** Policies that count apart. One more is refused: forgetting a count would lift a limit. */
  policyIdsMax: 64,
  /** Answers that are kept for a shim that asks again with the same `call_id`. */
  answersMax: 1_024,
  /** Calls that wait for their result, because a breaker watches them. */
  watchedMax: 10_000,
  shimsMax: 1_024,
  /** A shim that was not heard of for so long counts as gone. */
  silentMs: 4 * HUB_HEARTBEAT_INTERVAL_MS,
};

export type HubLimits = { readonly [K in keyof typeof LIMITS]: number };

export interface HubOptions {
  readonly runId: string;
  /** Shims compare these with their environment and their entries. */
  readonly terms?: RunTerms;
  /** Milliseconds that never go back. */
  readonly nowMs: () => number;
  readonly sha256: Sha256;
  /** With it, only policies that a trusted key has signed are taken. */
  readonly verifier?: Verifier;
  readonly judge?: Judge;
  /** Called once, when a rule or a shim has ended the run. */
  readonly onTerminate?: (request: TerminateRequest) => void;
  /** Called once for each shim that is looser than the run. */
  readonly onUnlike?: (unlike: UnlikeShim) => void;
  readonly limits?: Partial<HubLimits>;
}

/** Why a request gets no answer, as an HTTP status and in words. */
export interface HubRefusal {
  readonly kind: 'refused';
  readonly status: RefusalStatus;
  readonly message: string;
}

/** Suggested arguments can be large; all kept answers together may hold this much of them. */
const ANSWERS_LENGTH_MAX = 16 * 1024 * 1024;
const ANSWER_LENGTH = 1_024;
/** What a shim without a bundle works by. */
const NO_POLICY_ID = 'none';
const OTHER_RUN = refused(400, 'this is the hub of another run');

/** An answer that was given, and to which question. */
interface Given extends Pick<Call, 'server_name' | 'tool_name' | 'args_hash'> {
  readonly profile: Profile;
  /** The policy that it was decided by, and the approval rules that were satisfied then. */
  readonly policyHash: string;
  readonly approved: string;
  readonly response: EvaluateResponse;
}

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
  readonly #policies: Policies;
  readonly #given: Recent<Given>;
  readonly #watched: Recent<Watched>;
  #isStopping = false;
  #terminated: TerminateRequest | null = null;
  /** The same, as states hold it. */
  #termination: PolicyState['terminated'] = null;

  constructor(options: HubOptions) {
    const limits = { ...LIMITS, ...options.limits };
    const { sha256, verifier, nowMs } = options;
    this.#options = options;
    this.terms = options.terms ?? {};
    this.judges = options.judge === undefined ? [] : [options.judge.name];
    this.#policies = new Policies({ sha256, ...definedFields({ verifier }), ...limits });
    this.shims = new Shims({ nowMs, ...limits, onUnlike: options.onUnlike });
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
  shutdown(): void {
    this.#isStopping = true;
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
    this.#isStopping = true;
    this.#terminated = request;
    this.#termination = {
      rule_id: ruleId,
      terminate_code: code,
      terminate_message: message === '' ? code : message,
    };
    this.#options.onTerminate?.(request);
  }
}

interface DecidedCall {
  readonly call: Call;
  readonly beside: unknown;
  readonly nowMs: number;
  readonly outcome: Outcome<PolicyState>;
}

/** Whether refusals of the judge hold. Without a bundle, no mode restricts it to observing. */
function judgeEnforces(snapshot: Snapshot): boolean {
  const { document, profile } = snapshot;
  const isNone = document.policy_id === NO_POLICY_ID && document.rules.length === 0;
  return profile === 'production' && (isNone || strictestMode(policiesIn(snapshot)) !== 'observe');
}

function isHeld({ call_decision }: EvaluateResponse): boolean {
  return call_decision?.approval?.wait === 'hold';
}

function isSameCall(given: Given, { call, profile }: AskedCall): boolean {
  const isSameTool = given.server_name === call.server_name && given.tool_name === call.tool_name;
  return isSameTool && given.profile === profile && given.args_hash === call.args_hash;
}

function approvedIn({ approved = [] }: Call): string {
  return approved.length === 0 ? '' : JSON.stringify(approved);
}

/** What is remembered of a call: its arguments may be large. */
function withoutArgs(call: Call): Call {
  const { identity, server_name, tool_name, subject, args_hash, bytes_in, cost_micros } = call;
  const { approved, round } = call;
  const rest = { identity, server_name, tool_name, subject, args_hash, bytes_in, round };
  return { ...rest, ...definedFields({ cost_micros, approved }) };
}

/** A run may have been ended by a request, not by a rule. */
function named(decision: Decision): Decision {
  return decision.rule_id === '' ? { ...decision, rule_id: null } : decision;
}

function lengthOf({ call_decision }: EvaluateResponse): number {
  const suggested = call_decision?.hint?.suggested_args ?? null;
  return ANSWER_LENGTH + (suggested === null ? 0 : JSON.stringify(suggested).length);
}

export function refused(status: RefusalStatus, message: string): HubRefusal {
  return { kind: 'refused', status, message };
}
