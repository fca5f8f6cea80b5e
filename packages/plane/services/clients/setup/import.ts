// `sub import`: what would change, and the change.

import { type Failure, failure } from '@subluminal/contracts';
import type { Servers } from '../../../stores/config/index.ts';
import { loadRedactor } from '../../../stores/vault/load-redactor.ts';
import {
  CLIENTS,
  type Client,
  type ReadConfig,
  type RewrittenConfig,
  type ServerEntry,
  type ShimCall,
} from '../index.ts';
import { clientPlace, type SecretPlace, storeAt, withCode } from '../inspect/adoption-place.ts';
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
import { boundServers } from '../secrets/bindings.ts';
import {
  movingRewrite,
  type PreparedMoves,
  prepareMoves,
  scrubCopies,
} from '../secrets/move-secrets.ts';
import {
  type PlainSecret,
  plainSecrets,
  type SecretTest,
  secretLooks,
} from '../secrets/plain-secrets.ts';
import type { SecretMove } from '../secrets/plan-moves.ts';
import { applyChange } from '../store/apply-change.ts';
import { configKey } from '../store/change-store.ts';
import type { OnChangeStep } from '../store/config-file.ts';
import { notesOn, splitIn } from './import-notes.ts';
import { createRewrite } from './plan-rewrite.ts';

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
  /** What stands in plain text in the environments of the servers that are governed then. */
  readonly secrets: readonly PlainSecret[];
  /** Those of them that go into the store; none unless that was asked for. */
  readonly moves: readonly SecretMove[];
  readonly found: FoundConfig;
  readonly call: ShimCall;
  /** The config without our edits. */
  readonly baseText: string;
  /** What becomes of that. */
  readonly rewritten: RewrittenConfig;
}

export interface ImportPlan {
  readonly kind: 'plan';
  readonly files: readonly ImportFile[];
  /** Of single files; the others can be imported all the same. */
  readonly problems: readonly Failure[];
  readonly warnings: readonly string[];
  /** The clients that were looked for. */
  readonly clients: readonly Client[];
  readonly looked: readonly string[];
}

export async function planImport(options: ImportOptions): Promise<ImportPlan | Failure> {
  const program = ownProgram(options.own);
  if (program.kind === 'not_found') {
    const fix = 'Start sub from where it is installed.';
    return failure('SUB_OWN_PATH', program.message, fix);
  }
  const redaction = await loadRedactor(options.redactPatterns, []);
  if (!redaction.ok) return failure('SUB_CONFIG_VALUE', `${redaction.message}.`, 'Correct it.');
  const place = clientPlace(options);
  const clients =
    options.client === undefined ? CLIENTS.filter((one) => one.detect(place)) : [options.client];
  const configs = findConfigs({ place, clients, configPath: options.configPath });
  const { problems, looked } = configs;
  const found = configs.found.filter(
    ({ file }) => options.isUserOnly !== true || file.scope === 'user',
  );
  const strange = strangeServer(options.servers, found);
  if (strange !== undefined) return strange;
  const call = { program: program.words, flags: flagsOf(options) };
  const looks = secretLooks();
  const bound = await boundServers(options);
  const planning = { call, options, looks, bound, moves: [], ...redaction };
  const planned = found.map((one) => planFile({ ...planning, found: one }));
  return {
    kind: 'plan',
    files: planned.filter(isFile),
    problems: [
      ...problems.map((one) => withCode('SUB_CLIENT_CONFIG', one)),
      ...planned.flatMap((one) => (isFile(one) ? [] : [one])),
    ],
    warnings: [
      ...(program.warning === undefined ? [] : [program.warning]),
      ...splitIn(found, options.project),
    ],
    clients,
    looked,
  };
}

function isFile(one: ImportFile | Failure): one is ImportFile {
  return !('code' in one);
}

function flagsOf({ policyPath, profile }: ImportOptions): readonly string[] {
  return [
    ...(policyPath === undefined ? [] : ['--policy', policyPath]),
    ...(profile === undefined ? [] : ['--profile', profile]),
  ];
}

