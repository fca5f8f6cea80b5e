// The configuration: defaults, then config.toml, then the environment, then flags; the later wins.
import { resolve } from 'node:path';
import { isFailure, type ModelPrice } from '@subluminal/contracts';
import { decodeUtf8, fileProblem, readRegularFile } from '../../os/index.ts';
import type { ApprovalSettings } from './approval-settings.ts';
import { type ConfigFailure, configFailure, formatConfigFailure, shown } from './config-failure.ts';
import { type Env, type HomePaths, homePaths, userHome } from './home-paths.ts';
import { locate } from './locate.ts';
import { readServers, type Servers } from './servers.ts';
import { type Config, isSettingKey, SETTING_KEYS, SETTINGS, type SettingKey } from './settings.ts';
import { configFailures, type KeyPath } from './table-reader.ts';
import { isTable, type Places, suggestion } from './values.ts';

export interface LoadOptions {
  readonly env: Env;
  /** What the command line gave, by the names of the flags. */
  readonly flags?: { readonly [flag: string]: string | undefined };
  /** What relative paths in the environment and in flags start from. */
  readonly cwd: string;
  /** Read instead of `config.toml` of the home. */
  readonly file?: string | undefined;
}

/** Where a value came from. */
export type Origin = 'default' | 'file' | 'env' | 'flag';

/** Whether a channel, or a program that knows the address of the HTTP API, may answer approvals. */
export function mayAnswerElsewhere({
  approvals,
  config,
}: Pick<Extract<LoadResult, { ok: true }>, 'approvals' | 'config'>): boolean {
  const { desktop, webhook, slack, listen } = approvals ?? {};
  return [desktop, webhook, slack, listen].some(Boolean) || !config['ledger.http'].endsWith(':0');
}

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
      /** What models cost here; the list prices hold for all others. */
      readonly prices: readonly ModelPrice[];
      /** What production refuses, and development only reports. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly ConfigFailure[] };

/** What the file, the environment, a flag or the default gives for a setting. */
interface GivenSetting {
  readonly key: SettingKey;
  readonly origin: Origin;
  readonly where: string;
  /** As it was given. */
  readonly value: unknown;
}

/** The same, read; undefined when the value does not fit. */
interface SettingRead extends GivenSetting {
  readonly read: unknown;
}

interface FileSettings {
  readonly given: readonly GivenSetting[];
  readonly servers: Servers;
  readonly approvals: ApprovalSettings | undefined;
  readonly prices: readonly ModelPrice[];
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
  const own = homePaths(options.env);
  const { file: other, cwd } = options;
  const paths = other === undefined ? own : { ...own, config: resolve(cwd, other) };
  const places = { home: paths.home, userHome: userHome(options.env), base: paths.home };
  const file = await readFileSettings(paths.config);
  const fromFile = file.given.map(readSetting(places));
  const fromHere = environmentSettings(options).map(readSetting({ ...places, base: options.cwd }));
  const chosen = new Set([...fromFile, ...fromHere].map(({ key }) => key));
  const fallbacks = SETTING_KEYS.filter((key) => !chosen.has(key)).map(defaultOf);
  const settings = [...fallbacks.map(readSetting(places)), ...fromFile, ...fromHere];
  const faults = settings.filter(({ read }) => read === undefined);
  const found = [
    ...file.problems,
    ...(await Promise.all(faults.map(valueFailure))),
    ...(await patternProblems(settings)),
  ];
  const unsafe = file.isThere ? unsafeFile(paths.config) : undefined;
  // A file that others can write cannot choose the profile that lets it be used.
  const profile = fromHere.findLast(({ key }) => key === 'profile')?.read;
  if (unsafe !== undefined && profile !== 'development') found.push(unsafe);
  if (found.length > 0) return { ok: false, problems: found.slice(0, PROBLEMS_MAX) };
  const { servers, approvals, prices } = file;
  const warnings = unsafe === undefined ? [] : [formatConfigFailure(unsafe)];
  return { ok: true, ...settle(settings), paths, servers, approvals, prices, warnings };
}

