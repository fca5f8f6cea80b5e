// Writes the command of an entry that starts `sub shim`, and recognizes such a command.
import { definedFields } from '@subluminal/contracts';
import type { GovernedCommand, ShimCall } from './types.ts';

interface ServerStart {
  readonly name: string;
  /** The program of the server and all its arguments; none for a server with an address. */
  readonly words: readonly string[];
  /** The options that say how a server with an address is reached. */
  readonly remote?: readonly string[];
  /** The variables that say nothing to the shim. */
  readonly serverOnly?: readonly string[];
}

/** What the entry starts from now on: the program and all its arguments. */
export function governCommand(
  { name, words, remote, serverOnly = [] }: ServerStart,
  { program, flags }: Pick<ShimCall, 'program' | 'flags'>,
): readonly string[] {
  // A value that looks like an option has to stand in the same word as its option.
  const named = name.startsWith('-') ? [`--server-name=${name}`] : ['--server-name', name];
  const kept = serverOnly.length === 0 ? [] : ['--server-env', serverOnly.join(',')];
  const server = remote ?? ['--', ...words];
  return [...program, 'shim', ...named, ...kept, ...flags, ...server];
}

const SUB_NAMES: ReadonlySet<string> = new Set([
  'sub',
  'sub.mjs',
  'sub.cjs',
  'sub.js',
  'sub.cmd',
  'sub.exe',
]);
/** What may start `sub`. Anything else in front of it could be a program of its own. */
const LAUNCHERS: ReadonlySet<string> = new Set(
  'node nodejs bun bunx npx npm pnpm pnpx yarn'.split(' '),
);
/** They take a file, the others the name of a package. */
const RUNTIMES = /^(?:node|nodejs|bun)(?:\.exe)?$/;
/** Between the launcher and `sub`: options without a value of their own, and `npm exec --`. */
const BETWEEN = /^(?:-[A-Za-z]|--[A-Za-z][A-Za-z-]*(?:=\d+)?|exec|dlx|x|run|--)$/;
const BETWEEN_MAX = 16;

/**
 * `sub shim …`, however `sub` itself is started; what stands behind `--` is the server's own.
 * Undefined when the command starts no shim. This keeps a second shim from being put before it, and
 * proves nothing: a package or a script of the project may be called `sub`, too.
 */
export function readShimCommand(
  command: string | undefined,
  args: readonly string[] = [],
): GovernedCommand | undefined {
  if (command === undefined) return undefined;
  const words = [command, ...args];
  const sub = words.findIndex((word) => SUB_NAMES.has(baseName(word)));
  if (sub === -1 || words[sub + 1] !== 'shim' || !isLaunch(words.slice(0, sub))) return undefined;
  if (isOfFolder(words, sub)) return undefined;
  const own = words.slice(sub + 2);
  const end = own.indexOf('--');
  const flags = end === -1 ? own : own.slice(0, end);
  const serverOnly = flagIn(flags, 'server-env');
  const [url, urlVariable] = end === -1 ? [flagIn(flags, 'url'), flagIn(flags, 'url-env')] : [];
  return {
    program: words.slice(0, sub + 1),
    serverName: flagIn(flags, 'server-name') ?? flagIn(flags, 'server-id'),
    flags,
    ...definedFields({ serverOnly: serverOnly?.split(',') }),
    wrapId: flagIn(flags, 'wrap'),
    command: end === -1 ? [] : own.slice(end + 1),
    ...((url ?? urlVariable) !== undefined && {
      remote: { url, urlVariable, flags: remoteFlagsIn(flags) },
    }),
  };
}

/** The options that say how a server with an address is reached. */
export const REMOTE_FLAGS: readonly string[] = [
  ...['url', 'url-env', 'header', 'header-env', 'bearer-env', 'transport'],
  ...['client-id', 'redirect-uri', 'scope'],
];

function remoteFlagsIn(flags: readonly string[]): readonly string[] {
  return flags.flatMap((word, at) => {
    const [, name = '', inWord] = /^--([^=]*)(=[^]*)?$/.exec(word) ?? [];
    if (!REMOTE_FLAGS.includes(name)) return [];
    return inWord === undefined ? [word, ...flags.slice(at + 1, at + 2)] : [word];
  });
}

function isLaunch([launcher, ...between]: readonly string[]): boolean {
  if (launcher === undefined) return true;
  const name = baseName(launcher).replace(/\.(?:exe|cmd)$/, '');
  return (
    LAUNCHERS.has(name) &&
    between.length <= BETWEEN_MAX &&
    between.every((word) => BETWEEN.test(word))
  );
}

