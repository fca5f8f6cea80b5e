// Sends the turns of one connection to the gateway: searches them for secrets, finds out whose session and which
// repository they belong to, and tells the gateway so. The gateway decides.
import { isFailure, type PolicyRef } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { UpstreamError } from '@subluminal/core/wires';
import type { TurnInspector } from '../inspect/index.ts';
import { ownEndpoint, ownProvider } from '../local/upstreams.ts';
import { ownHeaders, withoutCredentials } from '../providers/client-headers.ts';
import { refuse } from '../turns/refuse.ts';
import { requestFacts } from '../turns/turn-facts.ts';
import type { Attempt, GatewayLink, TurnGovernor, TurnPlan, TurnRequest } from '../turns/types.ts';
import type { FileFingerprints } from './file-fingerprints.ts';
import { GatewayTurn, type TriedBefore } from './gateway-turn.ts';
import type { GatewayLogin } from './login.ts';
import type { PeerProcess } from './peer-process.ts';
import type { RepoBinder } from './repo-binding-file.ts';
import type { RepoReader } from './repo-facts.ts';
import type { SessionRuns } from './session-runs.ts';
import { turnEnvelope } from './turn-envelope.ts';
import { clientKey, turnSession } from './turn-session.ts';

export interface ProxyServices {
  readonly login: GatewayLogin;
  readonly machineId: string;
  readonly version: string;
  readonly inspector: TurnInspector;
  readonly files: FileFingerprints;
  readonly repos: RepoReader;
  readonly binder: RepoBinder;
  readonly runs: SessionRuns;
  /** The gateway, as what decides the turns of a run. */
  readonly policy: PolicyRef;
  readonly newCallId: () => string;
  readonly passesEvents: boolean;
  /** Goes to the log; never a secret or a prompt. */
  readonly warn: (message: string) => void;
  /** Where turns go, with the client's own key, while the gateway is away; none of them fail closed. */
  readonly fallback: { readonly anthropic: string; readonly openai: string } | undefined;
}

/** The search of one request may take so much of the processor: a busy machine alone refuses nothing. */
const SCAN_CPU_MS = 150;
const TIMEOUT_MS = 600_000;
const WORDS_MAX = 300;
/** What another try of the same gateway may mend. */
const RETRIED: ReadonlySet<string> = new Set(['upstream_disconnect', 'upstream_5xx']);

export class ProxyGovernor implements TurnGovernor {
  readonly #services: ProxyServices;
  readonly #peer: PeerProcess;

  constructor(services: ProxyServices, peer: PeerProcess) {
    this.#services = services;
    this.#peer = peer;
  }

  async begin(request: TurnRequest): Promise<TurnPlan> {
    try {
      return await this.#begin(request);
    } catch (cause) {
      this.#services.warn(`A turn could not be sent: ${visible(String(cause), WORDS_MAX)}`);
      return refuse('unavailable', 'The local proxy could not send this turn; its log says why.');
    }
  }

  async #begin(request: TurnRequest): Promise<TurnPlan> {
    const { inspector, repos, binder, runs, files, newCallId } = this.#services;
    const start = process.cpuUsage();
    const isOverdue = () => cpuMs(process.cpuUsage(start)) > SCAN_CPU_MS;
    const { body, outline } = request;
    const inspection = inspector.inspect({ body, outline, isOverdue });
    if (isFailure(inspection)) {
      const isLate = inspection.code === 'SUB_PROXY_SCAN';
      const message = isLate ? `${inspection.message} ${inspection.fix}` : inspection.message;
      return refuse(isLate ? 'unavailable' : 'invalid', message);
    }
    const { facts, tool, repo } = await turnSession(request, { peer: this.#peer, repos });
    const { sessionId } = facts;
    const bound = repo && (await binder.binding(repo));
    const { policy } = this.#services;
    const session = runs.find(facts.key) ?? runs.open(facts, { policy, mode: 'control' });
    const isTurn = request.kind === 'answer';
    const { login, machineId, version } = this.#services;
    const { userId, teamId } = login;
    const envelope = turnEnvelope({
      request,
      inspection,
      tool,
      session: { id: sessionId, turnIndex: isTurn ? session.nextTurn() : 0 },
      repo,
      repoId: bound?.repoId,
      machine: { version, machineId, userId, teamId },
      files,
    });
    const recorded = {
      callId: newCallId(),
      provider: request.wire === 'anthropic_messages' ? 'anthropic' : 'openai',
      model: outline.model,
      facts: requestFacts(request),
      bytesIn: body.length,
      sessionId,
      estimateMicros: undefined,
      startedMs: request.receivedMs,
    };
    if (isTurn) session.recorder.start(recorded);
    const turn = new GatewayTurn({
      request,
      envelope,
      run: session,
      recorded,
      passesEvents: this.#services.passesEvents,
      unreachable: this.#unreachable(request),
      attempts: (link, before) =>
        this.#attempts(request, { link, before, sessionId, binding: bound?.token }),
    });
    return { kind: 'send', turn };
  }

  #attempts(request: TurnRequest, call: GatewayCall): readonly Attempt[] {
    const first = this.#byGateway(request, call);
    const again = { ...first, attemptNo: 2, admit: () => mayRetry(call.before) };
    const own = this.#byOwnKey(request, call.before);
    return own === undefined ? [first, again] : [first, again, own];
  }

