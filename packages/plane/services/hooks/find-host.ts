// Where the hooks of an agent that no `sub run` has started are answered: by one process for each process of an agent.
// A hook loads this at each call, so it loads little.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import type { Client } from '@subluminal/contracts';
import { ensurePrivateFolder, type ProcessInfo, type System, thisSystem } from '../../os/index.ts';
import { type Env, homePaths } from '../../stores/config/home-paths.ts';
import { filePrefix } from '../../stores/identity/agent-files.ts';
import { agentProcess } from '../../stores/identity/agent-process.ts';
import { HOOKS_PATH, HOOKS_SOCKET_VAR } from '../../stores/runs/hooks-socket.ts';
import { foundSocketPath } from '../../stores/runs/hub-socket.ts';

/** The host of the hooks of one agent. */
export interface HookHostPlace {
  readonly agent: ProcessInfo;
  readonly client: Client;
  readonly socketPath: string;
  /** Where the shims of the agent share its hub. */
  readonly hubPath: string;
}

/** The same for every hook of an agent, and for nobody else; a text says why there is none. */
export function hookHostPlace(env: Env, system: System = thisSystem()): HookHostPlace | string {
  const found = agentProcess(system);
  if (found === undefined) return 'the agent that has started it is not known';
  const { process: agent, client } = found;
  const { run } = homePaths(env);
  const sockets = hostSocketsOf(run, agent);
  const folder = dirname(sockets.socketPath);
  // Elsewhere, somebody else could answer in its name.
  const unsafe = folder === run ? undefined : ensurePrivateFolder(folder);
  if (unsafe !== undefined) return `${unsafe.message} ${unsafe.fix}`;
  return { agent, client, ...sockets };
}

export function hostSocketsOf(
  runDir: string,
  agent: Pick<ProcessInfo, 'pid' | 'start'>,
): Pick<HookHostPlace, 'socketPath' | 'hubPath'> {
  const at = (what: string): string => foundSocketPath(runDir, `${what} of ${filePrefix(agent)}`);
  return { socketPath: at('hooks'), hubPath: at('hub') };
}

const READY = 'ready\n';
const START_MS = 30_000;
const SAID_LENGTH_MAX = 4_096;

interface HostStart {
  /** The script of `sub`. */
  readonly sub: string;
  readonly env: Env;
  readonly cwd: string;
  /** What the record of the run names; found from there unless given. The first hook says what decides about hooks. */
  readonly policy?: string | undefined;
}

/** Where to ask when nobody answers at the place: the run of the agent, or a host that is started now. */
export async function reachHookHost(
  place: HookHostPlace,
  start: HostStart,
): Promise<{ readonly socketPath: string } | string> {
  const { withAgentFile } = await import('../../stores/runs/agent-file.ts');
  const { env, problem } = withAgentFile(start.env);
  if (problem !== undefined) return problem;
  const ofRun = env[HOOKS_SOCKET_VAR];
  if (ofRun) return { socketPath: ofRun };
  return (await startHost(place, start)) ?? place;
}

/** Starts the host, unless another one does; a text says why nobody listens. */
export function startHost(
  { agent }: Pick<HookHostPlace, 'agent'>,
  { sub, env, cwd, policy }: HostStart,
): Promise<string | undefined> {
  const { HOME, SUB_HOME } = env;
  const named = policy === undefined ? [] : ['--policy', policy];
  const words = [sub, 'hook-host', '--agent', `${agent.pid}-${agent.start}`, ...named];
  const child = spawn(process.execPath, words, {
    detached: true,
    cwd,
    env: { HOME, PATH: HOOKS_PATH, ...(SUB_HOME && { SUB_HOME }) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return new Promise((resolve) => {
    let said = '';
    const finish = (why: string | undefined): void => {
      clearTimeout(late);
      child.stdout.destroy();
      child.unref();
      resolve(why);
    };
    const late = setTimeout(() => finish('its host does not start'), START_MS);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, SAID_LENGTH_MAX);
      if (said.startsWith(READY)) finish(undefined);
    });
    child.stdout.once('end', () => {
      finish(said.startsWith(READY) ? undefined : said.trim() || 'its host has ended at once');
    });
    child.once('error', ({ message }) => finish(message));
  });
}
