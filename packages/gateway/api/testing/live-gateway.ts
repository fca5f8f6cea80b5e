// The API over real HTTP on a real store, for tests.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  API_ERROR,
  check,
  GATEWAY_ENDPOINTS,
  type GatewayEndpoint,
  type GatewayRole,
  isFailure,
  isObject,
  type JsonValue,
} from '@subluminal/contracts';
import { pagesIn } from '@subluminal/plane/api/pages';
import { callIds, ensureKeyFile } from '@subluminal/plane/crypto';
import { onTestFinished, vi } from 'vitest';
import {
  Authenticator,
  addressRules,
  Onboarding,
  PageKeys,
  type RateLimits,
  RepoBindings,
} from '../../auth/index.ts';
import { GatewayMetrics } from '../../metrics/index.ts';
import { openGatewayStore } from '../../store/open/index.ts';
import type { BudgetLimit, GatewayStore, WebhookRow } from '../../store/types.ts';
import { WebhookQueue, type WebhookRules, WebhookSender } from '../../webhooks/index.ts';
import { createGatewayApi } from '../index.ts';
import type { ApiConfig, ApiLimits, PolicyDesk } from '../types.ts';

export const TENANT = 'default';
export const NOON_MS = Date.UTC(2026, 10, 17, 12);
export const SCRAPER = 'scraper-token-of-the-test';
const SECRET = 'of-the-sessions-in-the-test';
const SECRETS: { readonly [ref: string]: string } = {
  'env://HOOK': 'a-secret-of-the-receiver',
};

const RATES: RateLimits = {
  perKey: { perMinute: 600, burst: 120 },
  global: { perMinute: 60_000, burst: 2_000 },
  failures: { perMinute: 10, burst: 20 },
};

/** Who is in which team; `eve` is in none. */
export const TEAMS: { readonly [userId: string]: string } = {
  root: 'platform',
  lead: 'core',
  ann: 'core',
  bob: 'web',
  boss: 'web',
};

export interface LiveOptions {
  readonly store?: GatewayStore;
  readonly config?: Partial<ApiConfig>;
  readonly policy?: Partial<PolicyDesk>;
  readonly rates?: Partial<RateLimits>;
  readonly ipAllowlist?: readonly string[];
  readonly trustedProxies?: readonly string[];
  readonly webhookRules?: WebhookRules;
  readonly configuredWebhooks?: readonly WebhookRow[];
  readonly repos?: { readonly [address: string]: string };
  readonly isAutoBindOn?: boolean;
  /** The folder of a page. */
  readonly pages?: string;
  readonly limits?: Partial<ApiLimits>;
}

export interface AskOptions {
  readonly method?: string;
  readonly key?: string | undefined;
  readonly body?: JsonValue;
  readonly raw?: string;
  readonly headers?: { readonly [name: string]: string };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
  /** A text of the answer. */
  field(name: string): string;
}

/** Until an expectation holds; on a machine that is busy, too. */
export function eventually(expectation: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(expectation, { timeout: 20_000, interval: 10 });
}

