// Which hub a shim must ask, and whether its server may start without it.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import type { Config, HomePaths } from '../../stores/config/index.ts';
import { TOKEN_VAR } from '../../stores/runs/env-vars.ts';
import type { ShimStart } from '../clients/inspect/loose-entries.ts';
import type { HubLink } from './hub.ts';

/** The shim that asks, as its command line and its environment describe it. */
interface HubCaller {
  readonly serverName: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly flags: { readonly [flag: string]: string | undefined };
}

type Warning = (text: string) => void;

/** Calls the hub of the run, if there is one: it answers while the shim gets ready. */
export async function callRunHub(
  { serverName, env, flags }: HubCaller,
  config: Config,
  warn: Warning,
): Promise<HubLink | string | undefined> {
  const ofRun = env['SUB_GOVERNANCE_ENDPOINT'];
  // A config entry cannot choose another hub for a run that has one.
  const isHosted = env['SUB_RUN_HOSTED'] === '1' && Boolean(ofRun);
  const endpoint = isHosted ? ofRun : flags['governance-endpoint'] || ofRun;
  const { profile } = config;
  if (!endpoint) {
    if (env['SUB_RUN_HOSTED'] !== '1' || profile !== 'production') return undefined;
    return 'the run has a hub, but SUB_GOVERNANCE_ENDPOINT does not say where; let `sub run` start the agent';
  }
  const [, path] = /^unix:(.*)$/.exec(endpoint) ?? [];
  const problem = path === undefined ? undefined : folderOpenToOthers(path, config);
  if (problem !== undefined) return problem;
  const token = env[TOKEN_VAR];
  const limits = {
    readyMs: config['hub.ready_timeout_ms'],
    inspectBytesMax: config['limits.max_inspect_bytes'],
  };
  const { reachHub } = await import('./hub.ts');
  const runId = env['SUB_RUN_ID'] ?? '';
  const hub = reachHub({ endpoint, token, serverName, runId, profile, warn, ...limits });
  return isFailure(hub) ? `${hub.message} [${hub.code}]` : hub;
}

/** Waits until it is known whether the hub is there; a text says why the server must not start. */
export async function awaitRunHub(
  reaching: ReturnType<typeof callRunHub>,
  caller: HubCaller & {
    readonly started: ShimStart;
    readonly config: Config;
    readonly paths: HomePaths;
    readonly warn: Warning;
  },
): ReturnType<typeof callRunHub> {
  const reach = await reaching;
  if (typeof reach !== 'object') return reach;
  const { serverName, env, flags, started, config, paths, warn } = caller;
  const { looseWithoutHub, unlikeRun } = await import('../run/terms.ts');
  const isWritten = async (): Promise<boolean> => {
    const { isWrittenStart } = await import('../clients/inspect/loose-entries.ts');
    return isWrittenStart(started, { env, paths });
  };
  const { words } = started;
  const start = { serverName, env, flags, words, config, home: paths.home, isWritten };
  const unreached = await reach.problem;
  if (unreached === undefined) {
    // The terms of the hub hold: the file that describes the run may have been changed.
    const unlike = await unlikeRun(reach.terms, start);
    if (unlike === undefined) return reach;
    if (unlike.isRefused) {
      await reach.refuse(unlike.reason);
      return unlike.reason;
    }
    warn(unlike.reason);
    reach.tellUnlike(unlike.reason);
    return reach;
  }
  if (config.profile === 'production') return unreached;
  // A repository alone may have set the profile that lets the server start without its hub.
  const isHosted = env['SUB_RUN_HOSTED'] === '1';
  const loose = isHosted && flags['profile'] ? await looseWithoutHub(start) : undefined;
  if (loose !== undefined) return `${unreached}, and ${loose}`;
  warn(`${unreached}; we go on without it`);
  return reach;
}

const WRITABLE_BY_OTHERS = 0o022;

/** A user who can write to the folder of a socket can put their own socket there and read everything. */
export function folderOpenToOthers(socketPath: string, { profile }: Config): string | undefined {
  const folder = dirname(socketPath);
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined || profile !== 'production') return undefined;
  const isOurs = stats.uid === process.getuid?.() || stats.uid === 0;
  if (isOurs && (stats.mode & WRITABLE_BY_OTHERS) === 0) return undefined;
  return `others can write to ${folder}, where the socket ${socketPath} is; use a folder of your own`;
}
