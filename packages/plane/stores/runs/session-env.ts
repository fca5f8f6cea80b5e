// The environment of a shim whose config was rewritten by `sub wrap`.

import { processInfo, type System, thisSystem } from '../../os/index.ts';
import { homePaths, SETTINGS } from '../config/index.ts';
import { fallbackRunDir } from './agent-file.ts';
import { RUN_ENV_VARS, TOKEN_VAR } from './env-vars.ts';
import { isListening } from './hub-socket.ts';
import { isOfSession } from './membership.ts';
import { readWrapFile } from './wrap-file.ts';

type Env = { readonly [name: string]: string | undefined };

interface Wrapped {
  readonly env: Env;
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
 * Looks in the home that the shim was told of, and in the one that is found from HOME alone. What the
 * host of the same run has said to its agent wins: whoever can write to these folders could loosen the
 * policy of a run that lives.
 */
export async function withWrapFile(env: Env, id: string): Promise<Wrapped> {
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
function tokenOf({ [TOKEN_VAR]: token }: Env): Env {
  return token === undefined ? {} : { [TOKEN_VAR]: token };
}

/** Another client reads the same config: it is governed as the config says, in a run of its own. */
async function own(env: Env, told: Env, host: Env | undefined): Promise<Wrapped> {
  // One that has its own run was told all by that.
  if (env['SUB_RUN_ID'] && env['SUB_GOVERNANCE_ENDPOINT'])
    return { env, isLive: false, warning: BESIDE };
  if (host !== undefined && (await isHostThere(host)))
    return { env: merged(env, host), isLive: false, warning: BESIDE };
  const rest = Object.fromEntries(Object.entries(told).filter(([name]) => !OF_RUN.has(name)));
  return { env: merged(env, rest), isLive: false, warning: BESIDE };
}

/** The session alone says what holds: the environment may be that of an entry which nobody wrote for it. */
function merged(env: Env, told: Env): Env {
  const given = Object.entries(env).filter(
    ([name, word]) => word !== '' && told[name] === undefined && !SETTING_NAMES.has(name),
  );
  return { ...told, ...Object.fromEntries(given) };
}

// What the host of a run has said to its agent, from where no file has to be believed: a process
// keeps the environment that it was started with. Linux alone tells that of others.

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
