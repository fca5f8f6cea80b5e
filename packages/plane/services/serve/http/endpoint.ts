// One request to `/mcp/NAME` from a caller who is known: which era it speaks, which session it belongs to, and what
// the specification says of requests that are wrong.
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  batchMessages,
  eraOf,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  type Seen,
} from '@subluminal/core/session';
import { seenIn } from '../../transports/http/message-facts.ts';
import { isOneWay, type LargeBody } from '../agent/http-agent.ts';
import type { LegacyAgent } from '../agent/legacy-agent.ts';
import type { ModernAgent } from '../agent/modern-agent.ts';
import type { Principal } from '../auth/types.ts';
import { DEFECT, RPC, type RpcRefusal, refuse } from './answers.ts';
import { checkModern, checkModernHead, mismatched } from './check-modern.ts';
import type { Body, BodyReader } from './read-body.ts';

/** Who calls which server, and for which run. */
export interface Caller {
  readonly principal: Principal;
  readonly server: string;
  /** The run that the caller names. */
  readonly runName: string | undefined;
  /** When its token ends. */
  readonly untilMs: number | undefined;
}

export interface SessionDesk {
  /** The session of this id, if it is one of this caller at this server. */
  find(id: string, caller: Caller): LegacyAgent | undefined;
  /** Begins a session. */
  begin(caller: Caller): LegacyAgent | RpcRefusal;
  /** The session that the modern requests of this caller share. */
  shared(caller: Caller): ModernAgent | RpcRefusal;
  /** Ends a session that its client no longer wants. */
  end(id: string): void;
  readonly requestsMax: number;
  /** It ends as soon as all open requests have their answers. */
  readonly isDraining: boolean;
}

export interface EndpointOptions {
  readonly bodies: BodyReader;
  readonly messageBytesMax: number;
  readonly onDefect: (cause: unknown) => void;
}

const JSON_TYPE = 'application/json';
const SSE_TYPE = 'text/event-stream';
const VISIBLE_ASCII = /^[\x21-\x7e]{1,256}$/;

export class McpEndpoint {
  readonly #desk: SessionDesk;
  readonly #options: EndpointOptions;

  constructor(desk: SessionDesk, options: EndpointOptions) {
    this.#desk = desk;
    this.#options = options;
  }

  handle(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    switch (request.method) {
      case 'POST':
        return this.#post(request, response, caller);
      case 'GET':
        return this.#get(request, response, caller);
      case 'DELETE':
        return this.#delete(request, response, caller);
      default:
        return refuse(response, NOT_ALLOWED);
    }
  }

