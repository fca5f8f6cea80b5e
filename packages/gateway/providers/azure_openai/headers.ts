import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { ownHeaders } from '../client-headers.ts';

export function azureHeaders(
  from: IncomingHttpHeaders,
  key: string | undefined,
): OutgoingHttpHeaders {
  return key === undefined ? ownHeaders(from) : { 'api-key': key };
}
