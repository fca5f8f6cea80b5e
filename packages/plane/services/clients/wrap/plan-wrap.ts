// Plans what `sub wrap` rewrites, before anything changes.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { shellWord } from '@subluminal/core/visible';
import { uuidv7 } from 'uuidv7';
import { locateCommand, notStarted } from '../../run/agent.ts';
import type { RunOptions } from '../../run/options.ts';
import {
  type Client,
  type ClientPlace,
  clientIds,
  clientOf,
  clientStartedBy,
  effectiveServers,
  isForProject,
  type ServerEntry,
  type ShimCall,
  unresolved,
} from '../index.ts';
import { clientPlace, loadDiffRedactor, storeAt, withCode } from '../inspect/adoption-place.ts';
import { type FoundConfig, findConfigs, readBaseText } from '../inspect/find-configs.ts';
import { type LooseEntries, looseIn } from '../inspect/loose-entries.ts';
import { maskedWords } from '../inspect/mask-words.ts';
import { type OwnCall, ownProgram, startsThisSub } from '../inspect/own-program.ts';
import { redactedDiff } from '../inspect/redacted-diff.ts';
import { entryKey } from '../inspect/server-view.ts';
import { policyFlags } from '../setup/plan-rewrite.ts';
import { type ChangeStore, configKey } from '../store/change-store.ts';
import { readRecord } from '../store/records.ts';
import { serversBeside } from './command-line.ts';

