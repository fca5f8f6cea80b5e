// Starts `sub ledgerd` in the background. Light: a shim imports it when nobody listens.
import { spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { definedFields } from '@subluminal/contracts';
import {
  attempt,
  errorText,
  hasSystemCode,
  isAnswered,
  isSubName,
  makeFolders,
} from '../../os/index.ts';
import type { Config, Env, HomePaths } from '../../stores/config/index.ts';

export interface StartOptions {
  readonly env: Env;
  readonly paths: Pick<HomePaths, 'home' | 'run'>;
  readonly config: Pick<
    Config,
    | 'ledger.path'
    | 'ledger.socket'
    | 'ledger.http'
    | 'ledger.idle_exit_ms'
    | 'ledger.retention_days'
    | 'ledger.retention_previews_days'
  >;
  /** The launcher; the one that started this process. */
  readonly sub?: string;
  /** It stays until it is told to end; otherwise it ends when nobody needs it. */
  readonly stays?: boolean;
}

export type StartResult =
  | { readonly kind: 'started' }
  /** Another process has just started one. */
  | { readonly kind: 'under_way' }
  | { readonly kind: 'failed'; readonly reason: string };

const LOG_BYTES_MAX = 65_536;
/** Who started one and did not get that far in this time has failed. */
const UNDER_WAY_MS = 5_000;
const POLL_MS = 20;
/** What the daemon needs of the user's surroundings; an agent may have put anything there. */
const KEPT = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'SUB_DEBUG',
  // So that a notification finds its desktop. No secret may come this way: a process that could set
  // it could answer for a person.
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
] as const;

/** Returns at once. `run/ledgerd.log` tells what goes wrong later. */
export function startLedgerd(
  options: StartOptions,
  onFailed: () => void = () => undefined,
): StartResult {
  const { paths, stays = false } = options;
  const sub = options.sub ?? launcher();
  if (sub === undefined) return { kind: 'failed', reason: 'the command `sub` was not found' };
  let log: number | undefined;
  try {
    makeFolders(paths.run);
    if (!claimStart(markOf(paths))) return { kind: 'under_way' };
    log = openLog(join(paths.run, 'ledgerd.log'));
    const child = spawn(process.execPath, [sub, 'ledgerd', stays ? '--foreground' : '--auto'], {
      detached: true,
      cwd: '/',
      env: environmentOf(options),
      stdio: ['ignore', log, log],
    });
    child.on('error', onFailed);
    child.on('exit', (code) => {
      if (code !== 0) onFailed();
    });
    child.unref();
    return { kind: 'started' };
  } catch (cause) {
    return { kind: 'failed', reason: errorText(cause) };
  } finally {
    if (log !== undefined) closeSync(log);
  }
}

/** True when a daemon answers on the socket in the end, whichever process started it. */
export async function ensureLedgerd(options: StartOptions, timeoutMs: number): Promise<boolean> {
  const socketPath = options.config['ledger.socket'];
  const deadlineMs = performance.now() + timeoutMs;
  let hasFailed = false;
  const onFailed = () => {
    hasFailed = true;
  };
  while (!(await isAnswered(socketPath))) {
    if (hasFailed || performance.now() > deadlineMs) return false;
    // The daemon of another process may fail to start: then this process starts one.
    if (startLedgerd(options, onFailed).kind === 'failed') return false;
    await pause(POLL_MS);
  }
  return true;
}

/** Tests and other programs load this code, too; they are no `sub`. */
export function launcher(): string | undefined {
  const [, path] = process.argv;
  return path !== undefined && isSubName(path) ? path : undefined;
}

function markOf({ run }: Pick<HomePaths, 'run'>): string {
  return join(run, 'ledgerd.starting');
}

/** Many shims start at once: one daemon is enough. False when somebody else is at it. */
function claimStart(mark: string): boolean {
  for (let tries = 0; tries < 2; tries++) {
    try {
      closeSync(openSync(mark, 'wx', 0o600));
      return true;
    } catch (cause) {
      if (!hasSystemCode(cause, 'EEXIST')) return true;
      const madeMs = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (Math.abs(Date.now() - madeMs) < UNDER_WAY_MS) return false;
      remove(mark);
    }
  }
  return false;
}

/** The daemon listens, or has said why it cannot: the next one may be started. */
export function releaseStart(paths: Pick<HomePaths, 'run'>): void {
  remove(markOf(paths));
}

/** Where this fails, the folder is not ours, and nothing starts there anyway. */
function remove(path: string): void {
  attempt(() => rmSync(path, { force: true }));
}

function openLog(path: string): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const log = openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
  if (fstatSync(log).size > LOG_BYTES_MAX) ftruncateSync(log);
  return log;
}

/** The paths as they are here: the daemon works in another folder. */
function environmentOf({ env, paths, config }: StartOptions): Env {
  return {
    ...definedFields(Object.fromEntries(KEPT.map((name) => [name, env[name]]))),
    SUB_HOME: paths.home,
    SUB_LEDGER_PATH: config['ledger.path'],
    SUB_LEDGER_SOCKET: config['ledger.socket'],
    SUB_LEDGER_HTTP: config['ledger.http'],
    SUB_LEDGER_IDLE_EXIT_MS: String(config['ledger.idle_exit_ms']),
    SUB_RETENTION_DAYS: String(config['ledger.retention_days']),
    SUB_RETENTION_PREVIEWS_DAYS: String(config['ledger.retention_previews_days']),
  };
}
