// The configuration: defaults, then config.toml, then the environment, then flags; the later wins.
import { isFailure } from '@subluminal/contracts';
import { decodeUtf8, fileProblem, readRegularFile } from '../../os/index.ts';
import type { ApprovalSettings } from './approval-settings.ts';
import { type ConfigFailure, configFailure, formatConfigFailure, shown } from './config-failure.ts';
import { type Env, type HomePaths, homePaths, userHome } from './home-paths.ts';
import { locate } from './locate.ts';
import { readServers, type Servers } from './servers.ts';
import { type Config, isSettingKey, SETTING_KEYS, SETTINGS, type SettingKey } from './settings.ts';
import {
  isTable,
  type Places,
  readText,
  readValue,
  type SettingRead,
  suggestion,
  type Value,
} from './values.ts';

export interface LoadOptions {
  readonly env: Env;
  /** What the command line gave, by the names of the flags. */
  readonly flags?: { readonly [flag: string]: string | undefined };
  /** What relative paths in the environment and in flags start from. */
  readonly cwd: string;
}

/** Where a value came from. */
export type Origin = 'default' | 'file' | 'env' | 'flag';

export type LoadResult =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly origins: { readonly [K in SettingKey]: Origin };
      readonly paths: HomePaths;
      /** What the file says about single servers; none of it comes from anywhere else. */
      readonly servers: Servers;
      /** How people are asked; undefined where the file says nothing about it. */
      readonly approvals: ApprovalSettings | undefined;
      /** What production would refuse, and development only tells of. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly ConfigFailure[] };

/** A value that the file, the environment, a flag or the default gives for a setting. */
interface GivenSetting {
  readonly key: SettingKey;
  readonly origin: Origin;
  readonly where: string;
  readonly read: SettingRead;
}

interface FileSettings {
  readonly written: readonly GivenSetting[];
  readonly servers: Servers;
  readonly approvals: ApprovalSettings | undefined;
  readonly problems: readonly ConfigFailure[];
  readonly isThere: boolean;
}

interface ConfigText {
  readonly path: string;
  readonly text: string;
}

const FILE_BYTES_MAX = 1_048_576;
const DEPTH_MAX = 16;
const PROBLEMS_MAX = 100;

export async function loadConfig(options: LoadOptions): Promise<LoadResult> {
  const paths = homePaths(options.env);
  const shared = { home: paths.home, userHome: userHome(options.env) };
  const fromFile = await readFileSettings(paths.config, { ...shared, base: paths.home });
  const fromHere = readEnvironment(options, { ...shared, base: options.cwd });
  const chosen = [...fromFile.written, ...fromHere];
  const written = [...defaults(shared, new Set(chosen.map(({ key }) => key))), ...chosen];
  const faults = written.flatMap(({ where, key, read }) =>
    read.ok ? [] : [{ where, key, ...read }],
  );
  const found = [...fromFile.problems, ...(await Promise.all(faults.map(valueProblem)))];
  found.push(...(await patternProblems(written)));
  const unsafe = fromFile.isThere ? unsafeFile(paths.config) : undefined;
  // A file that others can write does not say itself that nobody has to mind.
  if (unsafe !== undefined && !saysDevelopment(fromHere)) found.push(unsafe);
  if (found.length > 0) return { ok: false, problems: found.slice(0, PROBLEMS_MAX) };
  const { servers, approvals } = fromFile;
  const warnings = unsafe === undefined ? [] : [formatConfigFailure(unsafe)];
  return { ok: true, ...settle(written), paths, servers, approvals, warnings };
}

function unsafeFile(path: string): ConfigFailure | undefined {
  const problem = fileProblem(path);
  if (problem === undefined) return undefined;
  const { path: where, why: message, fix } = problem;
  return configFailure('SUB_FILE_UNSAFE', where, { message, fix });
}

function saysDevelopment(written: readonly GivenSetting[]): boolean {
  const said = written.findLast(({ key }) => key === 'profile')?.read;
  return said?.ok === true && said.value === 'development';
}

/** What holds for the settings that nobody has chosen. */
function defaults(
  shared: Omit<Places, 'base'>,
  chosen: ReadonlySet<SettingKey>,
): readonly GivenSetting[] {
  const places = { ...shared, base: shared.home };
  return SETTING_KEYS.filter((key) => !chosen.has(key)).map((key) => {
    const { type, fallback } = SETTINGS[key];
    const read: SettingRead =
      fallback === undefined ? { ok: true, value: null } : readValue(type, fallback, places);
    return { key, origin: 'default', where: `the default of ${key}`, read };
  });
}

