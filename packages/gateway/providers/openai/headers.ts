import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { listedHeaders, ownHeaders } from '../client-headers.ts';

/** Organization and project belong to the client's own account: a key of ours has its own. */
const PASSED = ['openai-beta'];

export function openAiHeaders(
  from: IncomingHttpHeaders,
  key: string | undefined,
): OutgoingHttpHeaders {
  if (key === undefined) return ownHeaders(from);
  return { ...listedHeaders(from, PASSED), authorization: `Bearer ${key}` };
}