function readSetting(places: Places): (given: GivenSetting) => SettingRead {
  return (given) => {
    const { key, value } = given;
    return { ...given, read: value === null ? null : SETTINGS[key].type.read(value, places) };
  };
}

function unsafeFile(path: string): ConfigFailure | undefined {
  const problem = fileProblem(path);
  if (problem === undefined) return undefined;
  const { path: where, why: message, fix } = problem;
  return configFailure('SUB_FILE_UNSAFE', where, { message, fix });
}

function defaultOf(key: SettingKey): GivenSetting {
  const value = SETTINGS[key].fallback ?? null;
  return { key, origin: 'default', where: `the default of ${key}`, value };
}

/** Empty variables count as unset, as everywhere. */
function environmentSettings({ env, flags = {} }: LoadOptions): readonly GivenSetting[] {
  return SETTING_KEYS.flatMap((key) => {
    const { env: variable, flag = '', type } = SETTINGS[key];
    const texts = [
      { origin: 'env', where: variable, text: env[variable] || undefined },
      { origin: 'flag', where: `--${flag}`, text: flags[flag] },
    ] as const;
    return texts.flatMap(({ text, ...rest }) =>
      text === undefined ? [] : [{ key, ...rest, value: type.fromText?.(text) ?? text }],
    );
  });
}

/** The last value of each setting. */
function settle(settings: readonly SettingRead[]) {
  const values: Partial<Record<SettingKey, unknown>> = {};
  const origins: Partial<Record<SettingKey, Origin>> = {};
  for (const { key, origin, read } of settings) {
    values[key] = read;
    origins[key] = origin;
  }
  if (!isConfig(values) || !isComplete(origins)) throw new Error('a setting has no value');
  return { config: values, origins };
}

/** The types of the settings read values of their types, so all that is checked is that none is missing. */
function isConfig(values: Partial<Record<SettingKey, unknown>>): values is Config {
  return isComplete(values);
}

function isComplete<V>(map: Partial<Record<SettingKey, V>>): map is Record<SettingKey, V> {
  return SETTING_KEYS.every((key) => Object.hasOwn(map, key));
}

async function readFileSettings(path: string): Promise<FileSettings> {
  const content = readConfigFile(path);
  if (content === undefined) return nothing([]);
  if (isFailure(content)) return nothing([content]);
  // A command without a file does not load the parser.
  const { parse, TomlError } = await import('smol-toml');
  try {
    const { servers, approvals, prices, ...tables } = parse(content.text, { maxDepth: DEPTH_MAX });
    const where = (keyPath: KeyPath) => whereOf(content, keyPath);
    const { given, unknown } = readLeaves(leavesOf(tables), where);
    const named = await readServers(servers);
    const asked = await approvalsIn(approvals);
    const priced = await pricesIn(prices);
    const faults = [...named.faults, ...asked.faults, ...priced.faults];
    const problems = [
      ...(await Promise.all(unknown.slice(0, PROBLEMS_MAX).map(unknownKey))),
      ...(await configFailures(faults, where)),
    ];
    const read = { servers: named.servers, approvals: asked.settings, prices: priced.prices };
    return { given, ...read, problems, isThere: true };
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const where = `${path}:${cause.line}:${cause.column}`;
    const message = shown(cause.message.split('\n')[0]?.replace(/^Invalid TOML document: /, ''));
    const fix = 'Correct the text at that place; most often it is a missing quote.';
    return nothing([configFailure('SUB_CONFIG_SYNTAX', where, { message, fix })]);
  }
}

/** Loads the reader only for a file that has this table. */
async function approvalsIn(value: unknown) {
  if (value === undefined) return { settings: undefined, faults: [] };
  const { readApprovals } = await import('./approval-settings.ts');
  return readApprovals(value);
}