/** `./sub`, `node sub.mjs`: a file in the folder that the client is started in may be any program. */
function isOfFolder(words: readonly string[], sub: number): boolean {
  const [first = '', word = ''] = [words[0], words[sub]];
  if (isRelative(first) || isRelative(word)) return true;
  const isFile = sub > 0 && RUNTIMES.test(baseName(first));
  return isFile && !isAbsolute(word);
}

function isRelative(word: string): boolean {
  return /[\\/]/.test(word) && !isAbsolute(word);
}

function isAbsolute(word: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(word);
}

/** The last one counts, as it does for the shim. */
export function flagIn(flags: readonly string[], name: string): string | undefined {
  const at = flags.findLastIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  const word = flags[at];
  return word === `--${name}` ? flags[at + 1] : word?.slice(name.length + 3);
}

/** The last part of a path of any platform. */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

// Which options of `sub shim` can weaken what it does. An entry that a repository brings may start our
// own shim with such options: it looks governed and is not.

export interface FlagContext {
  /** The profile that config.toml gives the user's shims. */
  readonly profile: string;
  /** The variables of the entry that would tell its shim who acts. */
  readonly serverOnly: readonly string[];
  /** The entry names a session of `sub wrap` that runs: its hub checks policy and profile. */
  readonly isInSession: boolean;
  /** In a hosted run: whether this value of the option is what the run says itself. */
  readonly isOfRun?: (flag: RunFlag, value: string) => boolean;
}

export type RunFlag = 'policy' | 'events' | 'governance-endpoint';

interface ShimFlag {
  readonly takesValue: boolean;
  /** Whether an entry with this value is looser than the one that `sub import` would write. */
  readonly loosens: (value: string, context: FlagContext) => boolean;
}

const never = (): boolean => false;
/** Unless the run says the same. */
const apartFromRun =
  (flag: RunFlag): ShimFlag['loosens'] =>
  (value, { isOfRun }) =>
    isOfRun?.(flag, value) !== true;

/** Every option that the shim takes. One that is not listed here counts as loosening. */
export const SHIM_FLAGS: { readonly [name: string]: ShimFlag } = {
  // A repository chooses the name of its entry as freely as this one.
  'server-name': { takesValue: true, loosens: never },
  'server-id': { takesValue: true, loosens: never },
  // `sub import` names the variables that the entry sets; any other one hides who acts.
  'server-env': {
    takesValue: true,
    loosens: (names, { serverOnly }) =>
      names.split(',').some((name) => name !== '' && !serverOnly.includes(name)),
  },
  policy: {
    takesValue: true,
    loosens: (value, context) => !context.isInSession && apartFromRun('policy')(value, context),
  },
  profile: {
    takesValue: true,
    loosens: (value, { profile, isInSession }) =>
      value !== 'production' && value !== profile && !isInSession,
  },
  events: {
    takesValue: true,
    loosens: (value, context) => value !== 'ledger' && apartFromRun('events')(value, context),
  },
  'governance-endpoint': { takesValue: true, loosens: apartFromRun('governance-endpoint') },
  // Which server it is says the entry, as it does by a command.
  url: { takesValue: true, loosens: never },
  'url-env': { takesValue: true, loosens: never },
  header: { takesValue: true, loosens: never },
  'header-env': { takesValue: true, loosens: never },
  'bearer-env': { takesValue: true, loosens: never },
  transport: { takesValue: true, loosens: never },
  // They are for `sub auth login`, which shows what it asks for.
  'client-id': { takesValue: true, loosens: never },
  'redirect-uri': { takesValue: true, loosens: never },
  scope: { takesValue: true, loosens: never },
  // Logs decide nothing.
  'log-level': { takesValue: true, loosens: never },
  verbose: { takesValue: false, loosens: never },
  // A session that is over changes nothing; one that runs says itself what holds.
  wrap: { takesValue: true, loosens: never },
};

const SHOWN_LENGTH_MAX = 120;

/** The options that make an entry looser than what `sub import` would write, as they stand there. */
export function looseFlags(
  { flags }: Pick<GovernedCommand, 'flags'>,
  context: FlagContext,
): readonly string[] {
  const loose: string[] = [];
  for (let at = 0; at < flags.length; at++) {
    const word = flags[at] ?? '';
    const [, name = '', inWord] = /^--([^=]*)(?:=([^]*))?$/.exec(word) ?? [];
    const flag = Object.hasOwn(SHIM_FLAGS, name) ? SHIM_FLAGS[name] : undefined;
    const isApart = flag?.takesValue === true && inWord === undefined;
    const value = isApart ? (flags[at + 1] ?? '') : (inWord ?? '');
    if (isApart) at += 1;
    if (flag !== undefined && !flag.loosens(value, context)) continue;
    loose.push((isApart ? `${word} ${value}` : word).slice(0, SHOWN_LENGTH_MAX));
  }
  return loose;
}