/** A name that fits nothing is a mistake, and so is one that cannot be governed. */
function strangeServer(
  names: readonly string[],
  found: readonly FoundConfig[],
): Failure | undefined {
  const entries = found.flatMap(({ config }) => config.entries);
  for (const name of names) {
    const same = entries.filter((entry) => entry.name === name);
    if (same.some(({ transport, governed }) => transport === 'stdio' || governed)) continue;
    const [first] = same;
    if (first !== undefined) {
      const what = first.transport === 'remote' ? 'is reached by an address' : 'has no command';
      const message = `the server ${name} ${what}: it cannot be governed yet.`;
      return failure('SUB_CLIENT_CONFIG', message, 'Leave it out.');
    }
    const known = [...new Set(entries.map((entry) => entry.name))].slice(0, NAMES_MAX);
    const fix =
      known.length === 0 ? 'There are no servers at all.' : `There are: ${known.join(', ')}.`;
    return failure('SUB_CLIENT_CONFIG', `there is no server ${name}.`, fix);
  }
  return undefined;
}

const NAMES_MAX = 20;

interface PlanFileOptions {
  readonly found: FoundConfig;
  readonly call: ShimCall;
  readonly options: ImportOptions;
  readonly redact: (text: string) => string;
  readonly looks: SecretTest;
  readonly bound: Servers;
  readonly moves: readonly SecretMove[];
}

function planFile(planning: PlanFileOptions): ImportFile | Failure {
  const { found, call, options, redact, moves } = planning;
  const { client, file, config } = found;
  const base = readBaseText(found, storeAt(options.paths));
  if (base.kind === 'failure') return base;
  const loose = looseIn(found, options);
  const chosen = chosenIn(found, { baseText: base.text, loose, options });
  const renewed = renewedIn(config, options);
  const rewritten = rewriteFor({ found, call, chosen, loose, renewed, moves, options })(base.text);
  if ('kind' in rewritten) return withCode('SUB_CLIENT_CONFIG', rewritten);
  const after = client.read(file, rewritten.text);
  if (after.kind === 'failure') return withCode('SUB_CLIENT_CONFIG', after);
  const stillLoose = looseBeside(after, rewritten.changes, options);
  const governed = governedBy(after, stillLoose, options);
  const plain = plainSecrets(after, governed, planning.looks);
  return {
    client,
    path: file.path,
    servers: viewsOf(config, { ...options, loose }),
    chosen: chosen.map(({ name }) => name),
    updated: updatedBetween(config, after, new Set(chosen.map(entryKey))),
    isChanged: rewritten.text !== config.text,
    diff: redactedDiff({ before: config, after, redact }),
    warnings: notesOn({
      ...{ found, after, chosen, loose, renewed, call },
      baseText: base.text,
      own: options.own,
      env: options.env,
      bound: planning.bound,
      more: plain.more,
    }),
    secrets: plain.secrets,
    moves,
    found,
    call,
    baseText: base.text,
    rewritten,
  };
}

/** The entries that are governed by this very `sub`, of those that were asked for. */
function governedBy(
  { entries }: ReadConfig,
  loose: LooseEntries,
  options: ImportOptions,
): readonly ServerEntry[] {
  const { servers } = options;
  return entries.filter(
    (entry) =>
      (servers.length === 0 || servers.includes(entry.name)) &&
      startsThisSub(entry, options) &&
      !loose.has(entryKey(entry)),
  );
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
  const redaction = await loadRedactor(options.redactPatterns, []);
  if (!redaction.ok) return failure('SUB_CONFIG_VALUE', `${redaction.message}.`, 'Correct it.');
  const moves = await prepareMoves(files, options);
  if (moves.kind === 'failure') return moves;
  const looks = secretLooks();
  const planned = files.map((file) => {
    const { found, call } = file;
    const planning = { found, call, options, looks, bound: moves.bound, ...redaction };
    return planFile({ ...planning, moves: moves.of(file) });
  });
  return {
    kind: 'moving',
    files: planned.filter(isFile),
    problems: planned.flatMap((one) => (isFile(one) ? [] : [one])),
    warnings: moves.warnings,
    moves,
  };
}

