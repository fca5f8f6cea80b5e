import type { JsonObject } from '@subluminal/contracts';
import type { UpstreamError } from '../shared/form.ts';
import { errorFrom, writeOpenAiError } from '../shared/openai-errors.ts';
import { objectIn, stringIn } from '../shared/read-members.ts';
import { sseText } from '../shared/sse.ts';

/** What the codes in a stream would be as a status. */
const STATUSES: { readonly [code: string]: number } = {
  rate_limit_exceeded: 429,
  slow_down: 429,
  insufficient_quota: 429,
  server_is_overloaded: 503,
  invalid_prompt: 400,
  context_length_exceeded: 400,
};

/** The error of `response.failed`, and of the event `error`. */
export function responseError(event: JsonObject): UpstreamError {
  const response = objectIn(event, 'response');
  const error = (response && objectIn(response, 'error')) ?? objectIn(event, 'error') ?? event;
  const code = stringIn(error, 'code') ?? '';
  return errorFrom(
    { message: stringIn(error, 'message') ?? '', code: code === '' ? null : code },
    STATUSES[code] ?? 502,
  );
}

/** The code and the message, as a failed response has them. */
export function failedError(error: UpstreamError): JsonObject {
  const written = objectIn(writeOpenAiError(error), 'error') ?? {};
  return { code: stringIn(written, 'code') ?? 'server_error', message: error.message };
}

export function writeResponsesErrorEvent(error: UpstreamError): string {
  const event = { type: 'error', ...failedError(error), param: null, sequence_number: 0 };
  return sseText('error', JSON.stringify(event));
}
