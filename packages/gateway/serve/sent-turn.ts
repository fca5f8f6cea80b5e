// A turn that was let pass: the upstreams it may call, and how it ends. Everything about it is written at once,
// before the client hears the end.
import type { ModelDecision } from '@subluminal/contracts';
import {
  type ChainMember,
  type Choice,
  chooseChain,
  constraintsOf,
  estimateCost,
  type PriceBook,
} from '@subluminal/core/routing';
import { estimateTokens } from '@subluminal/core/wires';
import type { GatewayConfig } from '../config/index.ts';
import { providerFor } from '../providers/registry/index.ts';
import type { RoutingRow, Settlement } from '../store/types.ts';
import { countsTokens } from '../turns/attempt.ts';
import { usedTokens } from '../turns/turn-facts.ts';
import type {
  Attempt,
  AttemptOutcome,
  GovernedTurn,
  TurnOutcome,
  TurnRequest,
  TurnTail,
} from '../turns/types.ts';
import type { GovernorServices } from './gateway-governor.ts';
import { proxyEvent } from './proxy-events.ts';
import { decisionHeaders } from './refusals.ts';
import {
  auditRecord,
  auditRow,
  type CostedAttempt,
  costedAttempt,
  costRow,
  type MadeAttempt,
  rawRow,
  routingRow,
  shadowRow,
  type TurnFacts,
} from './turn-records.ts';

export interface SentTurnOptions {
  readonly request: TurnRequest;
  readonly config: GatewayConfig;
  readonly facts: TurnFacts;
  readonly body: Buffer;
  readonly choice: Extract<Choice, { readonly kind: 'chain' }>;
  /** Where a request to count tokens is answered: what must not be sent is estimated. */
  readonly tokens: 'counted upstream' | 'estimated here';
  readonly readsEvents: boolean;
}

/** The breaker hears of what an endpoint does wrong, and not of what a client does. */
const BREAKING: ReadonlySet<string> = new Set([
  'upstream_5xx',
  'upstream_timeout',
  'upstream_disconnect',
  'upstream_malformed',
]);
const MICROS_PER_CENT = 10_000;
/** A million dollars: more than any turn costs. All that is reserved at once must stay a number that is exact. */
const ESTIMATE_MICROS_MAX = 1e12;

export class SentTurn implements GovernedTurn {
  readonly body: Buffer;
  readonly chain: readonly ChainMember[];
  readonly attempts: readonly Attempt[];
  readonly headers: { readonly [name: string]: string };
  readonly #services: GovernorServices;
  readonly #options: SentTurnOptions;
  readonly #made: MadeAttempt[] = [];
  #reservationId: string | undefined;

