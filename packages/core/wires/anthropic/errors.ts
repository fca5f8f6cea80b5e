// Errors of the Anthropic wire.
import type { JsonObject } from '@subluminal/contracts';
import type { UpstreamError } from '../shared/form.ts';
import { errorType } from '../shared/openai-errors.ts';
import { objectIn, parseObject, stringIn } from '../shared/read-members.ts';
import { sseText } from '../shared/sse.ts';

const MESSAGE_LENGTH_MAX = 4_000;
const BODY_LENGTH_MAX = 64 * 1024;

/** The status of an error that comes inside of a stream, which has none of its own. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

export function readAnthropicError(status: number, body: string): UpstreamError {
  const parsed = body.length > BODY_LENGTH_MAX ? undefined : parseObject(body);
  if (parsed !== undefined) return errorIn(parsed, status);
  const text = body.trim().slice(0, MESSAGE_LENGTH_MAX);
  return { status, type: errorType(status), message: text === '' ? `Status ${status}.` : text };
}

/** The error in a body or in an event of a stream. */
export function errorIn(body: JsonObject, status?: number): UpstreamError {
  const error = objectIn(body, 'error') ?? body;
  const named = stringIn(error, 'type') ?? '';
  const known = STATUSES.get(named);
  const settled = status ?? known ?? 502;
  const message = (stringIn(error, 'message') ?? '').slice(0, MESSAGE_LENGTH_MAX);
  const code = stringIn(objectIn(error, 'details') ?? {}, 'error_code');
  return {
    status: settled,
    type: known === undefined ? errorType(settled) : named,
    message: message === '' ? `Status ${settled}.` : message,
    ...(code === undefined ? {} : { code }),
  };
}

export function writeAnthropicError({ type, message }: UpstreamError): JsonObject {
  return { type: 'error', error: { type, message } };
}

export function writeAnthropicErrorEvent(error: UpstreamError): string {
  return sseText('error', JSON.stringify(writeAnthropicError(error)));
}
