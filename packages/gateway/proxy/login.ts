// The login of this machine: which gateway, who, and the key that it gave. One file of the home, for its owner alone;
// the key stands in it only where there is no store of secrets.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isObject, tableFailure } from '@subluminal/contracts';
import {
  ensurePrivateFolder,
  isLoopbackHost,
  parseJson,
  readPrivateFile,
  systemCode,
  writePrivateFile,
} from '@subluminal/plane/os';

export interface GatewayLogin {
  /** Without a slash at its end. */
  readonly gatewayUrl: string;
  readonly apiKey: string;
  readonly keyId: string;
  readonly userId: string;
  readonly teamId: string;
}

/** The login as its file has it. */
export interface SavedLogin extends Omit<GatewayLogin, 'apiKey'> {
  /** Undefined where the store of secrets has the key. */
  readonly apiKey: string | undefined;
}

const FILE = 'gateway-login.json';
const BYTES_MAX = 65_536;

export function loginPath(home: string): string {
  return join(home, FILE);
}

/** Undefined where nobody has logged in. */
export function readLogin(home: string): SavedLogin | Failure | undefined {
  const path = loginPath(home);
  const read = readPrivateFile(path, { bytesMax: BYTES_MAX, isSecret: true });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'unreadable') {
    return failure('SUB_GATEWAY_LOGIN', `${path} ${read.why}.`, read.fix);
  }
  const login = loginIn(parseJson(read.bytes.toString('utf8')));
  if (login !== undefined) return login;
  const message = `${path} is damaged.`;
  return failure('SUB_GATEWAY_LOGIN', message, 'Remove it, and run `sub login` again.');
}

function loginIn(value: unknown): SavedLogin | undefined {
  if (!isObject(value)) return undefined;
  const text = (key: string) => {
    const given = value[key];
    return typeof given === 'string' ? given : '';
  };
  const login = {
    gatewayUrl: text('gateway_url'),
    apiKey: value['key_in'] === 'vault' ? undefined : text('api_key'),
    keyId: text('key_id'),
    userId: text('user_id'),
    teamId: text('team_id'),
  };
  const { gatewayUrl, apiKey } = login;
  const isWhole = URL.canParse(gatewayUrl) && (apiKey === undefined || isGatewayKey(apiKey));
  return isWhole ? login : undefined;
}

export function isGatewayKey(text: string): boolean {
  return /^[\x21-\x7e]{16,512}$/.test(text);
}

export function writeLogin(home: string, login: SavedLogin): Failure | undefined {
  const unsafe = ensurePrivateFolder(home);
  if (unsafe !== undefined) return unsafe;
  const value = {
    gateway_url: login.gatewayUrl,
    ...(login.apiKey === undefined ? { key_in: 'vault' } : { api_key: login.apiKey }),
    key_id: login.keyId,
    user_id: login.userId,
    team_id: login.teamId,
  };
  try {
    writePrivateFile(loginPath(home), `${JSON.stringify(value, null, 2)}\n`);
    return undefined;
  } catch (cause) {
    const message = `${loginPath(home)} cannot be written (${systemCode(cause)}).`;
    return failure('SUB_FILE_WRITE', message, 'Check the folder, and log in again.');
  }
}

export function removeLogin(home: string): void {
  rmSync(loginPath(home), { force: true });
}

/** The address of a gateway as a person gives it. A key never travels in the clear to another machine. */
export function gatewayAddress(text: string): string | Failure {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '';
  if (url === undefined || !isPlain || !/^https?:$/.test(url.protocol) || url.hash !== '') {
    const message = 'The address of the gateway is no https:// address.';
    return failure('SUB_USAGE', message, 'Write it like https://gateway.example.com.');
  }
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    const message = `The key would travel to ${url.hostname} in the clear.`;
    return failure('SUB_USAGE', message, 'Use https://; http:// is for this machine alone.');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

export function notLoggedIn(): Failure {
  return tableFailure('SUB_GATEWAY_LOGIN');
}
