// Errors of both OpenAI wires.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import type { UpstreamError } from './form.ts';
import { parseObject, stringIn } from './read-members.ts';

const MESSAGE_LENGTH_MAX = 4_000;
const BODY_LENGTH_MAX = 64 * 1024;

/** The body of an error, as OpenAI writes it, and as compatible servers do. */
export function readOpenAiError(status: number, body: string): UpstreamError {
  const parsed = body.length > BODY_LENGTH_MAX ? undefined : parseObject(body);
  if (parsed === undefined) {
    const text = body.trim().slice(0, MESSAGE_LENGTH_MAX);
    return { status, type: errorType(status), message: text === '' ? `Status ${status}.` : text };
  }
  return errorFrom(parsed['error'] ?? parsed, status);
}

/** An error inside a body or an event; the status is 502 where nothing tells another. */
export function errorFrom(value: JsonValue, status: number): UpstreamError {
  if (!isJsonObject(value)) {
    const message = typeof value === 'string' && value !== '' ? value : `Status ${status}.`;
    return { status, type: errorType(status), message: message.slice(0, MESSAGE_LENGTH_MAX) };
  }
  const message =
    stringIn(value, 'message') ?? stringIn(value, 'detail') ?? stringIn(value, 'error') ?? '';
  const code = stringIn(value, 'code') ?? stringIn(value, 'type');
  return {
    status,
    type: errorType(status),
    message: message === '' ? `Status ${status}.` : message.slice(0, MESSAGE_LENGTH_MAX),
    ...(code === undefined ? {} : { code }),
  };
}

/** Anthropic's name for what a status means. */
export function errorType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error';
    case 402:
      return 'billing_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 413:
      return 'request_too_large';
    case 429:
      return 'rate_limit_error';
    case 504:
      return 'timeout_error';
    case 503:
    case 529:
      return 'overloaded_error';
    default:
      return status >= 500 ? 'api_error' : 'invalid_request_error';
  }
}

/** OpenAI's `type` and `code` for each of Anthropic's names. */
const TYPES: { readonly [type: string]: readonly [type: string, code: string | null] } = {
  invalid_request_error: ['invalid_request_error', null],
  authentication_error: ['invalid_request_error', 'invalid_api_key'],
  permission_error: ['invalid_request_error', 'permission_denied'],
  not_found_error: ['invalid_request_error', 'not_found'],
  request_too_large: ['invalid_request_error', 'request_too_large'],
  billing_error: ['insufficient_quota', 'insufficient_quota'],
  rate_limit_error: ['rate_limit_error', 'rate_limit_exceeded'],
  overloaded_error: ['server_error', 'server_is_overloaded'],
  timeout_error: ['server_error', 'timeout'],
};

export function writeOpenAiError(error: UpstreamError): JsonObject {
  const [type, code] = TYPES[error.type] ?? ['server_error', 'server_error'];
  return { error: { message: error.message, type, param: null, code: error.code ?? code } };
}

/** An answer that breaks its wire. */
export function malformed(what: string): UpstreamError {
  return { status: 502, type: 'api_error', message: what, code: 'upstream_malformed' };
}
