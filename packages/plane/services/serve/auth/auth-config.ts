// The section `auth` of a serve configuration: what is wrong with it, and what it says with nothing left to look up.
import { dirname, resolve } from 'node:path';
import {
  parseAs,
  SERVE_KEYS_FILE,
  type ServeAuth,
  type ServeKeysFile,
  withDefaults,
} from '@subluminal/contracts';
import {
  explainShape,
  formatProblem,
  type Path,
  placed,
  readSource,
  reworded,
  type SourceFinding,
  valueOf,
} from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import { fileProblem, readRegularFile } from '../../../os/index.ts';
import { isLoopbackUrl } from '../../oauth/url-guard.ts';

/** An API key that was made out to somebody. */
export interface ServeKey {
  readonly name: string;
  readonly sha256: string;
  /** All without it. */
  readonly servers?: readonly string[];
}

export type TrustedIssuer = ServeAuth['jwt'][number];

export interface AuthConfig {
  /** Anyone who reaches the listener may call. */
  readonly isOpen: boolean;
  readonly keys: readonly ServeKey[];
  readonly issuers: readonly TrustedIssuer[];
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly servers: readonly string[];
}

/** What the rest of the configuration says. */
export interface AuthSurroundings {
  /** The path of the configuration, which `keys_file` is relative to. */
  readonly file: string;
  /** Whether the listener is reached from this machine only. */
  readonly isLoopback: boolean;
  readonly publicUrl: string | undefined;
  readonly servers: readonly string[];
  /** Hears what is wrong. The configuration must not be used after an error. */
  readonly report: (finding: SourceFinding) => void;
}

/** A name is shown in records, and is a part of the caller's id. */
const KEY_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._@-]{0,62}[A-Za-z0-9])?$/;
/** As RFC 6749 writes a scope: what may stand between the quotes of a challenge. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
const FILE_BYTES_MAX = 1_048_576;
const CODE = 'SUB_SERVE_AUTH';

export function isKeyName(name: string): boolean {
  return KEY_NAME.test(name);
}

export function readAuthConfig(auth: ServeAuth, around: AuthSurroundings): AuthConfig {
  const { publicUrl = '', servers } = around;
  checkModes(auth, around);
  const keys = [...auth.keys, ...keysOfFile(auth, around)];
  checkKeys(auth, keys, around);
  for (const [index, issuer] of auth.jwt.entries()) {
    checkIssuer(issuer, ['auth', 'jwt', index], around);
  }
  checkTwice(
    auth.jwt.map(({ issuer }) => issuer),
    { what: 'issuer', at: (index) => ['auth', 'jwt', index, 'issuer'], report: around.report },
  );
  const issuers = auth.jwt;
  return { isOpen: auth.none, keys, issuers, publicUrl: publicUrl.replace(/\/+$/, ''), servers };
}

/** The file that the section names, by its whole path: a change of it is a change of the configuration. */
export function keysFilePath({ keys_file }: ServeAuth, configFile: string): string | undefined {
  return keys_file === undefined ? undefined : resolve(dirname(configFile), keys_file);
}

function checkModes(auth: ServeAuth, { isLoopback, publicUrl, report }: AuthSurroundings): void {
  const hasOther = auth.keys.length > 0 || auth.keys_file !== undefined || auth.jwt.length > 0;
  const path = ['auth'];
  if (!auth.none && !hasOther) {
    const message = '`auth` lets nobody in';
    const fix =
      'Add `keys` or `jwt`; `none: true` on loopback lets any program of this machine in.';
    report({ code: CODE, path, message, fix });
  } else if (auth.none && hasOther) {
    const message = '`none: true` makes the keys and issuers beside it meaningless';
    report({ code: CODE, path: [...path, 'none'], message, fix: 'Remove it, or remove them.' });
  } else if (auth.none && !isLoopback) {
    const message = '`none: true` would let everyone in who reaches the address';
    const fix = 'Listen on 127.0.0.1, or add `keys` or `jwt` instead.';
    report({ code: CODE, path: [...path, 'none'], message, fix });
  }
  if (auth.jwt.length > 0 && publicUrl === undefined) {
    const message = '`jwt` needs `public_url`: it is the audience of tokens';
    const fix = 'Add `public_url` with the address that clients use.';
    report({ code: CODE, path: [...path, 'jwt'], message, fix });
  }
}

function keysOfFile(auth: ServeAuth, { file, report }: AuthSurroundings): ServeKeysFile['keys'] {
  const path = keysFilePath(auth, file);
  if (path === undefined) return [];
  const at = { code: CODE, path: ['auth', 'keys_file'] } as const;
  const foreign = fileProblem(path);
  if (foreign !== undefined) {
    report({ ...at, message: `${quote(foreign.path)} ${foreign.why}`, fix: foreign.fix });
    return [];
  }
  const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX });
  if (read.kind !== 'read') {
    const isMissing = read.kind === 'missing';
    const message = `${quote(path)} ${isMissing ? 'does not exist' : read.why}`;
    report({ ...at, message, fix: isMissing ? 'Make it with `keys: []`.' : read.fix });
    return [];
  }
  const { keys, problems } = parseKeysFile(path, read.bytes);
  for (const message of problems) report({ ...at, message, fix: `Correct ${quote(path)}.` });
  return keys;
}

