// Turns as they are counted and traced. Nothing of it is in the way of a turn.
import type { GatewayMetrics, SpanExporter } from '../metrics/index.ts';
import type { BudgetLimit } from '../store/types.ts';
import type { TurnOutcome, TurnRefusal, TurnRequest } from '../turns/types.ts';
import type { CostedAttempt, TurnFacts } from './turn-records.ts';

export interface TelemetryOptions {
  readonly metrics: GatewayMetrics;
  /** None without a collector. */
  readonly spans: SpanExporter | undefined;
  readonly nowMs: () => number;
}

export interface AnsweredTurn {
  readonly request: TurnRequest;
  readonly facts: TurnFacts;
  readonly outcome: TurnOutcome;
  readonly attempts: readonly CostedAttempt[];
  readonly costMicros: number;
}

const NONE = 'none';

export class TurnTelemetry {
  readonly #options: TelemetryOptions;

  constructor(options: TelemetryOptions) {
    this.#options = options;
  }

  answered({ request, facts, outcome, attempts, costMicros }: AnsweredTurn): void {
    const { metrics, spans, nowMs } = this.#options;
    const endMs = nowMs();
    for (const { link, outcome: made } of attempts) {
      if (made.error !== undefined) metrics.upstreamFailed(link.endpoint.id, made.error.class);
    }
    const last = attempts.at(-1);
    const failed = outcome.last === undefined ? 'no_endpoint' : outcome.last.error?.class;
    const used = {
      inputTokens: last?.usage?.inputTokens ?? 0,
      outputTokens: last?.usage?.outputTokens ?? 0,
    };
    const provider = last?.link.endpoint.provider ?? NONE;
    const { outline } = facts;
    metrics.turnEnded({
      wire: outline.wire,
      decision: facts.decision.primary_action,
      outcome: failed ?? 'ok',
      provider,
      model: last?.link.member.model ?? NONE,
      pool: last?.link.pool.name ?? NONE,
      latencyMs: endMs - request.receivedMs,
      firstByteMs: outcome.firstByteMs,
      ...used,
      cacheReadTokens: last?.usage?.cacheReadTokens ?? 0,
      cacheCreateTokens: last?.usage?.cacheWriteTokens ?? 0,
      costMicros,
    });
    spans?.record({
      traceId: facts.traceId,
      startMs: request.receivedMs,
      endMs,
      provider,
      requestModel: outline.model,
      responseModel: outcome.last?.observed.model,
      serverAddress: last === undefined ? undefined : new URL(last.link.endpoint.url).hostname,
      ...used,
      finishReason: outcome.last?.observed.stop,
      errorType: failed,
      attributes: {
        ...turnAttributes(facts),
        pool: last?.link.pool.name ?? NONE,
        attempts: attempts.length,
        cost_micros: costMicros,
      },
    });
  }

  budgetHit(scope: BudgetLimit['scope'], event: 'soft' | 'hard'): void {
    this.#options.metrics.budgetHit(scope, event);
  }

  refused(request: TurnRequest, facts: TurnFacts, kind: TurnRefusal['kind']): void {
    const { metrics, spans, nowMs } = this.#options;
    const endMs = nowMs();
    const tokens = { inputTokens: 0, outputTokens: 0 };
    metrics.turnEnded({
      ...tokens,
      wire: facts.outline.wire,
      decision: facts.decision.primary_action,
      outcome: `refused_${kind}`,
      provider: NONE,
      model: NONE,
      pool: NONE,
      latencyMs: endMs - request.receivedMs,
      cacheReadTokens: 0,
      cacheCreateTokens: 0,
      costMicros: 0,
    });
    spans?.record({
      ...tokens,
      traceId: facts.traceId,
      startMs: request.receivedMs,
      endMs,
      provider: NONE,
      requestModel: facts.outline.model,
      errorType: `refused_${kind}`,
      attributes: turnAttributes(facts),
    });
  }
}

function turnAttributes({ caller, repoId, serverClass, decision }: TurnFacts) {
  return {
    team: caller.teamId,
    repo: repoId ?? NONE,
    task_type: serverClass.taskType,
    decision: decision.primary_action,
    rules: decision.reasons.join(','),
  };
}
