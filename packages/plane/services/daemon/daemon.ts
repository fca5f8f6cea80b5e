// `sub ledgerd`: the one writer of the ledger, from its start to an orderly end.

import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { isAnswered } from '../../os/index.ts';
import { ensurePrivateFolder } from '../../stores/config/index.ts';
import type { Ledger } from '../../stores/ledger/index.ts';
import { type IngestServer, openIngest } from '../ingest/server.ts';
import { openApprovals } from './approvals.ts';
import { findLedger, type LedgerHome, openWriter, type Whereabouts } from './home.ts';
import { openHttp } from './http.ts';
import { closeLost } from './lost-runs.ts';
import { DAY_MS, keepRetention, sweepApprovals } from './retention.ts';
import { releaseStart } from './start.ts';
import type { OpenWorkbench } from './workbench-host.ts';

export interface LedgerdOptions extends Whereabouts {
  /** Ends by itself when nobody has needed it for a while. */
  readonly auto: boolean;
  readonly version: string;
  /** What the commands of `sub` give to the HTTP API. */
  readonly openWorkbench?: OpenWorkbench;
  /** The folder of the built page; without it none is served. */
  readonly pages?: string | undefined;
  readonly log: (message: string) => void;
  /** Ends it from outside; signals come by it. */
  readonly signal: AbortSignal;
  /** How long a writer may hold the ledger before we give up; 10 s. */
  readonly lockMs?: number;
}

export type LedgerdEnd =
  | { readonly kind: 'ended' }
  /** Another one serves this home. */
  | { readonly kind: 'already' }
  | Failure;

const LOCK_MS = 10_000;
const LOCK_POLL_MS = 50;
/** How long the commits at the end may take. */
const CLOSE_MS = 10_000;

/** Serves until it is told to end, or until nobody needs it. */
export async function runLedgerd(options: LedgerdOptions): Promise<LedgerdEnd> {
  const home = await findLedger(options);
  if (isFailure(home)) return home;
  const { paths, config } = home;
  const socketPath = config['ledger.socket'];
  for (const folder of [paths.home, paths.run, paths.spool, dirname(socketPath)]) {
    const unsafe = ensurePrivateFolder(folder);
    if (unsafe !== undefined) return unsafe;
  }
  const ledger = await openAlone(home, options);
  if (ledger === 'already' || isFailure(ledger)) {
    releaseStart(paths);
    return ledger === 'already' ? { kind: 'already' } : ledger;
  }
  return serve(home, ledger, options);
}

/** The ledger, once nobody else writes to it. A command may, for a moment. */
async function openAlone(
  home: LedgerHome,
  { log, signal, lockMs = LOCK_MS }: LedgerdOptions,
): Promise<Ledger | Failure | 'already'> {
  const deadlineMs = performance.now() + lockMs;
  for (;;) {
    const ledger = await openWriter(home, { create: true, warn: log });
    if (!isFailure(ledger) || ledger.code !== 'SUB_LEDGER_LOCKED') return ledger;
    if (await isAnswered(home.config['ledger.socket'])) return 'already';
    if (signal.aborted || performance.now() > deadlineMs) return ledger;
    await pause(LOCK_POLL_MS);
  }
}

async function serve(
  home: LedgerHome,
  ledger: Ledger,
  options: LedgerdOptions,
): Promise<LedgerdEnd> {
  const { env, openWorkbench, auto, version, pages, log, signal } = options;
  const { config, paths } = home;
  let end: (result: LedgerdEnd) => void = () => undefined;
  const toldToEnd = new Promise<LedgerdEnd>((resolve) => {
    end = resolve;
  });
  let settle: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const ended = () => end({ kind: 'ended' });
  const socketPath = config['ledger.socket'];
  const server = await openIngest({
    socketPath,
    ready,
    ledger,
    spool: paths.spool,
    version,
    warn: log,
    onStop: ended,
    onFinal: ({ message }) => end(failure('SUB_LEDGER_IO', message, FINAL_FIX)),
    ...(auto && { idle: { afterMs: config['ledger.idle_exit_ms'], onIdle: ended } }),
  });
  releaseStart(paths);
  if (isFailure(server)) {
    await ledger.close();
    return server;
  }
  const approvals = await openApprovals({ home, env, ledger, server, log });
  const http = await openHttp({
    home,
    env,
    ledger,
    server,
    approvals,
    openWorkbench,
    version,
    pages,
    log,
  });
  settle();
  signal.addEventListener('abort', ended, { once: true });
  if (signal.aborted) ended();
  log(`serving ${home.file} on ${socketPath}`);
  const stopRetention = retain({ home, log }, ledger, server);
  const stopLooking = lookForLost({ home, log }, ledger, server);
  const result = await toldToEnd;
  stopRetention();
  await stopLooking();
  await approvals.close();
  await server.close(CLOSE_MS, async () => {
    await http.close();
    await ledger.close();
  });
  log('ended');
  return result;
}

const LOOK_MS = 30_000;

/** Looks for runs that were killed, at the start and then again and again; the result ends it. */
function lookForLost(
  { home, log }: { readonly home: LedgerHome } & Pick<LedgerdOptions, 'log'>,
  { store }: Ledger,
  server: IngestServer,
): () => Promise<void> {
  const look = async () => {
    try {
      const { runs, calls } = await closeLost({ store, server, paths: home.paths });
      if (runs + calls > 0) log(`runs closed as LOST: ${runs}, calls: ${calls}`);
    } catch (cause) {
      log(`lost runs could not be closed: ${String(cause)}`);
    }
  };
  let last = look();
  const timer = setInterval(() => {
    last = last.then(look);
  }, LOOK_MS);
  return () => {
    clearInterval(timer);
    return last;
  };
}

const FINAL_FIX = 'Run `sub ledger verify`; the events that come meanwhile wait in the spool.';

/** Prunes at the start and every day; the result ends it. */
function retain(
  { home, log }: { readonly home: LedgerHome } & Pick<LedgerdOptions, 'log'>,
  ledger: Ledger,
  server: IngestServer,
): () => void {
  let isEnding = false;
  const look = async () => {
    try {
      // Lines that have arrived are committed first: they came before.
      await server.sync();
      if (isEnding) return;
      const runs = await keepRetention(ledger, home.config, Date.now());
      if (runs > 0)
        log(`pruned ${runs} ${runs === 1 ? 'run' : 'runs'} by the retention of the configuration`);
    } catch (cause) {
      if (!isEnding) log(`old runs could not be pruned: ${String(cause)}`);
    }
    try {
      await sweepApprovals(home.paths.home, Date.now(), home.approvals?.keepDays);
    } catch (cause) {
      log(`old approvals could not be removed: ${String(cause)}`);
    }
  };
  void look();
  const timer = setInterval(() => void look(), DAY_MS);
  return () => {
    isEnding = true;
    clearInterval(timer);
  };
}