/** Empty variables count as unset, as everywhere. */
function readEnvironment(
  { env, flags = {} }: LoadOptions,
  places: Places,
): readonly GivenSetting[] {
  const texts = SETTING_KEYS.flatMap((key) => {
    const setting = SETTINGS[key];
    const flag = setting.flag === undefined ? undefined : flags[setting.flag];
    return [
      { key, origin: 'env' as const, where: setting.env, text: env[setting.env] || undefined },
      { key, origin: 'flag' as const, where: `--${setting.flag}`, text: flag },
    ];
  });
  return texts.flatMap(({ text, ...rest }) =>
    text === undefined ? [] : [{ ...rest, read: readText(SETTINGS[rest.key].type, text, places) }],
  );
}

/** The last value of each setting. */
function settle(written: readonly GivenSetting[]) {
  const values: Partial<Record<SettingKey, Value>> = {};
  const origins: Partial<Record<SettingKey, Origin>> = {};
  for (const { key, origin, read } of written) {
    if (!read.ok) continue;
    values[key] = read.value;
    origins[key] = origin;
  }
  if (!isConfig(values) || !isComplete(origins)) throw new Error('a setting has no value');
  return { config: values, origins };
}

/** The readers give each kind of setting its type, so what is left to see is that all are there. */
function isConfig(values: Partial<Record<SettingKey, Value>>): values is Config {
  return isComplete(values);
}

function isComplete<V>(map: Partial<Record<SettingKey, V>>): map is Record<SettingKey, V> {
  return SETTING_KEYS.every((key) => Object.hasOwn(map, key));
}

async function readFileSettings(path: string, places: Places): Promise<FileSettings> {
  const content = readConfigFile(path);
  if (content === undefined) return nothing([]);
  if (isFailure(content)) return nothing([content]);
  // Only who has a file pays for its parser.
  const { parse, TomlError } = await import('smol-toml');
  try {
    const { servers, approvals, ...settings } = parse(content.text, { maxDepth: DEPTH_MAX });
    const read = readSettings(content, leavesOf(settings), places);
    const named = await readServers(servers, (keyPath) => whereOf(content, keyPath));
    const unknown = await Promise.all(read.unknown.slice(0, PROBLEMS_MAX).map(unknownKey));
    const asked = await approvalsIn(approvals, content);
    const problems = [...unknown, ...named.problems, ...asked.problems];
    const { written } = read;
    const isThere = true;
    return { written, servers: named.servers, approvals: asked.approvals, problems, isThere };
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const where = `${path}:${cause.line}:${cause.column}`;
    const message = shown(cause.message.split('\n')[0]?.replace(/^Invalid TOML document: /, ''));
    const fix = 'Correct the text at that place; most often it is a missing quote.';
    return nothing([configFailure('SUB_CONFIG_SYNTAX', where, { message, fix })]);
  }
}

/** Only who asks people pays for reading how. */
async function approvalsIn(value: unknown, content: ConfigText) {
  if (value === undefined) return { approvals: undefined, problems: [] };
  const { readApprovals } = await import('./approval-settings.ts');
  return readApprovals(value, (keyPath) => whereOf(content, keyPath));
}

function nothing(problems: readonly ConfigFailure[]): FileSettings {
  return { written: [], servers: new Map(), approvals: undefined, problems, isThere: false };
}

function readSettings(content: ConfigText, leaves: readonly ConfigLeaf[], places: Places) {
  const written: GivenSetting[] = [];
  const unknown: UnknownKey[] = [];
  for (const { path, value } of leaves) {
    const key = path.join('.');
    const where = whereOf(content, path);
    if (!isSettingKey(key)) unknown.push({ key, where });
    // `"limits.queue_bytes"` in quotes is one word: another key than `queue_bytes` of [limits].
    else if (path.length !== key.split('.').length) unknown.push({ key, where, isQuoted: true });
    else {
      const read = readValue(SETTINGS[key].type, value, places);
      written.push({ key, origin: 'file', where, read });
    }
  }
  return { written, unknown };
}

/** Undefined when there is no file. */
function readConfigFile(path: string): ConfigText | ConfigFailure | undefined {
  const unreadable = (message: string, fix: string) =>
    configFailure('SUB_FILE_READ', path, { message, fix });
  const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX });
  if (read.kind === 'missing' && read.code === 'ENOENT') return undefined;
  if (read.kind === 'missing') {
    return unreadable(`cannot be read (${read.code})`, 'Check its permissions.');
  }
  if (read.kind === 'unreadable') return unreadable(read.why, read.fix);
  const text = decodeUtf8(read.bytes);
  return text === undefined
    ? unreadable('is not valid UTF-8', 'Save the file as UTF-8.')
    : { path, text };
}

