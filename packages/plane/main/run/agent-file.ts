// Some clients start their servers with almost no environment. For them the run is written down
// under the agent's process, where a shim that was told nothing finds it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { type System, thisSystem } from '../../identity/index.ts';
import { processInfo } from '../../identity/process-info.ts';

type Env = { readonly [name: string]: string | undefined };

interface AgentFile {
  remove(): void;
}

/** What `sub run` itself has set; whatever else is called SUB_* may be a secret. */
const TOLD = [
  'SUB_RUN_ID',
  'SUB_AGENT_ID',
  'SUB_ENV',
  'SUB_CLIENT',
  'SUB_PRINCIPAL',
  'SUB_RUN_HOSTED',
  'SUB_GOVERNANCE_ENDPOINT',
  'SUB_POLICY',
  'SUB_PROFILE',
  'SUB_EVENTS',
] as const;
/** What readers take. */
const TEXT_LENGTH_MAX = 4_096;
const ANCESTORS_MAX = 16;

function writeAgentFile(runDir: string, pid: number, env: Env): AgentFile | undefined {
  const path = pathOf(runDir, pid, thisSystem());
  if (path === undefined) return undefined;
  const run = { run_id: env['SUB_RUN_ID'] };
  const told = TOLD.flatMap((name) =>
    env[name] === undefined ? [] : [[name, env[name]] as const],
  );
  const whole = JSON.stringify({ ...run, env: Object.fromEntries(told) });
  try {
    const text = whole.length < TEXT_LENGTH_MAX ? whole : JSON.stringify(run);
    writeFileSync(path, `${text}\n`, { mode: 0o600 });
    return { remove: () => rmSync(path, { force: true }) };
  } catch {
    // It only helps where the environment does not reach.
    return undefined;
  }
}

/** The environment of a shim, with what its agent's run has told where nothing else did. */
function withAgentFile(env: Env, runDir: string, system: System = thisSystem()): Env {
  if (env['SUB_RUN_ID']) return env;
  let pid = system.ppid;
  for (let level = 0; level < ANCESTORS_MAX && pid > 1; level++) {
    const path = pathOf(runDir, pid, system);
    const told = path === undefined ? undefined : readTold(path);
    if (told !== undefined) return { ...told, ...env };
    pid = processInfo(pid, system)?.ppid ?? 0;
  }
  return env;
}

/** Named after the process as it is now: another one with its number has another name. */
function pathOf(runDir: string, pid: number, system: System): string | undefined {
  const info = processInfo(pid, system);
  return info && join(runDir, `agent-${pid}-${info.start}.json`);
}

/** Undefined for the file of a shim, too: that names a run, but nobody hosts it. */
function readTold(path: string): Env | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8').slice(0, TEXT_LENGTH_MAX));
    const told = isObject(value) ? value['env'] : undefined;
    if (!isObject(told) || typeof told['SUB_RUN_ID'] !== 'string') return undefined;
    const words = TOLD.flatMap((name) => {
      const word = told[name];
      return typeof word === 'string' ? [[name, word] as const] : [];
    });
    return Object.fromEntries(words);
  } catch {
    return undefined;
  }
}

export type { AgentFile };
export { withAgentFile, writeAgentFile };
