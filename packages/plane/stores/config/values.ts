// From what a person wrote to what a setting means.
import { isAbsolute, join, resolve } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { parseJson } from '../../os/index.ts';
import { shown } from './config-failure.ts';
import { PATTERN_LENGTH_MAX, PATTERNS_MAX, type SettingType, type SinkTarget } from './settings.ts';

export interface Places {
  /** What `$SUB_HOME` stands for. */
  readonly home: string;
  /** What `~` stands for. */
  readonly userHome: string;
  /** What a relative path starts from. */
  readonly base: string;
}

export type Value = number | boolean | string | null | SinkTarget | readonly string[];

export type TomlTable = { readonly [key: string]: unknown };

/** A date of TOML is an object, but no table. */
export function isTable(value: unknown): value is TomlTable {
  return isObject(value) && !(value instanceof Date);
}

export type SettingRead =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly message: string; readonly choices: readonly string[] };

const PORT_MAX = 65_535;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['on', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['off', false],
  ['no', false],
]);

/** A value of the file, where types are written as such. */
export function readValue(type: SettingType, value: unknown, places: Places): SettingRead {
  switch (type.kind) {
    case 'integer':
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) return wrong(type, value);
      return value >= type.min && value <= type.max ? ok(value) : wrong(type, value);
    case 'boolean':
      return typeof value === 'boolean' ? ok(value) : wrong(type, value);
    case 'choice':
      if (typeof value !== 'string') return wrong(type, value);
      return type.values.includes(value) ? ok(value) : wrong(type, value, type.values);
    case 'path': {
      if (typeof value !== 'string' || !isPath(value)) return wrong(type, value);
      const path = expand(value, places);
      return Buffer.byteLength(path) <= type.bytesMax ? ok(path) : wrong(type, path);
    }
    case 'sink':
      return readSink(type, value, places);
    case 'listen':
      return typeof value === 'string' && isListen(value) ? ok(value) : wrong(type, value, ['off']);
    case 'address':
      return typeof value === 'string' && isAddress(value) ? ok(value) : notAddress(type);
    case 'patterns':
      return isPatterns(value) ? ok(value) : wrong(type, value);
  }
}

/** A value of the environment or a flag, where everything is text. */
export function readText(type: SettingType, text: string, places: Places): SettingRead {
  switch (type.kind) {
    case 'integer':
      return /^\d[\d_]{0,20}$/.test(text)
        ? readValue(type, Number(text.replaceAll('_', '')), places)
        : wrong(type, text);
    case 'boolean': {
      const value = BOOLEANS.get(text.toLowerCase());
      return value === undefined ? wrong(type, text) : ok(value);
    }
    case 'patterns':
      return readValue(type, parseJson(text) ?? text, places);
    case 'choice':
    case 'path':
    case 'sink':
    case 'listen':
    case 'address':
      return readValue(type, text, places);
  }
}

function readSink(type: SettingType, value: unknown, places: Places): SettingRead {
  if (value === 'ledger' || value === 'off') return ok({ kind: value });
  if (typeof value !== 'string') return wrong(type, value);
  const path = value.startsWith('file:') ? value.slice('file:'.length) : '';
  if (isPath(path)) return ok({ kind: 'file', path: expand(path, places) });
  return wrong(type, value, ['ledger', 'off']);
}

/** Only addresses of this machine: nobody else shall ask the ledger. */
function isListen(value: string): boolean {
  if (value === 'off') return true;
  const port = /^(?:127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})$/.exec(value)?.[1];
  return port !== undefined && Number(port) <= PORT_MAX;
}

const ADDRESS_LENGTH_MAX = 2_048;
const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Secrets travel from there: encrypted, or not beyond this machine. */
function isAddress(value: string): boolean {
  if (value.length > ADDRESS_LENGTH_MAX || !URL.canParse(value)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(value);
  if (username + password + search + hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOCAL_HOST.test(hostname));
}

/** Not shown: somebody may have put a password into it. */
function notAddress(type: SettingType): SettingRead {
  return { ok: false, message: `expected ${describeType(type)}`, choices: [] };
}

function isPatterns(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= PATTERNS_MAX &&
    value.every(
      (item) => typeof item === 'string' && item !== '' && item.length <= PATTERN_LENGTH_MAX,
    )
  );
}

function isPath(value: string): boolean {
  return value !== '' && !value.includes('\0');
}

function expand(path: string, { home, userHome, base }: Places): string {
  if (path.startsWith('$SUB_HOME/')) return join(home, path.slice('$SUB_HOME/'.length));
  if (path.startsWith('~/')) return join(userHome, path.slice(2));
  return isAbsolute(path) ? path : resolve(base, path);
}

function ok(value: Value): SettingRead {
  return { ok: true, value };
}

