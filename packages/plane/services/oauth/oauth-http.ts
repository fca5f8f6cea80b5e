// Requests to servers and authorization servers: guarded, bounded, without redirects, and answered by small JSON documents.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { isObject } from '@subluminal/contracts';
import { parseJson } from '../../os/index.ts';
import { guardedLookup, type ResolveHost } from '../../os/public-address.ts';
import {
  isFault,
  openUpstream,
  readAnswerBody,
  type UpstreamFault,
  type UpstreamOptions,
} from '../../os/upstream/index.ts';
import type { UrlGuard } from './url-guard.ts';

export interface HttpOptions {
  readonly guard: UrlGuard;
  readonly proxy?: UpstreamOptions['proxy'] | undefined;
  /** Certificates to trust beside the system's; only tests have some. */
  readonly ca?: string | undefined;
  readonly resolve?: ResolveHost | undefined;
}

export interface JsonAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Undefined for a body that is no JSON object. */
  readonly json: OAuthDocument | undefined;
}
export type OAuthDocument = { readonly [key: string]: unknown };
/** `refused`: the address may not be asked; `fault`: it did not answer. */
export type HttpFault = { readonly kind: 'refused'; readonly message: string } | UpstreamFault;

export interface OAuthHttp {
  get(url: string, headers?: OutgoingHttpHeaders): Promise<JsonAnswer | HttpFault>;
  /** A form, unless the headers say another type. */
  post(url: string, body: string, headers?: OutgoingHttpHeaders): Promise<JsonAnswer | HttpFault>;
  remove(url: string, headers: OutgoingHttpHeaders): Promise<JsonAnswer | HttpFault>;
  readonly guard: UrlGuard;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 262_144;
const ANSWER_MS = 15_000;
const WHOLE_MS = 20_000;
const FORM = 'application/x-www-form-urlencoded';

export function openOAuthHttp({ guard, proxy, ca, resolve }: HttpOptions): OAuthHttp {
  const refusedHosts = new Set<string>();
  const isAllowed = (address: string, host: string): boolean => {
    const isFine = guard.isAllowed(address, host);
    if (!isFine) refusedHosts.add(host);
    return isFine;
  };
  const upstream = openUpstream({
    connectionsMax: 4,
    lookup: guardedLookup(isAllowed, resolve),
    ...(proxy && { proxy }),
    ...(ca !== undefined && { tls: { ca } }),
  });
  const send = async (
    call: { readonly method: 'GET' | 'POST' | 'DELETE'; readonly url: string },
    headers: OutgoingHttpHeaders,
    body?: string,
  ): Promise<JsonAnswer | HttpFault> => {
    const problem = guard.problem(call.url);
    if (problem !== undefined) return { kind: 'refused', message: problem };
    const answer = await upstream.call({
      ...call,
      headers: { accept: 'application/json', ...headers },
      ...(body !== undefined && { body: [Buffer.from(body)] }),
      timeoutMs: ANSWER_MS,
      signal: AbortSignal.timeout(WHOLE_MS),
    });
    if (isFault(answer)) {
      const isInside = refusedHosts.has(new URL(call.url).hostname);
      return isInside ? { kind: 'refused', message: 'leads to a private network' } : answer;
    }
    const { status } = answer;
    // The stream of a server that needs no authorization never ends.
    if (/^text\/event-stream/i.test(answer.headers['content-type'] ?? '')) {
      answer.body.destroy();
      return { kind: 'answer', status, headers: answer.headers, json: undefined };
    }
    const bytes = await readAnswerBody(answer.body, BODY_BYTES_MAX);
    if (!Buffer.isBuffer(bytes)) return bytes;
    const json = parseJson(bytes.toString('utf8'));
    return {
      kind: 'answer',
      status,
      headers: answer.headers,
      json: isObject(json) ? json : undefined,
    };
  };
  return {
    guard,
    get: (url, headers = {}) => send({ method: 'GET', url }, headers),
    post: (url, body, headers = {}) =>
      send({ method: 'POST', url }, { 'content-type': FORM, ...headers }, body),
    remove: (url, headers) => send({ method: 'DELETE', url }, headers),
    close: () => upstream.close(),
  };
}

/** The fault as the end of a sentence about an address. */
export function faultText(fault: HttpFault): string {
  if (fault.kind === 'refused') return fault.message;
  const { message } = fault;
  return `did not answer: ${message.charAt(0).toLowerCase()}${message.slice(1).replace(/\.$/, '')}`;
}

export function isAnswer(result: JsonAnswer | HttpFault): result is JsonAnswer {
  return result.kind === 'answer';
}

/** A text of a document; undefined for what is no text, or an empty one. */
export function textIn(json: OAuthDocument, key: string): string | undefined {
  const value = json[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const TEXTS_MAX = 256;

/** A list of texts; undefined where there is none. */
export function textListIn(json: OAuthDocument, key: string): readonly string[] | undefined {
  const value = json[key];
  if (!Array.isArray(value)) return undefined;
  return value.filter((one) => typeof one === 'string').slice(0, TEXTS_MAX);
}
