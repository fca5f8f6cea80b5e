// A gateway that runs: its parts, and what they do for each other.
import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type Failure, isFailure, type JsonValue, type WebhookEvent } from '@subluminal/contracts';
import type { Actions } from '@subluminal/core/detect';
import type { Signer, Verifier } from '@subluminal/core/ports';
import { type PriceBook, priceBook } from '@subluminal/core/routing';
import { visible } from '@subluminal/core/visible';
import { pagesIn } from '@subluminal/plane/api/pages';
import { sha256 } from '@subluminal/plane/crypto';
import { errorText } from '@subluminal/plane/os';
import { openUpstream, type Upstream } from '@subluminal/plane/upstream';
import { uuidv7 } from 'uuidv7';
import { createGatewayApi, type GatewayApi } from '../api/index.ts';
import {
  type AddressRules,
  Authenticator,
  addressRules,
  Onboarding,
  PageKeys,
  prepareSetup,
  RepoBindings,
  removeSetupFile,
} from '../auth/index.ts';
import { budgetLimits, Settler } from '../budgets/index.ts';
import {
  type GatewayConfig,
  type LiveGatewayConfig,
  repoByRemote,
  resolveSecretRef,
} from '../config/index.ts';
import { TurnInspector } from '../inspect/index.ts';
import { type GatewayMetrics, SpanExporter } from '../metrics/index.ts';
import type { GatewayStore } from '../store/open/index.ts';
import { BodyRoom, createTurnEngine, rememberingWires } from '../turns/index.ts';
import { WebhookQueue, WebhookSender } from '../webhooks/index.ts';
import { BreakerBoard } from './breaker-board.ts';
import { EndpointPlaces } from './endpoint-places.ts';
import type { GovernorServices } from './gateway-governor.ts';
import { HeldTurns } from './held-turns.ts';
import { listenForGateway } from './listen.ts';
import { policyDesk } from './policy-desk.ts';
import { Readiness } from './readiness.ts';
import type { GatewayOptions, RunningGateway } from './start-gateway.ts';
import { TurnServer } from './turn-server.ts';
import { TurnTelemetry } from './turn-telemetry.ts';

export interface GatewayParts extends GatewayOptions {
  readonly live: LiveGatewayConfig;
  readonly store: GatewayStore;
  readonly metrics: GatewayMetrics;
  readonly key: Signer & Verifier;
}

const BREAKERS_EVERY_MS = 2_000;
const MAINTAIN_EVERY_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
const DRAIN_MS = 30_000;
const WARNING_LENGTH_MAX = 300;
/** What a redaction takes out: secrets. Personal data is told to the policy. */
const ACTIONS: Actions = {
  outbound: { secret: 'redact', personal: 'tag', injection: 'allow', hidden_text: 'allow' },
  inbound: { secret: 'tag', personal: 'tag', injection: 'allow', hidden_text: 'allow' },
  confidenceMin: 'likely',
  blockConfidence: 'likely',
  unscanned: 'tag',
};

