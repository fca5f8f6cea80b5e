// Makes a client from its description; everything that clients share is here.
import { existsSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { failure, isObject } from '@subluminal/contracts';
import { type JsonObject, readEntry, type ServerContainer } from './entries.ts';
import { planChange } from './plan-change.ts';
import { REMOTE_KEYS } from './remote-entries.ts';
import { baseName } from './shim-command.ts';
import { type BrokenText, type ConfigDocument, readDocument } from './text/document.ts';
import { entryTextAt } from './text/entry-text.ts';
import { valueAt } from './text/plain-data.ts';
import type {
  Client,
  ClientPlace,
  ConfigFailure,
  ConfigFile,
  Format,
  ReadConfig,
  ServerEntry,
  SwitchedOffServer,
  ValuePath,
} from './types.ts';

/** The values of what a description leaves out. */
const DEFAULTS = {
  hasWindow: false,
  expands: [] as Client['expands'],
  expandsWorkspace: false,
  remoteKeys: REMOTE_KEYS,
  mergesFiles: false,
  projectFiles: [] as readonly string[],
  builtInTools: [] as readonly string[],
  serversBeside: (): readonly string[] => [],
  copyFolders: (_place: ClientPlace): readonly string[] => [],
};

interface ClientLayout
  extends Pick<Client, 'id' | 'title' | 'aliases' | 'eventName'>,
    Partial<Pick<Client, keyof typeof DEFAULTS>> {
  /** Commands that start it, in lower case. */
  readonly commands: readonly string[];
  /** Its packages on npm, for `npx PACKAGE`. */
  readonly packages?: readonly string[];
  /** Its bundles on macOS, in lower case and without `.app`. */
  readonly apps?: readonly string[];
  /** The format of all its files. */
  readonly format: Format;
  userFiles(place: ClientPlace): readonly string[];
  /** Those of `projectFiles` that other clients read as well: they are no trace of this one. */
  readonly sharedFiles?: readonly string[];
  /** Folders above the project whose `projectFiles` count too, those that win last. */
  projectsAbove?(place: ClientPlace): readonly string[];
  /** Folders that only this client makes. */
  folders(place: ClientPlace): readonly string[];
  /** Where servers may stand; the rest of the file is not checked closely. */
  readonly inside: readonly ValuePath[];
  containers(root: JsonObject, file: ConfigFile): readonly ServerContainer[];
  /** Servers in places that `sub` does not edit. */
  strays?(root: JsonObject, file: ConfigFile): readonly UngovernableEntry[];
  switchedOff?(root: JsonObject): readonly SwitchedOffServer[];
}

export interface UngovernableEntry {
  readonly name: string;
  readonly path: ValuePath;
  readonly value: unknown;
  readonly obstacle: string;
}

const ENTRIES_MAX = 10_000;

export function createClient(layout: ClientLayout): Client {
  const files = (place: ClientPlace) => filesOf(layout, place);
  return {
    ...DEFAULTS,
    ...layout,
    isStartedBy: (command) => isStartedBy(layout, command),
    files,
    detect: (place) => [...layout.folders(place), ...ownFiles(layout, place)].some(existsSync),
    read: (file, text) => readConfig(layout, file, text),
    plan: (config, chosen, call) => planChange({ config, chosen, call, inside: layout.inside }),
  };
}

function ownFiles(layout: ClientLayout, place: ClientPlace): readonly string[] {
  const { sharedFiles = [] } = layout;
  const paths = filesOf(layout, place).map(({ path }) => path);
  return paths.filter((path) => !sharedFiles.some((name) => path.endsWith(`/${name}`)));
}

/** In the home of the user, a file of the project may be that of the user: then it is the user's, once. */
function filesOf(layout: ClientLayout, place: ClientPlace): readonly ConfigFile[] {
  const { id, format, projectFiles = [] } = layout;
  const inFolder = (folder: string) => projectFiles.map((name) => join(folder, name));
  const above = (layout.projectsAbove?.(place) ?? []).flatMap(inFolder).filter(existsSync);
  const user = layout.userFiles(place);
  const paths = new Set([...user, ...above, ...inFolder(place.project)]);
  return [...paths].map((path) => {
    return { client: id, scope: user.includes(path) ? 'user' : 'project', path, format };
  });
}

const RUNNERS: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx']);

function isStartedBy(
  { commands, packages = [], apps = [] }: ClientLayout,
  words: readonly string[],
) {
  const [command = '', ...args] = words;
  const app = appOf(command, args);
  if (app !== undefined) return apps.includes(app);
  const name = baseName(command)
    .toLowerCase()
    .replace(/\.(?:exe|cmd)$/, '');
  if (!RUNNERS.has(name)) return commands.includes(name);
  const [, scope = '', rest = ''] = /^(@?)([^@]*)/.exec(args.find(isNoFlag) ?? '') ?? [];
  return packages.includes(scope + rest);
}

/** The bundle that a path leads into, or that `open -a` names; undefined for other commands. */
function appOf(command: string, args: readonly string[]): string | undefined {
  const named = baseName(command) === 'open' ? args[args.indexOf('-a') + 1] : undefined;
  if (named !== undefined && args.includes('-a')) {
    return baseName(named)
      .replace(/\.app$/i, '')
      .toLowerCase();
  }
  return /(?:^|\/)([^/]+)\.app(?:\/|$)/i.exec(command)?.[1]?.toLowerCase();
}

function isNoFlag(word: string): boolean {
  return !word.startsWith('-');
}

function readConfig(
  layout: ClientLayout,
  file: ConfigFile,
  text: string,
): ReadConfig | ConfigFailure {
  const config: ReadConfig = { kind: 'config', file, text, entries: [], switchedOff: [] };
  // Clients make empty files, to be filled in.
  if (text.trim() === '') return config;
  const read = readDocument(text, file.format, layout.inside);
  if (read.kind === 'broken') return brokenConfig(layout, file, read);
  const root: unknown = read.document.value;
  if (!isObject(root)) return configFault(layout, file, 'the file is not an object');
  const entries: ServerEntry[] = [];
  const { remoteKeys = DEFAULTS.remoteKeys } = layout;
  for (const container of layout.containers(root, file)) {
    const servers = valueAt(root, container.path);
    if (servers === undefined || servers === null) continue;
    if (!isObject(servers)) {
      const name = container.path.join('.');
      return configFault(layout, file, `\`${name}\` is not a list of servers by their names`);
    }
    for (const [name, one] of Object.entries(servers)) {
      const entry = readEntry(name, one, { ...container, remoteKeys });
      entries.push(withPlace(entry, read.document));
    }
    if (entries.length > ENTRIES_MAX) return configFault(layout, file, 'it lists too many servers');
  }
  entries.push(...(layout.strays?.(root, file) ?? []).slice(0, ENTRIES_MAX).map(ungovernableEntry));
  return { ...config, entries, switchedOff: layout.switchedOff?.(root) ?? [] };
}

function ungovernableEntry({ name, path, value, obstacle }: UngovernableEntry): ServerEntry {
  const entry = readEntry(name, value, { path: [] });
  const at = { command: [...path, 'command'], args: [...path, 'args'] };
  const { remote: _remote, ...rest } = entry;
  if (entry.governed !== undefined) return { ...rest, path, at };
  const transport = entry.transport === 'remote' ? entry.transport : 'unknown';
  return { ...rest, path, at, transport, obstacle };
}

const APART = 'its parts stand in several places of the file: write them together';

/** An entry whose position in the text is uncertain is left alone, and shown as such. */
function withPlace(entry: ServerEntry, document: ConfigDocument): ServerEntry {
  const { at, args, transport, remote, ...rest } = entry;
  if (remote !== undefined && entryTextAt(document, entry.path) === undefined) {
    return { ...rest, at, args, transport, obstacle: APART };
  }
  const isPlaced =
    document.spanAt(at.command) !== undefined &&
    (args === undefined || document.spanAt(at.args) !== undefined);
  return transport === 'stdio' && !isPlaced ? { ...entry, transport: 'unknown' } : entry;
}

const BROKEN_FIXES: { readonly [reason in BrokenText['reason']]?: string } = {
  ambiguous: 'Keep one of the two; which counts is unsure.',
  uneditable: 'Write it more simply.',
  limit: 'Write it more simply.',
};

function brokenConfig(
  layout: ClientLayout,
  file: ConfigFile,
  { line, column, message, reason }: BrokenText,
): ConfigFailure {
  const where = `line ${line}, column ${column}: ${message}`;
  const fix = BROKEN_FIXES[reason];
  if (fix !== undefined) return { ...configFault(layout, file, where), fix };
  // A file with no known ending and no brace was taken for TOML.
  if (file.format === 'toml' && !/\.(?:toml|json[c5]?)$/i.test(file.path)) {
    const fault = 'neither JSON nor TOML, and nothing else can be changed here';
    return { ...configFault(layout, file, fault), fix: 'Name a config in one of these formats.' };
  }
  const format = file.format === 'toml' ? 'TOML' : 'JSON';
  return configFault(layout, file, `no valid ${format}, ${where}`);
}

function configFault({ title }: ClientLayout, { path }: ConfigFile, fault: string): ConfigFailure {
  const message = `${basename(path)}: ${fault}`;
  const fix = `Correct the file; ${title} cannot read it either.`;
  return {
    ...failure('SUB_CLIENT_CONFIG', message.endsWith('.') ? message : `${message}.`, fix),
    path,
  };
}

/** A file that the user has named, read as one of this client's (F-002). */
export function fileAt({ id }: Pick<Client, 'id'>, path: string, text: string): ConfigFile {
  return { client: id, scope: 'user', path, format: formatOf(path, text) };
}

/** Comments are allowed in any JSON here: where a client takes none, it says so itself. */
function formatOf(path: string, text: string): Format {
  const extension = extname(path).toLowerCase();
  if (extension === '.toml') return 'toml';
  if (/^\.json[c5]?$/.test(extension)) return 'jsonc';
  return /^\s*(?:\{|\/[/*])/.test(text) || text.trim() === '' ? 'jsonc' : 'toml';
}
