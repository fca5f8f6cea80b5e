// What all commands that host a run share: from the command line to the options of the run, and from
// its result to an exit code.
import { resolve } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import type { AgentStartFailure, RunOptions, RunResult } from '@subluminal/plane/run';
import { done, EXIT, type Outcome, orThrow } from '../input/command.ts';
import { STDIO } from '../input/read-file.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure, warn } from '../terminal/report-failure.ts';
import { readMeta, sinkOf, wrongCall } from './arguments.ts';
import type { RunInput } from './options.ts';
import { outliveReaders, print } from './output.ts';
import { closingLines, exitCodeOf } from './report.ts';
import { type FoundSnapshot, findSnapshot, loadSettings } from './settings.ts';

type RunFlags = RunInput['options'];

interface PreparedRun {
  readonly kind: 'prepared';
  readonly options: RunOptions;
}

/** `name` is the command of `sub` that was called. */
export async function prepareRun(name: string, input: RunInput, io: Io): Promise<PreparedRun> {
  orThrow(wrongCall(name, input));
  const { args, options } = input;
  const read = orThrow(readMeta(options.meta));
  const { policy, profile, events, cedar } = options;
  const settings = orThrow(
    await loadSettings({ policy, profile, cedar, events: sinkOf(events) }, io),
  );
  const found = orThrow(await findSnapshot(settings, options, io));
  const tell = teller(io);
  for (const warning of found.warnings) tell(warning);
  const policies = found.kind === 'found' ? found : undefined;
  return {
    kind: 'prepared',
    options: {
      ...runOptions(options, policies),
      command: args.command,
      env: { ...process.env, ...(options.verbose && { SUB_LOG_LEVEL: 'debug' }) },
      cwd: process.cwd(),
      config: settings.config,
      paths: settings.paths,
      snapshot: policies?.snapshot ?? null,
      policySources: policies?.sources ?? [],
      meta: read.meta,
      isTerminal: [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY),
      tell,
    },
  };
}

function teller(io: Io): (text: string) => void {
  return (text) => warn(io, text);
}

type Chosen = Pick<RunOptions, 'told' | 'identity' | 'events' | 'bundle'>;

function runOptions(options: RunFlags, found: FoundSnapshot | undefined): Chosen {
  const { path: policyPath, projectPath } = found ?? {};
  const { 'agent-id': agentId, env, client, principal, profile, bundle } = options;
  return {
    told: {
      // Also one that was found here: from the folder that the agent goes to, it may not be.
      ...(policyPath !== undefined && { policyPath }),
      ...(projectPath !== undefined && { projectPolicyPath: projectPath }),
      isPolicyNamed: options.policy !== undefined || Boolean(process.env['SUB_POLICY']),
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

/** Runs it, says how it ended, and ends as the agent did. */
/** An agent that a shell could not start either has the exit code of a shell. */
export function notStarted(failed: Failure & Partial<AgentStartFailure>, io: Io): Outcome {
  reportFailure(failed, io);
  return done(failed.exitCode ?? EXIT.usage);
}

export async function hostRun(
  start: () => Promise<RunResult>,
  options: RunFlags,
  io: Io,
): Promise<Outcome> {
  outliveReaders();
  const result = await start();
  if (isFailure(result)) return notStarted(result, io);
  const tell = teller(io);
  const harms = result.policyHarms.map(({ text }) => text);
  for (const warning of [...result.warnings, ...harms]) tell(warning);
  for (const line of closingLines(result, options)) tell(line);
  return done(exitCodeOf(result, options));
}