function wrong(type: SettingType, value: unknown, choices: readonly string[] = []): SettingRead {
  return { ok: false, message: `expected ${describeType(type)}, got ${shown(value)}`, choices };
}

/** A type in words, for messages and for the reference. */
export function describeType(type: SettingType): string {
  switch (type.kind) {
    case 'integer':
      return `a whole number from ${type.min} to ${type.max}`;
    case 'boolean':
      return 'true or false';
    case 'choice':
      return type.values.map((value) => `\`${value}\``).join(' or ');
    case 'path':
      return `a path of at most ${type.bytesMax} bytes`;
    case 'sink':
      return '`ledger`, `file:PATH` or `off`';
    case 'listen':
      return '`127.0.0.1:PORT`, `[::1]:PORT`, `localhost:PORT` or `off`';
    case 'address':
      return '`https://HOST`, or `http://` for this machine, with a port and a path if need be';
    case 'patterns':
      return `a list of at most ${PATTERNS_MAX} regular expressions`;
  }
}

/** What was probably meant. Loads the comparison only when there is a mistake. */
export async function suggestion(
  word: string,
  known: readonly string[],
  other: string,
): Promise<string> {
  if (known.length === 0) return other;
  const { nearest } = await import('@subluminal/core/policy');
  const near = nearest(word, known) ?? nearest(word.split('.').at(-1) ?? '', known);
  return near === undefined ? other : `Did you mean \`${near}\`?`;
}

/**
 * Variables that no secret may be injected as or taken from: they say how a process starts, what it
 * loads, whom it trusts or who it is. Removing or setting one would change the server.
 */
const NAMES: ReadonlySet<string> = new Set([
  // The process and its user.
  ...['PATH', 'PATHEXT', 'HOME', 'USERPROFILE', 'SHELL', 'COMSPEC', 'USER', 'LOGNAME', 'USERNAME'],
  ...['PWD', 'OLDPWD', 'TMPDIR', 'TMP', 'TEMP', 'TERM', 'LANG', 'LANGUAGE', 'TZ', 'SYSTEMROOT'],
  // Shells.
  ...['ENV', 'BASH_ENV', 'BASHOPTS', 'SHELLOPTS', 'IFS', 'CDPATH', 'PS4', 'PROMPT_COMMAND'],
  ...['ZDOTDIR', 'FPATH'],
  // Runtimes.
  ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_EXTRA_CA_CERTS', 'NODE_TLS_REJECT_UNAUTHORIZED'],
  ...['NODE_REPL_EXTERNAL_MODULE', 'NODE_V8_COVERAGE', 'NODE_REDIRECT_WARNINGS', 'NODE_DEBUG'],
  ...['ELECTRON_RUN_AS_NODE', 'NPM_CONFIG_NODE_OPTIONS', 'NPM_CONFIG_SCRIPT_SHELL'],
  ...['RUBYOPT', 'RUBYLIB', 'GEM_PATH', 'GEM_HOME', 'PERL5OPT', 'PERL5LIB', 'PERL5DB', 'PERLLIB'],
  ...['CLASSPATH', 'JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS', 'JAVA_HOME'],
  ...['DOTNET_STARTUP_HOOKS', 'COR_ENABLE_PROFILING', 'COR_PROFILER', 'COR_PROFILER_PATH'],
  ...['CORECLR_ENABLE_PROFILING', 'CORECLR_PROFILER', 'CORECLR_PROFILER_PATH', 'GODEBUG'],
  // The C library.
  ...['GCONV_PATH', 'LOCPATH', 'NLSPATH', 'GLIBC_TUNABLES', 'HOSTALIASES', 'RES_OPTIONS'],
  // Programs that others start, and whom they trust.
  ...['GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_EXEC_PATH', 'GIT_ASKPASS', 'GIT_EXTERNAL_DIFF'],
  ...['GIT_PAGER', 'GIT_EDITOR', 'GIT_PROXY_COMMAND', 'SSH_ASKPASS', 'SUDO_ASKPASS'],
  ...['EDITOR', 'VISUAL', 'PAGER', 'BROWSER', 'LESSOPEN', 'LESSCLOSE', 'MANPAGER'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'OPENSSL_CONF', 'OPENSSL_MODULES', 'OPENSSL_ENGINES'],
]);
const PREFIXES = ['SUB_', 'LD_', 'DYLD_', 'LC_', 'MALLOC_', 'BASH_FUNC_', 'GIT_CONFIG_'];
/** Python's own have no underscore behind the word, unlike a `PYTHON_TOKEN`. */
const PYTHON = /^PYTHON[A-Z]/;

/** In any case: some systems and some programs see no difference. */
export function isReservedName(name: string): boolean {
  const upper = name.toUpperCase();
  return (
    NAMES.has(upper) || PREFIXES.some((prefix) => upper.startsWith(prefix)) || PYTHON.test(upper)
  );
}
