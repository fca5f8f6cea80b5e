// From the command line of `sub run` and `sub wrap` to the options of a run.
import { resolve } from 'node:path';
import { definedFields, type Failure, failure } from '@subluminal/contracts';
import { loadConfig, mayAnswerElsewhere, userHome } from '@subluminal/plane/config';
import { type PolicySources, policySources, sourceWarnings } from '@subluminal/plane/policy';
import type { LoadedPolicy } from '@subluminal/plane/policy/file';
import type { RunOptions } from '@subluminal/plane/run';
import { badUsage, orThrow } from '../input/command.ts';
import type { LoadedConfig } from '../input/own-config.ts';
import { STDIO } from '../input/read-file.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure, warn } from '../terminal/report-failure.ts';
import type { RunInput } from './options.ts';
import { print } from './output.ts';

type RunFlags = RunInput['options'];

/** `name` is the command of `sub` that was called. Throws its failure. */
export async function prepareRun(name: string, input: RunInput, io: Io): Promise<RunOptions> {
  orThrow(wrongCall(name, input));
  const { args, options } = input;
  const meta = readMeta(options.meta);
  const loaded = await loadSettings(options, io);
  const { config, paths } = loaded;
  const found = policiesHere(loaded, options);
  const sources = found.sources.map((source) => ({ ...source, path: resolve(source.path) }));
  const policy = await loadPolicies(found.sources, loaded, io);
  for (const warning of sourceWarnings(found)) warn(io, warning);
  const project = sources.find(({ role }) => role === 'trusted' || role === 'untrusted');
  const { 'agent-id': agentId, env, client, principal, profile, bundle } = options;
  return {
    told: {
      // Also a policy that was found here: the agent may start its servers in another folder.
      ...definedFields({ policyPath: sources[0]?.path, projectPolicyPath: project?.path, profile }),
      isPolicyNamed: options.policy !== undefined || Boolean(process.env['SUB_POLICY']),
    },
    identity: definedFields({ agentId, env, client, principal }),
    events: eventsOf(options.events),
    ...(bundle !== undefined && { bundle: { dir: resolve(bundle), force: options.force } }),
    command: args.command,
    env: { ...process.env, ...(options.verbose && { SUB_LOG_LEVEL: 'debug' }) },
    cwd: process.cwd(),
    config,
    paths,
    snapshot: policy?.snapshot ?? null,
    policySources: sources,
    policyHashes: policy?.hashes ?? [],
    ...(options.models && { models: await modelsOf(loaded, io) }),
    ...(await hooksOf(input)),
    hasChannel: mayAnswerElsewhere(loaded),
    meta,
    isTerminal: [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY),
    tell: (text) => warn(io, text),
  };
}

/** The hooks of the agent, where its command starts a client that takes some. Throws its failure. */
async function hooksOf({ args, options }: RunInput): Promise<Pick<RunOptions, 'hooks'>> {
  if (options['no-hooks']) return {};
  const { planSession } = await import('@subluminal/plane/clients/session-hooks');
  const own = { runtime: process.execPath, script: process.argv[1] };
  const start = { command: args.command, env: process.env, cwd: process.cwd() };
  const hooks = orThrow(planSession(start, own));
  if (hooks !== undefined || !options.hooks) return definedFields({ hooks });
  const message = `${JSON.stringify(args.command[0]?.slice(0, WORD_LENGTH_MAX))} is no client that takes hooks from its command line.`;
  const fix = 'Leave out --hooks; `sub import --hooks` puts hooks into the settings of a client.';
  return orThrow(failure('SUB_CLIENT_HOOKS', message, fix));
}

/** Loaded only where it is asked for. */
async function modelsOf(loaded: LoadedConfig, io: Io): Promise<NonNullable<RunOptions['models']>> {
  const { localModels } = await import('@subluminal/gateway/local');
  const { config, paths, prices } = loaded;
  const hasChannel = mayAnswerElsewhere(loaded);
  return localModels({
    config,
    paths,
    prices,
    cwd: process.cwd(),
    hasChannel,
    tell: (text) => warn(io, text),
  });
}

const WORD_LENGTH_MAX = 256;

