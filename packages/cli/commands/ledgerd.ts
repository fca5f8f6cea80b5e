import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLedgerClient, type LedgerStatus } from '@subluminal/plane/ingest';
import {
  ensureLedgerd,
  isHomeFault,
  type LedgerHome,
  runLedgerd,
} from '@subluminal/plane/main/ledgerd';
import type { LedgerdInput } from '../catalog/ledger.ts';
import { done, type Outcome } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { failure, isFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { findLedger } from '../ledger/home.ts';
import manifest from '../package.json' with { type: 'json' };
import { harmless, jsonText, plural } from '../text.ts';

type Options = LedgerdInput['options'];

const START_MS = 20_000;
const STOP_MS = 30_000;
const ENDING_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** Nobody reads the log of a daemon in the background as it grows. */
const LOG_LENGTH_MAX = 1_048_576;
const LOG_SHOWN_LENGTH_MAX = 500;
const EXCLUSIVE = ['foreground', 'auto', 'status', 'stop'] as const;

async function run({ options }: LedgerdInput, io: Io): Promise<Outcome> {
  const given = EXCLUSIVE.filter((name) => options[name]);
  if (given.length > 1) {
    const names = given.map((name) => `--${name}`).join(' and ');
    return failure('SUB_USAGE', `${names} exclude each other.`, 'Give one.');
  }
  if (options.foreground || options.auto) return serve(options, io);
  const home = await findLedger();
  if (isFailure(home)) return home;
  const client = createLedgerClient({ socketPath: home.config['ledger.socket'] });
  if (options.stop) return stop(home, options, io);
  const before = await client.status();
  if (options.status) return told(before, { options, io, isNew: false });
  if (before !== undefined) return told(before, { options, io, isNew: false });
  const { config, paths } = home;
  await ensureLedgerd({ env: process.env, paths, config, stays: true }, START_MS);
  const started = await client.status();
  if (started !== undefined) return told(started, { options, io, isNew: true });
  const reason = lastWords(join(paths.run, 'ledgerd.log'));
  const fix = 'Run `sub ledgerd --foreground` to see more.';
  return failure('SUB_LEDGER_IO', `the daemon did not start${reason}.`, fix);
}

async function serve({ auto }: Options, io: Io): Promise<Outcome> {
  // Sockets, logs and files beside the ledger are for its owner alone.
  process.umask(0o077);
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of ENDING_SIGNALS) process.on(signal, end);
  const result = await runLedgerd({
    env: process.env,
    cwd: process.cwd(),
    auto,
    version: manifest.version,
    log: logger(io, auto),
    signal: ending.signal,
  });
  for (const signal of ENDING_SIGNALS) process.off(signal, end);
  if (isHomeFault(result)) return failure(result.code, result.message, result.fix);
  if (result.kind === 'already' && !auto) {
    io.err.write('sub ledgerd: one runs already for this home.\n');
  }
  return done(EXIT.fine);
}

function logger(io: Io, isBounded: boolean): (message: string) => void {
  let length = 0;
  return (message) => {
    const line = `${new Date().toISOString()} ledgerd: ${harmless(message)}\n`;
    length += line.length;
    if (!isBounded || length <= LOG_LENGTH_MAX) io.err.write(line);
  };
}

async function stop(home: LedgerHome, { json }: Options, io: Io): Promise<Outcome> {
  const client = createLedgerClient({ socketPath: home.config['ledger.socket'] });
  const before = await client.status();
  if (before !== undefined && !(await client.stop(STOP_MS))) {
    const message = `the daemon (pid ${before.pid}) has not ended in ${STOP_MS / 1_000} s.`;
    return failure('SUB_LEDGER_BUSY', message, 'Look at run/ledgerd.log, or end the process.');
  }
  const pid = before?.pid ?? null;
  const text = pid === null ? 'No daemon runs.' : `The daemon (pid ${pid}) has ended.`;
  io.out.write(json ? jsonText({ running: false, stopped: pid }) : `${text}\n`);
  return done(EXIT.fine);
}

interface Told {
  readonly options: Options;
  readonly io: Io;
  readonly isNew: boolean;
}

function told(status: LedgerStatus | undefined, { options, io, isNew }: Told): Outcome {
  if (options.json) {
    io.out.write(
      jsonText(status === undefined ? { running: false } : { running: true, ...status }),
    );
  } else {
    io.out.write(`${harmless(status === undefined ? 'No daemon runs.' : textOf(status, isNew))}\n`);
  }
  return done(status === undefined ? EXIT.findings : EXIT.fine);
}

function textOf(status: LedgerStatus, isNew: boolean): string {
  const { pid, version, started_at, connections, events_committed, http } = status;
  const api = http === undefined ? '' : `, HTTP API on ${http.url}`;
  if (isNew) return `The daemon runs now (pid ${pid})${api}.`;
  const work = `${plural(events_committed, 'event')} taken, ${plural(connections, 'connection')}`;
  return `The daemon runs (pid ${pid}, version ${version}) since ${started_at}: ${work}${api}.`;
}

/** The end of the log, as a cause. */
function lastWords(log: string): string {
  try {
    const line = readFileSync(log, 'utf8').trimEnd().split('\n').at(-1) ?? '';
    return line === '' ? '' : `: ${line.slice(-LOG_SHOWN_LENGTH_MAX).replace(/\.?$/, '')}`;
  } catch {
    return '';
  }
}

export { run };
