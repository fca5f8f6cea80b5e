// Turns over HTTP: who asks is known before anything of the body is read.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Failure, isFailure, type ModelEnvelope } from '@subluminal/contracts';
import type { Caller } from '@subluminal/core/routing';
import {
  acceptsRefusalData,
  refusalAnswer,
  type UpstreamError,
  type WireName,
  wireFor,
} from '@subluminal/core/wires';
import { errorText } from '@subluminal/plane/os';
import { isOlder } from '../api/proxy-version.ts';
import {
  type AddressRules,
  type Authenticator,
  clientAddress,
  isAllowedAddress,
  type RepoBindings,
  repoAddress,
} from '../auth/index.ts';
import { repoByRemote } from '../config/index.ts';
import type { BodyPlace } from '../turns/body-room.ts';
import {
  type BodyRoom,
  modelEntry,
  modelList,
  poolModels,
  type TurnEngine,
} from '../turns/index.ts';
import { readRequestBody } from '../turns/read-body.ts';
import { refuse } from '../turns/refuse.ts';
import { clientSession } from '../turns/turn-facts.ts';
import type { TurnRefusal } from '../turns/types.ts';
import { type ForwardedTurn, readForwardBody } from './forward-body.ts';
import { GatewayGovernor, type GovernorServices, type TurnSender } from './gateway-governor.ts';
import { type AskedTurn, askedTurn } from './turn-routes.ts';

export interface TurnServerOptions {
  readonly services: GovernorServices;
  readonly engine: TurnEngine;
  readonly room: BodyRoom;
  readonly authenticator: Authenticator;
  readonly bindings: RepoBindings;
  readonly addresses: AddressRules;
}

const SESSION_LENGTH_MAX = 128;
const APPROVAL_LENGTH_MAX = 64;
/** An envelope beside the largest request. */
const ENVELOPE_ROOM = 512 * 1_024;

/** Turns of one user at the same time: a part of those that the gateway takes, so that nobody takes them all. */
const USER_TURNS_MAX = 256;

export class TurnServer {
  readonly #options: TurnServerOptions;
  /** How many turns of each user are under way. */
  readonly #running = new Map<string, number>();

  constructor(options: TurnServerOptions) {
    this.#options = options;
  }

  /** Answers what belongs to models; false for everything else. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const asked = askedTurn(request);
    if (asked === undefined) return false;
    void this.#answer(request, response, asked).catch((cause: unknown) => {
      this.#options.services.warn(`A request could not be answered: ${errorText(cause)}`);
      sendRefusal(response, { request, wire: wireOf(asked), plan: UNAVAILABLE });
    });
    return true;
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    asked: AskedTurn,
  ): Promise<void> {
    const caller = await this.#caller(request);
    if ('kind' in caller) {
      return sendRefusal(response, { request, wire: wireOf(asked), plan: caller });
    }
    if (asked.kind === 'models') return this.#models(response, asked);
    const { userId } = caller;
    const running = this.#running.get(userId) ?? 0;
    if (running >= USER_TURNS_MAX) {
      return sendRefusal(response, { request, wire: wireOf(asked), plan: CROWDED });
    }
    this.#running.set(userId, running + 1);
    const place = this.#options.room.open();
    try {
      if (asked.kind === 'forward')
        return await this.#forward(request, response, { caller, place });
      const sender = this.#sender(request, { caller, repoId: null });
      const governor = new GatewayGovernor(this.#options.services, sender);
      const conversation = conversationOf(sender);
      await this.#options.engine.handle(request, response, { ...asked, conversation, governor });
    } finally {
      place.leave();
      const left = (this.#running.get(userId) ?? 1) - 1;
      if (left === 0) this.#running.delete(userId);
      else this.#running.set(userId, left);
    }
  }

  async #caller(request: IncomingMessage): Promise<Caller | TurnRefusal> {
    const { authenticator, addresses } = this.#options;
    const address = clientAddress(request, addresses);
    if (!isAllowedAddress(address, addresses)) return FOREIGN;
    const known = await authenticator.authenticate(request, address);
    switch (known.kind) {
      case 'caller':
        return known.caller;
      case 'unknown':
        return UNKNOWN;
      case 'limited':
        return { ...LIMITED, retryAfterMs: known.retryAfterMs };
    }
  }

  #models(response: ServerResponse, { wire, id }: Extract<AskedTurn, { kind: 'models' }>): void {
    const { pools, endpoints } = this.#options.services.config();
    const models = poolModels(pools.values(), (endpointId) => endpoints.get(endpointId));
    const one = models.find((model) => model.id === id);
    const body = id === undefined ? modelList(wire, models) : one && modelEntry(wire, one);
    const text = JSON.stringify(body ?? wireFor(wire).writeError(NO_MODEL));
    response
      .writeHead(body === undefined ? NO_MODEL.status : 200, { 'content-type': 'application/json' })
      .end(text);
  }

  async #forward(
    request: IncomingMessage,
    response: ServerResponse,
    { caller, place }: { readonly caller: Caller; readonly place: BodyPlace },
  ): Promise<void> {
    const { services, engine } = this.#options;
    const { limits, clients } = services.config().settings;
    const bytesMax = limits.bodyBytesMax + ENVELOPE_ROOM;
    const read = await readRequestBody(request, { bytesMax, place });
    if (read.kind === 'gone') return;
    const refused = (plan: TurnRefusal) =>
      sendRefusal(response, { request, wire: 'anthropic_messages', plan });
    if (read.kind === 'no_room') return refused(UNAVAILABLE);
    if (read.kind !== 'body') {
      const message = read.kind === 'invalid' ? read.why : 'The request is too large.';
      return refused(refuse(read.kind, message).refusal);
    }
    const version = request.headers['x-aicg-lp-version'];
    const { versionMin } = clients;
    if (versionMin !== null && (typeof version !== 'string' || isOlder(version, versionMin))) {
      const message = `This proxy is too old for the gateway, which wants ${versionMin}. Update Subluminal, and start the proxy again.`;
      return refused(refuse('permission', message).refusal);
    }
    const turn = readForwardBody(read.bytes);
    if (isFailure(turn)) return refused(refuse('invalid', turn.message).refusal);
    const repoId = await this.#boundRepo(request, turn.envelope);
    if (typeof repoId === 'object' && repoId !== null) {
      const plan = refuse('permission', repoId.message).refusal;
      return sendRefusal(response, { request, wire: turn.wire, plan });
    }
    const { envelope } = turn;
    const sender = this.#sender(request, { caller, repoId, envelope });
    const governor = new GatewayGovernor(services, sender);
    const { wire, kind, body } = turn;
    const conversation = conversationOf(sender);
    const route = { wire, kind, body, path: pathOf(turn), conversation, governor };
    await engine.handle(request, response, route);
  }

  /** The repository of a binding; without one, the repository that the remote names in the configuration. */
  async #boundRepo(
    request: IncomingMessage,
    { repo, identity }: ModelEnvelope,
  ): Promise<string | null | Failure> {
    const { bindings, services } = this.#options;
    const token = request.headers['x-aicg-repo-binding'];
    const { remote_url: remoteUrl } = repo;
    if (typeof token === 'string') {
      const bound = await bindings.verify(token, { machineId: identity.machine_id, remoteUrl });
      return isFailure(bound) ? bound : bound.repoId;
    }
    const address = remoteUrl === undefined ? undefined : repoAddress(remoteUrl);
    if (address === undefined) return null;
    return repoByRemote(services.config(), address)?.id ?? null;
  }

  #sender(
    request: IncomingMessage,
    known: Pick<TurnSender, 'caller' | 'repoId' | 'envelope'>,
  ): TurnSender {
    const { headers } = request;
    const given = headers['x-aicg-session-id'];
    const approval = headers['x-aicg-approval-id'];
    const session = known.envelope?.session.session_id ?? (typeof given === 'string' ? given : '');
    const sessionId = session.slice(0, SESSION_LENGTH_MAX) || clientSession({ headers }) || null;
    return {
      ...known,
      sessionId,
      readsEvents: known.envelope !== undefined,
      isTold: acceptsRefusalData(headers.accept),
      approvalId: typeof approval === 'string' ? approval.slice(0, APPROVAL_LENGTH_MAX) : null,
    };
  }
}

