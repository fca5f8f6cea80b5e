// The proxy as a process of this user: one for each home. A file of the run folder says which process it is.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isObject, tableFailure } from '@subluminal/contracts';
import {
  attempt,
  isProcessAlive,
  ownIdentity,
  type ProcessIdentity,
  parseJson,
  processEnded,
  readPrivateFile,
  startInBackground,
  takeLockBlocking,
  writePrivateFile,
} from '@subluminal/plane/os';

export interface ProxyState {
  readonly identity: ProcessIdentity;
  readonly url: string;
  readonly mode: 'gateway' | 'own';
  readonly version: string;
  readonly startedAt: string;
}

const LOCK = 'proxy';
const STATE_BYTES_MAX = 16_384;
/** Longer than the proxy itself waits for open streams. */
const STOP_MS = 40_000;

export function proxyLog(runDir: string): string {
  return join(runDir, 'proxy.log');
}

function statePath(runDir: string): string {
  return join(runDir, 'proxy.json');
}

/** The proxy that runs; undefined when none does. */
export function runningProxy(runDir: string): ProxyState | undefined {
  const read = readPrivateFile(statePath(runDir), { bytesMax: STATE_BYTES_MAX, isSecret: true });
  const value = read.kind === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  const state = stateIn(value);
  return state !== undefined && isProcessAlive(state.identity) ? state : undefined;
}

function stateIn(value: unknown): ProxyState | undefined {
  if (!isObject(value)) return undefined;
  const { pid, start, space, url, mode, version, started_at: startedAt } = value;
  if (typeof pid !== 'number' || typeof start !== 'string' || typeof url !== 'string') {
    return undefined;
  }
  if (typeof version !== 'string' || typeof startedAt !== 'string') return undefined;
  return {
    identity: { pid, start, ...(typeof space === 'string' && { space }) },
    url,
    mode: mode === 'own' ? 'own' : 'gateway',
    version,
    startedAt,
  };
}

export interface HeldPlace {
  readonly kind: 'held_place';
  /** Says where the proxy listens. */
  tell(state: Pick<ProxyState, 'url' | 'mode' | 'version'>): void;
  leave(): void;
}

/** Takes the one place that a home has for a proxy. */
export function takePlace(runDir: string): HeldPlace | Failure {
  const lock = takeLockBlocking({ folder: runDir, name: LOCK });
  if (lock.kind === 'held') {
    const message = `A proxy runs already for this home (pid ${lock.pid}).`;
    return failure('SUB_PROXY_START', message, 'Use it, or end it first with `sub proxy stop`.');
  }
  return {
    kind: 'held_place',
    tell: ({ url, mode, version }) => {
      const started_at = new Date().toISOString();
      const text = JSON.stringify({ ...ownIdentity(), url, mode, version, started_at });
      writePrivateFile(statePath(runDir), `${text}\n`, { isLasting: false });
    },
    leave: () => {
      attempt(() => rmSync(statePath(runDir), { force: true }));
      lock.release();
    },
  };
}

export interface ProxyStart {
  readonly runDir: string;
  /** The launcher, and what it is told. */
  readonly command: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
}

/** Starts it in the background, and waits until it listens or has ended. */
export async function startProxyProcess(start: ProxyStart): Promise<ProxyState | Failure> {
  const { runDir, command, env } = start;
  const ready = async (pid: number | undefined) => {
    const state = runningProxy(runDir);
    return state?.identity.pid === pid ? state : undefined;
  };
  const started = await startInBackground({ command, env, log: proxyLog(runDir), ready });
  return started ?? tableFailure('SUB_PROXY_START');
}

/** Ends it, and waits for its open streams as long as it does itself. */
export async function stopProxy({ identity }: ProxyState): Promise<Failure | undefined> {
  const { pid } = identity;
  if (!isProcessAlive(identity)) return undefined;
  attempt(() => process.kill(pid, 'SIGTERM'));
  if (await processEnded(pid, STOP_MS)) return undefined;
  const message = `The proxy (pid ${pid}) has not ended in time.`;
  return failure('SUB_PROXY_START', message, 'Look at run/proxy.log of the home.');
}
