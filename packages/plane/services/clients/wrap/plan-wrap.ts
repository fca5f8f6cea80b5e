// What `sub wrap` is about to rewrite, found out before anything is begun.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { locateCommand, notStarted } from '../../run/agent.ts';
import type { RunOptions } from '../../run/options.ts';
import {
  type Client,
  clientIds,
  clientOf,
  clientStartedBy,
  type EffectiveServer,
  effectiveServers,
  isForProject,
  type ReadConfig,
  type ServerEntry,
  type ShimCall,
  unresolved,
} from '../index.ts';
import { clientPlace, loadDiffRedactor, storeAt, withCode } from '../inspect/adoption-place.ts';
import { type FoundConfig, findConfigs, readBaseText } from '../inspect/find-configs.ts';
import { type LooseEntries, looseIn } from '../inspect/loose-entries.ts';
import { type OwnCall, ownProgram, startsThisSub } from '../inspect/own-program.ts';

import { redactedDiff } from '../inspect/redacted-diff.ts';
import { entryKey } from '../inspect/server-view.ts';
import { policyFlags } from '../setup/plan-rewrite.ts';
import { serversBeside } from './command-line.ts';

export interface WrapOptions {
  readonly run: RunOptions;
  /** By the command unless given. */
  readonly client?: Client | undefined;
  readonly configPath?: string | undefined;
  /** A port of 127.0.0.1 for the hub, 0 for a free one; a socket of the home without. */
  readonly port?: number | undefined;
  /** False: the config stays as it was rewritten. */
  readonly restores: boolean;
  /** Whether a server that would not be governed ends the command. */
  readonly isStrict: boolean;
  readonly own: OwnCall;
}

export interface WrapPlan {
  readonly kind: 'plan';
  readonly id: string;
  readonly client: Client;
  readonly files: readonly WrapFilePlan[];
  readonly warnings: readonly string[];
}

export interface WrapFilePlan {
  readonly found: FoundConfig;
  /** By `entryKey`. */
  readonly chosen: ReadonlySet<string>;
  /** Those of them whose own shim is replaced, because its options weaken it. */
  readonly loose: ReadonlySet<string>;
  readonly call: ShimCall;
}

export async function planWrap(options: WrapOptions): Promise<WrapPlan | Failure> {
  const { run, own } = options;
  const [command = ''] = run.command;
  const located = locateCommand(command, run);
  if (located !== 'found') return notStarted(command, located);
  const client = clientFor(options);
  if ('kind' in client) return client;
  const program = ownProgram(own);
  if (program.kind === 'failure') return program;
  const configs = configsOf(client, options);
  if ('kind' in configs) return configs;
  const isOurs = isForProject(run.cwd);
  const looseOf = looseEntries(configs, options);
  const problem =
    governedAlready(client, configs, { options, isOurs, looseOf }) ??
    wrapProblem(client, configs, options);
  if (problem !== undefined) return problem;
  const beside = besideOf(client, configs, run);
  if (options.isStrict && beside.length > 0) return notStrict(beside);
  const id = uuidv7();
  const call = { program: program.words, flags: flagsOf(id, run) };
  return {
    kind: 'plan',
    id,
    client,
    files: configs.flatMap((found) => {
      const entries = chosenIn(found.config, isOurs);
      const chosen = new Set(entries.map(entryKey));
      const loose = new Set(looseOf(found).keys());
      return entries.length === 0 ? [] : [{ found, chosen, loose, call }];
    }),
    warnings: [
      ...program.warnings,
      ...remoteWarnings(configs),
      ...configs.flatMap((found) => looseWarnings(found, looseOf(found), isOurs)),
      ...besideWarnings(beside),
    ],
  };
}

type LooseOf = (found: FoundConfig) => LooseEntries;

/** Only those that start this very `sub`: what another one does with its options nobody knows. */
function looseEntries(configs: readonly FoundConfig[], { run, own }: WrapOptions): LooseOf {
  const known = new Map(
    configs.map((found) => {
      const loose = looseIn(found, run);
      const ours = found.config.entries.filter((one) => startsThisSub(one, { own, env: run.env }));
      const keys = new Set(ours.map(entryKey));
      return [found, new Map([...loose].filter(([key]) => keys.has(key)))] as const;
    }),
  );
  return (found) => known.get(found) ?? new Map();
}

function looseWarnings(
  { file, config }: FoundConfig,
  loose: LooseEntries,
  isOurs: IsOurs,
): readonly string[] {
  return config.entries.filter(isOurs).flatMap((entry) => {
    const flags = loose.get(entryKey(entry));
    if (flags === undefined) return [];
    return [
      `${entry.name} in ${file.path} starts sub shim with ${flags.join(', ')}, and no \`sub import\` here wrote that: in this session it has a shim without these options.`,
    ];
  });
}

function besideOf(
  client: Client,
  configs: readonly FoundConfig[],
  run: RunOptions,
): readonly string[] {
  const place = clientPlace({ env: run.env, project: run.cwd, paths: run.paths });
  const governed = configs.flatMap(({ file, target }) => [file.path, target]);
  return serversBeside({ client, words: run.command, place, governed });
}

