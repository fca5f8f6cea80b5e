// Decides the turns of one caller: who, which repository, what is in it, what the policy says, what it may cost and
// where it goes. What cannot be decided is refused.
import {
  type Failure,
  isFailure,
  type JsonValue,
  type ModelEnvelope,
  type WebhookEvent,
} from '@subluminal/contracts';
import { reclassify, tagTurn } from '@subluminal/core/classify';
import type { Sha256 } from '@subluminal/core/ports';
import {
  type Caller,
  chooseChain,
  constraintsOf,
  type PriceBook,
  type Repo,
  type ServerClass,
} from '@subluminal/core/routing';
import { decideTurn, readsBudget } from '@subluminal/core/turn-policy';
import { errorText } from '@subluminal/plane/os';
import { budgetAnswer } from '../api/record-answers.ts';
import {
  budgetLimits,
  budgetSnapshot,
  crossesSoftLimit,
  periodEndMs,
  type Settler,
} from '../budgets/index.ts';
import type { GatewayConfig } from '../config/index.ts';
import type { Inspection, TurnInspector } from '../inspect/index.ts';
import type {
  AuditRow,
  BudgetLimit,
  BudgetState,
  GatewayStore,
  Reservation,
  Reserved,
} from '../store/types.ts';
import { type RefusePlan, refuse } from '../turns/refuse.ts';
import type { TurnGovernor, TurnPlan, TurnRequest } from '../turns/types.ts';
import type { BreakerBoard } from './breaker-board.ts';
import type { EndpointPlaces } from './endpoint-places.ts';
import { type HeldTurns, USER_HELD_MAX } from './held-turns.ts';
import { budgetWords, decisionHeaders, refusalTail } from './refusals.ts';
import { SentTurn, type SentTurnOptions } from './sent-turn.ts';
import { type ApprovalScope, answerWords, TurnApprovals } from './turn-approvals.ts';
import { auditRecord, auditRow, type TurnFacts } from './turn-records.ts';
import type { TurnTelemetry } from './turn-telemetry.ts';

export interface GovernorServices {
  readonly store: GatewayStore;
  /** A turn keeps the configuration that it began with. */
  readonly config: () => GatewayConfig;
  readonly prices: () => PriceBook;
  readonly inspector: TurnInspector;
  readonly breakers: BreakerBoard;
  readonly places: EndpointPlaces;
  readonly held: HeldTurns;
  readonly settler: Settler;
  readonly telemetry: TurnTelemetry;
  readonly emit: (event: WebhookEvent, data: { readonly [name: string]: JsonValue }) => void;
  readonly nowMs: () => number;
  readonly newId: () => string;
  readonly sha256: Sha256;
  /** Goes to the log, made safe to print; never a secret or a prompt. */
  readonly warn: (message: string) => void;
}

/** Who sends a turn, as the gateway found out, and what the local proxy says of it. */
export interface TurnSender {
  readonly caller: Caller;
  readonly envelope?: ModelEnvelope;
  readonly repoId: string | null;
  readonly sessionId: string | null;
  /** The client reads events of ours: it is the local proxy. */
  readonly readsEvents: boolean;
  /** The client wants to hear at once that a person has to decide. */
  readonly isTold: boolean;
  /** An approval that it was told of before. */
  readonly approvalId: string | null;
}

/** A turn on its way through the decision. */
interface OpenTurn {
  readonly request: TurnRequest;
  readonly config: GatewayConfig;
  readonly facts: TurnFacts;
  readonly inspection: Inspection;
  readonly limits: readonly BudgetLimit[];
  /** What the rules say to the person. */
  readonly messages: readonly string[];
}

export class GatewayGovernor implements TurnGovernor {
  readonly #services: GovernorServices;
  readonly #sender: TurnSender;
  readonly #approvals: TurnApprovals;

  constructor(services: GovernorServices, sender: TurnSender) {
    this.#services = services;
    this.#sender = sender;
    const { store, emit, nowMs, newId } = services;
    const write = (audit: AuditRow) => this.#write(audit);
    this.#approvals = new TurnApprovals({ store: store.approvals, write, emit, nowMs, newId });
  }

  async begin(request: TurnRequest): Promise<TurnPlan> {
    try {
      const turn = await this.#open(request);
      return isFailure(turn) ? refuse('invalid', turn.message) : await this.#decide(turn);
    } catch (cause) {
      return this.#failed(cause);
    }
  }

