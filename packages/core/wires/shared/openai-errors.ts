// Errors of both OpenAI wires.
import {
  definedFields,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@subluminal/contracts';
import type { UpstreamError } from './form.ts';
import { stringIn } from './read-members.ts';
import { errorBody, upstreamError } from './upstream-errors.ts';

/** The body of an error, as OpenAI writes it, and as compatible servers do. */
export function readOpenAiError(status: number, body: string): UpstreamError {
  const parsed = errorBody(body);
  if (parsed === undefined) return upstreamError(status, { message: body });
  return errorFrom(parsed['error'] ?? parsed, status);
}

/** An error inside a body or an event; callers give 502 where nothing tells another status. */
export function errorFrom(value: JsonValue, status: number): UpstreamError {
  if (!isJsonObject(value)) {
    return upstreamError(status, typeof value === 'string' ? { message: value } : {});
  }
  const message =
    stringIn(value, 'message') ?? stringIn(value, 'detail') ?? stringIn(value, 'error');
  const code = stringIn(value, 'code') ?? stringIn(value, 'type');
  return upstreamError(status, definedFields({ message, code }));
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