  constructor(services: GovernorServices, options: SentTurnOptions) {
    this.#services = services;
    this.#options = options;
    const { body, choice, facts } = options;
    this.body = body;
    this.chain = choice.chain;
    this.attempts = choice.chain.map((link, index) => this.#attempt(link, index + 1));
    this.headers = decisionHeaders(facts.decision);
  }

  /** What the turn may cost at the dearest of those that may be called. */
  estimateMicros(prices: PriceBook): number {
    const inputTokens = estimateTokens(this.body.length);
    const { maxTokens, choices = 1 } = this.#options.request.outline;
    const estimates = this.chain.map(({ endpoint, member, pool }) => {
      const { provider, id: endpointId } = endpoint;
      const price = prices.priceFor({ provider, endpointId, model: member.model });
      const outputMax = (maxTokens ?? pool.outputTokensMax) * choices;
      // A product that no number holds exactly would cost nothing.
      const tokensMax = Math.min(outputMax, Number.MAX_SAFE_INTEGER);
      return price === undefined ? 0 : estimateCost(inputTokens, tokensMax, price);
    });
    return Math.min(Math.max(0, ...estimates), ESTIMATE_MICROS_MAX);
  }

  reserved(id: string): void {
    this.#reservationId = id;
  }

  attemptEnded({ attemptNo }: Attempt, outcome: AttemptOutcome): void {
    const link = this.chain[attemptNo - 1];
    if (link === undefined) throw new Error('an attempt that nobody planned');
    const { breakers } = this.#services;
    const target = targetOf(link);
    const breaker = breakers.phase(target);
    const problem = outcome.error?.class;
    if (problem === undefined || problem === 'upstream_4xx') breakers.ended(target, 'success');
    else if (BREAKING.has(problem)) breakers.ended(target, 'failure');
    const usage = usedTokens(this.#options.request, outcome);
    this.#made.push({ attemptNo, link, outcome, usage, breaker });
  }

  async end(outcome: TurnOutcome): Promise<TurnTail> {
    try {
      return await this.#record(outcome);
    } finally {
      if (this.#reservationId !== undefined) this.#services.settler.ended(this.#reservationId);
    }
  }

  async #record(outcome: TurnOutcome): Promise<TurnTail> {
    const { store, nowMs, prices, telemetry } = this.#services;
    const { facts, choice, config, request } = this.#options;
    const eventMs = nowMs();
    if (request.kind === 'count_tokens') return this.#recordCount(outcome, eventMs);
    const costed = this.#made.map((one) => costedAttempt(one, prices()));
    const costMicros = costed.reduce((sum, one) => sum + one.costMicros, 0);
    const answered = costed.find(({ attemptNo }) => attemptNo === outcome.attempt?.attemptNo);
    const failed = outcome.last?.error?.class ?? null;
    await store.records.write({
      settlement: this.#settlement(costed, costMicros),
      audit: [
        auditRow(facts, {
          eventMs,
          eventType: 'turn',
          routedTo: answered === undefined ? null : routedTo(answered.link),
          fallbackChain: costed.map(({ link, outcome: { error } }) => ({
            ...targetNames(link),
            error: error?.class ?? null,
          })),
          errorCode: outcome.last === undefined ? 'no_endpoint' : failed,
          detail: {
            status: outcome.status,
            partial: outcome.isPartial,
            bytes_out: outcome.bytesOut,
            first_byte_ms: outcome.firstByteMs ?? null,
            cost_micros: costMicros,
          },
        }),
      ],
      costs: costed.map((one) => costRow(facts, one, eventMs)),
      routing: [
        ...costed.map((one) => routingRow(facts, one, { choice: choice.record, eventMs })),
        ...this.#shadow(eventMs),
      ],
      raw: rawRow(facts, eventMs, config.settings.retention.rawDays),
    });
    telemetry.answered({ request, facts, outcome, attempts: costed, costMicros });
    return this.#tail(outcome, answered ?? costed.at(-1), costMicros);
  }

  /** Counting costs nothing, but the request may have left the house. */
  async #recordCount({ status, last }: TurnOutcome, eventMs: number): Promise<TurnTail> {
    const { facts, request } = this.#options;
    const sent = this.#made.find(({ attemptNo }) => {
      const attempt = this.attempts[attemptNo - 1];
      return attempt !== undefined && countsTokens(attempt, request);
    });
    const audit = auditRow(facts, {
      eventMs,
      eventType: 'tokens_counted',
      routedTo: sent === undefined ? null : routedTo(sent.link),
      errorCode: last?.error?.class ?? null,
      detail: { status },
    });
    await this.#services.store.records.write(auditRecord([audit]));
    return { events: '', headers: {} };
  }

  #attempt(link: ChainMember, attemptNo: number): Attempt {
    const { breakers, places } = this.#services;
    const { config, facts, tokens } = this.#options;
    const { endpoint, member, pool } = link;
    const provider = providerFor(endpoint.provider);
    const { keyRef, teamKeyRefs } = endpoint;
    const ref = teamKeyRefs[facts.caller.teamId] ?? keyRef;
    const key = ref === undefined ? undefined : config.secrets.get(ref);
    let leave = () => {};
    return {
      attemptNo,
      provider: tokens === 'estimated here' ? { ...provider, hasCountTokens: false } : provider,
      endpoint,
      model: member.model,
      ...(member.deployment !== undefined && { deployment: member.deployment }),
      credentials: key === undefined ? { kind: 'none' } : { kind: 'key', key },
      timeoutMs: pool.timeoutMs,
      // A reference that leads nowhere is an endpoint that can not be called.
      admit: async () => {
        if (ref !== undefined && key === undefined) return false;
        const place = places.take(endpoint);
        if (place === undefined) return false;
        leave = place;
        if (await breakers.admit(targetOf(link))) return true;
        place();
        return false;
      },
      release: () => leave(),
    };
  }

  #settlement(costed: readonly CostedAttempt[], actualMicros: number): Settlement | null {
    const reservationId = this.#reservationId;
    if (reservationId === undefined) return null;
    const isUsed = costed.some(({ usage }) => usage !== undefined);
    return isUsed
      ? { kind: 'commit', reservationId, actualMicros }
      : { kind: 'release', reservationId };
  }

  /** The member that a shadow evaluation would ask. */
  #shadow(eventMs: number): readonly RoutingRow[] {
    const { facts, config } = this.#options;
    const { decision, traceId } = facts;
    const { shadow_pool: pool } = decision;
    if (!decision.side_effects.includes('shadow_eval') || pool === undefined) return [];
    const { pools, endpoints } = config;
    const { sha256 } = this.#services;
    const constraints = constraintsOf(decision);
    const isOpen = () => false;
    const seedKey = `${traceId}:shadow`;
    const choice = chooseChain({ pools, endpoints, pool, constraints, seedKey, isOpen, sha256 });
    const [link] = choice.kind === 'chain' ? choice.chain : [];
    return link === undefined ? [] : [shadowRow(facts, { choice: choice.record, eventMs, link })];
  }

  #tail(outcome: TurnOutcome, attempt: CostedAttempt | undefined, costMicros: number): TurnTail {
    const { readsEvents, request, facts } = this.#options;
    const degraded = outcome.last?.degraded ?? [];
    const headers = {
      'x-aicg-cost-cents': String(Math.round(costMicros / MICROS_PER_CENT)),
      'x-aicg-cost-micros': String(costMicros),
    };
    if (!readsEvents || !request.outline.isStream) return { events: '', headers };
    const { traceId, sessionId, decision } = facts;
    const events =
      outcome.isPartial && outcome.last?.error !== undefined
        ? this.#errorEvent(outcome, attempt)
        : '';
    const usage = {
      session_id: sessionId,
      cost_cents: Math.round(costMicros / MICROS_PER_CENT),
      cost_micros: costMicros,
      cost_source: attempt?.costSource ?? 'provider_usage',
      tokens: {
        input: attempt?.usage?.inputTokens ?? 0,
        output: attempt?.usage?.outputTokens ?? 0,
        cache_read: attempt?.usage?.cacheReadTokens ?? 0,
        cache_create: attempt?.usage?.cacheWriteTokens ?? 0,
      },
      decision: shownDecision(decision),
      routed_to: attempt === undefined ? null : routedTo(attempt.link),
      attempt_no: attempt?.attemptNo ?? 0,
      degraded_features: degraded,
      latency_ms: Math.round(this.#services.nowMs() - request.receivedMs),
      partial: outcome.isPartial,
    };
    return { events: events + proxyEvent('aicg.usage', traceId, usage), headers };
  }

  #errorEvent(outcome: TurnOutcome, attempt: CostedAttempt | undefined): string {
    const { traceId } = this.#options.facts;
    const error = outcome.last?.error;
    const status = error?.upstream?.status;
    return proxyEvent('aicg.error', traceId, {
      code: error?.class ?? 'gw_internal',
      ...(status !== undefined && { provider_status: status }),
      message: 'The answer broke off.',
      partial: true,
      tokens_emitted_so_far: attempt?.usage?.outputTokens ?? 0,
    });
  }
}

function targetOf({ endpoint, member }: ChainMember) {
  return { endpointId: endpoint.id, model: member.model };
}

function targetNames({ endpoint, member, pool }: ChainMember) {
  return { endpoint_id: endpoint.id, model: member.model, pool: pool.name };
}

function routedTo({ endpoint, member }: ChainMember): string {
  return `${endpoint.id}:${member.model}`;
}

function shownDecision(decision: ModelDecision) {
  const { primary_action, modifiers, side_effects, model_pool, reasons } = decision;
  return { primary_action, modifiers, side_effects, model_pool: model_pool ?? null, reasons };
}