  #post(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    const refusal = checkPost(request);
    if (refusal !== undefined) return refuse(response, refusal);
    const { bodies, onDefect } = this.#options;
    bodies.read(request, caller.principal.id, (body) => {
      try {
        this.#posted(body, { request, response, caller });
      } catch (cause) {
        onDefect(cause);
        refuse(response, DEFECT);
      }
    });
  }

  #posted(body: Body, posted: Posted): void {
    const { response } = posted;
    switch (body.kind) {
      case 'aborted':
        return;
      case 'too_large':
        return refuse(response, TOO_LARGE);
      case 'busy':
        return refuse(response, BUSY);
      case 'whole':
        return this.#message(body.bytes, seenIn(body.bytes), posted);
      case 'large':
        return this.#large(body.head, seenIn(body.head), posted);
    }
  }

  #message(bytes: Uint8Array, seen: Seen, posted: Posted): void {
    const { request, response, caller } = posted;
    if (seen.kind === 'invalid' && (seen.id === undefined || !seen.asks)) {
      return refuse(response, seen.reason === 'json' ? NO_JSON : NO_MESSAGE);
    }
    if (isModern(request, seen)) return this.#modern(bytes, seen, posted);
    const version = request.headers['mcp-protocol-version'];
    if (version !== undefined && !LEGACY_VERSIONS.includes(String(version))) {
      return refuse(response, unsupported(String(version), idOf(seen)));
    }
    const isInitialize = seen.kind === 'request' && seen.method === 'initialize';
    const agent = isInitialize ? this.#begin(request, caller) : this.#find(request, caller);
    if (!('sessionId' in agent)) return refuse(response, { ...agent, id: idOf(seen) });
    if (seen.kind === 'batch') {
      if (!agent.takesBatches) return refuse(response, NO_BATCH);
      // The session drops it, and nobody would answer.
      if (batchMessages(bytes) === undefined) return refuse(response, NO_MESSAGE);
    }
    const id = idOf(seen);
    if (id !== undefined && agent.isOpen(id)) return refuse(response, { ...ID_IN_USE, id });
    const full = this.#refusalFor(agent, seen);
    if (full !== undefined) return refuse(response, { ...full, id });
    agent.post(bytes, seen, response);
  }

  #modern(bytes: Uint8Array, seen: Seen, { request, response, caller }: Posted): void {
    if (seen.kind === 'notification') {
      // The era has none over HTTP: closing a stream cancels its request.
      response.writeHead(202).end();
      return;
    }
    if (seen.kind !== 'request') return refuse(response, { ...NO_MESSAGE, id: idOf(seen) });
    const refusal = checkModern(request, { bytes, seen });
    if (refusal !== undefined) return refuse(response, { ...refusal, id: seen.id.json });
    const agent = this.#shared(caller, response, seen);
    if (seen.method === 'subscriptions/listen') endWith(response, caller);
    const message = agent?.headerMismatch(bytes, seen, request.headersDistinct);
    if (message === undefined) return agent?.post(bytes, seen, response);
    refuse(response, { ...mismatched(message), id: seen.id.json });
  }

  #shared(caller: Caller, response: ServerResponse, seen: Seen): ModernAgent | undefined {
    const agent = this.#desk.shared(caller);
    if (!('openExchanges' in agent)) {
      refuse(response, { ...agent, id: idOf(seen) });
      return undefined;
    }
    const full = this.#refusalFor(agent, seen);
    if (full === undefined) return agent;
    refuse(response, { ...full, id: idOf(seen) });
    return undefined;
  }

  /** What a large message is shows in its headers, and its session judges its first part. */
  #large(head: Uint8Array, seen: Seen, posted: Posted): void {
    const { request, response, caller } = posted;
    const version = String(request.headers['mcp-protocol-version'] ?? '');
    const { messageBytesMax: bytesMax } = this.#options;
    const body = { request, head, bytesMax };
    if (version === MODERN_VERSION) return this.#largeModern(body, seen, posted);
    if (version !== '' && !LEGACY_VERSIONS.includes(version)) {
      return refuse(response, unsupported(version, idOf(seen)));
    }
    const agent = this.#find(request, caller);
    if (!('sessionId' in agent)) return refuse(response, agent);
    const id = idOf(seen);
    if (id !== undefined && agent.isOpen(id)) return refuse(response, { ...ID_IN_USE, id });
    const full = this.#refusalFor(agent, seen) ?? (agent.takesLarge(seen) ? undefined : BUSY);
    if (full !== undefined) return refuse(response, { ...full, id });
    agent.postLarge(body, seen, response);
  }

  #largeModern(
    body: Omit<LargeBody, 'onEnd'>,
    seen: Seen,
    { request, response, caller }: Posted,
  ): void {
    const id = idOf(seen);
    if (isOneWay(seen)) return refuse(response, NO_MESSAGE);
    const checked = checkModernHead(request, body.head);
    if ('status' in checked) return refuse(response, { ...checked, id });
    const agent = this.#shared(caller, response, seen);
    const message = agent?.largeMismatch(checked.tool, request.headersDistinct);
    if (message !== undefined) return refuse(response, { ...mismatched(message), id });
    if (agent?.takesLarge(seen) === false) return refuse(response, { ...BUSY, id });
    agent?.postLarge(body, seen, response);
  }

  /** Why there is no room. Open requests may wait for just this answer of their client, which is no further request. */
  #refusalFor(agent: LegacyAgent | ModernAgent, seen: Seen): RpcRefusal | undefined {
    if (!agent.hasRoom) return BUSY;
    if (isOneWay(seen)) return undefined;
    // Whoever goes on calling would keep it from ending, until calls that have begun are cut off.
    if (this.#desk.isDraining) return STOPPING;
    return agent.openExchanges < this.#desk.requestsMax ? undefined : BUSY;
  }

  #begin(request: IncomingMessage, caller: Caller): LegacyAgent | RpcRefusal {
    if (request.headers['mcp-session-id'] !== undefined) return ALREADY;
    return this.#desk.begin(caller);
  }

  #find({ headers }: IncomingMessage, caller: Caller): LegacyAgent | RpcRefusal {
    const id = headers['mcp-session-id'];
    if (id === undefined) return NO_SESSION_ID;
    if (typeof id !== 'string' || !VISIBLE_ASCII.test(id)) return NO_SUCH_SESSION;
    return this.#desk.find(id, caller) ?? NO_SUCH_SESSION;
  }

  #get(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    if (isModernVersion(request)) return refuse(response, NOT_ALLOWED);
    if (!accepts(request, SSE_TYPE)) return refuse(response, NOT_ACCEPTABLE);
    const agent = this.#find(request, caller);
    if (!('sessionId' in agent)) return refuse(response, agent);
    switch (agent.attach(request, response)) {
      case 'attached':
        return endWith(response, caller);
      case 'taken':
        return refuse(response, STREAM_TAKEN);
      case 'unknown_event':
        return refuse(response, UNKNOWN_EVENT);
      case 'gone':
        return refuse(response, EVENTS_GONE);
    }
  }

  #delete(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    if (isModernVersion(request)) return refuse(response, NOT_ALLOWED);
    const agent = this.#find(request, caller);
    if (!('sessionId' in agent)) return refuse(response, agent);
    this.#desk.end(agent.sessionId);
    response.writeHead(200, { 'content-length': 0 }).end();
  }
}

