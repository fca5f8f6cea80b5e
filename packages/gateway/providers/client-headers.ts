// Which headers of a client go upstream. With a key of ours only a few that a provider lists; with the client's own
// credentials all but those that belong to one connection, to a browser or to us.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** Belongs to the connection (RFC 9110, 7.6.1), to the body as it was sent to us, or to who is asked. */
const NEVER = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'cookie',
  'cookie2',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'origin',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-real-ip',
]);
const NEVER_BEGINS = /^(?:x-aicg-|x-forwarded-|sec-)/;

const KEY_LENGTH_MIN = 8;

/** How a wire names credentials. */
const CREDENTIALS = ['authorization', 'x-api-key', 'api-key', 'chatgpt-account-id'] as const;

/** All that a client with credentials of its own may send on. */
export function ownHeaders(from: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = connectionHeaders(from);
  const kept: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(from)) {
    if (value === undefined || NEVER.has(name) || NEVER_BEGINS.test(name)) continue;
    if (named?.has(name) !== true) kept[name] = value;
  }
  return kept;
}

/** `Connection` names further headers that are meant for the next hop only. */
function connectionHeaders(from: IncomingHttpHeaders): ReadonlySet<string> | undefined {
  const { connection } = from;
  if (connection === undefined || /^(?:keep-alive|close)$/i.test(connection)) return undefined;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}

/** The headers without what tells who the client is. */
export function withoutCredentials(from: IncomingHttpHeaders): IncomingHttpHeaders {
  const kept = { ...from };
  for (const name of CREDENTIALS) delete kept[name];
  return kept;
}

/** A text that may repeat the credentials of the client, without them: for the record. */
export function withoutOwnKeys(text: string, from: IncomingHttpHeaders): string {
  const values = CREDENTIALS.flatMap((name) => from[name] ?? []);
  const keys = values.map((value) => value.replace(/^\S+\s+/, '').trim());
  // A shorter one is a placeholder.
  const secret = keys.filter((key) => key.length >= KEY_LENGTH_MIN);
  return secret.reduce((left, key) => left.replaceAll(key, '[key]'), text);
}

/** The listed headers, where the client sent them once. */
export function listedHeaders(
  from: IncomingHttpHeaders,
  names: readonly string[],
): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  for (const name of names) {
    const value = from[name];
    if (typeof value === 'string') kept[name] = value;
  }
  return kept;
}
