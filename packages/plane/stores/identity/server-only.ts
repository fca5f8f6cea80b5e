// What an entry of a config sets for its server reaches the shim as well, and must not tell it who acts.

import type { System } from '../../os/index.ts';
import type { AgentProcess } from './agent-process.ts';
import type { Env } from './workload.ts';

interface Around {
  readonly agent: AgentProcess | undefined;
  readonly system: System;
}

/** The environment with these variables as the agent itself has them; Linux alone tells that. */
export function withoutServers(env: Env, names: readonly string[], { agent, system }: Around): Env {
  // What we say ourselves is no variable of a server.
  const own = new Set(names.filter((name) => !/^SUB_/i.test(name)));
  if (own.size === 0) return env;
  const pid = system.platform === 'linux' ? agent?.process.pid : undefined;
  const words = pid === undefined ? '' : (system.readFile(`/proc/${pid}/environ`) ?? '');
  const had = words.split('\0').flatMap((word) => {
    const at = word.indexOf('=');
    const name = word.slice(0, Math.max(0, at));
    return own.has(name) ? [[name, word.slice(at + 1)] as const] : [];
  });
  const rest = Object.entries(env).filter(([name]) => !own.has(name));
  return Object.fromEntries([...rest, ...had]);
}