const BESIDE_FIX =
  'Put these servers into a config of the agent, or wrap their file with --config-path.';

function notStrict(beside: readonly string[]): Failure {
  const message = `the command line of the agent brings servers that would not be governed: ${beside.join(', ')}.`;
  return failure('SUB_CLIENT_CONFIG', message, BESIDE_FIX);
}

function besideWarnings(beside: readonly string[]): readonly string[] {
  if (beside.length === 0) return [];
  return [
    `WARNING: NOT governed, because the command line of the agent brings them: the servers of ${beside.join(', ')}. ${BESIDE_FIX}`,
  ];
}

/** What would be rewritten, for people; secrets are left out. */
export async function wrapDiff(
  { files }: WrapPlan,
  { run }: WrapOptions,
): Promise<string | Failure> {
  const redact = await loadDiffRedactor(run.config['redact.extra_patterns']);
  return isFailure(redact) ? redact : files.map((plan) => fileDiff(plan, redact)).join('');
}

function clientFor({ run, client, configPath }: WrapOptions): Client | Failure {
  if (client !== undefined) return client;
  const found = clientStartedBy(run.command);
  if (found !== undefined) return found;
  if (configPath !== undefined) return clientOf('custom');
  const name = JSON.stringify((run.command[0] ?? '').slice(0, NAME_LENGTH_MAX));
  return failure(
    'SUB_CLIENT_UNKNOWN',
    `${name} is no agent that sub knows.`,
    `Say which it is with --agent-type (${clientIds().join(', ')}), or where its config is with --config-path.`,
  );
}

const NAME_LENGTH_MAX = 256;

/** Every config that the agent will read; one that cannot be read would not be governed. */
function configsOf(
  client: Client,
  { run, configPath }: WrapOptions,
): readonly FoundConfig[] | Failure {
  const place = clientPlace({ env: run.env, project: run.cwd, paths: run.paths });
  const { found, problems, looked } = findConfigs({ place, clients: [client], configPath });
  const [problem] = problems;
  if (problem !== undefined) {
    const { code, message, fix } = withCode('SUB_CLIENT_CONFIG', problem);
    return failure(code, message, fix);
  }
  if (found.length === 0) {
    const paths = looked.length === 0 ? '' : ` There is none of: ${looked.join(', ')}.`;
    return failure(
      'SUB_CLIENT_CONFIG',
      `${client.title} has no config here.${paths}`,
      'Name its config with --config-path.',
    );
  }
  const empty = found.find(({ config }) => config.text.trim() === '');
  if (empty === undefined) return found;
  const message = `${empty.file.path} is empty: that is no config.`;
  return failure('SUB_CLIENT_CONFIG', message, 'Fill it in, or remove it.');
}

/** Those for other projects are no business of this agent. */
function chosenIn({ entries }: ReadConfig, isOurs: IsOurs): readonly ServerEntry[] {
  return entries.filter((entry) => entry.transport === 'stdio' && isOurs(entry));
}

type IsOurs = ReturnType<typeof isForProject>;

function wrapProblem(
  client: Client,
  configs: readonly FoundConfig[],
  options: WrapOptions,
): Failure | undefined {
  const { cwd } = options.run;
  const paths = configs.map(({ file }) => file.path).join(', ');
  const servers = effectiveServers(
    configs.map(({ config }) => config),
    cwd,
  );
  if (servers.length === 0) {
    const message = `No MCP servers found in config: ${paths}.`;
    return failure('SUB_CLIENT_CONFIG', message, 'Without servers, `sub run` does the same.');
  }
  const barred = servers.find(
    ({ entry, isDisabled }) =>
      entry.transport === 'unknown' && entry.command !== undefined && !isDisabled,
  );
  if (barred !== undefined) return barredEntry(barred);
  const local = servers.filter(({ entry }) => entry.transport === 'stdio');
  if (local.length === 0) {
    const message = `No MCP servers found in config that start a command: ${paths}.`;
    return failure('SUB_CLIENT_CONFIG', message, 'Servers with an address are not governed yet.');
  }
  if (local.every(({ isDisabled }) => isDisabled)) {
    const message = `All MCP servers are disabled: ${paths}.`;
    return failure('SUB_CLIENT_CONFIG', message, `Enable one in ${client.title}.`);
  }
  const split = servers.find(({ isSplit, isDisabled }) => isSplit && !isDisabled);
  if (split !== undefined) return splitEntry(split);
  const enabled = local.filter(({ isDisabled }) => !isDisabled).map(({ entry }) => entry);
  return unsetVariable(client, enabled, options);
}

/** What the agent would start without a shim, or with one that the entry itself can switch off. */
function barredEntry({ entry, file }: EffectiveServer): Failure {
  const { name, obstacle = 'its arguments are not a list of words' } = entry;
  const message = `${JSON.stringify(name.slice(0, NAME_LENGTH_MAX))} in ${file.path} cannot be governed: ${obstacle}.`;
  return failure('SUB_CLIENT_CONFIG', message, 'Change the entry, or disable it in the client.');
}

