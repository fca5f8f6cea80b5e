// What settings take, and how a value that a person wrote becomes theirs.
import { isAbsolute, join, resolve } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { isLoopbackHost, parseJson } from '../../os/index.ts';

export interface Places {
  /** What `$SUB_HOME` stands for. */
  readonly home: string;
  /** What `~` stands for. */
  readonly userHome: string;
  /** What a relative path starts from. */
  readonly base: string;
}

export type TomlTable = { readonly [key: string]: unknown };

/** A date of TOML is an object, but no table. */
export function isTable(value: unknown): value is TomlTable {
  return isObject(value) && !(value instanceof Date);
}

export interface SettingType<V> {
  /** For messages and for the reference. */
  readonly words: string;
  /** Undefined for a value that does not fit. */
  readonly read: (value: unknown, places: Places) => V | undefined;
  /** What a text of the environment or of a flag stands for; without it, the text itself. */
  readonly fromText?: (text: string) => unknown;
  /** The words among which a misspelt one is looked for. */
  readonly choices?: readonly string[];
  /** The value is not shown: somebody may have put a password into it. */
  readonly isPrivate?: true;
  readonly isPath?: true;
}

export type SinkTarget =
  | { readonly kind: 'ledger' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'off' };

const PATH_BYTES_MAX = 4_096;
const PATTERNS_MAX = 100;
const PATTERN_LENGTH_MAX = 1_000;
const ADDRESS_LENGTH_MAX = 2_048;
const PORT_MAX = 65_535;
const TRUE = new Set(['true', '1', 'on', 'yes']);
const FALSE = new Set(['false', '0', 'off', 'no']);

export function integer(min: number, max: number) {
  return {
    words: `a whole number from ${min} to ${max}`,
    read: (value: unknown) =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
        ? value
        : undefined,
    fromText: (text: string) =>
      /^\d[\d_]{0,20}$/.test(text) ? Number(text.replaceAll('_', '')) : text,
  } satisfies SettingType<number>;
}

export const BOOLEAN = {
  words: 'true or false',
  read: (value: unknown) => (typeof value === 'boolean' ? value : undefined),
  fromText: (text: string) => {
    const word = text.toLowerCase();
    return TRUE.has(word) || (FALSE.has(word) ? false : text);
  },
} satisfies SettingType<boolean>;

export function oneWord<const V extends string>(...choices: readonly V[]): SettingType<V> {
  return {
    words: choices.map((value) => `\`${value}\``).join(' or '),
    read: (value) => choices.find((one) => one === value),
    choices,
  };
}

export function path(bytesMax = PATH_BYTES_MAX): SettingType<string> {
  return {
    words: `a path of at most ${bytesMax} bytes`,
    read: (value, places) => {
      const whole = wholePath(value, places);
      return whole !== undefined && Buffer.byteLength(whole) <= bytesMax ? whole : undefined;
    },
    isPath: true,
  };
}

export const SINK: SettingType<SinkTarget> = {
  words: '`ledger`, `file:PATH` or `off`',
  read: (value, places) => {
    if (value === 'ledger' || value === 'off') return { kind: value };
    const [, name] = /^file:(.*)$/s.exec(typeof value === 'string' ? value : '') ?? [];
    const whole = wholePath(name, places);
    return whole === undefined ? undefined : { kind: 'file', path: whole };
  },
  choices: ['ledger', 'off'],
};

/** Only addresses of this machine: nobody else may ask the ledger. */
export const LISTEN: SettingType<string> = {
  words: '`127.0.0.1:PORT`, `[::1]:PORT`, `localhost:PORT` or `off`',
  read: (value) => {
    if (typeof value !== 'string') return undefined;
    const port = /^(?:127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})$/.exec(value)?.[1];
    const isPort = port !== undefined && Number(port) <= PORT_MAX;
    return value === 'off' || isPort ? value : undefined;
  },
  choices: ['off'],
};

/** Secrets travel from there: encrypted, or not beyond this machine. */
export const ADDRESS: SettingType<string> = {
  words: '`https://HOST`, or `http://` for this machine, with a port and a path if need be',
  read: (value) => {
    const url = typeof value === 'string' ? safeUrl(value) : undefined;
    return url === undefined || url.search + url.hash !== '' ? undefined : String(value);
  },
  isPrivate: true,
};

export const PATTERNS: SettingType<readonly string[]> = {
  words: `a list of at most ${PATTERNS_MAX} regular expressions`,
  read: (value) => (isPatterns(value) ? value : undefined),
  fromText: (text) => parseJson(text) ?? text,
};

function isPatterns(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= PATTERNS_MAX &&
    value.every(
      (item) => typeof item === 'string' && item !== '' && item.length <= PATTERN_LENGTH_MAX,
    )
  );
}

/** A URL without a password that is encrypted, or stays on this machine. */
export function safeUrl(text: string, isLocal = isLoopbackHost): URL | undefined {
  if (text.length > ADDRESS_LENGTH_MAX || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { protocol, hostname, username, password } = url;
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLocal(hostname));
  return isSafe && username + password === '' ? url : undefined;
}

function wholePath(value: unknown, { home, userHome, base }: Places): string | undefined {
  if (typeof value !== 'string' || value === '' || value.includes('\0')) return undefined;
  if (value.startsWith('$SUB_HOME/')) return join(home, value.slice('$SUB_HOME/'.length));
  if (value.startsWith('~/')) return join(userHome, value.slice(2));
  return isAbsolute(value) ? value : resolve(base, value);
}

/** What was probably meant. Loads the comparison only when there is a mistake. */
export async function suggestion(
  word: string,
  known: readonly string[],
  other: string,
): Promise<string> {
  if (known.length === 0) return other;
  const { nearest } = await import('@subluminal/core/nearest');
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
