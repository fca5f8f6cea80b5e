// Makes sure that a daemon runs, and stays.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { ensurePrivateFolder } from '@subluminal/plane/config';
import { ensureLedgerd, type LedgerHome } from '@subluminal/plane/daemon';
import { createLedgerClient, type LedgerStatus } from '@subluminal/plane/ingest';
import { isOlder } from './daemon-text.ts';
import { notEnded, STOP_MS } from './stop-daemon.ts';

const START_MS = 20_000;
const LOG_SHOWN_LENGTH_MAX = 500;

interface RunningDaemon {
  readonly kind: 'running';
  readonly status: LedgerStatus;
  /** It was started just now. */
  readonly isNew: boolean;
  /** A shim or a command had started it: from now on it is the user's. */
  readonly isKept: boolean;
  /** The version of the one that it replaces. */
  readonly replaced: string | undefined;
}

/** Starts a daemon that stays; one that a shim has started is kept, or replaced when it is older. */
export async function startDaemon(home: LedgerHome): Promise<RunningDaemon | Failure> {
  const { config, paths } = home;
  const client = createLedgerClient({ socketPath: config['ledger.socket'] });
  const before = await client.status();
  const isOld = before !== undefined && !before.stays && isOlder(before.version);
  if (isOld && !(await client.stop(STOP_MS))) return notEnded(before.pid);
  if (before === undefined || isOld) {
    for (const folder of [paths.home, paths.run]) {
      const unsafe = ensurePrivateFolder(folder);
      if (unsafe !== undefined) return unsafe;
    }
    await ensureLedgerd({ env: process.env, paths, config, stays: true }, START_MS);
  }
  const status = await client.status();
  if (status === undefined) {
    const reason = lastWords(join(paths.run, 'ledgerd.log'));
    const fix = 'Run `sub ledgerd --foreground` to see more.';
    return failure('SUB_LEDGER_IO', `the daemon did not start${reason}.`, fix);
  }
  const isNew = status.pid !== before?.pid;
  const isKept = !status.stays && (await client.stay());
  return {
    kind: 'running',
    status: isKept ? { ...status, stays: true } : status,
    isNew,
    isKept,
    replaced: isNew && isOld ? before.version : undefined,
  };
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
