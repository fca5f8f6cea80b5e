// Errors of the Anthropic wire.
import { definedFields, type JsonObject } from '@subluminal/contracts';
import type { UpstreamError } from '../shared/form.ts';
import { objectIn, stringIn } from '../shared/read-members.ts';
import { sseText } from '../shared/sse.ts';
import { errorBody, upstreamError } from '../shared/upstream-errors.ts';

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
  const parsed = errorBody(body);
  return parsed === undefined ? upstreamError(status, { message: body }) : errorIn(parsed, status);
}

/** The error in a body or in an event of a stream. */
export function errorIn(body: JsonObject, status?: number): UpstreamError {
  const error = objectIn(body, 'error') ?? body;
  const named = stringIn(error, 'type') ?? '';
  const known = STATUSES.get(named);
  const message = stringIn(error, 'message');
  const code = stringIn(objectIn(error, 'details') ?? {}, 'error_code');
  const type = known === undefined ? undefined : named;
  return upstreamError(status ?? known ?? 502, definedFields({ type, message, code }));
}

export function writeAnthropicError({ type, message }: UpstreamError): JsonObject {
  return { type: 'error', error: { type, message } };
}

export function writeAnthropicErrorEvent(error: UpstreamError): string {
  return sseText('error', JSON.stringify(writeAnthropicError(error)));
}
