// `sub import`: plans the change of configs, and makes it.

import { isDeepStrictEqual } from 'node:util';
import { definedFields, type Failure, failure, isFailure } from '@subluminal/contracts';
import type { Servers } from '../../../stores/config/index.ts';
import {
  CLIENTS,
  type Client,
  type ConfigFailure,
  type ReadConfig,
  type RewrittenConfig,
  type ServerEntry,
  type ShimCall,
} from '../index.ts';
import {
  clientPlace,
  loadDiffRedactor,
  type SecretPlace,
  storeAt,
  withCode,
} from '../inspect/adoption-place.ts';
import { type FoundConfig, findConfigs, readBaseText } from '../inspect/find-configs.ts';
import {
  type LooseEntries,
  type LooseOptions,
  looseBeside,
  looseIn,
} from '../inspect/loose-entries.ts';
import { type OwnCall, ownProgram, startsThisSub } from '../inspect/own-program.ts';
import { redactedDiff } from '../inspect/redacted-diff.ts';
import {
  entryKey,
  isUngoverned,
  type ServerView,
  startedCommand,
  viewsOf,
} from '../inspect/server-view.ts';
import { isSharedByGit } from '../inspect/shared-files.ts';
import { boundServers } from '../secrets/bindings.ts';
import {
  movingRewrite,
  type PreparedMoves,
  prepareMoves,
  scrubCopies,
} from '../secrets/move-secrets.ts';
import { type PlainSecret, plainSecretsIn } from '../secrets/plain-secrets.ts';
import type { SecretMove } from '../secrets/plan-moves.ts';
import { applyChange } from '../store/apply-change.ts';
import { configKey } from '../store/change-store.ts';
import type { OnChangeStep } from '../store/config-file.ts';
import { readRecord } from '../store/records.ts';
import { notesOn, splitKey, splitNotes, splitRemotes } from './import-notes.ts';
import { createRewrite, endingWith, policyFlags } from './plan-rewrite.ts';

export interface ImportOptions extends SecretPlace, LooseOptions {
  readonly paths: SecretPlace['paths'];
  /** Every client that is found here without one. */
  readonly client?: Client | undefined;
  readonly configPath?: string | undefined;
  /** Only these; all without any. */
  readonly servers: readonly string[];
  /** Absolute. */
  readonly policyPath?: string | undefined;
  readonly profile?: string | undefined;
  /** Without the files that belong to the project. */
  readonly isUserOnly?: boolean;
  /** Also files of the project that git shares with others. */
  readonly withShared?: boolean;
  readonly own: OwnCall;
  /** `redact.extra_patterns` */
  readonly redactPatterns: readonly string[];
  readonly onStep?: OnChangeStep;
}

export interface ImportFile {
  readonly client: Client;
  readonly path: string;
  readonly servers: readonly ServerView[];
  /** The servers that come under governance now. */
  readonly chosen: readonly string[];
  /** The servers that are governed already and start otherwise from now on. */
  readonly updated: readonly string[];
  readonly isChanged: boolean;
  /** For people; a change of nothing but secrets shows none. */
  readonly diff: string;
  readonly warnings: readonly string[];
  /** The secrets in plain text in the environments of the servers that are governed then. */
  readonly secrets: readonly PlainSecret[];
  /** Those of them that go into the store; none unless the user wants that. */
  readonly moves: readonly SecretMove[];
  readonly found: FoundConfig;
  /** The config without our edits. */
  readonly baseText: string;
  /** By `splitKey`: the servers that are left alone, because their parts stand in several files. */
  readonly split: readonly string[];
  /** Makes the new config from that. */
  readonly rewrite: (baseText: string) => RewrittenConfig | ConfigFailure;
}

export interface ImportPlan {
  readonly kind: 'plan';
  readonly files: readonly ImportFile[];
  /** Of single files; the others can be imported all the same. */
  readonly problems: readonly Failure[];
  readonly warnings: readonly string[];
  /** The files that git shares with others, which are left as they are. */
  readonly shared: readonly string[];
  /** The clients that were looked for. */
  readonly clients: readonly Client[];
  readonly looked: readonly string[];
}

export async function planImport(options: ImportOptions): Promise<ImportPlan | Failure> {
  const place = clientPlace(options);
  const clients =
    options.client === undefined ? CLIENTS.filter((one) => one.detect(place)) : [options.client];
  const configs = findConfigs({ place, clients, configPath: options.configPath });
  const { problems, looked } = configs;
  const split = splitRemotes(configs.found, options.project);
  const context = await importContext(options, await boundServers(options), split);
  if (isFailure(context)) return context;
  const found = configs.found.filter(
    ({ file }) => options.isUserOnly !== true || file.scope === 'user',
  );
  const strange = strangeServer(options.servers, found);
  if (strange !== undefined) return strange;
  const shared = found.filter((one) => isLeftToOthers(one, options));
  const planned = found
    .filter((one) => !shared.includes(one))
    .map((one) => planFile(one, [], context));
  return {
    kind: 'plan',
    files: planned.filter(isFile),
    problems: [
      ...problems.map((one) => withCode('SUB_CLIENT_CONFIG', one)),
      ...planned.filter(isFailure),
    ],
    warnings: [...context.warnings, ...splitNotes(found, options.project)],
    shared: shared.map(({ file }) => file.path),
    clients,
    looked,
  };
}

