// The environment of a shim whose config was rewritten by `sub wrap`.
import {
  isAnswered,
  processEnvironment,
  type System,
  thisSystem,
  withAncestors,
} from '../../os/index.ts';
import { homePaths, SETTINGS } from '../config/index.ts';
import { fallbackRunDir } from './agent-file.ts';
import { type RunEnv, runVariables, TOKEN_VAR } from './env-vars.ts';
import { type LiveWrap, readWrapFile } from './wrap-file.ts';

interface WrappedEnv {
  readonly env: RunEnv;
  /** Whether the session lives: then the environment is that of its run. */
  readonly isLive: boolean;
  /** There is a file, but nobody knows what it says. */
  readonly problem?: string;
  readonly warning?: string;
}

const SETTING_NAMES: ReadonlySet<string> = new Set(Object.values(SETTINGS).map(({ env }) => env));
const OVER =
  'the `sub wrap` that this config was written for is over; the server is governed like an imported one. `sub unwrap` puts the config back';

const UNTOLD =
  'nothing tells of the `sub wrap` that this config was written for any more: the server is governed in the run of its client';
const BESIDE =
  'this config is rewritten for a `sub wrap` whose agent has not started this server: it is governed in a run of its own, not in that one';
/** What makes a shim one of the run. */
const OF_RUN: ReadonlySet<string> = new Set([
  'SUB_RUN_ID',
  'SUB_RUN_HOSTED',
  'SUB_AGENT_ID',
  'SUB_CLIENT',
  'SUB_PRINCIPAL',
  'SUB_GOVERNANCE_ENDPOINT',
  'SUB_EVENTS',
  TOKEN_VAR,
]);

/**
 * Looks in the home of the shim's environment, and in the one that is found from HOME alone. The
 * variables that the host of the same run gave to its agent win: a process that can write to these
 * folders could otherwise loosen the policy of a run that lives.
 */
export async function withWrapFile(env: RunEnv, id: string): Promise<WrappedEnv> {
  const host = hostEnv(env, thisSystem());
  const runDirs = new Set([homePaths(env).run, fallbackRunDir(env)]);
  let problem: string | undefined;
  for (const runDir of runDirs) {
    const session = readWrapFile(runDir, id);
    if (session.kind === 'live') {
      if (!isOfSession(env, session)) return own(env, session.env, host);
      const isToldTwice = host !== undefined && isSameRun(host, session.env);
      const told = isToldTwice ? { ...tokenOf(session.env), ...host } : session.env;
      return { env: merged(env, told), isLive: true };
    }
    if (session.kind === 'problem') problem ??= session.message;
  }
  if (problem !== undefined) return { env, isLive: false, problem };
  if (host === undefined || !(await isHostThere(host)))
    return { env, isLive: false, warning: OVER };
  return { env: merged(env, host), isLive: false, warning: UNTOLD };
}

/** Some clients keep from their servers what sounds like a secret. */
function tokenOf({ [TOKEN_VAR]: token }: RunEnv): RunEnv {
  return token === undefined ? {} : { [TOKEN_VAR]: token };
}

/** Another client reads the same config: it is governed as the config says, in a run of its own. */
async function own(env: RunEnv, told: RunEnv, host: RunEnv | undefined): Promise<WrappedEnv> {
  // A shim with a run of its own has all variables from that.
  if (env['SUB_RUN_ID'] && env['SUB_GOVERNANCE_ENDPOINT'])
    return { env, isLive: false, warning: BESIDE };
  if (host !== undefined && (await isHostThere(host)))
    return { env: merged(env, host), isLive: false, warning: BESIDE };
  const rest = Object.fromEntries(Object.entries(told).filter(([name]) => !OF_RUN.has(name)));
  return { env: merged(env, rest), isLive: false, warning: BESIDE };
}

/** The session alone says what holds: the environment may be that of an entry which nobody wrote for it. */
function merged(env: RunEnv, told: RunEnv): RunEnv {
  const given = Object.entries(env).filter(
    ([name, word]) => word !== '' && told[name] === undefined && !SETTING_NAMES.has(name),
  );
  return { ...told, ...Object.fromEntries(given) };
}

/**
 * The variables that the host of this run gave to its agent. A process keeps the environment that it
 * was started with, so no file has to be believed; only Linux shows the environment of others.
 */
export function hostEnv(env: RunEnv, system: System): RunEnv | undefined {
  return hostEnvAbove(system) ?? hostVariables(env);
}

/** The topmost process of the run has it: what the agent starts may have been given other variables. */
function hostEnvAbove(system: System): RunEnv | undefined {
  if (system.platform !== 'linux') return undefined;
  let found: RunEnv | undefined;
  for (const { pid } of withAncestors(system.ppid, system)) {
    const variables = hostVariables(processEnvironment(pid, system));
    const isOuter = variables && found && !isSameRun(variables, found);
    if (isOuter) break;
    found = variables ?? found;
  }
  return found;
}

/** All variables that a host sets, or none. */
function hostVariables(env: RunEnv): RunEnv | undefined {
  const variables = runVariables(env);
  const isHosted =
    variables['SUB_RUN_HOSTED'] === '1' &&
    variables['SUB_RUN_ID'] &&
    variables['SUB_GOVERNANCE_ENDPOINT'];
  return isHosted ? variables : undefined;
}

function isSameRun(one: RunEnv, other: RunEnv): boolean {
  return one['SUB_RUN_ID'] === other['SUB_RUN_ID'];
}

/** Whether a process listens where the hub of the run was. */
async function isHostThere(host: RunEnv): Promise<boolean> {
  const endpoint = host['SUB_GOVERNANCE_ENDPOINT'] ?? '';
  const [, path] = /^unix:(.+)$/.exec(endpoint) ?? [];
  if (path !== undefined) return isAnswered(path);
  const [, port] = /^http:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(endpoint) ?? [];
  return port !== undefined && isAnswered({ host: '127.0.0.1', port: Number(port) });
}

/**
 * Whether the agent of a session has started this shim: other clients may read the same config. True
 * where the system does not show it.
 */
export function isOfSession(
  env: RunEnv,
  { owner, isClosed, env: sessionEnv }: LiveWrap,
  system: System = thisSystem(),
): boolean {
  const runId = sessionEnv['SUB_RUN_ID'];
  // A client may pass on variables of an older run, so only the same run id proves something.
  if (!isClosed || env['SUB_RUN_ID'] === runId) return true;
  if (owner.space !== undefined && owner.space !== system.space?.()) return true;
  const above = [...withAncestors(system.ppid, system)];
  // A process whose parent has ended still has the variables of the session.
  return (
    above.length === 0 ||
    above.some(
      ({ pid, start }) =>
        (pid === owner.pid && start === owner.start) ||
        processEnvironment(pid, system)['SUB_RUN_ID'] === runId,
    )
  );
}
