import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { ownHeaders } from '../client-headers.ts';

const VERSION = '2023-06-01';
const VERSION_FORM = /^\d{4}-\d{2}-\d{2}$/;
const BETA_FORM = /^[a-z0-9][a-z0-9.-]{1,63}$/;
const BETAS_MAX = 32;
/** Says that the credentials are a login, which a key of ours is not. */
const LOGIN_BETA = /^oauth-/;

export function anthropicHeaders(
  from: IncomingHttpHeaders,
  key: string | undefined,
): OutgoingHttpHeaders {
  if (key === undefined) {
    const headers = ownHeaders(from);
    headers['anthropic-version'] ??= VERSION;
    return headers;
  }
  const betas = knownBetas(from['anthropic-beta']);
  return {
    'x-api-key': key,
    'anthropic-version': versionFrom(from['anthropic-version']),
    ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
  };
}

function versionFrom(value: string | string[] | undefined): string {
  return typeof value === 'string' && VERSION_FORM.test(value) ? value : VERSION;
}

function knownBetas(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  const all = (Array.isArray(value) ? value.join(',') : value).split(',');
  const betas = all.map((beta) => beta.trim()).filter((beta) => BETA_FORM.test(beta));
  return [...new Set(betas)].filter((beta) => !LOGIN_BETA.test(beta)).slice(0, BETAS_MAX);
}
