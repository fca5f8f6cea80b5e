// The configuration of `sub serve`: read, checked, and with nothing left to look up.
import { dirname, resolve } from 'node:path';
import {
  type Failure,
  failure,
  parseAs,
  SERVE_FILE,
  type ServeFile,
  type ServeFileServer,
  withDefaults,
} from '@subluminal/contracts';
import {
  explainShape,
  PROBLEMS_MAX,
  type Problem,
  placed,
  readSource,
  reworded,
  type SourceFinding,
  valueOf,
} from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import { fileProblem, readRegularFile } from '../../../os/index.ts';
import { type AuthConfig, keysFilePath, readAuthConfig } from '../auth/auth-config.ts';
import { checkServer } from './check-server.ts';

export interface ListenAddress {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
}

/** A server that is reached by an address. */
export interface RemoteServer {
  readonly kind: 'remote';
  readonly name: string;
  readonly url: string;
  readonly transport: 'auto' | 'http' | 'sse';
  readonly headers: { readonly [name: string]: string };
  /** The variables with the values of headers. */
  readonly headerEnv: { readonly [name: string]: string };
  readonly bearerEnv: string | undefined;
  readonly passToken: boolean;
  /** Whose grant it gets: that of this home, or that of the caller. */
  readonly login: 'shared' | 'caller';
}

/** A server that is started for each session. */
export interface CommandServer {
  readonly kind: 'command';
  readonly name: string;
  readonly command: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly cwd: string;
}

export type ServerEntry = RemoteServer | CommandServer;

export interface ServeConfig {
  readonly file: string;
  readonly listen: ListenAddress;
  readonly publicUrl: string | undefined;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly auth: AuthConfig;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly servers: ReadonlyMap<string, ServerEntry>;
  readonly limits: ServeFile['limits'];
  /** The files whose change is a change of the configuration. */
  readonly watched: readonly string[];
}

export type LoadedServeConfig =
  /** `problems` are warnings. */
  | { readonly ok: true; readonly config: ServeConfig; readonly problems: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const FILE_BYTES_MAX = 1_048_576;
const START = 'Start with `auth:` and `servers:`.';
const CODES = { field: 'SUB_SERVE_FIELD', value: 'SUB_SERVE_VALUE' } as const;
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['mcpservers', 'servers'],
  ['mcp_servers', 'servers'],
  ['args', 'command'],
  ['environment', 'env'],
  ['http_headers', 'headers'],
  ['env_http_headers', 'header_env'],
  ['bearer_token_env_var', 'bearer_env'],
  ['base_url', 'public_url'],
  ['host', 'listen'],
  ['port', 'listen'],
]);
const LISTEN = /^(?:\[([0-9A-Fa-f:.%a-z]+)\]|([^:[\]\s]+)):(\d{1,5})$/;
const PORT_MAX = 65_535;
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);
/** What can stand in a path. */
export const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/;

/** Reads a configuration; a failure when there is no such file, or others can change it. */
export function loadServeConfig(path: string): LoadedServeConfig | Failure {
  const file = resolve(path);
  const read = readRegularFile(file, { bytesMax: FILE_BYTES_MAX });
  if (read.kind === 'missing') {
    const message = `there is no configuration ${quote(path)}.`;
    return failure('SUB_FILE_READ', message, 'Write one, or name another with --config.');
  }
  if (read.kind === 'unreadable') {
    return failure('SUB_FILE_READ', `${quote(path)} ${read.why}.`, read.fix);
  }
  const foreign = fileProblem(file);
  if (foreign !== undefined) {
    // It names commands that are started.
    return failure('SUB_FILE_READ', `${quote(foreign.path)} ${foreign.why}.`, foreign.fix);
  }
  return readServeConfig(file, read.bytes, path);
}

export function readServeConfig(
  file: string,
  bytes: Uint8Array,
  shownFile = file,
): LoadedServeConfig {
  const source = readSource({ file: shownFile, bytes });
  if (!source.ok) {
    const words = { code: 'SUB_SERVE_SYNTAX', noun: 'configuration', start: START } as const;
    return { ok: false, problems: source.problems.map((one) => reworded(one, words)) };
  }
  const parsed = parseAs(SERVE_FILE, withDefaults(SERVE_FILE, valueOf(source.tree)));
  if (!parsed.ok) {
    const words = {
      title: 'a serve configuration',
      start: START,
      codes: CODES,
      synonyms: SYNONYMS,
    };
    const findings = explainShape(parsed.mismatches.slice(0, PROBLEMS_MAX), source.tree, words);
    return { ok: false, problems: placed(findings, shownFile, source) };
  }
  const findings: SourceFinding[] = [];
  const config = configOf(file, parsed.value, (finding) => findings.push(finding));
  const problems = placed(findings, shownFile, source);
  const isBroken = problems.some(({ level }) => level === 'error');
  return config === undefined || isBroken
    ? { ok: false, problems }
    : { ok: true, config, problems };
}

