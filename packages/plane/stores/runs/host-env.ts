// What the host of a run has said to its agent, from where no file has to be believed: a process
// keeps the environment that it was started with. Linux alone tells that of others.
import { processInfo, type System } from '../../os/index.ts';
import { RUN_ENV_VARS, TOKEN_VAR } from './env-vars.ts';
import { isListening } from './hub-socket.ts';

type Env = { readonly [name: string]: string | undefined };

const ANCESTORS_MAX = 64;
const TOLD: ReadonlySet<string> = new Set([...RUN_ENV_VARS, TOKEN_VAR]);

/** Of the run that this process is in; undefined where nobody says so. */
export function hostEnv(env: Env, system: System): Env | undefined {
  return toldAbove(system) ?? toldIn(Object.entries(env));
}

/** That of the agent itself: what it starts may have been given something else. */
function toldAbove(system: System): Env | undefined {
  if (system.platform !== 'linux') return undefined;
  let found: Env | undefined;
  let info = processInfo(system.ppid, system);
  for (let level = 0; level < ANCESTORS_MAX && info !== undefined; level++) {
    const told = toldIn(environOf(info.pid, system));
    const isOuter = told !== undefined && found !== undefined && !isSameRun(told, found);
    if (isOuter) break;
    found = told ?? found;
    info = info.ppid > 1 ? processInfo(info.ppid, system) : undefined;
  }
  return found;
}

function environOf(pid: number, system: System): readonly (readonly [string, string])[] {
  const words = (system.readFile(`/proc/${pid}/environ`) ?? '').split('\0');
  return words.map((word) => {
    const at = word.indexOf('=');
    return [word.slice(0, Math.max(0, at)), word.slice(at + 1)];
  });
}

/** All that a host says, or nothing. */
function toldIn(words: readonly (readonly [string, string | undefined])[]): Env | undefined {
  const told: Env = Object.fromEntries(words.filter(([name, word]) => word && TOLD.has(name)));
  const isWhole =
    told['SUB_RUN_HOSTED'] === '1' && told['SUB_RUN_ID'] && told['SUB_GOVERNANCE_ENDPOINT'];
  return isWhole ? told : undefined;
}

export function isSameRun(one: Env, other: Env): boolean {
  return one['SUB_RUN_ID'] === other['SUB_RUN_ID'];
}

/** Whether somebody listens where its hub was. */
export async function isHostThere(told: Env): Promise<boolean> {
  const endpoint = told['SUB_GOVERNANCE_ENDPOINT'] ?? '';
  const [, path] = /^unix:(.+)$/.exec(endpoint) ?? [];
  if (path !== undefined) return isListening({ path });
  const [, port] = /^http:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(endpoint) ?? [];
  return port !== undefined && isListening({ host: '127.0.0.1', port: Number(port) });
}