const { refusal: UNKNOWN } = refuse(
  'authentication',
  'This key is not known. Log in with `sub login`, or ask an admin for a key.',
);
const { refusal: FOREIGN } = refuse(
  'permission',
  'The gateway does not answer to this address. An admin can add it to `ip_allowlist` in gateway.yaml.',
);
const { refusal: LIMITED } = refuse(
  'rate',
  'Too many requests. Wait a moment; an admin can raise `limits` in gateway.yaml.',
);
const { refusal: UNAVAILABLE } = refuse(
  'unavailable',
  'The gateway can not answer now. Try again in a moment.',
);
const NO_MODEL: UpstreamError = {
  status: 404,
  type: 'not_found_error',
  code: 'model_not_found',
  message: 'Subluminal: No pool of the gateway has a model of this name.',
};
const CROWDED: TurnRefusal = {
  ruleIds: [],
  headers: {},
  kind: 'rate',
  message: `Subluminal: You have ${USER_TURNS_MAX} turns under way already.`,
  retryAfterMs: 1_000,
};

/** Sessions have the names that clients give them: they tell nothing of one user to another. */
function conversationOf({ caller, sessionId }: TurnSender): string {
  return `${caller.tenantId} ${caller.userId} ${sessionId ?? ''}`;
}

function wireOf(asked: AskedTurn): WireName {
  return asked.kind === 'forward' ? 'anthropic_messages' : asked.wire;
}

/** The query of the client does not come with the envelope. */
function pathOf({ wire, kind }: ForwardedTurn): string {
  if (kind === 'count_tokens') return '/v1/messages/count_tokens';
  return PATHS[wire];
}

const PATHS: { readonly [W in WireName]: string } = {
  anthropic_messages: '/v1/messages',
  openai_chat_completions: '/v1/chat/completions',
  openai_responses: '/v1/responses',
};

function sendRefusal(
  response: ServerResponse,
  told: { readonly request: IncomingMessage; readonly wire: WireName; readonly plan: TurnRefusal },
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { accept } = told.request.headers;
  const { status, headers, body } = refusalAnswer(wireFor(told.wire), told.plan, {
    accept,
    nowMs: Date.now(),
  });
  response.writeHead(status, { ...headers, connection: 'close' }).end(JSON.stringify(body));
  // What is left of the body is not read.
  told.request.resume();
}
