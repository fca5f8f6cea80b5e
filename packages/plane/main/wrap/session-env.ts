// The environment of a shim whose config was rewritten by `sub wrap`.
import { homePaths, SETTINGS } from '../../config/index.ts';
import { fallbackRunDir } from '../run/agent-file.ts';
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

/** Looks in the home that the shim was told of, and in the one that is found from HOME alone. */
function withWrapFile(env: Env, id: string): Wrapped {
  const runDirs = new Set([homePaths(env).run, fallbackRunDir(env)]);
  let problem: string | undefined;
  for (const runDir of runDirs) {
    const session = readWrapFile(runDir, id);
    if (session.kind === 'live') return { env: merged(env, session.env), isLive: true };
    if (session.kind === 'problem') problem ??= session.message;
  }
  if (problem !== undefined) return { env, isLive: false, problem };
  return { env, isLive: false, warning: OVER };
}

/** The session alone says what holds: the environment may be that of an entry which nobody wrote for it. */
function merged(env: Env, told: Env): Env {
  const given = Object.entries(env).filter(
    ([name, word]) => word !== '' && told[name] === undefined && !SETTING_NAMES.has(name),
  );
  return { ...told, ...Object.fromEntries(given) };
}

export { withWrapFile };
