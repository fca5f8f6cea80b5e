// The environment of a shim whose config was rewritten by `sub wrap`.
import { homePaths, SETTINGS } from '../../config/index.ts';
import { fallbackRunDir } from '../run/agent-file.ts';
import { isOfSession } from './membership.ts';
import { TOKEN_NAME } from './told-names.ts';
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
  TOKEN_NAME,
]);

/** Looks in the home that the shim was told of, and in the one that is found from HOME alone. */
function withWrapFile(env: Env, id: string): Wrapped {
  const runDirs = new Set([homePaths(env).run, fallbackRunDir(env)]);
  let problem: string | undefined;
  for (const runDir of runDirs) {
    const session = readWrapFile(runDir, id);
    if (session.kind === 'live') {
      return isOfSession(env, session)
        ? { env: merged(env, session.env), isLive: true }
        : own(env, session.env);
    }
    if (session.kind === 'problem') problem ??= session.message;
  }
  if (problem !== undefined) return { env, isLive: false, problem };
  return { env, isLive: false, warning: OVER };
}

/** Another client reads the same config: it is governed as the config says, in a run of its own. */
function own(env: Env, told: Env): Wrapped {
  // One that has its own run was told all by that.
  if (env['SUB_RUN_ID'] && env['SUB_GOVERNANCE_ENDPOINT'])
    return { env, isLive: false, warning: BESIDE };
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

export { withWrapFile };
