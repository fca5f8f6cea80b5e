// Why a request gets no answer: a failure with the HTTP status that it has on the wire.
import type { ServerResponse } from 'node:http';
import {
  type ApiError,
  type Failure,
  isFailure,
  type SubCode,
  tableFailure,
} from '@subluminal/contracts';

export interface HttpFailure extends Failure {
  readonly status:
    | 400
    | 401
    | 403
    | 404
    | 405
    | 408
    | 409
    | 413
    | 415
    | 426
    | 429
    | 431
    | 500
    | 503;
  readonly headers?: { readonly [name: string]: string };
}

export function httpFailure(
  status: HttpFailure['status'],
  code: SubCode,
  detail?: string,
): HttpFailure {
  return { ...tableFailure(code, detail), status };
}

export function isHttpFailure(value: unknown): value is HttpFailure {
  return isFailure(value) && 'status' in value;
}

export function badRequest(detail: string): HttpFailure {
  return httpFailure(400, 'SUB_API_REQUEST', detail);
}

export function bodyTooLarge(bytesMax: number): HttpFailure {
  return httpFailure(413, 'SUB_API_LIMIT', `The body has more than ${bytesMax} bytes.`);
}

export const NOT_FOUND = httpFailure(404, 'SUB_API_NOT_FOUND');

/** What the ledger has thrown. Its own words may name files, so mostly only its code travels. */
export function thrownByLedger(cause: unknown): HttpFailure {
  if (!isFailure(cause)) return httpFailure(500, 'SUB_INTERNAL');
  if (cause.code !== 'SUB_LEDGER_QUERY') {
    return httpFailure(cause.code === 'SUB_LEDGER_BUSY' ? 503 : 500, cause.code);
  }
  const { kind, code, message, fix } = cause;
  return { kind, code, message, fix, status: 400 };
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Everything that is sent holds text of agents and servers: nobody may show it as a page. */
export const SECURITY_HEADERS: { readonly [name: string]: string } = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

export function errorBody({ code, message, fix }: Failure): string {
  const body: ApiError = { error: { code, message, fix } };
  return JSON.stringify(body);
}

function jsonHeaders(body: string): { readonly [name: string]: string } {
  return {
    ...SECURITY_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(body)),
  };
}

export function sendJson(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, jsonHeaders(body));
  response.end(body);
}

/** The sender is in the middle of its body: a closed connection would hide the answer from it. */
const IN_THE_BODY: ReadonlySet<number> = new Set([413, 415]);

/** Answers, and ends the connection: what else it would say is not worth reading. */
export function sendFailure(response: ServerResponse, failure: HttpFailure): void {
  const { status, headers } = failure;
  const body = errorBody(failure);
  response.writeHead(status, {
    ...jsonHeaders(body),
    ...headers,
    ...(!IN_THE_BODY.has(status) && { connection: 'close' }),
  });
  response.end(body);
}

/** The same where there is no response yet, because the request could not be read. */
export function rawFailure(failure: HttpFailure): string {
  const body = errorBody(failure);
  const headers = { ...jsonHeaders(body), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${failure.status} Refused`, ...lines, '', body].join('\r\n');
}
