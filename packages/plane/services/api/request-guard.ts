// Who may ask at all: the right address, no page of another site, the token.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { API_ENDPOINTS, API_STREAM_PROTOCOL, type ApiEndpoint } from '@subluminal/contracts';
import type { Problem } from './http-server.ts';
import { tooLarge } from './read-request.ts';

interface GuardOptions {
  readonly token: string;
  readonly port: number;
  readonly origins: readonly string[];
}

export type Guard = (request: IncomingMessage) => Problem | undefined;

/** Anything longer is no token of ours. */
const CREDENTIAL_LENGTH_MAX = 1_024;
const BEARER = /^Bearer +([^\s]+)$/i;
const BEARER_PROTOCOL = 'bearer.';

export function guardOf({ token, port, origins }: GuardOptions): Guard {
  const hosts = hostsOf(port);
  const digest = digestOf(token);
  return (request) => {
    const host = only(request, 'host')?.toLowerCase();
    if (host === undefined || !hosts.has(host)) {
      return { status: 403, code: 'SUB_API_HOST', detail: 'See the header Host.' };
    }
    const isForeign = request.headers.origin !== undefined && !isOwn(request, { host, origins });
    if (isForeign) return { status: 403, code: 'SUB_API_HOST', detail: 'See the header Origin.' };
    const given = credentialOf(request);
    if (given === undefined || !timingSafeEqual(digestOf(given), digest)) {
      const headers = { 'www-authenticate': 'Bearer realm="subluminal"' };
      return { status: 401, code: 'SUB_API_TOKEN', headers };
    }
    return targetProblem(request);
  };
}

/** Names that cannot be made to point elsewhere by whoever owns a domain. */
function hostsOf(port: number): ReadonlySet<string> {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const withPort = names.map((name) => `${name}:${port}`);
  return new Set(port === 80 ? [...withPort, ...names] : withPort);
}

function isOwn(
  request: IncomingMessage,
  own: { readonly host: string; readonly origins: readonly string[] },
): boolean {
  const origin = only(request, 'origin');
  return origin !== undefined && (origin === `http://${own.host}` || own.origins.includes(origin));
}

/** The one value of a header; undefined when it is missing or stands there twice. */
function only({ headersDistinct }: IncomingMessage, name: string): string | undefined {
  const values = headersDistinct[name] ?? [];
  return values.length === 1 ? values[0] : undefined;
}

/** Hashed, so that two texts of any length are compared in the same time. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

function credentialOf(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  const given =
    authorization === undefined
      ? protocolsOf(request)
          .find((protocol) => protocol.startsWith(BEARER_PROTOCOL))
          ?.slice(BEARER_PROTOCOL.length)
      : BEARER.exec(only(request, 'authorization') ?? '')?.[1];
  return given === undefined || given.length > CREDENTIAL_LENGTH_MAX ? undefined : given;
}

/** A browser cannot set headers of a WebSocket, so the token may come as a protocol. */
function protocolsOf(request: IncomingMessage): readonly string[] {
  if (request.headers.upgrade === undefined) return [];
  const offered = request.headers['sec-websocket-protocol'] ?? '';
  const protocols = offered.split(',').map((protocol) => protocol.trim());
  return protocols.includes(API_STREAM_PROTOCOL) ? protocols : [];
}

/** A type that no form of a web page can send. */
const LINES = /^application\/x-ndjson(?: *; *charset=utf-8)?$/i;
const JSON_BODY = /^application\/json(?: *; *charset=utf-8)?$/i;

interface Posted {
  readonly path: RegExp;
  readonly bytesMax: number;
  readonly type: RegExp;
  readonly typeName: string;
}

const ENDPOINTS: readonly ApiEndpoint[] = Object.values(API_ENDPOINTS);
/** What takes a body, and which. */
const POSTED = ENDPOINTS.flatMap(({ path, body, input }): readonly Posted[] => {
  const at = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  if (body !== undefined) {
    const { bytesMax } = body;
    return [{ path: at, bytesMax, type: LINES, typeName: 'application/x-ndjson' }];
  }
  if (input === undefined) return [];
  const { bytesMax } = input;
  return [{ path: at, bytesMax, type: JSON_BODY, typeName: 'application/json' }];
});

function targetProblem({ method, url = '', headers }: IncomingMessage): Problem | undefined {
  const [path = ''] = url.split('?', 1);
  const posted = POSTED.find((one) => one.path.test(path));
  const takes = posted === undefined ? 'GET' : 'POST';
  if (method !== takes) {
    const detail = `This address takes ${takes} only.`;
    return { status: 405, code: 'SUB_API_REQUEST', detail, headers: { allow: takes } };
  }
  const problem = posted === undefined ? strayBody(headers) : bodyProblem(headers, posted);
  if (problem !== undefined || (url.startsWith('/') && isDecodable(path))) return problem;
  return { status: 400, code: 'SUB_API_REQUEST', detail: 'The path is not well-formed.' };
}

function strayBody(headers: IncomingHttpHeaders): Problem | undefined {
  if (!hasBody(headers)) return undefined;
  return { status: 400, code: 'SUB_API_REQUEST', detail: 'This address takes no body.' };
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

function bodyProblem(
  headers: IncomingHttpHeaders,
  { bytesMax, type, typeName }: Posted,
): Problem | undefined {
  const isPlain = headers['content-encoding'] === undefined;
  if (!isPlain || !type.test(headers['content-type'] ?? '')) {
    const detail = `The body must be ${typeName}, without an encoding.`;
    return { status: 415, code: 'SUB_API_REQUEST', detail };
  }
  if (Number(headers['content-length'] ?? 0) <= bytesMax) return undefined;
  return tooLarge(bytesMax);
}

function isDecodable(text: string): boolean {
  try {
    return !decodeURIComponent(text).includes('\0');
  } catch {
    return false;
  }
}