  async #open(request: TurnRequest): Promise<OpenTurn | Failure> {
    const { inspector, store, nowMs, config: current } = this.#services;
    const { caller, envelope, repoId, sessionId } = this.#sender;
    const config = current();
    const inspection = inspector.inspect(request);
    if (isFailure(inspection)) return inspection;
    const repo = repoId === null ? undefined : config.identity.repos.get(repoId);
    const serverClass = this.#classify(request, inspection, repo);
    const limits = budgetLimits(config.budgets, { caller, runId: sessionId, nowMs: nowMs() });
    const states = readsBudget(config.policy)
      ? await store.budgets.states(caller.tenantId, limits)
      : [];
    const budget = budgetSnapshot(states);
    const { model, wire, isStream, maxTokens } = request.outline;
    const { decision, messages, failures } = decideTurn(config.policy, {
      traceId: request.traceId,
      serverClass,
      caller,
      budget,
      request: { model, wire, isStream, ...(maxTokens !== undefined && { maxTokens }) },
      ...(envelope !== undefined && { envelope }),
      ...(repo !== undefined && { repo }),
    });
    for (const { ruleId, why } of failures) {
      this.#services.warn(`The rule ${ruleId} could not be evaluated: ${why}`);
    }
    const facts: TurnFacts = {
      traceId: request.traceId,
      sessionId,
      caller,
      repo,
      repoId,
      outline: request.outline,
      serverClass,
      decision,
      configVersion: config.version,
    };
    return { request, config, facts, inspection, limits, messages };
  }

  #classify(request: TurnRequest, inspection: Inspection, repo: Repo | undefined): ServerClass {
    const { envelope } = this.#sender;
    const { findings } = inspection;
    const tags = tagTurn({
      messages: inspection.signals(),
      isContinuation: request.outline.isContinuation,
      // The findings themselves say it below, each with its confidence.
      hasSecret: false,
      hasPersonalData: false,
    });
    return reclassify({
      tags,
      findings,
      ...(envelope !== undefined && { envelope }),
      ...(repo !== undefined && { repo }),
    });
  }

  async #decide(turn: OpenTurn): Promise<TurnPlan> {
    const { decision } = turn.facts;
    if (turn.inspection.unscanned.length > 0) {
      return this.#block(turn, 'A part of the request could not be searched for secrets.');
    }
    if (decision.side_effects.includes('log_only')) this.#violation(turn, 'log_only');
    switch (decision.primary_action) {
      case 'block':
        return this.#block(
          turn,
          turn.messages.join(' ') || 'The policy of the gateway does not allow this turn.',
        );
      case 'require_approval':
        return this.#ask(
          turn,
          turn.messages.join(' ') || 'The policy of the gateway asks for an approval.',
          'policy',
        );
      default:
        return this.#route(turn, turn.limits);
    }
  }

  async #block(turn: OpenTurn, message: string): Promise<TurnPlan> {
    const { decision } = turn.facts;
    await this.#audit(turn, { eventType: 'turn_blocked', errorCode: 'policy_block' });
    this.#violation(turn, 'block');
    return this.#refused(turn, refuse('policy', message, decision.reasons));
  }

  #violation({ facts }: OpenTurn, action: string): void {
    const { traceId, caller, decision, repoId } = facts;
    this.#services.emit('policy_violation', {
      action,
      trace_id: traceId,
      user_id: caller.userId,
      team_id: caller.teamId,
      repo_id: repoId,
      rule_ids: [...decision.reasons],
    });
  }

  /**
   * Holds the turn until a person has decided, or uses the approval that the client was told before. Counting tokens
   * is not held, but sends nothing before that either.
   */
  async #ask(turn: OpenTurn, why: string, scope: ApprovalScope): Promise<TurnPlan> {
    const { facts, request } = turn;
    const { held } = this.#services;
    const { reasons } = facts.decision;
    if (request.kind === 'count_tokens') return this.#route(turn, turn.limits, 'estimated here');
    const presented = await this.#present(turn, scope);
    if (presented !== undefined) return presented;
    if (await held.hasTooMany(facts.caller)) {
      const message = `${why} You have ${USER_HELD_MAX} turns that wait for approvals already.`;
      return this.#refused(turn, refuse('policy', message, reasons));
    }
    const { isTold } = this.#sender;
    const row = await this.#approvals.open({ ...turn, why, scope }, isTold);
    if (isTold) return this.#told(turn, row.id, `${why} It waits as ${row.id}.`);
    const outcome = held.wait(row, request.signal).then(async ({ answer, row: answered }) => {
      const detail = { approval_id: row.id, answer, resolver: answered.resolver };
      await this.#audit(turn, { eventType: 'approval_resolved', detail });
      if (answer === 'approved') return this.#route(turn, this.#approvals.waive(turn.limits));
      return this.#refused(turn, refuse('approval', answerWords(answer, answered), reasons));
    });
    return { kind: 'hold', outcome: outcome.catch((cause: unknown) => this.#failed(cause)) };
  }

  /** Undefined when the client presents no approval, or one that this turn has used already. */
  async #present(turn: OpenTurn, scope: ApprovalScope): Promise<TurnPlan | undefined> {
    const { approvalId: id } = this.#sender;
    if (id === null || this.#approvals.isAsked) return undefined;
    const presented = await this.#approvals.present(id, turn, scope);
    switch (presented.kind) {
      case 'used':
        return this.#route(turn, this.#approvals.waive(turn.limits));
      case 'pending':
        return this.#told(turn, id, `The approval ${id} still waits for a person.`);
      case 'refused': {
        const message = `The approval ${id} ${presented.why}. Send the request without it to ask anew.`;
        return this.#refused(turn, refuse('approval', message, turn.facts.decision.reasons));
      }
    }
  }

  #told(turn: OpenTurn, approvalId: string, message: string): TurnPlan {
    const { refusal, ...told } = refuse('approval', message, turn.facts.decision.reasons);
    return this.#refused(turn, { ...told, refusal: { ...refusal, approvalId } });
  }

  /** Most often the store: without it nothing is counted, so nothing passes. */
  #failed(cause: unknown): TurnPlan {
    this.#services.warn(`A turn was refused, because it could not be decided: ${errorText(cause)}`);
    return refuse('unavailable', 'The gateway can not decide now. Try again in a moment.');
  }

  async #route(
    turn: OpenTurn,
    limits: readonly BudgetLimit[],
    tokens: SentTurnOptions['tokens'] = 'counted upstream',
  ): Promise<TurnPlan> {
    const { facts, config, request, inspection } = turn;
    const { breakers, sha256 } = this.#services;
    const { decision, sessionId, traceId } = facts;
    const choice = chooseChain({
      pools: config.pools,
      endpoints: config.endpoints,
      pool: decision.model_pool ?? config.policy.defaultPool,
      constraints: constraintsOf(decision),
      seedKey: sessionId ?? traceId,
      isOpen: (endpointId, model) => breakers.phase({ endpointId, model }) === 'open',
      sha256,
    });
    if (choice.kind === 'none') {
      await this.#audit(turn, { eventType: 'turn_unroutable', errorCode: choice.reason });
      const message = 'No endpoint of the gateway may or can take this turn now.';
      return this.#refused(turn, refuse('unavailable', `${message} (${choice.reason})`));
    }
    const body = decision.modifiers.includes('redact') ? inspection.redacted() : request.body;
    const sent = new SentTurn(this.#services, {
      request,
      config,
      facts,
      body,
      choice,
      tokens,
      readsEvents: this.#sender.readsEvents,
    });
    if (request.kind === 'count_tokens') return { kind: 'send', turn: sent };
    const exceeded = await this.#reserve(turn, sent, limits);
    return exceeded === undefined ? { kind: 'send', turn: sent } : this.#exceeded(turn, exceeded);
  }

  /** Undefined when the money is there. */
  async #reserve(
    turn: OpenTurn,
    sent: SentTurn,
    limits: readonly BudgetLimit[],
  ): Promise<BudgetState | undefined> {
    const { nowMs, newId, prices } = this.#services;
    const { caller, traceId } = turn.facts;
    const estimateMicros = sent.estimateMicros(prices());
    const id = newId();
    const reserved = await this.#reserveHeld({
      id,
      traceId,
      caller,
      estimateMicros,
      limits,
      nowMs: nowMs(),
    });
    if (reserved.kind === 'exceeded') return reserved.state;
    sent.reserved(id);
    for (const state of reserved.states) {
      if (crossesSoftLimit(state, estimateMicros)) this.#budgetHit(state, 'soft');
    }
    return undefined;
  }

  /** The settler knows of it first: it may be in the database before the answer is here. */
  async #reserveHeld(reservation: Reservation): Promise<Reserved> {
    const { store, settler } = this.#services;
    const { id, nowMs } = reservation;
    settler.reserved(id, nowMs);
    try {
      const reserved = await store.budgets.reserve(reservation);
      if (reserved.kind === 'exceeded') settler.ended(id);
      return reserved;
    } catch (cause) {
      settler.ended(id);
      throw cause;
    }
  }

  #budgetHit(state: BudgetState, event: 'soft' | 'hard'): void {
    const { emit, telemetry } = this.#services;
    telemetry.budgetHit(state.limit.scope, event);
    emit(`budget_${event}`, budgetAnswer(state));
  }

  async #exceeded(turn: OpenTurn, state: BudgetState): Promise<TurnPlan> {
    const { limit } = state;
    this.#budgetHit(state, 'hard');
    const why = budgetWords(state);
    if (limit.onExceeded === 'require_approval') {
      return this.#ask(turn, why, limit.scope);
    }
    await this.#audit(turn, { eventType: 'turn_over_budget', errorCode: 'budget_exceeded' });
    const endMs = periodEndMs(limit);
    const plan = refuse('budget', why);
    const retry =
      endMs === null ? {} : { retryAfterMs: Math.max(0, endMs - this.#services.nowMs()) };
    return this.#refused(turn, { ...plan, refusal: { ...plan.refusal, ...retry } });
  }

  /** Refusals carry the decision in their headers, as answers do. */
  #refused({ facts, request }: OpenTurn, plan: RefusePlan): TurnPlan {
    this.#services.telemetry.refused(request, facts, plan.refusal.kind);
    const refusal = { ...plan.refusal, headers: decisionHeaders(facts.decision) };
    const isHeard = this.#sender.readsEvents;
    return { ...plan, refusal, ...(isHeard && { tail: refusalTail(facts.traceId, refusal) }) };
  }

  #audit(
    { facts }: OpenTurn,
    event: Pick<AuditRow, 'eventType'> & Partial<AuditRow>,
  ): Promise<void> {
    return this.#write(auditRow(facts, { eventMs: this.#services.nowMs(), ...event }));
  }

  #write(audit: AuditRow): Promise<void> {
    return this.#services.store.records.write(auditRecord([audit]));
  }
}
