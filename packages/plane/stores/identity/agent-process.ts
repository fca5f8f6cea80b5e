// Which process is the agent: the one that started this shim, whatever it put in between.
import type { Client } from '@subluminal/contracts';
import { type ProcessInfo, processInfo, type System } from '../../os/index.ts';

export interface AgentProcess {
  readonly process: ProcessInfo;
  readonly client: Client;
}

/** They start something else and wait for it, as `npx sub shim …` does. */
const LAUNCHERS = /^(?:env|nice|timeout|sudo|npm|npx|pnpm|yarn|bunx|uvx)$/;
const SHELLS = /^(?:sh|bash|dash|zsh|fish|ash)$/;
const RUNTIMES = /^(?:node|bun|deno)$/;
const INITS = /^(?:init|systemd|launchd|tini|dumb-init|docker-init|s6-svscan)$/;
const CLIENTS = /^(claude|codex)(?:$|[-_. ])/;
const LAUNCHERS_MAX = 4;

/** Undefined when the agent is gone, or was never there: then the init process has its place. */
export function agentProcess(system: System): AgentProcess | undefined {
  let info = processInfo(system.ppid, system);
  for (let skipped = 0; info !== undefined && skipped < LAUNCHERS_MAX; skipped++) {
    const client = clientOf(info);
    if (client !== 'unknown' || !isLauncher(info)) break;
    info = processInfo(info.ppid, system) ?? info;
    if (INITS.test(baseName(info.name))) return undefined;
  }
  if (info === undefined || INITS.test(baseName(info.name))) return undefined;
  return { process: info, client: clientOf(info) };
}

/** `npm exec sub` calls itself so; others are known by the file they run. */
function isLauncher(info: ProcessInfo): boolean {
  // With a command, a shell is only the way to it; with a script, or a person, it is the agent.
  if (SHELLS.test(baseName(info.args[0] ?? info.name))) return info.args[1] === '-c';
  return namesOf(info).some((name) => LAUNCHERS.test(name.replace(/(?:-cli)?\.c?js$/, '')));
}

/** A shell that a person types into: it runs neither a command nor a script. */
export function isInteractiveShell({ name, args }: ProcessInfo): boolean {
  const [program = name, ...flags] = args.filter((word) => word !== '');
  const isShell = SHELLS.test(baseName(program).replace(/^-/, ''));
  return isShell && flags.every((flag) => /^(?:-[il]+|--login)$/.test(flag));
}

/** Adopts the processes whose parents have ended. */
export function isInit(info: ProcessInfo): boolean {
  return info.pid === 1 || INITS.test(baseName(info.name));
}

export function clientOf(info: ProcessInfo): Client {
  for (const name of namesOf(info)) {
    const client = CLIENTS.exec(name.toLowerCase())?.[1];
    if (client === 'claude' || client === 'codex') return client;
  }
  return 'unknown';
}

/** What it calls itself, the file it runs, and the script when that file is a runtime. */
function namesOf({ name, args }: ProcessInfo): readonly string[] {
  const [program = '', script = ''] = args.map(baseName);
  const first = baseName(name).split(' ')[0] ?? '';
  return RUNTIMES.test(program) ? [first, script] : [first, program];
}

function baseName(path: string): string {
  return path.split('/').at(-1) ?? '';
}
