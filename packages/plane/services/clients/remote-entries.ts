// Reads an entry that has an address in place of a command, by the keys of its client.
import { isObject } from '@subluminal/contracts';
import { isOwnHeader } from '../transports/http/address.ts';
import type { JsonObject } from './entries.ts';
import { loginByHand, loginFlags } from './own-login.ts';
import type { RemoteHeader, RemoteKeys, RemoteServer, ValuePath } from './types.ts';

export const REMOTE_KEYS: RemoteKeys = {
  addresses: ['url', 'serverUrl', 'httpUrl'],
  headers: 'headers',
  refused: {
    oauth: loginByHand,
    auth: loginByHand,
    authProviderType: loginByHand,
    headersHelper:
      'is a program of the client that writes headers: put its token into a header, or bind it in config.toml',
    tls: 'changes which certificates are trusted, and a shim has no such setting',
  },
};

const REMOTE_TYPES: ReadonlySet<string> = new Set([
  ...['http', 'sse', 'streamable-http', 'streamable_http', 'streamableHttp', 'ws', 'websocket'],
]);

export function isRemoteType({ type }: JsonObject): boolean {
  return typeof type === 'string' && REMOTE_TYPES.has(type);
}

export function hasAddress(server: JsonObject): boolean {
  return REMOTE_KEYS.addresses.some((key) => typeof server[key] === 'string');
}

/** The variables that a shim honours to reach its server; clients that hand on none are asked for these. */
const WAY_VARIABLES = [
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
  'NODE_EXTRA_CA_CERTS',
];

/** The server, or why it cannot be governed: words without a full stop. */
export function readRemote(
  server: JsonObject,
  own: ValuePath,
  keys: RemoteKeys,
): RemoteServer | string {
  if (keys.unread !== undefined) return keys.unread;
  const { type } = server;
  if (type === 'ws' || type === 'websocket') return 'it is reached by a WebSocket';
  const addressKeys = keys.addresses.filter((key) => typeof server[key] === 'string');
  const [addressKey] = addressKeys;
  if (addressKey === undefined) return 'it has no address that is known here';
  if (addressKeys.length > 1) return `it has two addresses, ${addressKeys.join(' and ')}`;
  const url = String(server[addressKey]);
  const block = keys.login && server[keys.login.key];
  const login = block === undefined ? undefined : keys.login?.read(block);
  const taken = login === undefined ? undefined : keys.login?.key;
  const problem = addressProblem(url) ?? refusedIn(server, { keys, own, taken });
  if (problem !== undefined) return problem;
  const headers = headersIn(server, own, keys);
  if (typeof headers === 'string') return headers;
  const bearerEnv = keys.bearerEnv === undefined ? undefined : server[keys.bearerEnv];
  return {
    url,
    ...(hasSecret(url) && { urlVariable: URL_VARIABLE }),
    addressKey,
    headersKey: keys.headers,
    isSse: type === 'sse',
    headers,
    ...(typeof bearerEnv === 'string' && { bearerEnv }),
    ...(login !== undefined && { login }),
    replacedKeys: [
      ...['command', 'args', 'env', addressKey, keys.headers],
      ...[keys.envHeaders, keys.bearerEnv, keys.variables, taken].filter(
        (key) => key !== undefined,
      ),
    ],
    ...(keys.variables !== undefined && { variablesKey: keys.variables }),
  };
}

interface Refusing {
  readonly keys: RemoteKeys;
  readonly own: ValuePath;
  /** What the shim takes over. */
  readonly taken: string | undefined;
}

function refusedIn(server: JsonObject, { keys, own, taken }: Refusing): string | undefined {
  const { refused } = keys;
  const key = Object.keys(refused).find((one) => one !== taken && Object.hasOwn(server, one));
  if (key === undefined) return undefined;
  const why = refused[key];
  return `its \`${key}\` ${typeof why === 'function' ? why(String(own.at(-1)), server[key]) : why}`;
}

// Addresses: in the arguments of a shim every process of the machine can read them. One that seems to hold a
// secret goes into a variable.

const URL_VARIABLE = 'MCP_URL';
const SECRET_PARAMETER =
  /(?:key|token|secret|pass(?:word|wd)?|pwd|auth|credential|signature|sig|jwt|pat)$/i;
/** Letters with digits in between, too long for a word or a version. */
const DRAWN = /[A-Za-z0-9_-]{20,}/g;

