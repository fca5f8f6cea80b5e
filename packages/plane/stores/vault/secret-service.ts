// Asks a service for a secret: where the service is, with which token, and one JSON document over
// HTTP. The request is encrypted unless it stays on this machine, goes to the configured address and
// no other, and is bounded in size and time. No message contains anything that was sent or received.
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { type Failure, isFailure } from '@subluminal/contracts';
import { isLoopbackHost, parseJson } from '../../os/index.ts';
import { missingSecret, readSecretFile, unusableSecret } from './secret-file.ts';

export type SecretEnv = { readonly [name: string]: string | undefined };

export interface ServiceSettings {
  readonly address?: string | null;
  readonly tokenFile?: string | null;
}

/** The names of a service: how messages call it, and the variables that its own tools read. */
export interface ServiceNames {
  readonly title: string;
  readonly addressVariable: string;
  readonly tokenVariable: string;
  readonly settings: string;
  /** Where its own tools keep the token, when there is such a place. */
  readonly tokenPath?: string;
}

export interface SecretService {
  readonly title: string;
  readonly base: URL;
  readonly token: string;
}

const TOKEN_LENGTH_MAX = 16_384;
const TIMEOUT_MS = 5_000;
const BYTES_MAX = 4_194_304;
const ADDRESS_LENGTH_MAX = 2_048;

/**
 * The settings take precedence over the variables, which the process that starts the shim may have
 * set. For the same reason a token that is kept in a file goes only to the address of the settings.
 */
export function secretService(
  names: ServiceNames,
  settings: ServiceSettings,
  env: SecretEnv,
): SecretService | Failure {
  const { title, addressVariable, settings: keys } = names;
  const address = settings.address || env[addressVariable];
  if (!address) {
    const fix = `Set ${keys}_addr in the table [secrets] of config.toml, or ${addressVariable}.`;
    return unusableSecret(`no setting says where ${title} is.`, fix);
  }
  const base = serviceUrl(address);
  if (typeof base === 'string') {
    return unusableSecret(`${title}: ${base}.`, `Correct ${keys}_addr, or ${addressVariable}.`);
  }
  const token = serviceToken(names, settings, env);
  if (isFailure(token)) return token;
  // A header of two lines is two headers.
  if (token.length > TOKEN_LENGTH_MAX || !/^[!-~]+$/.test(token)) {
    return unusableSecret(`the token for ${title} is no token.`, 'Give one line of plain text.');
  }
  return { title, base, token };
}

function serviceToken(
  names: ServiceNames,
  { address, tokenFile }: ServiceSettings,
  env: SecretEnv,
): string | Failure {
  const { title, addressVariable, tokenVariable, settings: keys, tokenPath } = names;
  const value = env[tokenVariable];
  if (!address) {
    if (value && !tokenFile) return value;
    const fix = `Set ${keys}_addr in the table [secrets] of config.toml: a token that is kept in a file is not sent to where ${addressVariable} says.`;
    return unusableSecret(`there is no token for ${title} in ${tokenVariable}.`, fix);
  }
  if (tokenFile) return readSecretFile(tokenFile);
  if (value) return value;
  const kept = tokenPath === undefined ? undefined : readSecretFile(tokenPath);
  const isMissing = isFailure(kept) && kept.code === 'SUB_SECRET_MISSING';
  if (kept !== undefined && !isMissing) return kept;
  const fix = `Set ${keys}_token_file in the table [secrets] of config.toml, or ${tokenVariable}.`;
  return unusableSecret(`there is no token for ${title}.`, fix);
}

/** The URL of a service, or why no secret may travel to it. */
function serviceUrl(address: string): URL | string {
  const url =
    address.length <= ADDRESS_LENGTH_MAX && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'the address is no http(s) URL';
  if (url.username + url.password + url.search + url.hash !== '') {
    return 'the address has more than a host and a path';
  }
  const isSafe = url.protocol === 'https:' || isLoopbackHost(url.hostname);
  return isSafe ? url : 'the address is not https, and not on this machine';
}

interface ServiceRequest {
  /** Each is one part of the path, whatever characters it has. */
  readonly path: readonly string[];
  readonly query?: { readonly [name: string]: string };
  readonly headers: { readonly [name: string]: string };
  readonly timeoutMs?: number;
}

/** The JSON that the service answers with. */
export async function getJson(
  { title, base }: Pick<SecretService, 'title' | 'base'>,
  { path, query = {}, headers, timeoutMs = TIMEOUT_MS }: ServiceRequest,
): Promise<{ readonly json: unknown } | Failure> {
  const failed = (why: string) => unusableSecret(`${title}: ${why}.`, 'Check its address.');
  const url = new URL(base);
  const parts = path.map((part) => encodeURIComponent(part)).join('/');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${parts}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(url, headers, signal);
    const text = await readText(response);
    if (text === undefined) return failed(`the answer is larger than ${BYTES_MAX} bytes`);
    const refused = statusFailure(title, response.statusCode ?? 0);
    if (refused !== undefined) return refused;
    const json = parseJson(text);
    return json === undefined ? failed('it answers with status 200, but not with JSON') : { json };
  } catch (cause) {
    if (signal.aborted) return failed(`no answer within ${timeoutMs} ms`);
    // The code alone: the words of a library may hold what was sent.
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    return failed(`it cannot be reached (${/^[A-Z0-9_]{1,64}$/.test(code) ? code : 'unknown'})`);
  }
}

function statusFailure(title: string, status: number): Failure | undefined {
  switch (status) {
    case 200:
      return undefined;
    case 404:
      return missingSecret(`${title} has no secret there.`, 'Check the reference.');
    case 401:
    case 403:
      return unusableSecret(
        `${title} does not give it to this token.`,
        'Check the token and what it may read.',
      );
    case 503:
      return unusableSecret(`${title} is sealed or under maintenance.`, 'Unseal it, or wait.');
    default:
      return unusableSecret(`${title} answers with status ${status}.`, 'Check its address.');
  }
}

function send(
  url: URL,
  headers: ServiceRequest['headers'],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { headers: { accept: 'application/json', ...headers }, signal, agent: false };
    const sent =
      url.protocol === 'https:'
        ? // Whatever the environment says about certificates: an unknown host gets no token.
          requestSecure(url, { ...options, rejectUnauthorized: true }, resolve)
        : requestPlain(url, options, resolve);
    sent.on('error', reject).end();
  });
}

/** Undefined when there is too much. */
async function readText(response: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const bytes of response) {
    total += bytes.length;
    // Leaving the loop destroys the response.
    if (total > BYTES_MAX) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks, total).toString('utf8');
}

/** One level into a document that may hold anything. */
export function jsonField(json: unknown, name: string): unknown {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, name)
    ? Object.getOwnPropertyDescriptor(json, name)?.value
    : undefined;
}