  #byGateway(request: TurnRequest, { link, sessionId, binding }: GatewayCall): Attempt {
    const { login, version } = this.#services;
    const { wire, outline } = request;
    return {
      attemptNo: 1,
      provider: {
        name: providerName(request),
        wires: () => [wire],
        hasCountTokens: true,
        url: ({ endpoint }) => endpoint.url,
        headers: (from, key = '') => {
          const { accept: _, ...kept } = ownHeaders(withoutCredentials(from));
          return {
            ...kept,
            authorization: `Bearer ${key}`,
            'x-aicg-lp-version': version,
            'x-aicg-session-id': sessionId,
            ...(binding !== undefined && { 'x-aicg-repo-binding': binding }),
          };
        },
      },
      endpoint: {
        ...ownEndpoint(providerName(request), `${login.gatewayUrl}/v1/agent/forward`),
        id: 'gateway',
      },
      model: outline.model,
      credentials: { kind: 'key', key: login.apiKey },
      timeoutMs: TIMEOUT_MS,
      release: () => {},
      gateway: link,
    };
  }

  /** Straight to the provider, where that is allowed and the client has a key of its own. */
  #byOwnKey(request: TurnRequest, before: TriedBefore): Attempt | undefined {
    const { fallback } = this.#services;
    if (fallback === undefined || clientKey(request) !== 'own') return undefined;
    const { wire, path, outline } = request;
    const name = providerName(request);
    const url =
      name === 'anthropic'
        ? `${fallback.anthropic}${path}`
        : `${fallback.openai}${path.replace(/^\/v1(?=\/)/, '')}`;
    return {
      attemptNo: 3,
      provider: ownProvider(name, wire),
      endpoint: ownEndpoint(name, url),
      model: outline.model,
      credentials: { kind: 'own' },
      timeoutMs: TIMEOUT_MS,
      admit: () => Promise.resolve(before.last()?.class === 'upstream_disconnect'),
      release: () => {},
    };
  }

  #unreachable(request: TurnRequest): UpstreamError {
    const { login, fallback } = this.#services;
    const noKey =
      fallback === undefined || clientKey(request) === 'own'
        ? ''
        : ' The client has no key of its own to go on with.';
    const message = `Subluminal: The gateway ${new URL(login.gatewayUrl).host} cannot be reached, so no turn passes.${noKey} Try again in a moment, or look with \`sub proxy status\`.`;
    return { status: 503, type: 'overloaded_error', code: 'service_unavailable', message };
  }
}

interface GatewayCall {
  readonly link: GatewayLink;
  readonly before: TriedBefore;
  readonly sessionId: string;
  readonly binding: string | undefined;
}

function mayRetry(before: TriedBefore): Promise<boolean> {
  return Promise.resolve(RETRIED.has(before.last()?.class ?? ''));
}

function providerName({ wire }: TurnRequest): 'anthropic' | 'openai' {
  return wire === 'anthropic_messages' ? 'anthropic' : 'openai';
}

function cpuMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}