export interface WrapOptions {
  readonly run: RunOptions;
  /** Found by the command unless given. */
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

interface WrapContext {
  readonly client: Client;
  readonly options: WrapOptions;
  readonly configs: readonly WrapConfig[];
  /** Leaves out the entries that are for other projects. */
  readonly isOurs: ReturnType<typeof isForProject>;
}

interface WrapConfig extends FoundConfig {
  readonly loose: LooseEntries;
}

const NAME_LENGTH_MAX = 256;
const BESIDE_FIX =
  'Put these servers into a config of the agent, or wrap their file with --config-path.';

export async function planWrap(options: WrapOptions): Promise<WrapPlan | Failure> {
  const { run, own } = options;
  const [command = ''] = run.command;
  const located = locateCommand(command, run);
  if (located !== 'found') return notStarted(command, located);
  const client = clientFor(options);
  if ('kind' in client) return client;
  const program = ownProgram(own);
  if (program.kind === 'failure') return program;
  const place = clientPlace({ env: run.env, project: run.cwd });
  const found = configsOf(client, place, options);
  if ('kind' in found) return found;
  const configs = found.map((one) => ({ ...one, loose: looseOurs(one, options) }));
  const isOurs = isForProject(run.cwd);
  const context: WrapContext = { client, options, configs, isOurs };
  const problem = governedAlready(context) ?? wrapProblem(context);
  if (problem !== undefined) return problem;
  const governed = found.flatMap(({ file, target }) => [file.path, target]);
  const beside = serversBeside({ client, words: run.command, place, governed }).join(', ');
  if (options.isStrict && beside !== '') {
    const message = `the command line of the agent brings servers that would not be governed: ${beside}.`;
    return failure('SUB_CLIENT_CONFIG', message, BESIDE_FIX);
  }
  const id = uuidv7();
  const call = { program: program.words, flags: flagsOf(id, run) };
  return {
    kind: 'plan',
    id,
    client,
    files: configs.flatMap(({ loose, ...one }) => {
      const entries = one.config.entries.filter((entry) => isGovernable(entry) && isOurs(entry));
      const chosen = new Set(entries.map(entryKey));
      return chosen.size === 0 ? [] : [{ found: one, chosen, loose: new Set(loose.keys()), call }];
    }),
    warnings: [...program.warnings, ...wrapWarnings(context, beside)],
  };
}

function* wrapWarnings({ configs, isOurs }: WrapContext, beside: string): Generator<string> {
  for (const { file, config } of configs) {
    for (const { name, transport, obstacle } of config.entries.filter(isOurs)) {
      if (transport !== 'remote' || obstacle === undefined) continue;
      yield `${name} in ${file.path} is NOT governed: ${obstacle}.`;
    }
  }
  for (const { file, config, loose } of configs) {
    for (const entry of config.entries.filter(isOurs)) {
      const flags = loose.get(entryKey(entry));
      if (flags === undefined) continue;
      yield `${entry.name} in ${file.path} starts sub shim with ${flags.join(', ')}, and no \`sub import\` here wrote that: in this session it has a shim without these options.`;
    }
  }
  if (beside !== '') {
    yield `WARNING: NOT governed, because the command line of the agent brings them: the servers of ${beside}. ${BESIDE_FIX}`;
  }
}

/** Only those that start this very `sub`: another one may do anything with its options. */
function looseOurs(found: FoundConfig, { run, own }: WrapOptions): LooseEntries {
  const ours = found.config.entries.filter((one) => startsThisSub(one, { own, env: run.env }));
  const keys = new Set(ours.map(entryKey));
  return new Map([...looseIn(found, run)].filter(([key]) => keys.has(key)));
}

/** What would be rewritten, for people; secrets are left out. */
export async function wrapDiff(
  { files }: WrapPlan,
  { run }: WrapOptions,
): Promise<string | Failure> {
  const redact = await loadDiffRedactor(run.config['redact.extra_patterns']);
  return isFailure(redact) ? redact : files.map((plan) => fileDiff(plan, redact)).join('');
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

function clientFor({ run, client, configPath }: WrapOptions): Client | Failure {
  const found = client ?? clientStartedBy(run.command);
  if (found !== undefined) return found;
  if (configPath !== undefined) return clientOf('custom');
  const name = JSON.stringify((run.command[0] ?? '').slice(0, NAME_LENGTH_MAX));
  const fix = `Say which it is with --agent-type (${clientIds().join(', ')}), or where its config is with --config-path.`;
  return failure('SUB_CLIENT_UNKNOWN', `${name} is no agent that sub knows.`, fix);
}

/** Every config that the agent will read; one that cannot be read would not be governed. */
function configsOf(
  client: Client,
  place: ClientPlace,
  { configPath, run }: WrapOptions,
): readonly FoundConfig[] | Failure {
  const { found, problems, looked } = findConfigs({ place, clients: [client], configPath });
  const [problem] = problems;
  if (problem !== undefined) return withCode('SUB_CLIENT_CONFIG', problem);
  if (found.length === 0 && run.hooks === undefined) {
    const paths = looked.length === 0 ? '' : ` There is none of: ${looked.join(', ')}.`;
    const message = `${client.title} has no config here.${paths}`;
    return failure('SUB_CLIENT_CONFIG', message, 'Name its config with --config-path.');
  }
  const empty = found.find(({ config }) => config.text.trim() === '');
  if (empty !== undefined) {
    const message = `${empty.file.path} is empty: that is no config.`;
    return failure('SUB_CLIENT_CONFIG', message, 'Fill it in, or remove it.');
  }
  const store = storeAt(run.paths);
  const repaired = found.map((one) => withoutDeadSession(one, store));
  const locked = repaired.find(isFailure);
  return locked === undefined
    ? repaired.filter((one) => one.kind === 'found')
    : besideSession(locked, client, run);
}

/** A killed session is over: `sub wrap` puts back what it left, and a dry run shows just that. */
function withoutDeadSession(found: FoundConfig, store: ChangeStore): FoundConfig | Failure {
  const { client, file, target } = found;
  // Fails with the process of a session that has rewritten the config and still runs.
  const base = readBaseText(found, store);
  if (isFailure(base)) return base;
  const known = readRecord(configKey(target), store.paths);
  if (known.kind !== 'record' || known.record.kind !== 'wrap') return found;
  const config = client.read(file, base);
  return config.kind === 'failure' ? withCode('SUB_CLIENT_CONFIG', config) : { ...found, config };
}

/** A config that another session has rewritten says what to use for several agents at once. */
export function besideSession(
  problem: Failure,
  { id }: Pick<Client, 'id'>,
  { command }: Pick<RunOptions, 'command'>,
): Failure {
  if (problem.code !== 'SUB_CLIENT_LOCKED') return problem;
  const fix = `${problem.fix} For several agents at once: \`sub import ${id}\`, then start each with \`${runCommand(command)}\`.`;
  return { ...problem, fix };
}

/** To be copied, and shown where others may read it: what may be a secret is masked. */
function runCommand(agent: readonly string[]): string {
  const mask = maskedWords();
  const words = agent.map((word) => shellWord(mask(word))).join(' ');
  const isLong = words.length > NAME_LENGTH_MAX;
  return `sub run -- ${isLong ? `${words.slice(0, NAME_LENGTH_MAX - 1)}…` : words}`;
}

function wrapProblem(context: WrapContext): Failure | undefined {
  const [message, fix] = wrapObstacle(context) ?? [];
  return message && fix ? failure('SUB_CLIENT_CONFIG', message, fix) : undefined;
}

/** Why there is nothing to wrap, or something that would not be governed: a message and a fix. */
function wrapObstacle({
  client,
  configs,
  options: { run },
}: WrapContext): readonly [string, string] | undefined {
  const paths = configs.map(({ file }) => file.path).join(', ');
  const read = configs.map(({ config }) => config);
  const servers = effectiveServers(read, run.cwd);
  const enabled = servers.filter(({ isDisabled }) => !isDisabled);
  const isOpen = ({ entry }: { readonly entry: ServerEntry }) => isGovernable(entry);
  // The own tools of the agent are governed all the same.
  const isHooked = run.hooks !== undefined;
  if (servers.length === 0 && isHooked) return undefined;
  if (servers.length === 0) {
    const fix = 'Without servers, `sub run` does the same.';
    return [`No MCP servers found in config: ${paths}.`, fix];
  }
  // What the agent would start without a shim, or with one that the entry itself can switch off.
  const barred = enabled.find(
    ({ entry }) => entry.transport === 'unknown' && entry.command !== undefined,
  );
  if (barred !== undefined) {
    const { name, obstacle = 'its arguments are not a list of words' } = barred.entry;
    const server = JSON.stringify(name.slice(0, NAME_LENGTH_MAX));
    const message = `${server} in ${barred.file.path} cannot be governed: ${obstacle}.`;
    return [message, 'Change the entry, or disable it in the client.'];
  }
  if (!servers.some(isOpen) && !isHooked) {
    const message = `No MCP servers found in config that a shim can stand before: ${paths}.`;
    return [message, '`sub status` says why.'];
  }
  if (!enabled.some(isOpen) && !isHooked) {
    return [`All MCP servers are disabled: ${paths}.`, `Enable one in ${client.title}.`];
  }
  // Codex puts the parts of an entry together from several files, and would drop those of the shim.
  const split = enabled.find(({ isSplit }) => isSplit);
  if (split !== undefined) {
    const others = split.overridden.map(({ path }) => path).join(', ');
    const message = `${split.entry.name} has one part in ${split.file.path} and another in ${others}: no shim can stand before both.`;
    return [message, 'Give it its command and its args in one file.'];
  }
  for (const { entry } of enabled.filter(isOpen)) {
    const names = unresolved(entry, client, run.env).join(', ');
    if (names === '') continue;
    const fix = 'Set it, or give it a default in the config.';
    return [`${entry.name} needs ${names}, which is not set.`, fix];
  }
  return undefined;
}

function governedAlready(context: WrapContext): Failure | undefined {
  const { isOurs, configs } = context;
  for (const found of configs) {
    const entry = found.config.entries.find(
      (one) => one.governed !== undefined && isOurs(one) && !found.loose.has(entryKey(one)),
    );
    if (entry === undefined) continue;
    const ungoverned = ungovernedIn(context);
    const verb = ungoverned.length === 1 ? 'is' : 'are';
    const rest =
      ungoverned.length === 0 ? '' : `, and ${ungoverned.join(', ')} ${verb} not governed`;
    const message = `${entry.name} in ${found.file.path} starts a shim already${rest}.`;
    return failure('SUB_CLIENT_GOVERNED', message, governedFix(context, ungoverned.length > 0));
  }
  return undefined;
}

/** `sub run` governs only servers behind a shim of this very `sub` that is not loosened. */
function ungovernedIn({ configs, options, isOurs }: WrapContext): readonly string[] {
  const { own, run } = options;
  const names = configs.flatMap(({ config, loose }) =>
    config.entries
      .filter((one) => isGovernable(one) && !one.isDisabled && isOurs(one))
      .filter((one) => loose.has(entryKey(one)) || !startsThisSub(one, { own, env: run.env }))
      .map(({ name }) => name.slice(0, NAME_LENGTH_MAX)),
  );
  return [...new Set(names)];
}

/** By a command, or by an address. */
function isGovernable({ transport, remote }: ServerEntry): boolean {
  return transport === 'stdio' || remote !== undefined;
}

function governedFix({ client, options }: WrapContext, hasUngoverned: boolean): string {
  const { run, configPath } = options;
  const path = configPath === undefined ? '' : ` --config-path ${shellWord(configPath)}`;
  const which = `${client.id}${path}`;
  const start = `the agent with \`${runCommand(run.command)}\``;
  return hasUngoverned
    ? `Govern them first: \`sub import ${which}\`, then start ${start}; or take all shims out, and wrap again: \`sub restore ${which}\`.`
    : `Start ${start}, or take the shims out first: \`sub restore ${which}\`.`;
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
