// What a browser must hear before it lets a page of an allowed origin call, and read what comes back.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Names of headers, as a browser asks for them. */
const HEADER_NAMES = /^[A-Za-z0-9-]+(?:, ?[A-Za-z0-9-]+){0,63}$/;
const MAX_AGE_S = '600';

/** Tells the browser that the page may read the answer. True when that was all it wanted to know. */
export function answerPage(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { origin = '' } = headers;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate');
  response.setHeader('vary', 'Origin');
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  const asked = headers['access-control-request-headers'] ?? '';
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, POST, DELETE',
    // Arguments of tools have headers of their own, so the names are not known beforehand.
    ...(HEADER_NAMES.test(asked) && { 'access-control-allow-headers': asked }),
    'access-control-max-age': MAX_AGE_S,
  });
  response.end();
  return true;
}
