import { resolve } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import { homePaths } from '@subluminal/plane/config';
import { type LedgerHome, type OpenWorkbench, runLedgerd } from '@subluminal/plane/daemon';
import { createLedgerClient, type LedgerStatus } from '@subluminal/plane/ingest';
import {
  badUsage,
  defineCommand,
  done,
  EXIT,
  type OptionValues,
  type Outcome,
  orThrow,
  printout,
} from '../input/command.ts';
import { builtPages } from '../ledger/built-pages.ts';
import { dutiesOf, notesOf, statusText, troublesOf } from '../ledger/daemon-text.ts';
import { startDaemon } from '../ledger/start-daemon.ts';
import { STOP_MS, stopDaemon } from '../ledger/stop-daemon.ts';
import { findLedger, printProblem } from '../ledger/user-ledger.ts';
import manifest from '../package.json' with { type: 'json' };
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, harmlessLine } from '../terminal/text.ts';

const TAKE_OVER_TRIES = 3;
const ENDING_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** The log of a daemon in the background must not grow without end. */
const LOG_LENGTH_MAX = 1_048_576;
const EXCLUSIVE = ['foreground', 'auto', 'status', 'stop'] as const;

const OPTIONS = {
  foreground: 'Serve in this process until a signal ends it, and log to standard error',
  auto: 'Serve in this process as a shim starts it, and end when nobody needs it any more',
  status: 'Print whether the daemon is running, and what it has done',
  stop: 'Stop the running daemon, and wait for its end',
};
type LedgerdOptions = OptionValues<typeof OPTIONS>;

export const command = defineCommand({
  description:
    'Starts the daemon that writes to the ledger, in the background. A shim that finds no daemon starts one itself, which ends when nobody has needed it for a while; a daemon started by this command runs until `--stop`.',
  options: OPTIONS,
  examples: ['sub ledgerd', 'sub ledgerd --status --json', 'sub ledgerd --stop'],
  exitCodes: {
    0: 'the daemon is running, or served and has ended; with --stop: no daemon is running',
    1: 'with --status: no daemon is running',
    2: 'wrong flags, or the daemon could not be started, served or stopped',
  },
  run: async ({ options }, io) => {
    const given = EXCLUSIVE.filter((name) => options[name]);
    if (given.length > 1) {
      const names = given.map((name) => `--${name}`).join(' and ');
      return badUsage(`${names} exclude each other.`, 'Give one.');
    }
    if (options.foreground || options.auto) return serve(options, io);
    const home = await findLedger();
    if (!options.stop && !options.status) return isFailure(home) ? home : start(home);
    const socketPath = isFailure(home) ? usualSocket(home, io) : home.config['ledger.socket'];
    if (options.stop) return stop(socketPath);
    const status = await createLedgerClient({ socketPath }).status();
    if (status !== undefined) return statusPrintout(status, false, notesOf(status));
    return printout({ running: false }, 'No daemon runs.\n', EXIT.findings);
  },
});

/** The daemon can be stopped although the configuration is broken. */
function usualSocket({ code, message }: Failure, io: Io): string {
  const socketPath = process.env['SUB_LEDGER_SOCKET'] || homePaths(process.env).socket;
  warn(io, `${message} [${code}] So the daemon is looked for on ${resolve(socketPath)}.`);
  return resolve(socketPath);
}

async function start(home: LedgerHome): Promise<Outcome> {
  const { status, isNew, isKept, replaced } = orThrow(await startDaemon(home));
  const notes = [
    ...(replaced === undefined ? [] : [`It replaces one of version ${replaced}.`]),
    ...(isKept && !isNew ? ['It was started by need, and was told to stay.'] : []),
    ...(isNew ? [] : notesOf(status)),
  ];
  return statusPrintout(status, isNew, notes);
}

function clientOf({ config }: LedgerHome) {
  return createLedgerClient({ socketPath: config['ledger.socket'] });
}

async function serve({ auto }: LedgerdOptions, io: Io): Promise<Outcome> {
  // Sockets, logs and files beside the ledger are for its owner alone.
  process.umask(0o077);
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of ENDING_SIGNALS) process.on(signal, end);
  const serving = {
    env: process.env,
    cwd: process.cwd(),
    onProblem: printProblem,
    auto,
    version: manifest.version,
    pages: builtPages(),
    openWorkbench,
    log: logger(io, auto),
    signal: ending.signal,
  };
  let result = await runLedgerd(serving);
  for (let tries = 0; result.kind === 'already' && tries < TAKE_OVER_TRIES; tries++) {
    // With --foreground a supervisor expects this process to serve.
    if (auto || !(await endUnchosen())) break;
    result = await runLedgerd(serving);
  }
  for (const signal of ENDING_SIGNALS) process.off(signal, end);
  if (isFailure(result)) return result;
  if (result.kind === 'already' && !auto) {
    io.err.write('sub ledgerd: one runs already for this home.\n');
  }
  return done(EXIT.fine);
}

/** A daemon that no page asks stays light. */
const openWorkbench: OpenWorkbench = async (host) => {
  const workbench = await import('../workbench/open-workbench.ts');
  return workbench.openWorkbench(host);
};

/** Ends a running daemon that a shim has started; false for one that stays. */
async function endUnchosen(): Promise<boolean> {
  const home = await findLedger();
  if (isFailure(home)) return false;
  const status = await clientOf(home).status();
  return status === undefined || (!status.stays && (await clientOf(home).stop(STOP_MS)));
}

function logger(io: Io, isBounded: boolean): (message: string) => void {
  let length = 0;
  return (message) => {
    const line = `${new Date().toISOString()} ledgerd: ${harmless(message)}\n`;
    length += line.length;
    if (!isBounded || length <= LOG_LENGTH_MAX) io.err.write(line);
  };
}

async function stop(socketPath: string): Promise<Outcome> {
  const { pid } = orThrow(await stopDaemon(socketPath));
  const text = pid === null ? 'No daemon runs.' : `The daemon (pid ${pid}) has ended.`;
  return printout({ running: false, stopped: pid }, `${text}\n`);
}

function statusPrintout(status: LedgerStatus, isNew: boolean, notes: readonly string[]): Outcome {
  const lines = [statusText(status, isNew), ...dutiesOf(status), ...troublesOf(status), ...notes];
  return printout({ running: true, ...status }, lines.map(harmlessLine).join(''));
}
