// Lets the servers and the own tools of an agent share one hub where no `sub run` has started the agent: the host of
// its hooks has one. Only for clients that `sub import --hooks` has put hooks into.
import { existsSync } from 'node:fs';
import { isAnswered, processEnvironment, type System, thisSystem } from '../../os/index.ts';
import { type Env, homePaths } from '../../stores/config/home-paths.ts';
import { RUN_ENV_VARS, TOKEN_VAR } from '../../stores/runs/env-vars.ts';
import { managedClients } from '../clients/hooks/managed-files.ts';
import { type HookHostPlace, hookHostPlace, startHost } from './find-host.ts';

/** A shim, as its command line and its environment describe it. */
interface AgentHubCaller {
  readonly env: Env;
  readonly flags: { readonly [flag: string]: string | undefined };
  readonly cwd: string;
  readonly started: { readonly program: readonly string[] };
}

/** The hub that a shim shares with the hooks of its agent. */
export interface AgentHub {
  /** What the shim works by. */
  readonly env: Env;
  /** Settings of its environment that do not count. */
  readonly ignored: readonly string[];
  /** Starts the host where there is none; a text says why nobody answers. */
  readonly start: () => Promise<string | undefined>;
}

const KEPT: ReadonlySet<string> = new Set([
  'SUB_HOME',
  'SUB_RUN_ID',
  'SUB_AGENT_ID',
  'SUB_ENV',
  'SUB_CLIENT',
  'SUB_PRINCIPAL',
]);
const SETTING_VARS = [...RUN_ENV_VARS, TOKEN_VAR].filter((name) => !KEPT.has(name));

/** Undefined where the shim has another hub, or its agent has no hooks of ours. */
export async function agentHub(
  { env, flags, cwd, started }: AgentHubCaller,
  system: System = thisSystem(),
): Promise<AgentHub | undefined> {
  const isElsewhere = env['SUB_GOVERNANCE_ENDPOINT'] || flags['governance-endpoint'];
  if (isElsewhere || env['SUB_RUN_HOSTED'] === '1') return undefined;
  const managed = managedClients();
  if (managed.length === 0 && !existsSync(homePaths(env).backups)) return undefined;
  const place = hookHostPlace(env, system);
  if (typeof place === 'string' || !(await hasHooks(place, env, managed))) return undefined;
  const { agent, hubPath } = place;
  // As for the host: an agent can start another one with looser settings, and a repository can bring an entry.
  const ignored = SETTING_VARS.filter((name) => env[name]);
  const rest = Object.entries(env).filter(([name]) => !ignored.includes(name));
  const [, sub = ''] = started.program;
  const host = { sub, env, cwd, policy: flags['policy'] };
  return {
    env: {
      ...Object.fromEntries(rest),
      SUB_GOVERNANCE_ENDPOINT: `unix:${hubPath}`,
      // The host knows the environment of the agent, and not that of the shim: so they are in the same run.
      SUB_RUN_ID: processEnvironment(agent.pid, system)['SUB_RUN_ID'],
    },
    ignored,
    start: async () => ((await isAnswered(hubPath)) ? undefined : startHost(place, host)),
  };
}

/** Whether the client that the agent is has hooks, from this home or from the settings of the machine. */
async function hasHooks(
  { client }: HookHostPlace,
  env: Env,
  managed: readonly string[],
): Promise<boolean> {
  const { listRecords } = await import('../clients/store/records.ts');
  const recorded = listRecords(homePaths(env)).flatMap((found) =>
    found.kind === 'record' && found.record.hooks !== undefined ? [found.record.client] : [],
  );
  return [...recorded, ...managed].some((id) => {
    const hooked = id.replace('claude-code', 'claude');
    return client === 'unknown' ? !/^(?:claude|codex)$/.test(hooked) : hooked === client;
  });
}
