// Where the turns of a run go: to the address that the agent would have used by itself, with its own
// credentials and headers.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { type Failure, failure, isFailure, type JsonObject } from '@subluminal/contracts';
import { CAPABILITIES, type Endpoint, type ProviderName } from '@subluminal/core/routing';
import type { WireName } from '@subluminal/core/wires';
import type { ModelsTold } from '@subluminal/plane/run';
import type { Provider } from '../providers/types.ts';
import type { Attempt, TurnRequest } from '../turns/types.ts';

/** The first segment of a path says which of the agent's own addresses is meant. */
export type RouteName = 'anthropic' | 'openai' | 'codex';

export interface Upstreams {
  readonly anthropic: string;
  readonly openai: string;
  /** What Codex is configured for, where that is not OpenAI. */
  readonly codex: string | undefined;
}

/** Where a turn goes, and what is known of it beside what it says. */
export interface TurnTarget {
  readonly attempt: Attempt;
  /** On record, and for rules that look at arguments. */
  readonly facts?: JsonObject;
  /** What the turn cost, where the upstream itself says so. */
  readonly toldMicros?: () => number | undefined;
}

/** What a turn cost, as an answer tells it. */
export const COST_HEADER = 'x-aicg-cost-micros';

/** What a path asks for. */
export type ModelPath =
  | { readonly kind: 'answer' | 'count_tokens'; readonly wire: WireName }
  /** Lists of models: they hold nothing of the conversation. */
  | { readonly kind: 'pass' };

const ANTHROPIC = 'https://api.anthropic.com';
const OPENAI = 'https://api.openai.com/v1';
const CHATGPT = 'https://chatgpt.com/backend-api/codex';
/** Codex sends it when its user has logged in with ChatGPT. */
export const ACCOUNT_HEADER = 'chatgpt-account-id';

/** The addresses in the environment, else those of the providers. */
export function ownUpstreams(
  env: ModelsTold['env'],
  codex: string | undefined,
): Upstreams | Failure {
  const anthropic = addressOf('ANTHROPIC_BASE_URL', env['ANTHROPIC_BASE_URL'] || ANTHROPIC);
  if (isFailure(anthropic)) return anthropic;
  const openai = addressOf('OPENAI_BASE_URL', env['OPENAI_BASE_URL'] || OPENAI);
  if (isFailure(openai)) return openai;
  const own = codex === undefined ? undefined : addressOf('the model provider of Codex', codex);
  return isFailure(own) ? own : { anthropic: anthropic, openai, codex: own };
}

function addressOf(name: string, text: string): string | Failure {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === undefined || !isHttp || url.username !== '' || url.search !== '') {
    const message = `${name} is no address of a model that turns can be sent to.`;
    return failure(
      'SUB_MODELS_ADDRESS',
      message,
      'Use http:// or https://, without a password and without a query.',
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** The full address of a turn; `path` begins with the route, and keeps its query. */
export function upstreamUrl(
  upstreams: Upstreams,
  {
    route,
    path,
    headers,
  }: { readonly route: RouteName; readonly path: string; readonly headers: IncomingHttpHeaders },
): string {
  return `${baseOf(upstreams, route, headers)}${path.slice(route.length + 1)}`;
}

function baseOf(upstreams: Upstreams, route: RouteName, headers: IncomingHttpHeaders): string {
  if (route !== 'codex') return upstreams[route];
  if (upstreams.codex !== undefined) return upstreams.codex;
  return headers[ACCOUNT_HEADER] === undefined ? upstreams.openai : CHATGPT;
}

function providerOf(route: RouteName): ProviderName {
  return route === 'anthropic' ? 'anthropic' : 'openai';
}

export function routeOf(path: string): RouteName | undefined {
  const name = /^\/(anthropic|openai|codex)(?=[/?]|$)/.exec(path)?.[1];
  return name === 'anthropic' || name === 'openai' || name === 'codex' ? name : undefined;
}

/** Clients write the version into the address or into the path. */
const PATHS: readonly (readonly [RegExp, ModelPath])[] = [
  [/^\/anthropic\/v1\/messages$/, { kind: 'answer', wire: 'anthropic_messages' }],
  [
    /^\/anthropic\/v1\/messages\/count_tokens$/,
    { kind: 'count_tokens', wire: 'anthropic_messages' },
  ],
  [/^\/openai(?:\/v1)?\/chat\/completions$/, { kind: 'answer', wire: 'openai_chat_completions' }],
  // `compact` carries the conversation as well.
  [
    /^\/(?:openai|codex)(?:\/v1)?\/responses(?:\/compact)?$/,
    { kind: 'answer', wire: 'openai_responses' },
  ],
];

/** Answers that a provider keeps could be fetched past the record and the budget: of all reads, only these pass. */
const MODELS = /^\/(?:anthropic|openai|codex)(?:\/v1)?\/models(?:\/|$)/;

/** Undefined for what must not pass: a request with a body that nobody here can read, or an answer that is kept. */
export function askedFor(method: string, path: string): ModelPath | undefined {
  const [plain = ''] = path.split('?', 1);
  if (method === 'HEAD') return { kind: 'pass' };
  if (method === 'GET') return MODELS.test(plain) && isPlain(plain) ? { kind: 'pass' } : undefined;
  if (method !== 'POST') return undefined;
  return PATHS.find(([pattern]) => pattern.test(plain))?.[1];
}

/** Whether a path leads where it seems to: without `..`, however that is written. */
function isPlain(path: string): boolean {
  return URL.canParse(path, 'http://x') && new URL(path, 'http://x').pathname === path;
}

/** What belongs to one connection only, or is said anew for the next one. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
  'content-encoding',
  'accept-encoding',
]);

/** The agent's own headers, as it sent them. */
export function ownHeaders(from: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = new Set(
    (from.connection ?? '').split(',').map((name) => name.trim().toLowerCase()),
  );
  const passed = Object.entries(from).filter(
    ([name]) => !NOT_PASSED.has(name) && !named.has(name) && name !== TOKEN_HEADER,
  );
  return Object.fromEntries(passed);
}

/** Carries the token of the run where it must not stand in a command line. */
export const TOKEN_HEADER = 'x-subluminal-token';

/** The provider of an endpoint whose `url` is the whole address of one turn. */
export function ownProvider(name: ProviderName, wire: WireName): Provider {
  return {
    name,
    wires: () => [wire],
    hasCountTokens: true,
    url: ({ endpoint }) => endpoint.url,
    headers: ownHeaders,
  };
}

export function ownEndpoint(provider: ProviderName, url: string): Endpoint {
  return {
    id: provider,
    provider,
    url,
    teamKeyRefs: {},
    dataResidency: 'unknown',
    trustTier: 'vendor',
    supports: new Set(CAPABILITIES),
    deployments: [],
    concurrencyMax: Number.MAX_SAFE_INTEGER,
  };
}

const TIMEOUT_MS = 600_000;

/** Where the turns of an agent with keys of its own go, by the route in their path. */
export function ownTargets(upstreams: Upstreams): (request: TurnRequest) => TurnTarget | undefined {
  return ({ path, headers, wire, outline }) => {
    const route = routeOf(path);
    if (route === undefined) return undefined;
    const provider = providerOf(route);
    const attempt: Attempt = {
      attemptNo: 1,
      provider: ownProvider(provider, wire),
      endpoint: ownEndpoint(provider, upstreamUrl(upstreams, { route, path, headers })),
      model: outline.model,
      credentials: { kind: 'own' },
      timeoutMs: TIMEOUT_MS,
      release: () => {},
    };
    return { attempt };
  };
}