/** Loads the reader only for a file that has this list. */
async function pricesIn(value: unknown) {
  if (value === undefined) return { prices: [], faults: [] };
  const { readPrices } = await import('./price-settings.ts');
  return readPrices(value);
}

function nothing(problems: readonly ConfigFailure[]): FileSettings {
  const said = { servers: new Map(), approvals: undefined, prices: [] };
  return { given: [], ...said, problems, isThere: false };
}

function readLeaves(leaves: readonly ConfigLeaf[], whereIs: (path: KeyPath) => string) {
  const given: GivenSetting[] = [];
  const unknown: UnknownKey[] = [];
  for (const { path, value } of leaves) {
    const key = path.join('.');
    const where = whereIs(path);
    if (!isSettingKey(key)) unknown.push({ key, where });
    // `"limits.queue_bytes"` in quotes is one word: another key than `queue_bytes` of [limits].
    else if (path.length !== key.split('.').length) unknown.push({ key, where, isQuoted: true });
    else given.push({ key, origin: 'file', where, value });
  }
  return { given, unknown };
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
  readonly path: KeyPath;
  readonly value: unknown;
}

/** Every value that stands under a key; tables are walked through, lists are values. */
function leavesOf(table: object, path: KeyPath = []): readonly ConfigLeaf[] {
  return Object.entries(table).flatMap(([name, value]: [string, unknown]) => {
    const here = [...path, name];
    if (!isTable(value)) return [{ path: here, value }];
    // An empty table of a wrong name is a mistake, too.
    const isEmpty = Object.keys(value).length === 0 && namesIn(here.join('.')).length === 0;
    // No setting stands so deep: the table is an unknown key, whatever is in it.
    return isEmpty || here.length >= DEPTH_MAX ? [{ path: here, value }] : leavesOf(value, here);
  });
}

/** The settings of a table, without its name. */
function namesIn(table: string): readonly string[] {
  const prefix = `${table}.`;
  const keys = SETTING_KEYS.filter((key) => key.startsWith(prefix));
  return keys.map((key) => key.slice(prefix.length));
}

/** Every table that the file may have. */
const TABLES: readonly string[] = [
  ...new Set(SETTING_KEYS.flatMap((key) => key.split('.').slice(0, -1))),
  'servers',
  'approvals',
  'prices',
];

function whereOf({ path, text }: ConfigText, keyPath: KeyPath): string {
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
  const [name] = namesIn(key);
  if (name !== undefined) {
    const fix = `Write [${key}], and \`${name} = …\` below it.`;
    return failed(`\`${key}\` is a table of settings, not a setting`, fix);
  }
  const [table = ''] = key.split('.');
  const names = namesIn(table).map((one) => `\`${one}\``);
  const near =
    names.length > 0
      ? `Known in [${table}]: ${names.join(', ')}.`
      : await suggestion(table, TABLES, 'See docs/reference/config.md for all keys.');
  return failed(`unknown key \`${shown(key)}\``, await suggestion(key, SETTING_KEYS, near));
}

async function valueFailure({ key, where, value }: SettingRead): Promise<ConfigFailure> {
  const { type, env } = SETTINGS[key];
  const got = type.isPrivate ? '' : `, got ${shown(value)}`;
  const word = typeof value === 'string' ? value : '';
  const fix = await suggestion(word, type.choices ?? [], `Write such a value, or set ${env}.`);
  const message = `\`${key}\`: expected ${type.words}${got}`;
  return configFailure('SUB_CONFIG_VALUE', where, { message, fix });
}

/** What RE2 refuses; the engine is loaded only when there is something to check. */
async function patternProblems(
  settings: readonly SettingRead[],
): Promise<readonly ConfigFailure[]> {
  const lists = settings.flatMap(({ key, where, read }) =>
    Array.isArray(read)
      ? read.map((pattern: unknown) => ({ key, where, pattern: String(pattern) }))
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
