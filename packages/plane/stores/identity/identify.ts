// Who acts, where and for whom: every event of this process repeats it.

import { dirname, join } from 'node:path';
import {
  type Client,
  definedFields,
  type Env as EnvName,
  isUuid,
  type Producer,
  type Profile,
  type Workload,
} from '@subluminal/contracts';
import {
  errorText,
  type ProcessEnvironment,
  processEnvironment,
  type System,
  thisSystem,
} from '../../os/index.ts';
import { createOnce } from './agent-files.ts';
import { type AgentProcess, agentProcess } from './agent-process.ts';
import { type LeaveRun, type RunId, runIdOf } from './run-id.ts';
import { type CiJob, ciJob, pod, shortText } from './workload.ts';

export interface IdentifyOptions {
  readonly env: ProcessEnvironment;
  /** Variables that were set for the server alone, and do not say who acts. */
  readonly serverOnly?: readonly string[];
  readonly cwd: string;
  /** `$SUB_HOME/run` and `$SUB_HOME/host-id`. */
  readonly paths: { readonly run: string; readonly hostId: string };
  readonly nowMs: number;
  readonly profile?: Profile;
  /** Set for a shim, which has a part in its run. */
  readonly isShim?: boolean;
  readonly system?: System;
}

export interface Identified {
  readonly producer: Producer;
  /** Where the run comes from: the process that created it records its start. */
  readonly runOrigin: RunId['origin'];
  /** Settings that cannot be used, each with its fix. */
  readonly warnings: readonly string[];
  /** Why the run is unknown although there is one. */
  readonly problem?: string;
  readonly leave: LeaveRun;
  readonly release: RunId['release'];
}

const CLIENTS: readonly Client[] = ['claude', 'codex', 'headless', 'custom', 'unknown'];
const ENVS: readonly EnvName[] = ['dev', 'ci', 'prod', 'unknown'];
const LEVELS_MAX = 64;

export function identify(given: IdentifyOptions): Identified {
  const { paths, nowMs, profile, serverOnly = [], isShim, system = thisSystem() } = given;
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(text);
  const agent = agentProcess(system);
  const env = withoutServers(
    given.env,
    serverOnly,
    agent && processEnvironment(agent.process.pid, system),
  );
  const options = { ...given, env };
  const job = ciJob(env);
  const workload = workloadOf({ ...options, system }, job);
  const run = runIdOf({
    given: shortText(env['SUB_RUN_ID']),
    part: isShim !== true ? 'none' : env['SUB_RUN_HOSTED'] === '1' ? 'hosted' : 'shared',
    agent,
    runDir: paths.run,
    system,
    nowMs,
    warn,
  });
  const client = clientOf(env, agent, warn);
  const principal = shortText(env['SUB_PRINCIPAL']) ?? principalOf(workload, job, system);
  const producer: Producer = {
    run_id: run.id,
    agent_id: shortText(env['SUB_AGENT_ID']) ?? client,
    client,
    env: envOf(env, job, warn),
    source: {
      host_id: hostId(paths.hostId, system, warn),
      proc_id: system.uuid(),
      shim_id: system.uuid(),
    },
    ...definedFields({
      principal,
      workload: Object.keys(workload).length === 0 ? undefined : workload,
      profile,
    }),
  };
  const { origin: runOrigin, problem, leave, release } = run;
  return { producer, runOrigin, warnings, ...definedFields({ problem }), leave, release };
}

/**
 * Variables that an entry of a config sets for its server reach the shim as well, and must not say who
 * acts: they are taken as the agent itself has them, which only Linux shows.
 */
function withoutServers(
  env: ProcessEnvironment,
  names: readonly string[],
  agentEnv: ProcessEnvironment = {},
): ProcessEnvironment {
  const own = new Set(names.filter((name) => !/^SUB_/i.test(name)));
  if (own.size === 0) return env;
  const rest = Object.entries(env).filter(([name]) => !own.has(name));
  const agents = Object.entries(agentEnv).filter(([name]) => own.has(name));
  return Object.fromEntries([...rest, ...agents]);
}

function clientOf(
  env: ProcessEnvironment,
  agent: AgentProcess | undefined,
  warn: WarnUser,
): Client {
  const given = env['SUB_CLIENT'];
  if (!given) return agent?.client ?? 'unknown';
  const known = CLIENTS.find((name) => name === given);
  if (known === undefined) warn(`SUB_CLIENT is none of ${CLIENTS.join(', ')}; taken as custom.`);
  return known ?? 'custom';
}

function envOf(env: ProcessEnvironment, job: CiJob | undefined, warn: WarnUser): EnvName {
  const given = env['SUB_ENV'];
  if (!given) return job === undefined ? 'dev' : 'ci';
  const known = ENVS.find((name) => name === given);
  if (known === undefined) warn(`SUB_ENV is none of ${ENVS.join(', ')}; taken as unknown.`);
  return known ?? 'unknown';
}

type WarnUser = (text: string) => void;

/** Where it runs: a CI job, a pod or both; else the desk of a person. */
function workloadOf(
  { env, cwd, system }: IdentifyOptions & { readonly system: System },
  job: CiJob | undefined,
): Workload {
  const cluster = pod(env, system);
  if (job !== undefined || cluster !== undefined) return { ...job?.workload, ...cluster };
  const user = system.userName() || undefined;
  return definedFields({ user, repo_path: shortText(gitRoot(cwd, system)) });
}

function gitRoot(cwd: string, system: System): string | undefined {
  let folder = cwd;
  for (let level = 0; level < LEVELS_MAX; level++) {
    if (system.exists(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return undefined;
    folder = dirname(folder);
  }
  return undefined;
}

/** Who started it: the actor of the job, the account of the pod, or the user at this machine. */
function principalOf(
  { namespace, service_account: account }: Workload,
  job: CiJob | undefined,
  system: System,
): string | undefined {
  if (job !== undefined) return shortText(job.actor);
  if (namespace !== undefined && account !== undefined) {
    return `system:serviceaccount:${namespace}:${account}`;
  }
  const user = system.userName();
  return user ? shortText(`${user}@${system.hostName()}`) : undefined;
}

/** One random id per machine, made by the process that needs it first. */
function hostId(path: string, system: System, warn: WarnUser): string {
  const fresh = system.uuid();
  try {
    const id = createOnce(path, `${fresh}\n`).text.trim();
    if (isUuid(id)) return id;
    warn(`${path} holds no id of this machine. Remove the file.`);
  } catch (cause) {
    warn(`the id of this machine cannot be kept: ${errorText(cause)}. Check SUB_HOME.`);
  }
  return fresh;
}
