import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { anthropicHeaders } from '../anthropic/headers.ts';
import { ownHeaders } from '../client-headers.ts';

/** LiteLLM takes its key as a bearer on every wire; version and betas mean something on Anthropic's. */
export function liteLlmHeaders(
  from: IncomingHttpHeaders,
  key: string | undefined,
): OutgoingHttpHeaders {
  if (key === undefined) return ownHeaders(from);
  const bearer = { authorization: `Bearer ${key}` };
  if (from['anthropic-version'] === undefined) return bearer;
  const { 'x-api-key': _key, ...anthropic } = anthropicHeaders(from, key);
  return { ...anthropic, ...bearer };
}