interface ConfigLeaf {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Every value that stands under a key; tables are walked through, lists are values. */
function leavesOf(table: object, path: readonly string[] = []): readonly ConfigLeaf[] {
  return Object.entries(table).flatMap(([name, value]: [string, unknown]) => {
    const here = [...path, name];
    if (!isTable(value)) return [{ path: here, value }];
    // An empty table of a wrong name is a mistake, too.
    if (Object.keys(value).length === 0 && !isSection(here.join('.'))) {
      return [{ path: here, value }];
    }
    // No setting stands so deep: the table is told as an unknown key, whatever is in it.
    return here.length >= DEPTH_MAX ? [{ path: here, value }] : leavesOf(value, here);
  });
}

function isSection(name: string): boolean {
  return SETTING_KEYS.some((key) => key.startsWith(`${name}.`));
}

function knownIn(table: string): string {
  const keys = SETTING_KEYS.filter((key) => key.startsWith(`${table}.`));
  const names = keys.map((key) => `\`${key.slice(table.length + 1)}\``);
  return `Known in [${table}]: ${names.join(', ')}.`;
}

/** Every table that the file may have. */
const TABLES: readonly string[] = [
  ...new Set(SETTING_KEYS.flatMap((key) => key.split('.').slice(0, -1))),
  'servers',
  'approvals',
];

function whereOf({ path, text }: ConfigText, keyPath: readonly string[]): string {
  const { line, column } = locate(text, keyPath);
  return `${path}:${line}:${column}`;
}

interface UnknownKey {
  readonly key: string;
  readonly where: string;
  /** It has the dots of a setting inside of quotes. */
  readonly isQuoted?: true;
}

async function unknownKey({ key, where, isQuoted }: UnknownKey): Promise<ConfigFailure> {
  const failed = (message: string, fix: string) =>
    configFailure('SUB_CONFIG_KEY', where, { message, fix });
  if (isQuoted) {
    return failed(`unknown key \`"${key}"\``, `Write \`${key}\` without the quotes.`);
  }
  if (isSection(key)) {
    const first = SETTING_KEYS.find((one) => one.startsWith(`${key}.`)) ?? key;
    const name = first.slice(key.length + 1);
    const fix = `Write [${key}], and \`${name} = …\` below it.`;
    return failed(`\`${key}\` is a table of settings, not a setting`, fix);
  }
  const [table = ''] = key.split('.');
  const other = 'See docs/reference/config.md for all keys.';
  const near = isSection(table) ? knownIn(table) : await suggestion(table, TABLES, other);
  return failed(`unknown key \`${shown(key)}\``, await suggestion(key, SETTING_KEYS, near));
}

async function valueProblem(fault: {
  readonly key: SettingKey;
  readonly where: string;
  readonly message: string;
  readonly choices: readonly string[];
}): Promise<ConfigFailure> {
  const { key, where, message, choices } = fault;
  const word = /, got (.*)$/s.exec(message)?.[1] ?? '';
  const other = `Write such a value, or set ${SETTINGS[key].env}.`;
  const fix = await suggestion(word, choices, other);
  return configFailure('SUB_CONFIG_VALUE', where, { message: `\`${key}\`: ${message}`, fix });
}

/** What RE2 refuses; the engine is loaded only when there is something to check. */
async function patternProblems(
  written: readonly GivenSetting[],
): Promise<readonly ConfigFailure[]> {
  const lists = written.flatMap(({ key, where, read }) =>
    read.ok && Array.isArray(read.value)
      ? read.value.map((pattern: unknown) => ({ key, where, pattern: String(pattern) }))
      : [],
  );
  if (lists.length === 0) return [];
  const { loadPatternChecks } = await import('@subluminal/core/policy');
  const checks = await loadPatternChecks();
  return lists.flatMap(({ key, where, pattern }): readonly ConfigFailure[] => {
    const fault = checks.regex(pattern);
    if (fault === undefined) return [];
    const reason = shown(typeof fault === 'string' ? fault : fault.message);
    const message = `\`${key}\`: \`${shown(pattern)}\` does not compile: ${reason}`;
    const fix = 'Write it in RE2 syntax.';
    return [configFailure('SUB_CONFIG_VALUE', where, { message, fix })];
  });
}
