// The API of the gateway, as the machine of a developer asks it.
import type { OutgoingHttpHeaders } from 'node:http';
import {
  APPROVAL_RESOLVED,
  BUDGET_STATES,
  CHANGED,
  COST_SUMMARY,
  ERROR_CODES,
  type Failure,
  failure,
  GATEWAY_ENDPOINTS,
  type GatewayEndpoint,
  type GatewayRole,
  INVITE,
  isFailure,
  isObject,
  ONBOARDED,
  type Parsed,
  POLICY_SNIPPET,
  parseAs,
  REPO_BOUND,
  TURN_APPROVALS,
  tableFailure,
  VERSION_CHECK,
  WHOAMI,
} from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { parseJson } from '@subluminal/plane/os';
import { isFault, readAnswerBody, type Upstream } from '@subluminal/plane/upstream';

export interface GatewayClientOptions {
  readonly gatewayUrl: string;
  readonly upstream: Upstream;
  /** None before the login. */
  readonly apiKey?: string;
  readonly version: string;
  readonly timeoutMs?: number;
}

type EndpointPath = Pick<GatewayEndpoint, 'method' | 'path'>;

interface SentParts {
  readonly query?: { readonly [name: string]: string | undefined };
  readonly body?: object;
  readonly headers?: OutgoingHttpHeaders;
}

interface Answered {
  readonly status: number;
  readonly etag: string | undefined;
  readonly value: unknown;
}

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 4 * 1_048_576;
const WORDS_MAX = 500;

export class GatewayClient {
  readonly #options: GatewayClientOptions;
  #clockSkewMs: number | undefined;

  constructor(options: GatewayClientOptions) {
    this.#options = options;
  }

  /** How far the clock of this machine is ahead of that of the gateway, by its last answer. */
  get clockSkewMs(): number | undefined {
    return this.#clockSkewMs;
  }

  setUp(setupToken: string, userId: string, machineId: string) {
    const body = { setup_token: setupToken, user_id: userId, machine_id: machineId };
    return this.#ask(GATEWAY_ENDPOINTS.setup, (value) => parseAs(ONBOARDED, value), { body });
  }