export class Gateway {
  readonly #parts: GatewayParts;
  readonly #webhooks: WebhookQueue;
  readonly #held: HeldTurns;
  readonly #breakers: BreakerBoard;
  readonly #settler: Settler;
  readonly #readiness: Readiness;
  readonly #upstream: Upstream = openUpstream({});
  readonly #spans: SpanExporter | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  #prices: { readonly config: GatewayConfig; readonly book: PriceBook } | undefined;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    const { store, live, metrics } = parts;
    const nowMs = Date.now;
    const storeFailed = (cause: unknown) =>
      this.#warn(`The store did not answer: ${errorText(cause)}`);
    this.#held = new HeldTurns({ store: store.approvals, nowMs, storeFailed });
    this.#breakers = new BreakerBoard({ store: store.breakers, nowMs, storeFailed });
    this.#settler = new Settler({
      store,
      expiresMs: live.current().budgets.reservationExpiresMs,
      expired: ({ traceId, estimateMicros }) => {
        this.emit('reservation_expired', { trace_id: traceId, estimate_micros: estimateMicros });
      },
      failed: (cause) => this.#warn(`Reservations could not be swept: ${errorText(cause)}`),
    });
    this.#spans = this.#exporter();
    this.#readiness = new Readiness(store, nowMs);
    const { tenantId } = live.current().settings;
    const sender = new WebhookSender({
      rules: () => live.current().webhooks,
      secretOf: (ref) => this.#secret(ref),
      nowMs,
    });
    this.#webhooks = new WebhookQueue({
      tenantId,
      store: store.webhooks,
      sender,
      configured: () =>
        live.current().webhooks.hooks.map((hook) => ({ ...hook, tenantId, createdMs: 0 })),
      nowMs,
      newId: uuidv7,
      onWarning: (message) => this.#warn(message),
      onOutcome: (event, outcome) => metrics.webhookEnded(event, outcome),
    });
  }

  /** Never in the way of a turn: a message that can not be queued is said and lost. */
  emit(event: WebhookEvent, data: { readonly [name: string]: JsonValue }): void {
    void this.#webhooks.emit(event, data).catch((cause: unknown) => {
      this.#warn(`A message about ${event} was lost: ${errorText(cause)}`);
    });
  }

  async start(): Promise<RunningGateway | Failure> {
    const { live, store, log } = this.#parts;
    const { settings } = live.current();
    const addresses = addressRules(settings);
    if (isFailure(addresses)) return this.#failed(addresses);
    const setup = await prepareSetup({ people: store.people, path: this.#setupPath, print: log });
    if (setup !== undefined) return this.#failed(setup);
    await this.#held.start();
    this.#webhooks.start();
    this.#settler.start();
    this.#every(BREAKERS_EVERY_MS, () => this.#breakers.refresh());
    this.#every(MAINTAIN_EVERY_MS, () => store.records.maintain(Date.now()));
    const { api, turns } = this.#open(addresses);
    const listener = await listenForGateway(this.#listenSettings(), (request, response) =>
      handle(request, response, { api, turns, readiness: this.#readiness }),
    );
    const close = async () => {
      this.#readiness.end();
      for (const timer of this.#timers) clearInterval(timer);
      live.stop();
      const drained = isFailure(listener) ? undefined : listener.close(DRAIN_MS);
      await this.#held.stop();
      await api.close();
      await drained;
      await this.#webhooks.stop();
      await this.#settler.stop();
      await this.#spans?.close();
      await this.#upstream.close();
      await store.close();
    };
    if (!isFailure(listener)) return { kind: 'running', url: listener.url, close };
    await close();
    return listener;
  }

  get #setupPath(): string {
    return join(this.#parts.home, 'setup-token');
  }

  async #failed(problem: Failure): Promise<Failure> {
    this.#parts.live.stop();
    await this.#upstream.close();
    await this.#parts.store.close();
    return problem;
  }

  #listenSettings() {
    const { live, listen } = this.#parts;
    const { settings } = live.current();
    const { host = settings.listen.host, port = settings.listen.port } = listen ?? {};
    return { listen: { host, port }, tls: settings.tls };
  }

  #open(addresses: AddressRules): { readonly api: GatewayApi; readonly turns: TurnServer } {
    const { live, store, metrics, version, key, pages } = this.#parts;
    const { tenantId, limits } = live.current().settings;
    const nowMs = Date.now;
    const teamOf = (userId: string) => live.current().identity.users.get(userId)?.teamId;
    const authenticator = new Authenticator({
      keys: store.keys,
      teamOf,
      nowMs,
      rates: {
        perKey: rate(limits.keyRequestsPerMinute),
        global: rate(limits.requestsPerMinute),
        failures: rate(limits.failedLoginsPerMinute),
      },
    });
    const bindings = new RepoBindings({
      people: store.people,
      tenantId,
      key,
      nowMs,
      repoIdOf: (address) => repoByRemote(live.current(), address)?.id,
      isAutoBindOn: () => live.current().settings.bindings.autoBind,
      lifetimeMs: () => live.current().settings.bindings.lifetimeDays * DAY_MS,
    });
    const api = createGatewayApi({
      tenantId,
      store,
      authenticator,
      onboarding: new Onboarding({
        people: store.people,
        keys: store.keys,
        tenantId,
        nowMs,
        newId: uuidv7,
      }),
      bindings,
      pageKeys: new PageKeys({ secret: this.#derived('page sessions'), addresses, nowMs }),
      ...(pages !== undefined && { pages: pagesIn(pages) }),
      addresses,
      config: () => apiConfig(live.current(), teamOf),
      policy: policyDesk({ live, store, nowMs, newId: uuidv7 }),
      webhooks: this.#webhooks,
      ...(live.current().settings.telemetry.metrics && { metrics }),
      version,
      nowMs,
      newId: uuidv7,
      onSetup: () => removeSetupFile(this.#setupPath),
      onWarning: (message) => this.#warn(message),
    });
    const room = new BodyRoom(limits.bodiesBytesMax);
    const engine = createTurnEngine({
      wires: rememberingWires(),
      upstream: this.#upstream,
      nowMs,
      limits: { bodyBytesMax: limits.bodyBytesMax, turnsMax: limits.turnsMax },
      room,
      onDefect: (traceId, cause) => this.#warn(`The turn ${traceId} failed: ${errorText(cause)}`),
    });
    const services = this.#services();
    const turns = new TurnServer({ services, engine, room, authenticator, bindings, addresses });
    return { api, turns };
  }

  #services(): GovernorServices {
    const { live, store, metrics } = this.#parts;
    const secret = this.#derived('redaction marks');
    return {
      store,
      config: live.current,
      prices: () => this.#priceBook(),
      inspector: new TurnInspector({
        fingerprint: (text) => createHmac('sha256', secret).update(text, 'utf8').digest('hex'),
        classes: ['secret', 'personal'],
        actions: ACTIONS,
      }),
      breakers: this.#breakers,
      places: new EndpointPlaces(),
      held: this.#held,
      settler: this.#settler,
      telemetry: new TurnTelemetry({ metrics, spans: this.#spans, nowMs: Date.now }),
      emit: (event, data) => this.emit(event, data),
      nowMs: Date.now,
      newId: uuidv7,
      sha256,
      warn: (message) => this.#warn(message),
    };
  }

  /** Gateways that share the key give the same value the same mark, and know the sessions of each other. */
  #derived(purpose: string): string {
    return sha256(this.#parts.key.sign(`subluminal ${purpose}`));
  }

  #exporter(): SpanExporter | undefined {
    const { live, version } = this.#parts;
    const { settings, secrets } = live.current();
    const { otlpEndpoint, otlpAuthorizationRef } = settings.telemetry;
    if (otlpEndpoint === null) return undefined;
    const authorization =
      otlpAuthorizationRef === null ? undefined : secrets.get(otlpAuthorizationRef);
    const onWarning = (message: string) => this.#warn(message);
    return new SpanExporter({ endpoint: otlpEndpoint, authorization, version, onWarning });
  }

  #priceBook(): PriceBook {
    const config = this.#parts.live.current();
    if (this.#prices?.config !== config) {
      this.#prices = { config, book: priceBook(config.prices) };
    }
    return this.#prices.book;
  }

  async #secret(ref: string): Promise<string | Failure> {
    const { live, places } = this.#parts;
    return live.current().secrets.get(ref) ?? resolveSecretRef(ref, places);
  }

  #every(ms: number, work: () => Promise<void>): void {
    const run = () =>
      void work().catch((cause: unknown) => this.#warn(`The store failed: ${errorText(cause)}`));
    const timer = setInterval(run, ms);
    timer.unref();
    this.#timers.push(timer);
  }

  #warn(message: string): void {
    this.#parts.log(visible(message, WARNING_LENGTH_MAX));
  }
}

interface Handlers {
  readonly api: GatewayApi;
  readonly turns: TurnServer;
  readonly readiness: Readiness;
}

function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { api, turns, readiness }: Handlers,
): void {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const isHead = request.method === 'HEAD';
  const sayState = (isOk: boolean, text: string) =>
    response
      .writeHead(isOk ? 200 : 503, { 'content-type': 'text/plain' })
      .end(isHead ? '' : `${text}\n`);
  if (path === '/healthz' || (path === '/' && isHead)) {
    sayState(true, 'ok');
    return;
  }
  if (path === '/readyz') {
    void readiness.isReady().then((isReady) => sayState(isReady, isReady ? 'ready' : 'not ready'));
    return;
  }
  if (api.owns(path)) return api.handle(request, response);
  if (turns.handle(request, response) || api.handlePage(request, response)) return;
  const text = JSON.stringify({
    error: { type: 'not_found_error', message: 'No such path here.' },
  });
  response.writeHead(404, { 'content-type': 'application/json', connection: 'close' }).end(text);
}

function apiConfig(config: GatewayConfig, teamOf: (userId: string) => string | undefined) {
  return {
    pools: [...config.pools.values()],
    endpoints: [...config.endpoints.values()],
    teamOf,
    emailOf: (userId: string) => config.identity.users.get(userId)?.email ?? null,
    teams: [...config.identity.teams.keys()],
    teamName: (teamId: string) => config.identity.teams.get(teamId)?.name ?? null,
    limitsFor: (user: {
      readonly userId: string;
      readonly teamId: string;
      readonly nowMs: number;
    }) => budgetLimits(config.budgets, { caller: user, runId: null, nowMs: user.nowMs }),
    minimumVersion: config.settings.clients.versionMin,
    latestVersion: config.settings.clients.versionLatest,
  };
}

function rate(perMinute: number) {
  return { perMinute, burst: Math.max(1, Math.ceil(perMinute / 5)) };
}