function parseKeysFile(
  file: string,
  bytes: Uint8Array,
): { readonly keys: ServeKeysFile['keys']; readonly problems: readonly string[] } {
  const start = 'Start with `keys:`.';
  const source = readSource({ file, bytes });
  if (!source.ok) {
    const words = { code: CODE, noun: 'file', start } as const;
    return {
      keys: [],
      problems: source.problems.map((one) => formatProblem(reworded(one, words))),
    };
  }
  const parsed = parseAs(SERVE_KEYS_FILE, withDefaults(SERVE_KEYS_FILE, valueOf(source.tree)));
  if (parsed.ok) return { keys: parsed.value.keys, problems: [] };
  const codes = { field: CODE, value: CODE } as const;
  const words = { title: 'a file of keys', start, codes };
  const findings = explainShape(parsed.mismatches, source.tree, words);
  return { keys: [], problems: placed(findings, file, source).map(formatProblem) };
}

function checkKeys(auth: ServeAuth, keys: readonly ServeKey[], around: AuthSurroundings): void {
  const { report } = around;
  /** Where a key stands: those of the file come behind the others. */
  const at = (index: number, field: string): Path =>
    index < auth.keys.length ? ['auth', 'keys', index, field] : ['auth', 'keys_file'];
  for (const [index, { name, servers }] of keys.entries()) {
    if (!isKeyName(name)) {
      const message = `${quote(name)} is no name of a key`;
      const fix = 'Use letters, digits, `.`, `_`, `@` and `-`.';
      report({ code: CODE, path: at(index, 'name'), message, fix });
    }
    checkServers(servers, at(index, 'servers'), around);
  }
  const names = keys.map(({ name }) => name);
  checkTwice(names, { what: 'name', at: (index) => at(index, 'name'), report });
  const digests = keys.map(({ sha256 }) => sha256);
  checkTwice(digests, { what: 'key', at: (index) => at(index, 'sha256'), report });
}

function checkIssuer(issuer: TrustedIssuer, path: Path, around: AuthSurroundings): void {
  const { report } = around;
  for (const field of ['issuer', 'jwks_uri'] as const) {
    const url = issuer[field];
    if (url === undefined || isTrustworthyUrl(url, field)) continue;
    const message = `\`${field}\` must be an https URL without credentials, query and fragment`;
    const fix = 'Write it like `https://login.example.com`; http is for loopback only.';
    report({ code: CODE, path: [...path, field], message, fix });
  }
  for (const [index, { servers, scopes }] of (issuer.access ?? []).entries()) {
    const at = [...path, 'access', index];
    checkServers(servers, [...at, 'servers'], around);
    const wrong = scopes.findIndex((scope) => !SCOPE.test(scope));
    if (wrong === -1) continue;
    const message = `${quote(scopes[wrong] ?? '')} is no scope`;
    const fix = 'Write one scope per entry, without spaces and quotes.';
    report({ code: CODE, path: [...at, 'scopes', wrong], message, fix });
  }
}

/** Keys that came by a connection that others can change would let anyone in. */
function isTrustworthyUrl(text: string, field: 'issuer' | 'jwks_uri'): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') return false;
  // A query belongs to the address of keys, but to no issuer (RFC 8414, section 2).
  if (text.includes('#') || (field === 'issuer' && text.includes('?'))) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackUrl(text));
}

function checkServers(
  names: readonly string[] | undefined,
  path: Path,
  { servers, report }: AuthSurroundings,
): void {
  for (const [index, name] of (names ?? []).entries()) {
    if (servers.includes(name)) continue;
    const message = `there is no server ${quote(name)}`;
    const fix = `Name one of \`servers\`: ${servers.slice(0, 10).map(quote).join(', ')}.`;
    const at = path.at(-1) === 'keys_file' ? path : [...path, index];
    report({ code: CODE, path: at, message, fix });
  }
}

interface Uniqueness {
  /** Like `name`. */
  readonly what: string;
  readonly at: (index: number) => Path;
  readonly report: AuthSurroundings['report'];
}

function checkTwice(values: readonly string[], { what, at, report }: Uniqueness): void {
  for (const [index, value] of values.entries()) {
    if (values.indexOf(value) === index) continue;
    const message = `the ${what} ${quote(value)} is there twice`;
    report({ code: CODE, path: at(index), message, fix: 'Remove one of the two.' });
  }
}