/** A folder that goes when the test ends. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sub-gateway-api-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function testStore(): Promise<GatewayStore> {
  const store = await openGatewayStore({ database: join(testFolder(), 'gateway.db') });
  onTestFinished(() => store.close());
  return store;
}

export class LiveGateway {
  readonly store: GatewayStore;
  readonly warnings: string[] = [];
  nowMs = NOON_MS;
  readonly newId = callIds();
  readonly authenticator: Authenticator;
  readonly onboarding: Onboarding;
  readonly bindings: RepoBindings;
  readonly webhooks: WebhookQueue;
  readonly metrics = new GatewayMetrics({ scraperTokens: () => [SCRAPER] });
  readonly #options: LiveOptions;
  url = '';
  setups = 0;

  private constructor(store: GatewayStore, options: LiveOptions) {
    this.store = store;
    this.#options = options;
    const { keys, people } = store;
    const { newId } = this;
    const nowMs = () => this.nowMs;
    const teamOf = (userId: string) => TEAMS[userId];
    const rates = { ...RATES, ...options.rates };
    this.authenticator = new Authenticator({ keys, teamOf, nowMs, rates });
    this.onboarding = new Onboarding({ people, keys, tenantId: TENANT, nowMs, newId });
    const key = ensureKeyFile(join(testFolder(), 'binding.key'));
    if (isFailure(key)) throw new Error(key.message);
    const { repos = {}, isAutoBindOn = true } = options;
    this.bindings = new RepoBindings({
      people,
      tenantId: TENANT,
      key,
      nowMs,
      repoIdOf: (address) => repos[address],
      isAutoBindOn: () => isAutoBindOn,
      lifetimeMs: () => 90 * 86_400_000,
    });
    const rules = options.webhookRules ?? {
      allowedHosts: ['127.0.0.1'],
      allowPrivateAddresses: true,
    };
    const sender = new WebhookSender({
      rules: () => rules,
      secretOf: async (ref) =>
        SECRETS[ref] ?? { kind: 'failure', code: 'SUB_SECRET_MISSING', message: 'no', fix: 'no' },
      nowMs,
    });
    this.webhooks = new WebhookQueue({
      tenantId: TENANT,
      store: store.webhooks,
      sender,
      configured: () => options.configuredWebhooks ?? [],
      nowMs,
      newId,
      onWarning: (message) => this.warnings.push(message),
      onOutcome: (event, outcome) => this.metrics.webhookEnded(event, outcome),
      pollMs: 20,
    });
    onTestFinished(async () => {
      await this.webhooks.stop();
      await sender.close();
    });
  }

  static async open(options: LiveOptions = {}): Promise<LiveGateway> {
    const gateway = new LiveGateway(options.store ?? (await testStore()), options);
    await gateway.#listen();
    return gateway;
  }

  async #listen(): Promise<void> {
    const { pages } = this.#options;
    const addresses = addressRules(this.#options);
    if (isFailure(addresses)) throw new Error(addresses.message);
    const api = createGatewayApi({
      tenantId: TENANT,
      store: this.store,
      authenticator: this.authenticator,
      onboarding: this.onboarding,
      bindings: this.bindings,
      pageKeys: new PageKeys({ secret: SECRET, addresses, nowMs: () => this.nowMs }),
      ...(pages !== undefined && { pages: pagesIn(pages) }),
      addresses,
      config: () => this.#config(),
      policy: { ...POLICY, ...this.#options.policy },
      webhooks: this.webhooks,
      metrics: this.metrics,
      version: '1.2.3',
      nowMs: () => this.nowMs,
      newId: this.newId,
      onSetup: () => {
        this.setups += 1;
      },
      onWarning: (message) => this.warnings.push(message),
      limits: this.#options.limits ?? {},
    });
    const server = createServer((request, response) => {
      if (!api.handlePage(request, response)) api.handle(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    onTestFinished(async () => {
      await api.close();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    });
  }

  #config(): ApiConfig {
    return {
      pools: [],
      endpoints: [],
      teamOf: (userId) => TEAMS[userId],
      emailOf: (userId) => (userId === 'ann' ? 'ann@example.com' : null),
      teams: ['core', 'platform', 'web'],
      teamName: (teamId) => (teamId === 'core' ? 'Core systems' : null),
      limitsFor: ({ userId, teamId }) => [
        limit({ scope: 'team_month', key: teamId, period: '2026-11' }),
        limit({ scope: 'user_day', key: userId, period: '2026-11-17' }),
      ],
      minimumVersion: null,
      latestVersion: null,
      ...this.#options.config,
    };
  }

  /** A user with a key. */
  async user(userId: string, role: GatewayRole = 'developer'): Promise<string> {
    const createdMs = this.nowMs;
    await this.store.people.setUser({ tenantId: TENANT, userId, role, createdMs });
    const made = await this.onboarding.addKey(userId, 'test');
    if (isFailure(made)) throw new Error(made.message);
    return made.key;
  }

  ask(path: string, options: AskOptions = {}): Promise<Answer> {
    const { key, body, raw, headers = {} } = options;
    const sent = body === undefined ? raw : JSON.stringify(body);
    const method = options.method ?? (sent === undefined ? 'GET' : 'POST');
    const all = {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const asked = httpRequest(
        this.url + path,
        { method, headers: all, agent: false },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            const isJson =
              response.headers['content-type']?.startsWith('application/json') ?? false;
            const json: unknown = isJson && text !== '' ? JSON.parse(text) : undefined;
            const field = (name: string) => (isObject(json) ? String(json[name]) : '');
            const { statusCode: status = 0, headers: got } = response;
            const problem = contractProblem(`${method} ${path}`, status, json);
            if (problem === undefined) resolve({ status, headers: got, text, json, field });
            else reject(new Error(problem));
          });
        },
      );
      asked.on('error', reject);
      asked.end(sent);
    });
  }
}

function limit(what: Pick<BudgetLimit, 'scope' | 'key' | 'period'>): BudgetLimit {
  return { ...what, capMicros: 1_000_000, softMicros: 800_000, onExceeded: 'refuse' };
}

const POLICY: PolicyDesk = {
  version: () => 'v1',
  current: () => ({ rules: [] }),
  reload: async () => ({ changed: false, problems: [] }),
  explain: async () => ({ decision: { primary_action: 'allow' }, rules: [] }),
  rulesFor: ({ teamId }) => [{ id: `rule-of-${teamId}` }],
};

/** A PEM of another gateway. */
export function otherPem(): string {
  return generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

const ENDPOINTS = Object.values<GatewayEndpoint>(GATEWAY_ENDPOINTS).map((endpoint) => {
  const path = endpoint.path.replaceAll(/\{\w+\}/g, '[^/]+');
  return { endpoint, pattern: new RegExp(`^${endpoint.method} ${path}$`) };
});

/** How an answer breaks the contract: no test may pass over that. */
function contractProblem(asked: string, status: number, json: unknown): string | undefined {
  const [target = ''] = asked.split('?', 1);
  // The first that fits, but for paths without parts, which come before those with some.
  const fitting = ENDPOINTS.filter(({ pattern }) => pattern.test(target));
  const found = fitting.find(({ endpoint }) => !endpoint.path.includes('{')) ?? fitting[0];
  const shape = status >= 400 ? API_ERROR : found?.endpoint.answer;
  if (shape === undefined || status === 304 || asked.startsWith('HEAD ')) return undefined;
  const [mismatch] = check(shape, json);
  if (mismatch === undefined) return undefined;
  const { path, expected, got } = mismatch;
  return `${asked} answered ${status}: ${path.join('.')} is ${got}, not ${expected}`;
}
