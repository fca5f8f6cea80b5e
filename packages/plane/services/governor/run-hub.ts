// Which hub a shim must ask, and whether its server may start without it.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config, HomePaths } from '../../stores/config/index.ts';
import { TOKEN_VAR } from '../../stores/runs/env-vars.ts';
import type { ShimStart } from '../clients/inspect/loose-entries.ts';
import type { HubReach } from './hub.ts';

/** The shim that asks, as its command line and its environment describe it. */
interface HubCaller {
  readonly serverName: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly flags: { readonly [flag: string]: string | undefined };
}

type Warning = (text: string) => void;

/** Calls the hub of the run, if there is one: it answers while all else gets ready. */
export async function callRunHub(
  { serverName, env, flags }: HubCaller,
  config: Config,
  warn: Warning,
): Promise<HubReach | string | undefined> {
  const told = env['SUB_GOVERNANCE_ENDPOINT'];
  // An entry chooses no other hub for a run that has one.
  const isHosted = env['SUB_RUN_HOSTED'] === '1' && Boolean(told);
  const endpoint = isHosted ? told : flags['governance-endpoint'] || told;
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
  const reached = reachHub({ endpoint, token, serverName, runId, profile, warn, ...limits });
  return reached.ok ? reached.reach : reached.message;
}

/** The hub, when it is known whether it is there; a text says why the server must not start. */
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
  const told = { serverName, env, flags, words, config, home: paths.home, isWritten };
  const unreached = await reach.problem;
  if (unreached === undefined) {
    // The file that told of the run may have been changed: what its hub says holds.
    const unlike = await unlikeRun(reach.terms(), told);
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
  // The profile by which it would go on may be the word of a repository alone.
  const isHosted = env['SUB_RUN_HOSTED'] === '1';
  const loose = isHosted && flags['profile'] ? await looseWithoutHub(told) : undefined;
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