interface ChoiceOptions {
  readonly baseText: string;
  readonly loose: LooseEntries;
  readonly options: ImportOptions;
}

/**
 * Also those whose shim has an obstacle by now which a new one would not have, and those that start
 * this shim with options that loosen it: they are shown as what stands behind that.
 */
function chosenIn(
  { client, file, config }: FoundConfig,
  { baseText, loose, options }: ChoiceOptions,
): readonly ServerEntry[] {
  const { servers } = options;
  const base = baseText === config.text ? config : client.read(file, baseText);
  const before = base.kind === 'failure' ? [] : base.entries.filter(isUngoverned);
  const keys = new Set(before.map(entryKey));
  const isBarred = (entry: ServerEntry) =>
    entry.obstacle !== undefined && keys.has(entryKey(entry));
  const isLoose = (entry: ServerEntry) =>
    loose.has(entryKey(entry)) && startsThisSub(entry, options);
  return config.entries
    .filter((entry) => isUngoverned(entry) || isBarred(entry) || isLoose(entry))
    .filter(({ name }) => servers.length === 0 || servers.includes(name))
    .map(withoutShim);
}

function withoutShim(entry: ServerEntry): ServerEntry {
  const [command, ...args] = entry.governed?.command ?? [];
  return command === undefined ? entry : { ...entry, command, args, governed: undefined };
}

/** Only with options to hand on is there anything to change about what is governed already. */
function renewedIn({ entries }: ReadConfig, options: ImportOptions): ReadonlySet<string> {
  const { servers } = options;
  if (flagsOf(options).length === 0) return new Set();
  const wanted = entries.filter(
    ({ name, governed }) =>
      governed !== undefined && (servers.length === 0 || servers.includes(name)),
  );
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

interface RewriteContext {
  readonly found: FoundConfig;
  readonly call: ShimCall;
  readonly chosen: readonly Pick<ServerEntry, 'name' | 'project'>[];
  readonly loose: LooseEntries;
  readonly renewed: ReadonlySet<string>;
  readonly moves: readonly SecretMove[];
  readonly options: ImportOptions;
}

function rewriteFor({ found, call, chosen, loose, renewed, moves, options }: RewriteContext) {
  const { client, file, config, target } = found;
  const keys = { chosen: new Set(chosen.map(entryKey)), loose: new Set(loose.keys()), renewed };
  const rewrite = createRewrite({ client, file, current: config, call, ...keys });
  const { path, format } = file;
  const store = storeAt(options.paths);
  return movingRewrite({ path, format, key: configKey(target), store, moves, rewrite });
}

export type Imported =
  | { readonly kind: 'applied' | 'unchanged'; readonly warnings: readonly string[] }
  | Failure;

/** Changes one file as it was planned. What moves out of it has to be in the store by then. */
export function applyImport(planned: ImportFile, options: ImportOptions): Imported {
  const { found, call, moves } = planned;
  const loose = looseIn(found, options);
  const chosen = chosenIn(found, { baseText: planned.baseText, loose, options });
  const { file } = found;
  const renewed = renewedIn(found.config, options);
  const rewrite = rewriteFor({ found, call, chosen, loose, renewed, moves, options });
  const store = storeAt(options.paths);
  const { onStep } = options;
  const steps = onStep === undefined ? {} : { onStep };
  // Secrets are taken out anew: when that is done is written down.
  const isKnown = (text: string) => moves.length === 0 && text === planned.baseText;
  const known = (text: string) => (isKnown(text) ? planned.rewritten : rewrite(text));
  const result = applyChange({ ...store, ...steps, file, rewrite: known, kind: 'import' });
  switch (result.kind) {
    case 'applied':
    case 'unchanged': {
      const warnings = scrubCopies(configKey(found.target), moves, store);
      return { kind: result.kind, warnings: [...result.warnings, ...warnings] };
    }
    case 'failure':
      return withCode('SUB_CLIENT_WRITE', result);
  }
}