/** A file that was named, or that an import here has changed already, is the user's own choice. */
function isLeftToOthers(found: FoundConfig, options: ImportOptions): boolean {
  const { file, target, config } = found;
  const { withShared = false, configPath, env, paths } = options;
  if (withShared || configPath !== undefined) return false;
  if (!config.entries.some(isUngoverned) && looseIn(found, options).size === 0) return false;
  const known = readRecord(configKey(target), paths);
  if (known.kind === 'record' && known.record.kind === 'import') return false;
  return isSharedByGit(file, env);
}

/** What the plans of all files share. */
interface ImportContext {
  readonly options: ImportOptions;
  /** By `splitKey`: the servers with an address whose parts stand in several files. */
  readonly split: ReadonlySet<string>;
  readonly call: ShimCall;
  readonly redact: (text: string) => string;
  /** What config.toml binds. */
  readonly bound: Servers;
  readonly warnings: readonly string[];
}

async function importContext(
  options: ImportOptions,
  bound: Servers,
  split: ReadonlySet<string>,
): Promise<ImportContext | Failure> {
  const program = ownProgram(options.own);
  if (program.kind === 'failure') return program;
  const redact = await loadDiffRedactor(options.redactPatterns);
  if (isFailure(redact)) return redact;
  const call = { program: program.words, flags: policyFlags(options) };
  return { options, split, call, redact, bound, warnings: program.warnings };
}

function isFile(one: ImportFile | Failure): one is ImportFile {
  return !isFailure(one);
}

/** A name that fits nothing is a mistake, and so is one that cannot be governed. */
function strangeServer(
  names: readonly string[],
  found: readonly FoundConfig[],
): Failure | undefined {
  const entries = found.flatMap(({ config }) => config.entries);
  for (const name of names) {
    const same = entries.filter((entry) => entry.name === name);
    if (same.some((entry) => isUngoverned(entry) || entry.governed)) continue;
    const [first] = same;
    if (first !== undefined) {
      const why = first.obstacle ?? 'it has neither a command nor an address';
      const message = `the server ${name} cannot be governed: ${why}.`;
      return failure('SUB_CLIENT_CONFIG', message, 'Change the entry, or leave it out.');
    }
    const known = [...new Set(entries.map((entry) => entry.name))].slice(0, NAMES_MAX);
    const fix =
      known.length === 0 ? 'There are no servers at all.' : `There are: ${known.join(', ')}.`;
    return failure('SUB_CLIENT_CONFIG', `there is no server ${name}.`, fix);
  }
  return undefined;
}

const NAMES_MAX = 20;

function planFile(
  found: FoundConfig,
  moves: readonly SecretMove[],
  context: ImportContext,
): ImportFile | Failure {
  const { options, call, redact, bound, split } = context;
  const { client, file, config } = found;
  const baseText = readBaseText(found, storeAt(options.paths));
  if (isFailure(baseText)) return baseText;
  const loose = looseIn(found, options);
  const chosen = chosenIn(found, { baseText, loose, options, split });
  const renewed = renewedIn(config, options);
  const rewrite = rewriteFor({ found, chosen, loose, renewed, moves }, context);
  const rewritten = rewrite(baseText);
  if ('kind' in rewritten) return withCode('SUB_CLIENT_CONFIG', rewritten);
  const after = client.read(file, rewritten.text);
  if (after.kind === 'failure') return withCode('SUB_CLIENT_CONFIG', after);
  const stillLoose = looseBeside(after, rewritten.changes, options);
  const governed = after.entries.filter(
    (entry) =>
      isAsked(entry, options) && startsThisSub(entry, options) && !stillLoose.has(entryKey(entry)),
  );
  const base = baseText === config.text ? config : client.read(file, baseText);
  const { secrets, more } = plainSecretsIn(after, governed, base);
  const { own, env } = options;
  return {
    client,
    path: file.path,
    servers: viewsOf(config, { ...options, loose }),
    chosen: chosen.map(({ name }) => name),
    updated: updatedBetween(config, after, new Set(chosen.map(entryKey))),
    isChanged: rewritten.text !== config.text,
    diff: redactedDiff({ before: config, after, redact }),
    warnings: [
      ...notesOn({ found, after, chosen, loose, renewed, call, baseText, own, env, bound, more }),
    ],
    // Those of headers are read where they stand before the move.
    secrets: secrets.filter(
      ({ path }) => !moves.some((move) => isDeepStrictEqual(move.path, path)),
    ),
    moves,
    found,
    baseText,
    split: [...split],
    // Secrets are taken out anew: when that is done is written down.
    rewrite: (text) => (moves.length === 0 && text === baseText ? rewritten : rewrite(text)),
  };
}

function isAsked({ name }: ServerEntry, { servers }: ImportOptions): boolean {
  return servers.length === 0 || servers.includes(name);
}

