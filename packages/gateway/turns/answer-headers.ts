// Which headers of an upstream's answer the client gets: what its wire gives a meaning to, nothing of the connection.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Attempt } from './types.ts';

const PASSED =
  /^(?:request-id|x-request-id|retry-after|retry-after-ms|x-should-retry|x-models-etag|x-reasoning-included|(?:anthropic|openai|x-ratelimit|x-codex|x-openai)-[a-z0-9-]+)$/;
/** Other characters can not be sent in a header. */
const SENDABLE = /^[\t -~]*$/;

/** Whose account it is: for those alone who have it. */
const ACCOUNT = /(?:organization|project|workspace|account)/;

export function answerHeaders(
  from: IncomingHttpHeaders,
  { credentials }: Pick<Attempt, 'credentials'>,
): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  for (const name of Object.keys(from)) {
    const value = from[name];
    if (!PASSED.test(name) || typeof value !== 'string' || !SENDABLE.test(value)) continue;
    if (credentials.kind === 'own' || !ACCOUNT.test(name)) kept[name] = value;
  }
  return kept;
}
