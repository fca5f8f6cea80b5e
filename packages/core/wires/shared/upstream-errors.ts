// Errors of upstreams, in the words of all wires.
import type { JsonObject } from '@subluminal/contracts';
import type { UpstreamError } from './form.ts';
import { parseObject } from './read-members.ts';

const MESSAGE_LENGTH_MAX = 4_000;
const BODY_LENGTH_MAX = 64 * 1024;

/** An error with its message, or with its status where it has none. */
export function upstreamError(
  status: number,
  { type = errorType(status), message, code }: Partial<Omit<UpstreamError, 'status'>>,
): UpstreamError {
  const text = message?.trim().slice(0, MESSAGE_LENGTH_MAX) ?? '';
  return {
    status,
    type,
    message: text === '' ? `Status ${status}.` : text,
    ...(code === undefined ? {} : { code }),
  };
}

/** The body of an error as JSON; undefined when it is none, or too large for one. */
export function errorBody(body: string): JsonObject | undefined {
  return body.length > BODY_LENGTH_MAX ? undefined : parseObject(body);
}

/** Anthropic's name for what a status means. */
function errorType(status: number): string {
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

/** An answer that breaks its wire. */
export function malformed(what: string): UpstreamError {
  return { status: 502, type: 'api_error', message: what, code: 'upstream_malformed' };
}
