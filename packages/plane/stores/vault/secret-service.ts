// What is needed to ask a service for a secret: where it is, and by what right.

import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { type Fetched, type NotFetched, readSecretFile } from './secret-file.ts';

export type Env = { readonly [name: string]: string | undefined };

export interface ServiceSettings {
  readonly address?: string | null;
  readonly tokenFile?: string | null;
}

/** The names of a service: how the messages call it, and the variables that its own tools read. */
export interface ServiceNames {
  readonly title: string;
  readonly addressVariable: string;
  readonly tokenVariable: string;
  readonly settings: string;
  /** Where its own tools keep the token, when there is such a place. */
  readonly tokenPath?: string;
}

export type Service =
  | { readonly ok: true; readonly base: URL; readonly token: string }
  | NotFetched;

const TOKEN_LENGTH_MAX = 16_384;

/**
 * The settings weigh more than the variables: whoever starts the shim may have set those. For the same
 * reason a token that is kept in a file goes to the address of the settings alone.
 */
export function serviceOf(names: ServiceNames, settings: ServiceSettings, env: Env): Service {
  const { title, addressVariable, settings: keys } = names;
  const address = settings.address || env[addressVariable];
  if (!address) {
    const fix = `Set ${keys}_addr in the table [secrets] of config.toml, or ${addressVariable}.`;
    return notFetched(`nobody says where ${title} is`, fix);
  }
  const base = baseOf(address);
  if (!base.ok) {
    return notFetched(`${title}: ${base.message}`, `Correct ${keys}_addr, or ${addressVariable}.`);
  }
  const token = tokenOf(names, settings, env);
  if (!token.ok) return token;
  // A header of two lines is two headers.
  if (
    token.value === '' ||
    token.value.length > TOKEN_LENGTH_MAX ||
    !/^[!-~]+$/.test(token.value)
  ) {
    return notFetched(`the token for ${title} is no token`, 'Give it as one line of plain text.');
  }
  return { ok: true, base: base.url, token: token.value };
}

function tokenOf(names: ServiceNames, { address, tokenFile }: ServiceSettings, env: Env): Fetched {
  const { title, addressVariable, tokenVariable, settings: keys, tokenPath } = names;
  const value = env[tokenVariable];
  if (!address) {
    if (value && !tokenFile) return { ok: true, value };
    const fix = `Set ${keys}_addr in the table [secrets] of config.toml: a token that is kept in a file is not sent to where ${addressVariable} says.`;
    return notFetched(`there is no token for ${title} in ${tokenVariable}`, fix);
  }
  if (tokenFile) return readSecretFile(tokenFile);
  if (value) return { ok: true, value };
  const kept = tokenPath === undefined ? undefined : readSecretFile(tokenPath);
  if (kept !== undefined && (kept.ok || !kept.isMissing)) return kept;
  const fix = `Set ${keys}_token_file in the table [secrets] of config.toml, or ${tokenVariable}.`;
  return notFetched(`there is no token for ${title}`, fix);
}

export function notFetched(message: string, fix: string): NotFetched {
  return { ok: false, isMissing: false, message, fix };
}

export function missing(message: string, fix: string): NotFetched {
  return { ok: false, isMissing: true, message, fix };
}

// One JSON document over HTTP: encrypted unless it comes from this machine, from the place that was
// named and no other, small, and soon. Nothing of what is sent or received is in a message.

export type Answer =
  | { readonly ok: true; readonly status: number; readonly json: unknown }
  | { readonly ok: false; readonly message: string };

type Base =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly message: string };

interface Ask {
  readonly base: URL;
  /** Each is one part of the path, whatever is in it. */
  readonly path: readonly string[];
  readonly query?: { readonly [name: string]: string };
  readonly headers: { readonly [name: string]: string };
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;
const BYTES_MAX = 4_194_304;
const ADDRESS_LENGTH_MAX = 2_048;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The address of a service, if a secret may travel to it. */
export function baseOf(address: string): Base {
  const url =
    address.length <= ADDRESS_LENGTH_MAX && URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return { ok: false, message: 'the address is no http(s) URL' };
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return { ok: false, message: 'the address has more than a host and a path' };
  }
  return url.protocol === 'https:' || LOOPBACK.test(url.hostname)
    ? { ok: true, url }
    : { ok: false, message: 'the address is not https, and not on this machine' };
}

export async function getJson(ask: Ask): Promise<Answer> {
  const { base, path, query = {}, headers, timeoutMs = TIMEOUT_MS } = ask;
  const url = new URL(base);
  const parts = path.map((part) => encodeURIComponent(part)).join('/');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${parts}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(url, headers, signal);
    const status = response.statusCode ?? 0;
    const bytes = await bytesOf(response);
    if (bytes === undefined)
      return { ok: false, message: `the answer is larger than ${BYTES_MAX} bytes` };
    return { ok: true, status, json: jsonOf(bytes) };
  } catch (cause) {
    if (signal.aborted) return { ok: false, message: `no answer within ${timeoutMs} ms` };
    return { ok: false, message: `it cannot be reached (${reasonOf(cause)})` };
  }
}

function send(url: URL, headers: Ask['headers'], signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { headers: { accept: 'application/json', ...headers }, signal, agent: false };
    const sent =
      url.protocol === 'https:'
        ? // Whatever the environment says of certificates: an unknown host gets no token.
          requestSecure(url, { ...options, rejectUnauthorized: true }, resolve)
        : requestPlain(url, options, resolve);
    sent.on('error', reject).end();
  });
}

/** Undefined when there is too much. */
async function bytesOf(response: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let total = 0;
  const input: AsyncIterable<Buffer> = response;
  for await (const bytes of input) {
    total += bytes.length;
    if (total > BYTES_MAX) {
      response.destroy();
      return undefined;
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks, total);
}

/** Undefined when it is none: what a wrong address answers is no JSON. */
function jsonOf(bytes: Buffer): unknown {
  try {
    const json: unknown = JSON.parse(bytes.toString('utf8'));
    return json;
  } catch {
    return undefined;
  }
}

/** The code alone: the words of a library may hold what was sent. */
function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'unknown';
}

/** One level into a document that may hold anything. */
export function fieldOf(json: unknown, name: string): unknown {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, name)
    ? Object.getOwnPropertyDescriptor(json, name)?.value
    : undefined;
}
