// Requests of a sandboxed tool. The manifest says where they may go; secrets are added here and are looked for in
// everything that passes, so that a tool neither sends them elsewhere nor learns them from an answer.
import type { ToolManifest } from '@subluminal/contracts';
import { parseAs, withDefaults } from '@subluminal/contracts';
import { closed, defaulted, oneOf, record, required, string } from '@subluminal/contracts/shape';
import type { Redactor } from '@subluminal/core/scan';
import {
  guardedLookup,
  isPublicAddress,
  type ResolveHost,
} from '@subluminal/plane/os/public-address';
import {
  isFault,
  openUpstream,
  readAnswerBody,
  type Upstream,
  type UpstreamOptions,
} from '@subluminal/plane/upstream';

const REQUEST = closed({
  url: required(string({ lengthMax: 4_096 }), 'Where to.'),
  method: defaulted(oneOf('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'), 'GET', 'How.'),
  headers: defaulted(record(string({ lengthMin: 0, lengthMax: 2_000 })), {}, 'Headers.'),
  body: defaulted(string({ lengthMin: 0, lengthMax: 500_000 }), '', 'The body.'),
});

const HEADERS_MAX = 20;
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/;
const HEADER_VALUE = /^[\x20-\x7e]*$/;
/** They steer the connection or say who asks: that is the host's business. */
const OWN_HEADERS =
  /^(?:host|connection|keep-alive|transfer-encoding|content-length|te|trailer|upgrade|expect|authorization|cookie|proxy-.*|sec-.*|x-forwarded-.*|forwarded)$/i;
const SHOWN_HEADERS = ['content-type', 'location', 'etag', 'last-modified', 'retry-after'] as const;

export interface FetchPorts {
  readonly manifest: ToolManifest;
  readonly upstream: Upstream;
  /** The values of the manifest's secrets, by reference. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly redactor: Redactor;
  readonly signal: AbortSignal;
}

export type HostAnswer = { readonly text: string } | { readonly why: string };

/**
 * The way out of the sandbox: names lead to public addresses alone, at the moment of the connection. It takes no
 * proxy, because a proxy would look names up by itself.
 */
export function sandboxUpstream(
  options: Pick<UpstreamOptions, 'tls'> = {},
  resolve?: ResolveHost,
): Upstream {
  return openUpstream({ ...options, lookup: guardedLookup(isPublicAddress, resolve) });
}

export async function hostFetch(wanted: unknown, ports: FetchPorts): Promise<HostAnswer> {
  const read = parseAs(REQUEST, withDefaults(REQUEST, wanted));
  if (!read.ok) return { why: 'The request does not fit: {url, method, headers, body}.' };
  const { url: address, method, headers, body } = read.value;
  const { manifest, upstream, redactor, signal } = ports;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const problem = url === undefined ? 'It is no URL.' : placeProblem(url, method, manifest);
  if (url === undefined || problem !== undefined) return { why: problem ?? '' };
  const names = Object.keys(headers);
  const isWrong = names.some(
    (name) =>
      !HEADER_NAME.test(name) || OWN_HEADERS.test(name) || !HEADER_VALUE.test(headers[name] ?? ''),
  );
  if (isWrong || names.length > HEADERS_MAX) return { why: 'A header is not allowed.' };
  // Of the URL as it is sent, and as a server reads it.
  const leaving = [url.href, safeDecoded(url.href), JSON.stringify(headers), body];
  if (leaving.some((text) => redactor.redact(text).found.length > 0)) {
    return { why: 'The request holds a secret.' };
  }
  const answer = await upstream.call({
    method,
    url: url.href,
    headers: { ...headers, ...secretHeaders(url.hostname, ports) },
    ...(body !== '' && { body: [Buffer.from(body)] }),
    timeoutMs: manifest.limits.time_ms,
    signal,
  });
  if (isFault(answer)) return { why: answer.message };
  const bytes = await readAnswerBody(answer.body, manifest.limits.response_kb * 1024);
  if (isFault(bytes)) return { why: bytes.message };
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = answer.headers[name];
    return typeof value === 'string' ? [[name, redactor.plain(value)] as const] : [];
  });
  const text = redactor.plain(bytes.toString());
  const reply = { status: answer.status, headers: Object.fromEntries(shown), body: text };
  return { text: JSON.stringify(reply) };
}

function placeProblem(url: URL, method: string, { hosts }: ToolManifest): string | undefined {
  if (url.protocol !== 'https:') return 'Only https is allowed.';
  if (url.username !== '' || url.password !== '') return 'A URL must not name a user.';
  if (url.port !== '') return 'Only the usual port is allowed.';
  const places = hosts.filter(({ host }) => host.toLowerCase() === url.hostname);
  if (places.length === 0) return 'The host is not declared.';
  const fitting = places.filter(({ paths }) => paths.some((path) => isBelow(url.pathname, path)));
  if (fitting.length === 0) return 'The path is not declared.';
  const isAllowed = fitting.some(({ methods }) => methods.some((one) => one === method));
  return isAllowed ? undefined : 'The method is not declared.';
}

/** URL has resolved dots by now; what a server might resolve later is refused. */
function isBelow(path: string, declared: string): boolean {
  if (/%2e|%2f|%5c|\\|\/\/|;/i.test(path)) return false;
  return declared.endsWith('/') ? path.startsWith(declared) : path === declared;
}

function safeDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function secretHeaders(hostname: string, { manifest, secrets }: FetchPorts) {
  const own = manifest.secrets.filter(({ host }) => host.toLowerCase() === hostname);
  const entries = own.map(({ header, prefix = '', ref }) => {
    return [header.toLowerCase(), `${prefix}${secrets.get(ref) ?? ''}`] as const;
  });
  return Object.fromEntries(entries);
}