function addressProblem(url: string): string | undefined {
  if (!/^(?:https?:\/\/[^/]|\$\{)/i.test(url)) return 'its address is not http or https';
  if (/[\s\p{Cc}]/u.test(url)) return 'its address has blanks in it';
  const [, authority = ''] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  if (authority.includes('@')) return 'its address holds a user name or a password';
  return undefined;
}

function hasSecret(url: string): boolean {
  const [, rest = url] = /^https?:\/\/[^/?#]*([^]*)$/i.exec(url) ?? [];
  const [path = '', ...queries] = rest.split(/[?&#]/);
  const isNamed = queries.some((one) => {
    const [name = '', value = ''] = one.split('=');
    return value !== '' && (SECRET_PARAMETER.test(name) || value.includes('${'));
  });
  const drawn = [path, ...queries].flatMap((part) => part.match(DRAWN) ?? []);
  return isNamed || drawn.some((run) => /\d/.test(run) && /[A-Za-z]\d+[A-Za-z]/.test(run));
}

// Headers: a shim reads each from a variable, so that no value stands in its arguments.

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

function headersIn(
  server: JsonObject,
  own: ValuePath,
  keys: RemoteKeys,
): readonly RemoteHeader[] | string {
  const written = textsAt(server[keys.headers]);
  const byVariable = textsAt(keys.envHeaders === undefined ? undefined : server[keys.envHeaders]);
  if (written === undefined || byVariable === undefined) return 'its headers are not all texts';
  const names = [...written, ...byVariable].map(([name]) => name);
  const odd = names.find((name) => !HEADER_NAME.test(name));
  if (odd !== undefined) return 'one of its headers has a name that HTTP does not allow';
  if (byVariable.some(([, variable]) => !VARIABLE_NAME.test(variable))) {
    return 'one of its headers is read from what is no name of a variable';
  }
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length) {
    return 'one of its headers stands there twice';
  }
  return [
    ...written.map(([name]) => ({
      name,
      variable: headerVariable(name),
      path: [...own, keys.headers, name],
    })),
    ...byVariable.map(([name, variable]) => ({ name, variable })),
  ];
}

function textsAt(value: unknown): readonly (readonly [string, string])[] | undefined {
  if (value === undefined || value === null) return [];
  if (!isObject(value)) return undefined;
  const texts = Object.entries(value).flatMap(([name, text]) =>
    typeof text === 'string' ? [[name, text] as const] : [],
  );
  if (texts.length < Object.keys(value).length) return undefined;
  // People write `Accept` and `Content-Type` there, which the transport of the shim writes itself.
  return texts.filter(([name, text]) => text !== '' && !isOwnHeader(name));
}

/** `Authorization` is read from `MCP_HEADER_AUTHORIZATION`; an odd name is spelled out. */
export function headerVariable(name: string): string {
  const plain = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  const isOdd = !/^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/.test(name);
  const spelled = isOdd ? `_${Buffer.from(name).toString('hex').toUpperCase()}` : '';
  return `MCP_HEADER_${plain}${spelled}`;
}

// The options of a shim that stands before such a server, and what its entry has beside them.

export function remoteFlags(
  { url, urlVariable, isSse, headers, bearerEnv, login }: RemoteServer,
  stored: readonly RemoteHeader[],
): readonly string[] {
  return [
    ...(urlVariable === undefined ? ['--url', url] : ['--url-env', urlVariable]),
    ...[...headers, ...stored].flatMap(({ name, variable }) => [
      '--header-env',
      `${name}=${variable}`,
    ]),
    ...(bearerEnv === undefined ? [] : ['--bearer-env', bearerEnv]),
    ...(isSse ? ['--transport', 'sse'] : []),
    ...(login === undefined ? [] : loginFlags(login)),
  ];
}

/** The names of variables that the entry asks its client for. */
export function variablesFor({ headers, bearerEnv }: RemoteServer): readonly string[] {
  const named = headers.flatMap(({ path, variable }) => (path === undefined ? [variable] : []));
  return [
    ...new Set([...named, ...(bearerEnv === undefined ? [] : [bearerEnv])]),
    ...WAY_VARIABLES,
  ];
}

// An entry that starts such a shim, without any record of what it was.

interface FreedRemote {
  /** Only where it stands in a variable of the entry. */
  readonly url?: string;
  readonly addressKey: string;
  readonly beside: readonly (readonly [string, string | { readonly [name: string]: string }])[];
  readonly type: string;
  readonly commandKeys: readonly string[];
}

/** How its client would write the server without a shim. Headers whose values are in the store, and how it logged in, are lost. */
export function withoutShim(
  flags: readonly string[],
  env: JsonObject,
  keys: RemoteKeys,
): FreedRemote {
  const values = (name: string) =>
    flags.flatMap((word, at) => {
      if (word === `--${name}`) return flags.slice(at + 1, at + 2);
      return word.startsWith(`--${name}=`) ? [word.slice(name.length + 3)] : [];
    });
  const pairs = values('header-env').map((word) => splitAt(word, '='));
  const written = values('header').map((word) => splitAt(word, ':'));
  const inEntry = pairs.flatMap(([name, variable]) => {
    const value = env[variable];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  const headers = Object.fromEntries([
    ...inEntry,
    ...written.map(([name, value]) => [name, value.trim()] as const),
  ]);
  const byVariable = pairs.filter(([, variable]) => typeof env[variable] !== 'string');
  const { envHeaders, bearerEnv, variables } = keys;
  const bearer = values('bearer-env').at(-1);
  const url = env[values('url-env').at(-1) ?? ''];
  return {
    ...(typeof url === 'string' && { url }),
    addressKey: keys.addresses[0] ?? 'url',
    beside: [
      ...(Object.keys(headers).length === 0 ? [] : [[keys.headers, headers] as const]),
      ...(envHeaders === undefined || byVariable.length === 0
        ? []
        : [[envHeaders, Object.fromEntries(byVariable)] as const]),
      ...(bearerEnv === undefined || bearer === undefined ? [] : [[bearerEnv, bearer] as const]),
    ],
    type: values('transport').at(-1) === 'sse' ? 'sse' : 'http',
    commandKeys: ['args', 'env', ...(variables === undefined ? [] : [variables])],
  };
}

function splitAt(word: string, sign: string): readonly [string, string] {
  const at = word.indexOf(sign);
  return at === -1 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
}
