// A server that is reached by an address: what a command line says of it, and the way to it.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import type { SecretValue } from '@subluminal/core/scan';
import type { Upstream } from '../../os/upstream/index.ts';
import { isTooShortToRedact, type ResolvedSecrets } from '../../stores/vault/index.ts';
import { readAddress, readHeader } from '../transports/http/address.ts';
import type { ServerEnd } from '../transports/types.ts';
import type { LoadedServers } from './authorization.ts';

/** What a command line says of a server that is reached by an address. */
export interface RemoteStart {
  readonly url: string;
  /** `Name: value`, each. */
  readonly headers: readonly string[];
  /** `Name=VARIABLE`, each. */
  readonly headerVariables: readonly string[];
  /** The variable whose value is the bearer token. */
  readonly bearerVariable: string | undefined;
  readonly transport: string | undefined;
}

interface ReadRemote {
  readonly url: string;
  readonly transport: 'auto' | 'http' | 'sse';
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** What the redactor must know. */
  readonly secrets: readonly SecretValue[];
  readonly warning: string | undefined;
}

const TRANSPORTS = ['auto', 'http', 'sse'] as const;
const SECRET_HEADER = /auth|token|key|secret|cookie|password/i;

export function readRemote(start: RemoteStart, secrets: ResolvedSecrets): ReadRemote | Failure {
  const address = readAddress(start.url);
  if (isFailure(address)) return address;
  const transport = TRANSPORTS.find((one) => one === (start.transport ?? 'auto'));
  if (transport === undefined) return wrongOption('--transport takes `auto`, `http` or `sse`.');
  const given = headersOf(start, secrets.serverEnv());
  if (isFailure(given)) return given;
  const headers: (readonly [string, string])[] = [];
  for (const { name, value } of given) {
    const header = readHeader(name, value);
    if (isFailure(header)) return header;
    if (headers.some(([other]) => other.toLowerCase() === name.toLowerCase())) {
      return failure(
        'SUB_REMOTE_HEADER',
        `the header \`${name}\` is given twice.`,
        'Leave one out.',
      );
    }
    headers.push(header);
  }
  const known = given.flatMap(({ name, secret }) =>
    secret === undefined || isTooShortToRedact(secret)
      ? []
      : [{ name: `header ${name}`, value: secret }],
  );
  return { ...address, transport, headers, secrets: known };
}

interface GivenHeader {
  readonly name: string;
  readonly value: string;
  /** The part of the value that is to be redacted. */
  readonly secret: string | undefined;
}

function headersOf(
  { headers, headerVariables, bearerVariable }: RemoteStart,
  env: { readonly [name: string]: string | undefined },
): readonly GivenHeader[] | Failure {
  const given: GivenHeader[] = [];
  for (const text of headers) {
    const colon = text.indexOf(':');
    if (colon < 1) return wrongOption('--header takes `Name: value`.');
    const [name, value] = [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
    given.push({ name, value, secret: SECRET_HEADER.test(name) ? value : undefined });
  }
  for (const text of headerVariables) {
    const [name = '', variable = '', ...more] = text.split('=');
    if (name === '' || variable === '' || more.length > 0) {
      return wrongOption('--header-env takes `Name=VARIABLE`.');
    }
    const value = env[variable];
    if (!value) return missing(variable, `the header \`${name}\``);
    given.push({ name, value, secret: value });
  }
  if (bearerVariable === undefined) return given;
  const token = env[bearerVariable];
  if (!token) return missing(bearerVariable, 'the bearer token');
  return [...given, { name: 'Authorization', value: `Bearer ${token}`, secret: token }];
}

function missing(variable: string, what: string): Failure {
  const message = `${what} comes from the variable \`${variable}\`, which is not set.`;
  return failure('SUB_REMOTE_HEADER', message, 'Set it, or bind a secret to it in config.toml.');
}

function wrongOption(message: string): Failure {
  return failure('SUB_USAGE', message, 'Run `sub shim --help` to see what it takes.');
}

interface Connecting extends LoadedServers {
  readonly serverName: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly limits: {
    readonly inspectBytesMax: number;
    readonly messageBytesMax: number;
    readonly orphanMs: number;
  };
  /** Connections that others use as well; else this server has its own. */
  readonly upstream?: Upstream | undefined;
  readonly onToken: (token: SecretValue) => void;
  readonly warn: (text: string) => void;
}

/** The way to the server. What speaks HTTP is loaded here, and only for a server that needs it. */
export async function connectRemote(remote: ReadRemote, options: Connecting): Promise<ServerEnd> {
  const { serverName, env, limits, upstream, warn, onToken } = options;
  const [{ connectHttpServer }, { serverAuthorization }] = await Promise.all([
    import('../transports/http/index.ts'),
    import('./authorization.ts'),
  ]);
  const authorization = serverAuthorization(
    { server: serverName, url: remote.url },
    { loaded: options, env, onToken, warn },
  );
  const { inspectBytesMax, messageBytesMax, orphanMs: requestMs } = limits;
  return connectHttpServer({
    ...remote,
    serverName,
    authorization,
    limits: { inspectBytesMax, messageBytesMax, requestMs },
    env,
    ...(upstream && { upstream }),
    warn,
  });
}