type ReportFinding = (finding: SourceFinding) => void;

function configOf(
  file: string,
  written: ServeFile,
  report: ReportFinding,
): ServeConfig | undefined {
  const listen = readListen(written.listen, report);
  const publicUrl = checkedUrl(written.public_url, report);
  checkOrigins(written.allowed_origins, report);
  const servers = new Map<string, ServerEntry>();
  for (const [name, server] of Object.entries(written.servers)) {
    const entry = serverEntry(name, server, { file, report });
    if (entry !== undefined) servers.set(name, entry);
  }
  const auth = readAuthConfig(written.auth, {
    file,
    // An address that is none is told as such, and as nothing else.
    isLoopback: listen === undefined || LOOPBACK.has(listen.host),
    publicUrl,
    servers: Object.keys(written.servers),
    report,
  });
  if (listen === undefined) return undefined;
  const { tls, allowed_hosts: allowedHosts, allowed_origins: allowedOrigins, limits } = written;
  const from = (path: string) => resolve(dirname(file), path);
  const keysFile = keysFilePath(written.auth, file);
  const tlsFiles = tls && { cert: from(tls.cert), key: from(tls.key) };
  const watched = [file, ...(keysFile === undefined ? [] : [keysFile])];
  if (tlsFiles !== undefined) watched.push(tlsFiles.cert, tlsFiles.key);
  const given = { file, listen, publicUrl, auth, allowedHosts, allowedOrigins, servers, limits };
  return { ...given, tls: tlsFiles, watched };
}

function readListen(text: string, report: ReportFinding): ListenAddress | undefined {
  const [, six, name, port] = LISTEN.exec(text) ?? [];
  const host = six ?? name;
  if (host !== undefined && Number(port) <= PORT_MAX) return { host, port: Number(port) };
  const message = `${quote(text)} is no address`;
  const fix = 'Write HOST:PORT, like `127.0.0.1:7800` or `[::1]:7800`.';
  report({ code: CODES.value, path: ['listen'], message, fix });
  return undefined;
}

function checkedUrl(text: string | undefined, report: ReportFinding): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && url.username === '' && url.search === '' && url.hash === '';
  if (isPlain && (url.protocol === 'https:' || url.protocol === 'http:')) {
    return text.replace(/\/+$/, '');
  }
  const message = `${quote(text)} is no http or https URL without credentials, query and fragment`;
  report({ code: CODES.value, path: ['public_url'], message, fix: 'Correct it.' });
  return undefined;
}

function checkOrigins(origins: readonly string[], report: ReportFinding): void {
  for (const [index, origin] of origins.entries()) {
    if (URL.canParse(origin) && new URL(origin).origin === origin) continue;
    const message = `${quote(origin)} is no origin`;
    const fix = 'Write scheme, host and port, like `https://app.example.com`.';
    report({ code: CODES.value, path: ['allowed_origins', index], message, fix });
  }
}

/** One entry of `servers`; undefined when it cannot be used, and what is wrong is reported. */
export function serverEntry(
  name: string,
  server: ServeFileServer,
  { file, report }: { readonly file: string; readonly report: ReportFinding },
): ServerEntry | undefined {
  const path = ['servers', name];
  if (!SERVER_NAME.test(name)) {
    const message = `${quote(name)} cannot stand in a path`;
    const fix = 'Use letters, digits, `.`, `_` and `-`.';
    report({ code: CODES.value, path, atKey: true, message, fix });
  }
  if (!checkServer(server, path, report)) return undefined;
  const { command, url } = server;
  if (command !== undefined) {
    const cwd = resolve(dirname(file), server.cwd ?? '.');
    return { kind: 'command', name, command, env: server.env ?? {}, cwd };
  }
  return {
    kind: 'remote',
    name,
    url: url ?? '',
    transport: server.transport ?? 'auto',
    headers: server.headers ?? {},
    headerEnv: server.header_env ?? {},
    bearerEnv: server.bearer_env,
    passToken: server.pass_token === true,
    login: server.login ?? 'shared',
  };
}
