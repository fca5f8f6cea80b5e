// What /metrics shows. Labels come from the configuration or from short lists; what a client or a provider could
// make up is counted as `other` beyond a bound.
import { secretMatcher } from '@subluminal/plane/os';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** One turn, when it has ended. */
export interface MeasuredTurn {
  readonly wire: string;
  /** `allow`, `route`, `block`, …. */
  readonly decision: string;
  /** `ok`, or the class of its error or refusal. */
  readonly outcome: string;
  readonly provider: string;
  readonly model: string;
  readonly pool: string;
  readonly latencyMs: number;
  readonly firstByteMs?: number | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreateTokens: number;
  readonly costMicros: number;
}

interface MetricsOptions {
  /** Tokens of those who may read them without a key. */
  readonly scraperTokens?: () => readonly string[];
  /** Memory, CPU and the event loop of the process; tests leave them out. */
  readonly isProcessMeasured?: boolean;
}

const LABEL_VALUES_MAX = 200;
const OTHER = 'other';
const PREFIX = 'subluminal_gateway_';
const DURATIONS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const MS = 1_000;
const DOLLAR_MICROS = 1_000_000;

/** At most so many values of a label that comes from outside. */
class BoundedLabel {
  readonly #known = new Set<string>();

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= LABEL_VALUES_MAX) return OTHER;
    this.#known.add(value);
    return value;
  }
}

export class GatewayMetrics {
  readonly #registry = new Registry();
  readonly #models = new BoundedLabel();
  readonly #others = new BoundedLabel();
  readonly #options: MetricsOptions;
  readonly #turns = this.#counter('turns_total', 'Turns that ended.', [
    'wire',
    'decision',
    'outcome',
    'pool',
  ]);
  readonly #tokens = this.#counter('tokens_total', 'Tokens of turns.', [
    'kind',
    'provider',
    'model',
  ]);
  readonly #cost = this.#counter('cost_dollars_total', 'What turns cost.', ['provider', 'model']);
  readonly #durations = this.#histogram('turn_duration_seconds', 'How long turns took.');
  readonly #firstBytes = this.#histogram('turn_first_byte_seconds', 'When answers began.');
  readonly #requests = this.#counter('api_requests_total', 'Requests to the API.', [
    'endpoint',
    'status',
  ]);
  readonly #logins = this.#counter('auth_failures_total', 'Requests without a good key.', [
    'reason',
  ]);
  readonly #upstream = this.#counter('upstream_errors_total', 'Calls of providers that failed.', [
    'endpoint',
    'class',
  ]);
  readonly #budgets = this.#counter('budget_events_total', 'Budgets that warned or refused.', [
    'scope',
    'event',
  ]);
  readonly #webhooks = this.#counter('webhook_deliveries_total', 'Messages to webhooks.', [
    'event',
    'outcome',
  ]);
  readonly #reloads = this.#counter('config_reloads_total', 'Reloads of the configuration.', [
    'outcome',
  ]);

  constructor(options: MetricsOptions = {}) {
    this.#options = options;
    if (options.isProcessMeasured) collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  isScraper(token: string): boolean {
    return (this.#options.scraperTokens?.() ?? []).some((known) => secretMatcher(known)(token));
  }

  turnEnded(turn: MeasuredTurn): void {
    const { wire, decision, outcome, provider } = turn;
    const pool = this.#others.of(turn.pool);
    this.#turns.inc({ wire, decision, outcome, pool });
    this.#durations.observe({ wire }, turn.latencyMs / MS);
    if (turn.firstByteMs !== undefined) this.#firstBytes.observe({ wire }, turn.firstByteMs / MS);
    const model = this.#models.of(turn.model);
    const tokens = {
      input: turn.inputTokens,
      output: turn.outputTokens,
      cache_read: turn.cacheReadTokens,
      cache_create: turn.cacheCreateTokens,
    };
    for (const [kind, count] of Object.entries(tokens)) {
      if (count > 0) this.#tokens.inc({ kind, provider, model }, count);
    }
    if (turn.costMicros > 0) this.#cost.inc({ provider, model }, turn.costMicros / DOLLAR_MICROS);
  }

  answered(endpoint: string, status: number): void {
    this.#requests.inc({ endpoint, status: String(status) });
    if (status === 401) this.#logins.inc({ reason: 'key' });
    if (status === 429) this.#logins.inc({ reason: 'limit' });
  }

  upstreamFailed(endpointId: string, errorClass: string): void {
    this.#upstream.inc({ endpoint: this.#others.of(endpointId), class: errorClass });
  }

  budgetHit(scope: string, event: 'soft' | 'hard'): void {
    this.#budgets.inc({ scope, event });
  }

  webhookEnded(event: string, outcome: string): void {
    this.#webhooks.inc({ event, outcome });
  }

  reloaded(outcome: 'accepted' | 'rejected'): void {
    this.#reloads.inc({ outcome });
  }

  /** A value that is asked for when somebody looks: turns under way, approvals that wait. */
  watch(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge: Gauge = new Gauge({
      name: PREFIX + name,
      help,
      registers: [this.#registry],
      collect: async (): Promise<void> => gauge.set(await read()),
    });
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.#registry] });
  }

  #histogram(name: string, help: string): Histogram<'wire'> {
    const registers = [this.#registry];
    return new Histogram({
      name: PREFIX + name,
      help,
      labelNames: ['wire'],
      buckets: DURATIONS_S,
      registers,
    });
  }
}
