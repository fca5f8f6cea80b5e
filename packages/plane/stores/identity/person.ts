// Whether the process that runs a command may act for a person. An agent that can start commands must
// not approve its own calls, accept changed pins or read secrets. The environment of the process
// proves nothing, so the processes above it and its terminal are checked.
import { closeSync, existsSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import {
  ANCESTORS_MAX,
  type ProcessEnvironment,
  type ProcessInfo,
  processEnvironment,
  processInfo,
  type System,
  subCommand,
  withAncestors,
} from '../../os/index.ts';
import { agentFileName, hasFilesOfElsewhere } from './agent-files.ts';
import { agentProcess, clientOf, isInit, isInteractiveShell } from './agent-process.ts';

/** Whose runs count: those of this home. */
export interface HomeOptions {
  readonly env: ProcessEnvironment;
  /** The folder of the product for a process with this environment. */
  readonly homeOf: (env: ProcessEnvironment) => string;
  readonly system: System;
}

interface PersonOptions extends HomeOptions {
  /** The folder of sockets and agent files. */
  readonly runDir: string;
}

/** What `sub run`, `sub wrap` and `sub shim` tell their children. */
const MARKS = ['SUB_RUN_ID', 'SUB_GOVERNANCE_ENDPOINT', 'SUB_SHIM_ID'];
const HOSTS: ReadonlySet<string> = new Set(['run', 'wrap', 'shim']);
/** Some desktops start each window as an orphan; these programs are windows that a person types in. */
const WINDOWS =
  /^\/(?:usr|opt|nix\/store|snap)\/.*\/(?:alacritty|foot|ghostty|gnome-terminal-server|kitty|konsole|ptyxis-agent|rxvt|st|urxvt|wezterm-gui|xfce4-terminal|xterm)$/;

/** Why this process may not act for a person; undefined when nothing speaks against one. */
export function personFailure(options: PersonOptions): Failure | undefined {
  const { env, runDir, system } = options;
  const mark = MARKS.find((name) => (env[name] ?? '') !== '');
  if (mark !== undefined) return inside(`${mark} is set`);
  const chain = ancestry(system);
  if (chain === undefined) return untraced('the system does not tell which processes are above it');
  for (const info of chain.slice(1)) {
    const sign = signOfRun(info, options);
    if (sign !== undefined) return inside(`the process ${info.pid} above it ${sign}`);
  }
  if (system.platform !== 'linux') return undefined;
  const orphan = orphanProblem(belowInit(chain), options);
  if (orphan !== undefined || !hasFilesOfElsewhere(runDir, system)) return orphan;
  return untraced(
    'a run of another container is on record, whose processes cannot be seen from here',
    'Run it in that container, in a terminal of your own. If that container is gone, remove the files `agent-*` from the folder `run` of SUB_HOME.',
  );
}

/** Why another process may be what a run has left behind. */
export function strayFailure(pid: number, options: HomeOptions): Failure | undefined {
  return orphanProblem(belowInit([...withAncestors(pid, options.system)]), options);
}

/** What shows that a process belongs to a governed run, beside what is above it: `is …` or `has …`. */
export function signOfRun(
  info: ProcessInfo,
  { runDir, system }: Pick<PersonOptions, 'runDir' | 'system'>,
): string | undefined {
  const host = hostCommand(info);
  if (host !== undefined) return `is \`sub ${host}\``;
  const isAgent = existsSync(join(runDir, agentFileName(info))) && !isInteractiveShell(info);
  if (isAgent) return 'is an agent with governed servers';
  const told = processEnvironment(info.pid, system);
  const mark = MARKS.find((name) => (told[name] ?? '') !== '');
  return mark === undefined ? undefined : `has ${mark}`;
}

/** The command was started by a governed agent, or by something that the agent has started. */
function inside(what: string): Failure {
  const message = `this command is for a person, and this is inside a governed run: ${what}.`;
  const fix = 'Run it in a terminal of your own, outside of the run.';
  return failure('SUB_INSIDE_RUN', message, fix);
}

const OLDER =
  'Run it in a terminal that was open before the run began or that comes from a login, or answer by a channel or the HTTP API.';

/** A run may be alive, and the command may have been started by what the run has left behind. */
function untraced(what: string, fix = OLDER): Failure {
  const message = `this command is for a person, and an agent may have started it: ${what}.`;
  return failure('SUB_INSIDE_RUN', message, fix);
}

/** This process first, then all that are above it. Undefined when the system does not show them. */
function ancestry(system: System): readonly ProcessInfo[] | undefined {
  // In a pid namespace whose /proc is still the outer one, pids mean other processes.
  const self = system.platform === 'linux' ? system.link?.('/proc/self') : undefined;
  if (self !== undefined && self !== String(system.pid)) return undefined;
  const chain = [...withAncestors(system.pid, system)];
  return chain.length === 0 || chain.length >= ANCESTORS_MAX ? undefined : chain;
}

/** Up to the one that was started by init, or left to it. */
function belowInit(chain: readonly ProcessInfo[]): readonly ProcessInfo[] {
  const init = chain.findIndex((info, index) => index > 0 && isInit(info));
  return init === -1 ? chain : chain.slice(0, init);
}

/** The command of a process that hosts a run or a server. */
function hostCommand({ args }: ProcessInfo): string | undefined {
  const command = subCommand(args);
  return command !== undefined && HOSTS.has(command) ? command : undefined;
}

/**
 * A process that forks twice has no ancestor in the run any more. What started it then looks like a
 * service: its topmost process has init as its parent. While a run is alive, such a process counts
 * as the run's when it is younger than the run and in the same control group.
 */
function orphanProblem(chain: readonly ProcessInfo[], options: HomeOptions): Failure | undefined {
  const { system } = options;
  const root = chain.at(-1);
  // Parent 0: it came in from outside of the container, as `docker exec` does.
  if (root === undefined || root.ppid === 0) return undefined;
  const own = system.owner?.(`/proc/${system.pid}`);
  // A login service of another user: sshd, login, su.
  if (own !== 0 && system.owner?.(`/proc/${root.pid}`) !== own) return undefined;
  const window = WINDOWS.test(system.link?.(`/proc/${root.pid}/exe`) ?? '');
  if (window && chain.at(-2) !== undefined && chain.some(isInteractiveShell)) return undefined;
  const group = system.readFile(`/proc/${root.pid}/cgroup`);
  const run = livingRuns(options).find(
    ({ pid, ticks }) => ticks <= ticksOf(root) && system.readFile(`/proc/${pid}/cgroup`) === group,
  );
  if (run === undefined) return undefined;
  return untraced(
    `its topmost process (${root.pid}, ${root.name}) was started after the run of process ${run.pid}, which is still alive`,
  );
}

interface LivingRun {
  readonly pid: number;
  readonly ticks: number;
}

/** The hosts and shims of this home, from the process table: files could have been removed. */
function livingRuns({ system, homeOf, env }: HomeOptions): readonly LivingRun[] {
  const home = system.fileId?.(homeOf(env));
  return (system.pids?.() ?? []).flatMap((pid) => {
    if (pid === system.pid) return [];
    const info = processInfo(pid, system);
    if (info === undefined || hostCommand(info) === undefined) return [];
    const its = resolve(
      system.link?.(`/proc/${pid}/cwd`) ?? '/',
      homeOf(processEnvironment(pid, system)),
    );
    // By the folder itself: it may have many names. One that cannot be looked at may be the same.
    const id = system.fileId?.(its);
    if (id !== undefined && home !== undefined && id !== home) return [];
    return [{ pid, ticks: beginningOf(info, system) }];
  });
}

/** A known agent client may have restarted its shims: the run is as old as the client. */
function beginningOf(host: ProcessInfo, system: System): number {
  const agent = agentProcess({ ...system, pid: host.pid, ppid: host.ppid })?.process;
  const isClient = agent !== undefined && clientOf(agent) !== 'unknown';
  return Math.min(ticksOf(host), isClient ? ticksOf(agent) : Number.POSITIVE_INFINITY);
}

/** On Linux a start begins with the clock ticks since boot. */
function ticksOf({ start }: ProcessInfo): number {
  return Number(start.split('-')[0]);
}

/**
 * Why this process has no terminal that a person sits at: its input is not one, it has no controlling
 * terminal, or it runs in the background of one.
 */
export function terminalProblem(stdinIsTerminal: boolean, system: System): string | undefined {
  if (!stdinIsTerminal) return 'its input is not a terminal';
  if (!hasTerminal()) return 'it has no controlling terminal';
  const groups = processGroups(system);
  if (groups === undefined) return 'the system does not tell about its terminal';
  return groups.own === groups.foreground ? undefined : 'it runs in the background of its terminal';
}

/** Whether this process has a controlling terminal. */
export function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

function processGroups(system: System): { own: number; foreground: number } | undefined {
  const { pid, platform } = system;
  const text =
    platform === 'linux'
      ? system.readFile(`/proc/${pid}/stat`)
      : system.ps(['-o', 'pgid=', '-o', 'tpgid=', '-p', String(pid)]);
  if (text === undefined) return undefined;
  // Fields 5 and 8 of proc(5), counted behind the name.
  const fields = text
    .slice(text.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/);
  const [own, foreground] = platform === 'linux' ? [fields[2], fields[5]] : fields;
  const groups = { own: Number(own), foreground: Number(foreground) };
  return groups.own > 0 && groups.foreground > 0 ? groups : undefined;
}