/** A stream that lasts must not outlive the token that it was opened with. A call may: it was let in. */
function endWith(response: ServerResponse, { untilMs }: Caller): void {
  if (untilMs === undefined) return;
  const timer = setTimeout(() => response.destroy(), Math.min(untilMs - Date.now(), TIMER_MS_MAX));
  timer.unref();
  response.once('close', () => clearTimeout(timer));
}

const TIMER_MS_MAX = 2_147_483_647;

interface Posted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
}

function isModernVersion({ headers }: IncomingMessage): boolean {
  return eraOf(String(headers['mcp-protocol-version'] ?? '')) === 'modern';
}

/** A message says its era itself; where it does not, its header does. */
function isModern(request: IncomingMessage, seen: Seen): boolean {
  const version = seen.kind === 'request' ? seen.params.metaVersion : undefined;
  return version !== undefined || isModernVersion(request);
}

/** The id of a request. */
function idOf(seen: Seen): string | undefined {
  const asks = seen.kind === 'request' || (seen.kind === 'invalid' && seen.asks);
  return asks ? seen.id?.json : undefined;
}

function checkPost(request: IncomingMessage): RpcRefusal | undefined {
  const { headers } = request;
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== JSON_TYPE) return NOT_JSON;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return ENCODED;
  return accepts(request, JSON_TYPE) && accepts(request, SSE_TYPE) ? undefined : NOT_ACCEPTABLE;
}

function accepts({ headers: { accept = '' } }: IncomingMessage, type: string): boolean {
  return accept.includes(type) || accept.includes('*/*');
}

function unsupported(requested: string, id: string | undefined): RpcRefusal {
  const supported = [MODERN_VERSION, ...LEGACY_VERSIONS];
  return {
    status: 400,
    code: RPC.unsupportedVersion,
    message: 'Unsupported protocol version',
    id,
    data: { supported, requested: requested.slice(0, 64) },
  };
}

function refusing(status: number, code: number, message: string): RpcRefusal {
  return { status, code, message };
}

const NOT_ALLOWED = {
  ...refusing(405, RPC.invalidRequest, 'Use POST.'),
  headers: { allow: 'GET, POST, DELETE' },
};
const NOT_JSON = refusing(415, RPC.invalidRequest, 'Content-Type must be application/json.');
const ENCODED = refusing(415, RPC.invalidRequest, 'A body must not be compressed.');
const NOT_ACCEPTABLE = refusing(
  406,
  RPC.invalidRequest,
  'Accept must list application/json and text/event-stream; text/event-stream alone for GET.',
);
const TOO_LARGE = refusing(413, RPC.invalidRequest, 'The message is too large.');
const BUSY = {
  ...refusing(503, RPC.refused, 'There is no room for this request now: try again.'),
  headers: { 'retry-after': '1' },
};
export const STOPPING = {
  ...refusing(503, RPC.refused, 'This address stops, or its server is gone: try again.'),
  headers: { 'retry-after': '5' },
};
const NO_JSON = refusing(400, RPC.parse, 'The body is not valid JSON.');
const NO_MESSAGE = refusing(
  400,
  RPC.invalidRequest,
  'The body is no message that may be sent here.',
);
const NO_BATCH = refusing(400, RPC.invalidRequest, 'This protocol version has no batches.');
const ID_IN_USE = refusing(400, RPC.invalidRequest, 'A request with this id waits for its answer.');
const ALREADY = refusing(400, RPC.invalidRequest, 'The session is initialized already.');
const NO_SESSION_ID = refusing(400, RPC.invalidRequest, 'The header Mcp-Session-Id is missing.');
const NO_SUCH_SESSION = refusing(404, -32_001, 'Session not found');
const STREAM_TAKEN = refusing(409, RPC.invalidRequest, 'This session has its stream already.');
const UNKNOWN_EVENT = refusing(
  400,
  RPC.invalidRequest,
  'Last-Event-ID is of no stream of this session.',
);
const EVENTS_GONE = refusing(
  400,
  RPC.invalidRequest,
  'Events behind Last-Event-ID are no longer kept.',
);