  exchangeInvite(inviteToken: string, machineId: string) {
    const body = { invite_token: inviteToken, machine_id: machineId };
    return this.#ask(GATEWAY_ENDPOINTS.exchangeInvite, (value) => parseAs(ONBOARDED, value), {
      body,
    });
  }

  invite(userId: string, role: GatewayRole) {
    return this.#ask(GATEWAY_ENDPOINTS.invite, (value) => parseAs(INVITE, value), {
      body: { user_id: userId, role },
    });
  }

  pendingApprovals() {
    const query = { state: 'pending' };
    return this.#ask(GATEWAY_ENDPOINTS.approvals, (value) => parseAs(TURN_APPROVALS, value), {
      query,
    });
  }

  resolveApproval(id: string, answer: 'approve' | 'reject', note: string | undefined) {
    const { method, path } = GATEWAY_ENDPOINTS[answer];
    const at = { method, path: path.replace('{id}', encodeURIComponent(id)) };
    const body = note === undefined ? {} : { note };
    return this.#ask(at, (value) => parseAs(APPROVAL_RESOLVED, value), { body });
  }

  whoami() {
    return this.#ask(GATEWAY_ENDPOINTS.whoami, (value) => parseAs(WHOAMI, value));
  }

  revokeKey(id: string) {
    const { method, path } = GATEWAY_ENDPOINTS.revokeKey;
    const at = { method, path: path.replace('{id}', encodeURIComponent(id)) };
    return this.#ask(at, (value) => parseAs(CHANGED, value));
  }

  bindRepo(repo: { remoteUrl: string; machineId: string; headSha?: string | undefined }) {
    const { remoteUrl, machineId, headSha } = repo;
    const body = {
      remote_url: remoteUrl,
      machine_id: machineId,
      ...(headSha !== undefined && { head_sha: headSha }),
    };
    return this.#ask(GATEWAY_ENDPOINTS.bindRepo, (value) => parseAs(REPO_BOUND, value), { body });
  }

  checkVersion() {
    const query = { version: this.#options.version };
    return this.#ask(GATEWAY_ENDPOINTS.versionCheck, (value) => parseAs(VERSION_CHECK, value), {
      query,
    });
  }

  costSummary(query: { readonly dim: string; readonly from: string; readonly to: string }) {
    const { costSummary } = GATEWAY_ENDPOINTS;
    return this.#ask(costSummary, (value) => parseAs(COST_SUMMARY, value), { query });
  }

  /** The limits that hold for the caller. */
  budgets() {
    return this.#ask(GATEWAY_ENDPOINTS.budget, (value) => parseAs(BUDGET_STATES, value));
  }

  /** What holds for the caller; `unchanged` when the tag of an earlier answer still fits. */
  async policySnippet(etag?: string) {
    const headers = etag === undefined ? {} : { 'if-none-match': etag };
    const answered = await this.#send(GATEWAY_ENDPOINTS.policySnippet, { headers });
    if (isFailure(answered)) return answered;
    if (answered.status === 304) return 'unchanged';
    const parsed = parseAs(POLICY_SNIPPET, answered.value);
    if (!parsed.ok) return tableFailure('SUB_GATEWAY_ANSWER');
    return { snippet: parsed.value, etag: answered.etag };
  }

  async #ask<T>(
    asked: EndpointPath,
    parse: (value: unknown) => Parsed<T>,
    sent: SentParts = {},
  ): Promise<T | Failure> {
    const answered = await this.#send(asked, sent);
    if (isFailure(answered)) return answered;
    const parsed = parse(answered.value);
    return parsed.ok ? parsed.value : tableFailure('SUB_GATEWAY_ANSWER');
  }

  async #send({ method, path }: EndpointPath, sent: SentParts): Promise<Answered | Failure> {
    const { query = {}, body, headers } = sent;
    const { gatewayUrl, upstream, apiKey, version, timeoutMs = TIMEOUT_MS } = this.#options;
    const url = new URL(`${gatewayUrl}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    const answer = await upstream.call({
      method,
      url: url.href,
      headers: {
        accept: 'application/json',
        'user-agent': `subluminal/${version}`,
        'x-aicg-lp-version': version,
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: [Buffer.from(JSON.stringify(body))] }),
      timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (isFault(answer)) return away(gatewayUrl, answer.message);
    const toldMs = Date.parse(String(answer.headers.date));
    if (!Number.isNaN(toldMs)) this.#clockSkewMs = Date.now() - toldMs;
    const bytes = await readAnswerBody(answer.body, ANSWER_BYTES_MAX);
    if (isFault(bytes)) return away(gatewayUrl, bytes.message);
    const { status } = answer;
    const value = parseJson(bytes.toString('utf8'));
    if (status >= 400 || (status !== 200 && status !== 304)) return refusal(value, status);
    const { etag } = answer.headers;
    return { status, etag: typeof etag === 'string' ? etag : undefined, value };
  }
}

function away(gatewayUrl: string, why: string): Failure {
  return tableFailure('SUB_GATEWAY_AWAY', `(${visible(gatewayUrl, WORDS_MAX)}) ${why}`);
}

/** In the gateway's own words, where it has some. */
function refusal(value: unknown, status: number): Failure {
  const error = isObject(value) ? value['error'] : undefined;
  const said = isObject(error) ? error : {};
  const { code, message, fix } = said;
  const known = ERROR_CODES.find((one) => one === code);
  if (known === undefined || typeof message !== 'string' || typeof fix !== 'string') {
    return tableFailure('SUB_GATEWAY_ANSWER', `It answered with ${status}.`);
  }
  return failure(known, visible(message, WORDS_MAX), visible(fix, WORDS_MAX));
}
