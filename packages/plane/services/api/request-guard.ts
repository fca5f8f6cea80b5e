// Which requests are answered: the right Host, no page of another site, the token.
import type { IncomingMessage } from 'node:http';
import { API_ENDPOINTS, API_STREAM_PROTOCOL, type ApiEndpoint } from '@subluminal/contracts';
import { bearerToken, type LoopbackGuardOptions, loopbackGuard } from '../../os/index.ts';
import { type HttpFailure, httpFailure } from './http-failure.ts';
import { bodyFailure, type ExpectedBody, pathFailure } from './read-request.ts';

type GuardOptions = Required<Pick<LoopbackGuardOptions, 'token' | 'server' | 'origins'>>;

export type RequestGuard = (request: IncomingMessage) => HttpFailure | undefined;

const BEARER_PROTOCOL = 'bearer.';

export function requestGuard(options: GuardOptions): RequestGuard {
  const check = loopbackGuard({ ...options, credential });
  const refusals = {
    host: httpFailure(403, 'SUB_API_HOST', 'See the header Host.'),
    origin: httpFailure(403, 'SUB_API_HOST', 'See the header Origin.'),
    token: {
      ...httpFailure(401, 'SUB_API_TOKEN'),
      headers: { 'www-authenticate': 'Bearer realm="subluminal"' },
    },
  };
  return (request) => {
    const failed = check(request);
    return failed === undefined ? targetFailure(request) : refusals[failed];
  };
}

/** A browser cannot set headers of a WebSocket, so the token may come as a protocol. */
function credential(request: IncomingMessage): string | undefined {
  const { authorization, upgrade, 'sec-websocket-protocol': offered = '' } = request.headers;
  if (authorization !== undefined || upgrade === undefined) return bearerToken(request);
  const protocols = offered.split(',').map((protocol) => protocol.trim());
  if (!protocols.includes(API_STREAM_PROTOCOL)) return undefined;
  const bearer = protocols.find((protocol) => protocol.startsWith(BEARER_PROTOCOL));
  return bearer?.slice(BEARER_PROTOCOL.length);
}

interface PostEndpoint extends ExpectedBody {
  readonly path: RegExp;
}

const ENDPOINTS: readonly ApiEndpoint[] = Object.values(API_ENDPOINTS);
const POST_ENDPOINTS = ENDPOINTS.flatMap(({ path, body, input }): readonly PostEndpoint[] => {
  const at = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  if (body !== undefined)
    return [{ path: at, bytesMax: body.bytesMax, type: 'application/x-ndjson' }];
  if (input === undefined) return [];
  return [{ path: at, bytesMax: input.bytesMax, type: 'application/json' }];
});

function targetFailure({ method, url = '', headers }: IncomingMessage): HttpFailure | undefined {
  const [path = ''] = url.split('?', 1);
  const endpoint = POST_ENDPOINTS.find((one) => one.path.test(path));
  const allow = endpoint === undefined ? 'GET' : 'POST';
  if (method !== allow) {
    const failure = httpFailure(405, 'SUB_API_REQUEST', `This address takes ${allow} only.`);
    return { ...failure, headers: { allow } };
  }
  return bodyFailure(headers, endpoint) ?? pathFailure(path);
}