/** Finds mistakes that the parser of the command line does not. */
function wrongCall(name: string, { args, options }: RunInput): Failure | undefined {
  const behind = process.argv.slice(process.argv.indexOf('--') + 1);
  if (!process.argv.includes('--') || behind.length !== args.command.length) {
    const message = 'the command of the agent must stand behind `--`.';
    return badUsage(message, `Write: sub ${name} [options] -- AGENT ARGS…`);
  }
  for (const option of ['agent-id', 'principal'] as const) {
    const word = options[option];
    if (word !== undefined && (word === '' || word.length > WORD_LENGTH_MAX)) {
      return badUsage(`--${option} takes 1 to ${WORD_LENGTH_MAX} characters.`, 'Give a name.');
    }
  }
  for (const option of ['policy', 'cedar', 'events', 'bundle'] as const) {
    if (options[option] !== '') continue;
    return badUsage(`--${option} is empty.`, 'Name a file or a folder.');
  }
  if (options.policy === STDIO) {
    // Each shim reads it for itself, and again when it changes.
    return badUsage('--policy must be a file.', 'Save the policy, and name its file.');
  }
  if (options.force && options.bundle === undefined) {
    return badUsage('--force goes with --bundle.', 'Leave it out.');
  }
  if (options['allow-no-server'] && !options.strict) {
    return badUsage('--allow-no-server goes with --strict.', 'Leave it out.');
  }
  const sink = sinkOf(options.events);
  if (sink === undefined || options.bundle === undefined) return undefined;
  const message = `--events ${sink} leaves nothing for --bundle.`;
  return badUsage(message, `Leave one out; a file of that name is ./${sink}.`);
}

/** The words that `sub shim` takes, too. */
function sinkOf(events: string | undefined): 'ledger' | 'off' | undefined {
  return events === 'ledger' || events === 'off' ? events : undefined;
}

function eventsOf(events: string | undefined): RunOptions['events'] {
  if (events === undefined) return {};
  if (events === STDIO) return { follow: print };
  const sink = sinkOf(events);
  // `file:PATH` is how `sub shim` takes a file.
  return sink === undefined ? { file: resolve(events.replace(/^file:/, '')) } : { sink };
}

const META = /^([A-Za-z_][A-Za-z0-9_.-]{0,63})=(.*)$/s;
const META_MAX = 50;
const VALUE_LENGTH_MAX = 1_024;

/** Throws its failure. */
function readMeta(words: readonly string[]): { readonly [key: string]: string } {
  if (words.length > META_MAX) {
    orThrow(badUsage(`--meta may be given ${META_MAX} times.`, 'Leave some out.'));
  }
  const meta = new Map<string, string>();
  for (const word of words) {
    const [, key = '', value = ''] = META.exec(word) ?? [];
    if (key === '') {
      orThrow(badUsage(`--meta ${word} is not key=value.`, 'Write: --meta key=value'));
    }
    if (value.length > VALUE_LENGTH_MAX) {
      const message = `--meta ${key} is longer than ${VALUE_LENGTH_MAX} characters.`;
      orThrow(badUsage(message, 'Shorten it.'));
    }
    if (meta.has(key) || key === 'parent_run_id') {
      const message = `--meta ${key} is ${meta.has(key) ? 'given twice' : 'set by sub itself'}.`;
      orThrow(badUsage(message, 'Choose another key.'));
    }
    meta.set(key, value);
  }
  return Object.fromEntries(meta);
}

/** The configuration with these flags. Prints every problem but the last, which it throws. */
async function loadSettings(
  { policy, profile, events, cedar }: RunFlags,
  io: Io,
): Promise<LoadedConfig> {
  const flags = { policy, profile, events: sinkOf(events), cedar };
  const loaded = await loadConfig({ env: process.env, flags, cwd: process.cwd() });
  if (loaded.ok) {
    for (const text of loaded.warnings) warn(io, text);
    return loaded;
  }
  const problems = loaded.problems.map(({ code, where, message, fix }) =>
    failure(code, `${where}: ${message}.`, fix),
  );
  const last = problems.pop();
  if (last === undefined) throw new Error('a configuration failed without a problem');
  for (const problem of problems) reportFailure(problem, io);
  return orThrow(last);
}

/** The policies that apply here, of which the first decides. */
function policiesHere(
  { config, paths, origins }: LoadedConfig,
  { policy, trust }: RunFlags,
): PolicySources {
  const { env } = process;
  const isTold = policy === undefined && origins['policy.path'] === 'env';
  return policySources({
    cwd: process.cwd(),
    home: paths.home,
    userHome: userHome(env),
    named: policy ?? config['policy.path'],
    toldProject: isTold ? env['SUB_PROJECT_POLICY'] : undefined,
    trusts: trust || env['SUB_TRUST'] === '1',
  });
}

/** Undefined without a policy. Throws its failure. */
async function loadPolicies(
  [first, second]: PolicySources['sources'],
  { config }: LoadedConfig,
  io: Io,
): Promise<Pick<LoadedPolicy, 'snapshot' | 'hashes'> | undefined> {
  if (first === undefined) return undefined;
  // A command without a policy does not load what reads one.
  const { loadInForce } = await import('../policy/load-policy.ts');
  const loaded = orThrow(await loadInForce([first, second], config.profile, io));
  if (loaded.warning !== undefined) reportFailure(loaded.warning, io);
  return loaded;
}
