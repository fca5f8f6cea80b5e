import { write } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Snapshot } from '@subluminal/core/policy';
import {
  type Config,
  type ConfigProblem,
  findPolicy,
  type HomePaths,
  loadConfig,
  userHome,
} from '@subluminal/plane/config';
import { type RunOptions, startRun } from '@subluminal/plane/main/run';
import type { RunInput } from '../catalog/run.ts';
import { done, type Outcome } from '../command.ts';
import { type Failure, failure, isFailure, reportFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { STDIO } from '../read-file.ts';
import { closingLines, exitCodeOf } from '../run/report.ts';
import { harmless } from '../text.ts';

type Options = RunInput['options'];

const STDOUT = 1;
/** Until a pipe that was full is tried again. */
const FULL_MS = 20;
const META = /^([A-Za-z_][A-Za-z0-9_.-]{0,63})=(.*)$/s;
const META_MAX = 50;
const WORD_LENGTH_MAX = 256;
const VALUE_LENGTH_MAX = 1_024;

async function run({ args, options }: RunInput, io: Io): Promise<Outcome> {
  const wrong = wrongCall(args.command, options);
  if (wrong !== undefined) return wrong;
  const read = readMeta(options.meta);
  if (read.kind === 'failure') return read;
  const settings = await loadSettings(options, io);
  if (isFailure(settings)) return settings;
  const policy = await findSnapshot(settings, options, io);
  if (isFailure(policy)) return policy;
  outliveReaders();
  const tell = (text: string): void => io.err.write(`sub: ${harmless(text)}\n`);
  const result = await startRun({
    ...runOptions(options, policy?.path),
    command: args.command,
    env: process.env,
    cwd: process.cwd(),
    config: settings.config,
    paths: settings.paths,
    snapshot: policy?.snapshot ?? null,
    meta: read.meta,
    isTerminal: [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY),
    tell,
  });
  if (result.kind === 'refused') {
    reportFailure({ ...result, kind: 'failure' }, io, false);
    return done(result.exitCode);
  }
  for (const warning of result.warnings) tell(warning);
  for (const line of closingLines(result, options)) tell(line);
  return done(exitCodeOf(result, options));
}

/** What the parser of the command line lets pass. */
function wrongCall(command: readonly string[], options: Options): Failure | undefined {
  const behind = process.argv.slice(process.argv.indexOf('--') + 1);
  if (!process.argv.includes('--') || behind.length !== command.length) {
    const message = 'the command of the agent must stand behind `--`.';
    return failure('SUB_USAGE', message, 'Write: sub run [options] -- AGENT ARGS…');
  }
  for (const name of ['agent-id', 'principal'] as const) {
    const word = options[name];
    if (word !== undefined && (word === '' || word.length > WORD_LENGTH_MAX)) {
      const message = `--${name} takes 1 to ${WORD_LENGTH_MAX} characters.`;
      return failure('SUB_USAGE', message, 'Give a name.');
    }
  }
  for (const name of ['policy', 'events', 'bundle'] as const) {
    if (options[name] !== '') continue;
    return failure('SUB_USAGE', `--${name} is empty.`, 'Name a file or a folder.');
  }
  if (options.policy === STDIO) {
    // Each shim reads it for itself, and again when it changes.
    return failure('SUB_USAGE', '--policy must be a file.', 'Save the policy, and name its file.');
  }
  return wrongTogether(options);
}

function wrongTogether(options: Options): Failure | undefined {
  if (options.force && options.bundle === undefined) {
    return failure('SUB_USAGE', '--force goes with --bundle.', 'Leave it out.');
  }
  if (options['allow-no-server'] && !options.strict) {
    return failure('SUB_USAGE', '--allow-no-server goes with --strict.', 'Leave it out.');
  }
  const sink = sinkOf(options.events);
  if (sink !== undefined && options.bundle !== undefined) {
    const message = `--events ${sink} leaves nothing for --bundle.`;
    return failure('SUB_USAGE', message, `Leave one out; a file of that name is ./${sink}.`);
  }
  return undefined;
}

/** The words that `sub shim` takes, too. */
function sinkOf(events: string | undefined): 'ledger' | 'off' | undefined {
  return events === 'ledger' || events === 'off' ? events : undefined;
}

interface Meta {
  readonly kind: 'meta';
  readonly meta: { readonly [key: string]: string };
}

function readMeta(words: readonly string[]): Meta | Failure {
  const fix = 'Write: --meta key=value';
  if (words.length > META_MAX) {
    return failure('SUB_USAGE', `--meta may be given ${META_MAX} times.`, 'Leave some out.');
  }
  const meta = new Map<string, string>();
  for (const word of words) {
    const [, key, value = ''] = META.exec(word) ?? [];
    if (key === undefined) return failure('SUB_USAGE', `--meta ${word} is no key=value.`, fix);
    if (value.length > VALUE_LENGTH_MAX) {
      const message = `--meta ${key} is longer than ${VALUE_LENGTH_MAX} characters.`;
      return failure('SUB_USAGE', message, 'Shorten it.');
    }
    if (meta.has(key) || key === 'parent_run_id') {
      const message = `--meta ${key} is ${meta.has(key) ? 'given twice' : 'set by sub itself'}.`;
      return failure('SUB_USAGE', message, 'Choose another key.');
    }
    meta.set(key, value);
  }
  return { kind: 'meta', meta: Object.fromEntries(meta) };
}

interface Settings {
  readonly config: Config;
  readonly paths: HomePaths;
}

async function loadSettings(options: Options, io: Io): Promise<Settings | Failure> {
  const { policy, profile } = options;
  const loaded = await loadConfig({
    env: process.env,
    flags: { policy, profile, events: sinkOf(options.events) },
    cwd: process.cwd(),
  });
  if (loaded.ok) return { config: loaded.config, paths: loaded.paths };
  const problems = loaded.problems.map(problemOf);
  const last = problems.at(-1);
  if (last === undefined) throw new Error('a configuration failed without a problem');
  // One line each; the last is told as every failure is.
  for (const problem of problems.slice(0, -1)) reportFailure(problem, io, false);
  return last;
}

function problemOf({ code, where, message, fix }: ConfigProblem): Failure {
  return failure(code, `${where}: ${message}.`, fix);
}

interface FoundSnapshot {
  readonly path: string;
  readonly snapshot: Snapshot;
}

/** The policy of the run, or null without one; what is wrong with it is printed. */
async function findSnapshot(
  { config, paths }: Settings,
  { policy }: Options,
  io: Io,
): Promise<FoundSnapshot | null | Failure> {
  const cwd = process.cwd();
  const found = findPolicy({ cwd, home: paths.home, userHome: userHome(process.env) });
  const path = policy ?? config['policy.path'] ?? (found.kind === 'found' ? found.path : undefined);
  if (path === undefined) return null;
  // Only who has a policy pays for what reads it.
  const { loadPolicy } = await import('../load-policy.ts');
  const loaded = await loadPolicy(path, { io, profile: config.profile });
  return isFailure(loaded) ? loaded : { path: resolve(path), snapshot: loaded.snapshot };
}

type Chosen = Pick<RunOptions, 'told' | 'identity' | 'events' | 'bundle'>;

function runOptions(options: Options, policyPath: string | undefined): Chosen {
  const { 'agent-id': agentId, env, client, principal, profile, bundle } = options;
  return {
    told: {
      // Also one that was found here: from the folder that the agent goes to, it may not be.
      ...(policyPath !== undefined && { policyPath }),
      ...(profile !== undefined && { profile }),
    },
    identity: {
      ...(agentId !== undefined && { agentId }),
      ...(env !== undefined && { env }),
      ...(client !== undefined && { client }),
      ...(principal !== undefined && { principal }),
    },
    events: eventsOf(options.events),
    ...(bundle !== undefined && { bundle: { dir: resolve(bundle), force: options.force } }),
  };
}

function eventsOf(events: string | undefined): RunOptions['events'] {
  if (events === undefined) return {};
  if (events === STDIO) return { follow: print };
  const sink = sinkOf(events);
  // As `sub shim` wants a file written, too.
  return sink === undefined ? { file: resolve(events.replace(/^file:/, '')) } : { sink };
}

/**
 * False when nobody reads any more. Not by `process.stdout`: the agent shares it and may have made it
 * blocking, and a reader that is slow must not hold up the hub.
 */
async function print(bytes: Uint8Array): Promise<boolean> {
  for (let rest = bytes; rest.length > 0; ) {
    const written = await writeSome(rest);
    if (written === 'gone') return false;
    if (written === 0) await pause(FULL_MS);
    rest = rest.subarray(written);
  }
  return true;
}

function writeSome(bytes: Uint8Array): Promise<number | 'gone'> {
  return new Promise((answer) => {
    write(STDOUT, bytes, (cause, written) => {
      if (cause === null) answer(written);
      else answer(cause.code === 'EAGAIN' ? 0 : 'gone');
    });
  });
}

/** A reader that goes away ends the printing, not the agent. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => undefined);
  }
}

export { run };