export interface MovingPlan {
  readonly kind: 'moving';
  /** The same files, with what moves. */
  readonly files: readonly ImportFile[];
  readonly warnings: readonly string[];
  readonly problems: readonly Failure[];
  readonly moves: PreparedMoves;
}

/** The same import with the secrets of these files in the store; nothing is changed yet. */
export async function planMoves(
  files: readonly ImportFile[],
  options: ImportOptions,
): Promise<MovingPlan | Failure> {
  const moves = await prepareMoves(files, options);
  if (moves.kind === 'failure') return moves;
  const split = new Set(files.flatMap((file) => file.split));
  const context = await importContext(options, moves.bound, split);
  if (isFailure(context)) return context;
  const planned = files.map((file) => planFile(file.found, moves.of(file), context));
  return {
    kind: 'moving',
    files: planned.filter(isFile),
    problems: planned.filter(isFailure),
    warnings: moves.warnings,
    moves,
  };
}

interface ChoiceOptions {
  readonly baseText: string;
  readonly loose: LooseEntries;
  readonly options: ImportOptions;
  readonly split: ReadonlySet<string>;
}

/**
 * Also those whose shim has an obstacle by now which a new one would not have, and those that start
 * this shim with options that loosen it: they are shown as what stands behind that.
 */
function chosenIn(
  { client, file, config }: FoundConfig,
  { baseText, loose, options, split }: ChoiceOptions,
): readonly ServerEntry[] {
  const base = baseText === config.text ? config : client.read(file, baseText);
  const before = base.kind === 'failure' ? [] : base.entries.filter(isUngoverned);
  const keys = new Set(before.map(entryKey));
  const isBarred = (entry: ServerEntry) =>
    entry.obstacle !== undefined && keys.has(entryKey(entry));
  const isLoose = (entry: ServerEntry) =>
    loose.has(entryKey(entry)) && startsThisSub(entry, options);
  return config.entries
    .filter((entry) => isUngoverned(entry) || isBarred(entry) || isLoose(entry))
    .filter((entry) => isAsked(entry, options) && !split.has(splitKey(client, entry)))
    .map(withoutShim);
}

function withoutShim(entry: ServerEntry): ServerEntry {
  const [command, ...args] = entry.governed?.command ?? [];
  return command === undefined ? entry : { ...entry, command, args, governed: undefined };
}

/** Governed entries change only when there are options to hand on to them. */
function renewedIn({ entries }: ReadConfig, options: ImportOptions): ReadonlySet<string> {
  if (policyFlags(options).length === 0) return new Set();
  const wanted = entries.filter((entry) => entry.governed !== undefined && isAsked(entry, options));
  return new Set(wanted.map(entryKey));
}

/** The entries that were governed before and start otherwise now. */
function updatedBetween(
  before: ReadConfig,
  after: ReadConfig,
  chosen: ReadonlySet<string>,
): readonly string[] {
  const old = new Map(before.entries.map((entry) => [entryKey(entry), entry]));
  return after.entries
    .filter((entry) => {
      const was = old.get(entryKey(entry));
      if (was?.governed === undefined || chosen.has(entryKey(entry))) return false;
      return startedCommand(was) !== startedCommand(entry);
    })
    .map(({ name }) => name);
}

interface FileRewrite {
  readonly found: FoundConfig;
  readonly chosen: readonly ServerEntry[];
  readonly loose: LooseEntries;
  readonly renewed: ReadonlySet<string>;
  readonly moves: readonly SecretMove[];
}

function rewriteFor(
  { found, chosen, loose, renewed, moves }: FileRewrite,
  { call, options }: ImportContext,
) {
  const { client, file, config, target } = found;
  const keys = { chosen: new Set(chosen.map(entryKey)), loose: new Set(loose.keys()), renewed };
  const rewrite = createRewrite({ client, file, current: config, call, ...keys });
  const { path, format } = file;
  const store = storeAt(options.paths);
  const key = configKey(target);
  const moving = movingRewrite({ path, format, key, store, moves, rewrite });
  const known = readRecord(key, store.paths);
  const block = known.kind === 'record' ? known.record.hooks?.block : undefined;
  return block !== undefined && config.text.includes(block)
    ? endingWith(moving, block, config.text)
    : moving;
}

export type Imported =
  | { readonly kind: 'applied' | 'unchanged'; readonly warnings: readonly string[] }
  | Failure;

/** Changes one file as it was planned. What moves out of it has to be in the store by then. */
export function applyImport(planned: ImportFile, { paths, onStep }: ImportOptions): Imported {
  const { found, moves, rewrite } = planned;
  const { file, target } = found;
  const store = storeAt(paths);
  const steps = definedFields({ onStep });
  const result = applyChange({ ...store, ...steps, file, rewrite, kind: 'import' });
  if (result.kind === 'failure') return withCode('SUB_CLIENT_WRITE', result);
  const { kind, warnings } = result;
  return { kind, warnings: [...warnings, ...scrubCopies(configKey(target), moves, store)] };
}
