// Why a request gets no answer, in the one form that all of them have.
import type { ServerResponse } from 'node:http';
import { type ApiError, ERROR_CODES, errorEntry, type SubCode } from '@subluminal/contracts';

export interface Problem {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 426 | 431 | 500 | 503;
  readonly code: SubCode;
  /** Beyond the title of the code. */
  readonly detail?: string;
  readonly headers?: { readonly [name: string]: string };
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

export function bodyOf({ code, detail = '' }: Problem): string {
  const { title, fix } = errorEntry(code);
  const message = detail === '' ? title : `${title} ${detail}`;
  const body: ApiError = { error: { code, message, fix } };
  return JSON.stringify(body);
}

/** The sender is in the middle of its body: a closed connection would hide the answer from it. */
const IN_THE_BODY: ReadonlySet<number> = new Set([413, 415]);

/** Answers, and ends the connection: what else it would say is not worth reading. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  const body = bodyOf(problem);
  const isHeardOut = IN_THE_BODY.has(problem.status);
  response.writeHead(problem.status, {
    ...SECURITY_HEADERS,
    ...problem.headers,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    ...(!isHeardOut && { connection: 'close' }),
  });
  response.end(body);
}

/** The same where there is no response yet, because the request could not be read. */
export function rawProblem(problem: Problem): string {
  const body = bodyOf(problem);
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${problem.status} Refused`, ...lines, '', body].join('\r\n');
}

/** What the ledger could not do. Its own words may name files, so only its code travels. */
export function ledgerProblem(cause: unknown): Problem {
  const code = codeOf(cause);
  if (code === 'SUB_LEDGER_QUERY') return { status: 400, code, detail: detailOf(cause, code) };
  if (code === 'SUB_LEDGER_BUSY') return { status: 503, code };
  return { status: 500, code: code ?? 'SUB_INTERNAL' };
}

function codeOf(cause: unknown): SubCode | undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return ERROR_CODES.find((known) => known === code && known.startsWith('SUB_LEDGER_'));
}

function detailOf(cause: unknown, code: SubCode): string {
  const message = cause instanceof Error ? cause.message : '';
  return message.replace(errorEntry(code).title, '').trim();
}
