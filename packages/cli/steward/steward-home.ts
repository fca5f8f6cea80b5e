// Where Steward of this user is, and whether it runs.
import { join, resolve } from 'node:path';
import {
  type Failure,
  failure,
  isFailure,
  type StewardAnswers,
  type StewardInputs,
  type StewardMethod,
  tableFailure,
} from '@subluminal/contracts';
import { formatProblem } from '@subluminal/core/source';
import { homePaths } from '@subluminal/plane/config';
import { startLedgerd } from '@subluminal/plane/daemon';
import { ensurePrivateFolder, startInBackground } from '@subluminal/plane/os';
import { askSteward, controlSocket } from '@subluminal/plane/steward-socket';
import type { RunningSteward } from '@subluminal/steward/app';
import { secretPlaces } from '../gateway/config-home.ts';
import { orThrow } from '../input/command.ts';
import { loadOwnConfig } from '../input/own-config.ts';
import { packageFile } from '../input/package-file.ts';
import manifest from '../package.json' with { type: 'json' };
import type { Io } from '../terminal/io.ts';
import { harmlessLine, plural } from '../terminal/text.ts';

export interface StewardHome {
  readonly home: string;
  readonly run: string;
  readonly socket: string;
  readonly log: string;
  readonly configFolder: string;
}

export function stewardHome(configFolder?: string): StewardHome {
  const { home, run } = homePaths(process.env);
  return {
    ...{ home, run, socket: controlSocket(run), log: join(run, 'steward.log') },
    configFolder: resolve(configFolder ?? join(home, 'steward', 'config')),
  };
}

/** What it says of itself; undefined when none runs. Throws any other failure. */
export async function runningSteward({ socket }: StewardHome) {
  const status = await askSteward(socket, 'status', { input: {} });
  if (isFailure(status) && status.code === 'SUB_STEWARD_AWAY') return undefined;
  return orThrow(status);
}

/** Prints all that is wrong with the configuration, and throws the failure. */
async function checkConfig({ configFolder }: StewardHome, io: Io): Promise<void> {
  const { hasStewardConfig, readStewardConfig } = await import('@subluminal/steward/config');
  if (!hasStewardConfig(configFolder)) {
    const message = `There is no configuration of Steward in ${configFolder}.`;
    orThrow(failure('SUB_STEWARD_FILE', message, 'Run `sub steward init` first.'));
  }
  const read = await readStewardConfig(configFolder);
  const problems = read.kind === 'broken' ? read.problems : read.warnings;
  for (const problem of problems) {
    const file = join(configFolder, problem.file);
    io.err.write(harmlessLine(formatProblem({ ...problem, file })));
  }
  const errors = problems.filter(({ level }) => level === 'error');
  const [first] = errors;
  if (first === undefined) return;
  const message = `The configuration of Steward has ${plural(errors.length, 'error')}.`;
  orThrow(failure(first.code, message, 'Correct what stands above, and try again.'));
}

/** Steward in this process. Throws its failure. */
export async function ownSteward(
  place: StewardHome,
  { io, log }: { readonly io: Io; readonly log: (line: string) => void },
): Promise<RunningSteward> {
  const { configFolder } = place;
  await checkConfig(place, io);
  // Here alone: commands that only ask one that runs need nothing of it.
  const { startSteward } = await import('@subluminal/steward/app');
  const loaded = await loadOwnConfig();
  const { config, paths } = loaded;
  const { env } = process;
  if (config['events.sink'].kind === 'ledger') startLedgerd({ env, paths, config });
  const places = await secretPlaces();
  const sandboxWorker = orThrow(
    packageFile('packages', 'cli', 'dist', 'sandbox', 'sandbox-worker.mjs'),
  );
  const [, sub = ''] = process.argv;
  const started = { loaded, env, places, configFolder, sandboxWorker, sub, log };
  return orThrow(await startSteward({ ...started, version: manifest.version }));
}

export async function startBehind(place: StewardHome, io: Io) {
  await checkConfig(place, io);
  const [, launcher = ''] = process.argv;
  const { configFolder, log, home, run } = place;
  for (const folder of [home, run]) orThrow(ensurePrivateFolder(folder));
  const started = await startInBackground({
    command: [launcher, 'steward', 'start', '--foreground', '--config', configFolder],
    env: { ...process.env, SUB_HOME: home },
    log,
    ready: async (pid) => {
      const status = await askSteward(place.socket, 'status', { input: {} });
      return !isFailure(status) && status.pid === pid ? status : undefined;
    },
  });
  return started ?? notStarted(place);
}

function notStarted({ log }: StewardHome): Failure {
  return tableFailure('SUB_STEWARD_START', `Its log is ${log}.`);
}

/** What the Steward of this home answers; a failure where none runs. */
export function stewardAnswer<M extends StewardMethod>(
  method: M,
  input: StewardInputs[M],
): Promise<StewardAnswers[M] | Failure> {
  return askSteward(stewardHome().socket, method, { input });
}
