// Which requests are answered: the right Host, no page of another site, and the token or a session of the page that may
// do what is asked. All roles are decided here.
import type { IncomingMessage } from 'node:http';
import {
  API_ENDPOINTS,
  API_STREAM_PROTOCOL,
  type ApiEndpoint,
  type LedgerRole,
  PAGE_TOKEN_HEADER,
  PAGE_TOKEN_PROTOCOL,
} from '@subluminal/contracts';
import { bearerToken, type LoopbackGuardOptions, loopbackGuard } from '../../os/index.ts';
import { type HttpFailure, httpFailure } from './http-failure.ts';
import type { PageAccess } from './page-access.ts';
import type { PersonGuard } from './person-guard.ts';
import { bodyFailure, type ExpectedBody, pathFailure } from './read-request.ts';

interface GuardOptions
  extends Required<Pick<LoopbackGuardOptions, 'token' | 'server' | 'origins'>> {
  readonly access: PageAccess | undefined;
  readonly mayDecide: PersonGuard;
}

export interface ApiCaller {
  /** By the token, or by a session of the page. */
  readonly by: 'token' | 'page';
  readonly role: LedgerRole;
  readonly expiresAtMs: number | null;
}

/** Who asks; undefined for somebody unknown, who may only log in. */
export type RequestGuard = (request: IncomingMessage) => ApiCaller | undefined | HttpFailure;

const BEARER_PROTOCOL = 'bearer.';
const OWNER: ApiCaller = { by: 'token', role: 'owner', expiresAtMs: null };
const REFUSALS = {
  host: httpFailure(403, 'SUB_API_HOST', 'See the header Host.'),
  origin: httpFailure(403, 'SUB_API_HOST', 'See the header Origin.'),
  token: {
    ...httpFailure(401, 'SUB_API_TOKEN'),
    headers: { 'www-authenticate': 'Bearer realm="subluminal"' },
  },
};

export function requestGuard({ access, mayDecide, ...options }: GuardOptions): RequestGuard {
  const check = loopbackGuard({ ...options, credential });
  return (request) => {
    const failed = check(request);
    if (failed === 'host' || failed === 'origin') return REFUSALS[failed];
    const caller = failed === undefined ? OWNER : pageCaller(request, access);
    const endpoint = postEndpoint(request);
    if (caller === undefined && endpoint?.access !== 'anyone') return REFUSALS.token;
    const failure = roleFailure(caller, request, endpoint) ?? targetFailure(request, endpoint);
    if (failure !== undefined || !isDecision(request, endpoint)) return failure ?? caller;
    return mayDecide(request.socket) ?? caller;
  };
}

/** The same for the files of the page, which hold nothing that is secret. */
export function pageGuard(
  options: Pick<GuardOptions, 'server' | 'origins'>,
): (request: IncomingMessage) => HttpFailure | undefined {
  const check = loopbackGuard(options);
  return (request) => {
    const failed = check(request);
    return failed === undefined ? undefined : REFUSALS[failed];
  };
}

/** A browser cannot set headers of a WebSocket, so the token may come as a protocol. */
function credential(request: IncomingMessage): string | undefined {
  const { authorization, upgrade } = request.headers;
  if (authorization !== undefined || upgrade === undefined) return bearerToken(request);
  return offeredToken(request, BEARER_PROTOCOL);
}

function offeredToken({ headers }: IncomingMessage, prefix: string): string | undefined {
  const offered = headers['sec-websocket-protocol'] ?? '';
  const protocols = offered.split(',').map((protocol) => protocol.trim());
  if (!protocols.includes(API_STREAM_PROTOCOL)) return undefined;
  return protocols.find((protocol) => protocol.startsWith(prefix))?.slice(prefix.length);
}

/** Somebody who shows a token, and the wrong one, is not looked at twice. */
function pageCaller(
  request: IncomingMessage,
  access: PageAccess | undefined,
): ApiCaller | undefined {
  const { authorization, upgrade, 'sec-fetch-site': site = 'same-origin' } = request.headers;
  if (authorization !== undefined || site !== 'same-origin') return undefined;
  const header = request.headersDistinct[PAGE_TOKEN_HEADER]?.join();
  const pageToken = upgrade === undefined ? header : offeredToken(request, PAGE_TOKEN_PROTOCOL);
  const session = access?.session(request, pageToken);
  if (session === undefined) return undefined;
  return { by: 'page', role: session.role, expiresAtMs: session.expires_at_ms };
}

interface PostEndpoint extends ExpectedBody {
  readonly path: RegExp;
  readonly access: ApiEndpoint['access'];
}

const ENDPOINTS: readonly ApiEndpoint[] = Object.values(API_ENDPOINTS);
const POST_ENDPOINTS = ENDPOINTS.flatMap(
  ({ path, body, input, access }): readonly PostEndpoint[] => {
    const at = { path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), access };
    if (body !== undefined)
      return [{ ...at, bytesMax: body.bytesMax, type: 'application/x-ndjson' }];
    if (input === undefined) return [];
    return [{ ...at, bytesMax: input.bytesMax, type: 'application/json' }];
  },
);

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

function postEndpoint(request: IncomingMessage): PostEndpoint | undefined {
  const path = pathOf(request);
  return POST_ENDPOINTS.find((one) => one.path.test(path));
}

/** Everything but GET is for the owner, unless the endpoint says otherwise. */
function roleFailure(
  caller: ApiCaller | undefined,
  { method }: IncomingMessage,
  endpoint: PostEndpoint | undefined,
): HttpFailure | undefined {
  if (endpoint?.access === 'anyone' || method === 'GET') return undefined;
  if (endpoint?.access === 'token' && caller?.by !== 'token')
    return httpFailure(403, 'SUB_API_ROLE');
  if (endpoint?.access === 'viewer' || caller?.role === 'owner') return undefined;
  return httpFailure(403, 'SUB_API_ROLE');
}

/** What only a person may ask for. A login is looked at when its code is used up. */
function isDecision({ method }: IncomingMessage, endpoint: PostEndpoint | undefined): boolean {
  const { access } = endpoint ?? {};
  return method !== 'GET' && (access === undefined || access === 'token');
}

function targetFailure(
  request: IncomingMessage,
  endpoint: PostEndpoint | undefined,
): HttpFailure | undefined {
  const allow = endpoint === undefined ? 'GET' : 'POST';
  if (request.method !== allow) {
    const failure = httpFailure(405, 'SUB_API_REQUEST', `This address takes ${allow} only.`);
    return { ...failure, headers: { allow } };
  }
  return bodyFailure(request.headers, endpoint) ?? pathFailure(pathOf(request));
}
