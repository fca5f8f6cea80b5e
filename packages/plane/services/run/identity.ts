// The identity of a run, and the environment that passes it to the agent and its shims.
import { basename } from 'node:path';
import type { Client, Producer } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { isAnswered } from '../../os/index.ts';
import { type Config, SETTING_KEYS, SETTINGS } from '../../stores/config/index.ts';
import { identify } from '../../stores/identity/index.ts';
import { PROJECT_POLICY_VAR } from '../../stores/runs/env-vars.ts';
import { HOOKS_SOCKET_VAR } from '../../stores/runs/hooks-socket.ts';
import { socketPathOf } from '../../stores/runs/hub-socket.ts';
import type { RunOptions } from './options.ts';

export interface RunIdentity {
  readonly producer: Producer;
  /** The run that this one was started from. */
  readonly parentRunId?: string;
  readonly warnings: readonly string[];
}

type RunEnvironment = RunOptions['env'];

const ID = /^[\x21-\x7e]{1,256}$/;
const CLIENTS = /^(claude|codex)(?:$|[-_.])/;

export async function identifyRun(options: RunOptions): Promise<RunIdentity> {
  const { env, cwd, paths, config, identity, command } = options;
  const chosen = await chooseRun(env, paths.run);
  const isNested = chosen.parentRunId !== undefined;
  const client = identity.client ?? (isNested ? undefined : env['SUB_CLIENT']);
  // The agent of an outer run is not that of an inner one.
  const agentId = identity.agentId ?? (isNested ? undefined : env['SUB_AGENT_ID']);
  const { producer, warnings } = identify({
    env: {
      ...env,
      SUB_RUN_ID: chosen.id,
      SUB_CLIENT: client || clientOf(command[0] ?? ''),
      SUB_AGENT_ID: agentId,
      SUB_ENV: identity.env ?? env['SUB_ENV'],
      SUB_PRINCIPAL: identity.principal ?? env['SUB_PRINCIPAL'],
    },
    cwd,
    paths,
    nowMs: Date.now(),
    profile: config.profile,
  });
  return {
    producer,
    ...(isNested && { parentRunId: chosen.parentRunId }),
    warnings: [...chosen.warnings, ...warnings],
  };
}

interface ChosenRun {
  readonly id: string;
  readonly parentRunId?: string;
  readonly warnings: readonly string[];
}

/** The run that is given, unless somebody hosts it already: then it is the parent of a new one. */
async function chooseRun(env: RunEnvironment, runDir: string): Promise<ChosenRun> {
  const given = env['SUB_RUN_ID'];
  if (!given) return { id: uuidv7(), warnings: [] };
  if (!ID.test(given)) {
    const warning =
      'SUB_RUN_ID is no id (1 to 256 ASCII characters, no spaces); the run has its own.';
    return { id: uuidv7(), warnings: [warning] };
  }
  const isHosted = env['SUB_RUN_HOSTED'] === '1' || (await isAnswered(socketPathOf(runDir, given)));
  return isHosted
    ? { id: uuidv7(), parentRunId: given, warnings: [] }
    : { id: given, warnings: [] };
}

function clientOf(command: string): Client {
  const name = CLIENTS.exec(basename(command).toLowerCase())?.[1];
  return name === 'claude' || name === 'codex' ? name : 'custom';
}

interface AgentEnvParts {
  readonly producer: Producer;
  readonly endpoint: string;
  /** Where shims write their events; undefined where the configuration says it already. */
  readonly eventsPath: string | undefined;
  /** Undefined for a run that does not listen for hooks. */
  readonly hooksSocket: string | undefined;
  /** Where the policy of the run is kept. */
  readonly policy: NodeJS.ProcessEnv;
}

/** The environment of the agent, which its shims inherit. */
export function agentEnv(options: RunOptions, wish: AgentEnvParts): NodeJS.ProcessEnv {
  const { env, told, paths, config, events, listen } = options;
  const { producer, endpoint, eventsPath, policy, hooksSocket } = wish;
  return {
    ...env,
    ...absolutePaths(env, config),
    SUB_HOME: paths.home,
    SUB_ACTIVE: '1',
    SUB_RUN_ID: producer.run_id,
    SUB_AGENT_ID: producer.agent_id,
    SUB_ENV: producer.env,
    SUB_CLIENT: producer.client,
    ...(producer.principal !== undefined && { SUB_PRINCIPAL: producer.principal }),
    SUB_RUN_HOSTED: '1',
    SUB_GOVERNANCE_ENDPOINT: endpoint,
    // One of an outer run opens nothing here.
    SUB_GOVERNANCE_TOKEN: listen?.token,
    // That of an outer run is not for the hooks of this one.
    [HOOKS_SOCKET_VAR]: hooksSocket,
    ...policy,
    ...(told.policyPath !== undefined && { SUB_POLICY: told.policyPath }),
    // Said anew by each run, like the copy.
    [PROJECT_POLICY_VAR]: told.projectPolicyPath,
    SUB_TRUST: undefined,
    ...(told.profile !== undefined && { SUB_PROFILE: told.profile }),
    ...(events.sink !== undefined && { SUB_EVENTS: events.sink }),
    ...(eventsPath !== undefined && { SUB_EVENTS: `file:${eventsPath}` }),
  };
}

/** An agent may work in another folder, and its shims must not find other files there. */
function absolutePaths(env: RunEnvironment, config: Config): RunEnvironment {
  const paths: { [name: string]: string } = {};
  for (const key of SETTING_KEYS) {
    const { env: name } = SETTINGS[key];
    if (!env[name]) continue;
    const value = config[key];
    if (SETTINGS[key].type.isPath === true && typeof value === 'string') paths[name] = value;
  }
  const sink = config['events.sink'];
  if (env['SUB_EVENTS'] && sink.kind === 'file') paths['SUB_EVENTS'] = `file:${sink.path}`;
  return paths;
}
