import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { listedHeaders, ownHeaders } from '../client-headers.ts';

/** OpenRouter shows who calls by these. */
const PASSED = ['http-referer', 'x-title'];
const TITLE = 'Subluminal';

export function openRouterHeaders(
  from: IncomingHttpHeaders,
  key: string | undefined,
): OutgoingHttpHeaders {
  if (key === undefined) return ownHeaders(from);
  return { 'x-title': TITLE, ...listedHeaders(from, PASSED), authorization: `Bearer ${key}` };
}