/** Codex puts the parts of an entry together from several files, and would drop those of the shim. */
function splitEntry({ entry, file, overridden }: EffectiveServer): Failure {
  const others = overridden.map(({ path }) => path).join(', ');
  const message = `${entry.name} has one part in ${file.path} and another in ${others}: no shim can stand before both.`;
  return failure('SUB_CLIENT_CONFIG', message, 'Give it its command and its args in one file.');
}

interface WrapChecks {
  readonly options: WrapOptions;
  readonly isOurs: IsOurs;
  readonly looseOf: LooseOf;
}

function governedAlready(
  client: Client,
  configs: readonly FoundConfig[],
  among: WrapChecks,
): Failure | undefined {
  const { options, isOurs, looseOf } = among;
  for (const found of configs) {
    // Whoever has rewritten it and still runs is named.
    const base = readBaseText(found, storeAt(options.run.paths));
    if (base.kind === 'failure') return base;
    const loose = looseOf(found);
    const entry = found.config.entries.find(
      (one) => one.governed !== undefined && isOurs(one) && !loose.has(entryKey(one)),
    );
    if (entry === undefined) continue;
    const ungoverned = ungovernedIn(configs, among);
    const verb = ungoverned.length === 1 ? 'is' : 'are';
    const rest =
      ungoverned.length === 0 ? '' : `, and ${ungoverned.join(', ')} ${verb} not governed`;
    const message = `${entry.name} in ${found.file.path} starts a shim already${rest}.`;
    return failure('SUB_CLIENT_GOVERNED', message, governedFix(client, ungoverned, options));
  }
  return undefined;
}

/** `sub run` governs only what stands behind a shim of this very `sub`, and is not loosened. */
function ungovernedIn(
  configs: readonly FoundConfig[],
  { options: { own, run }, isOurs, looseOf }: WrapChecks,
): readonly string[] {
  const names = configs.flatMap((found) => {
    const loose = looseOf(found);
    return found.config.entries
      .filter((one) => one.transport === 'stdio' && !one.isDisabled && isOurs(one))
      .filter((one) => loose.has(entryKey(one)) || !startsThisSub(one, { own, env: run.env }))
      .map(({ name }) => name.slice(0, NAME_LENGTH_MAX));
  });
  return [...new Set(names)];
}

function governedFix(
  client: Client,
  ungoverned: readonly string[],
  { run, configPath }: WrapOptions,
): string {
  const agent = run.command.join(' ').slice(0, NAME_LENGTH_MAX);
  const which = configPath === undefined ? client.id : `${client.id} --config-path ${configPath}`;
  const start = `start the agent with \`sub run -- ${agent}\``;
  if (ungoverned.length === 0) {
    return `S${start.slice(1)}, or take the shims out first: \`sub restore ${which}\`.`;
  }
  return `Govern them first: \`sub import ${which}\`, then ${start}; or take all shims out, and wrap again: \`sub restore ${which}\`.`;
}

function unsetVariable(
  client: Client,
  entries: readonly ServerEntry[],
  { run }: WrapOptions,
): Failure | undefined {
  for (const entry of entries) {
    const names = unresolved(entry, client, run.env);
    if (names.length === 0) continue;
    const message = `${entry.name} needs ${names.join(', ')}, which is not set.`;
    return failure('SUB_CLIENT_CONFIG', message, 'Set it, or give it a default in the config.');
  }
  return undefined;
}

/**
 * Should the session be cut off, its entries still say by which policy they are governed. Where two
 * policies hold, naming one of them would leave the other out: they are found again instead.
 */
function flagsOf(id: string, { told, policySources }: RunOptions): readonly string[] {
  const { policyPath, profile } = told;
  const isOne = policySources.length < 2;
  return ['--wrap', id, ...policyFlags({ policyPath: isOne ? policyPath : undefined, profile })];
}

function fileDiff({ found, chosen, call }: WrapFilePlan, redact: (text: string) => string): string {
  const { client, file, config } = found;
  const entries = config.entries.filter((entry) => chosen.has(entryKey(entry)));
  // The only shims among these are loose ones: anything else that is governed was refused.
  const rewritten = client.plan(config, entries, { ...call, replacesShim: true });
  const after = client.read(file, rewritten.text);
  if (after.kind === 'failure') throw new Error(`a rewritten config is broken: ${after.message}`);
  return redactedDiff({ before: config, after, redact });
}

function remoteWarnings(configs: readonly FoundConfig[]): readonly string[] {
  const remote = configs.flatMap(({ config }) =>
    config.entries.filter(({ transport }) => transport === 'remote').map(({ name }) => name),
  );
  if (remote.length === 0) return [];
  return [`not governed yet, because they have an address: ${[...new Set(remote)].join(', ')}.`];
}
