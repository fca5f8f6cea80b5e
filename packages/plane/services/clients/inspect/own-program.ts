// How a config names `sub`: by the runtime and the script, absolute and free of links, because a
// client starts its servers from any folder, and a link may lead elsewhere tomorrow.

import { delimiter, isAbsolute, join } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { isExecutable, realFile } from '../../../os/index.ts';
import { readShimCommand, type ServerEntry } from '../index.ts';

export interface OwnCall {
  /** `process.execPath` */
  readonly runtime: string;
  /** `process.argv[1]` */
  readonly script: string | undefined;
}

interface OwnProgram {
  readonly kind: 'program';
  readonly words: readonly string[];
  /** What may take it away again, for people. */
  readonly warnings: readonly string[];
}

/** Where package managers keep what they may throw away at any time. */
const CACHES = /[\\/](?:_npx|dlx-[^\\/]+|\.bun[\\/]install[\\/]cache)[\\/]/;

export function ownProgram({ runtime, script }: OwnCall): OwnProgram | Failure {
  const words: string[] = [];
  for (const path of [runtime, script]) {
    const real = path === undefined ? undefined : realFile(path);
    if (real === undefined) {
      const name = path === undefined ? 'the script of sub' : path;
      return notStartable(`${name} is no file that could be started again.`);
    }
    words.push(real);
  }
  // A program that we do not recognize tomorrow would get a second shim in front of it.
  const [command, ...args] = words;
  if (readShimCommand(command, [...args, 'shim', '--', 'server']) === undefined) {
    return notStartable(
      `${words.join(' ')} is no way to start sub that could be told from others.`,
    );
  }
  const cached = words.find((word) => CACHES.test(word));
  const warning = `sub runs from a cache, ${cached}: when that is emptied, the servers do not start any more. Install it for good first.`;
  return { kind: 'program', words, warnings: cached === undefined ? [] : [warning] };
}

function notStartable(message: string): Failure {
  return failure('SUB_OWN_PATH', message, 'Start sub from where it is installed.');
}

// Whether an entry starts the very `sub` that asks. Anything may call itself `sub` and take `shim`
// for an argument: a script or a package of the project, a program in a folder of the PATH that the
// entry brings along. Only a program that is certainly this one counts.

export interface AskingSub {
  readonly own: OwnCall;
  readonly env: { readonly [name: string]: string | undefined };
}

/** Options of the runtime that load no code and change no word behind them. */
const HARMLESS = /^--(?:max-(?:old|semi)-space-size=\d+|no-warnings|no-deprecation)$/;
const PATH_PARTS_MAX = 256;

/** False also for an entry that starts no shim. */
export function startsThisSub(entry: ServerEntry, { own, env }: AskingSub): boolean {
  const { governed } = entry;
  const ours = ownProgram(own);
  if (governed === undefined || ours.kind === 'failure') return false;
  const [first = '', ...rest] = governed.program;
  const script = rest.pop();
  const [runtime, ownScript] = ours.words;
  // Its first line says `env node`, so that the PATH chooses the runtime.
  const isBare = script === undefined || !isAbsolute(first);
  if (isBare && (entry.hasOwnPath === true || entry.hasEnvFile === true)) return false;
  const real = isAbsolute(first) ? realFile(first) : foundInPath(first, env['PATH']);
  if (script === undefined) return isSameLauncher(real, ownScript);
  if (!isAbsolute(script) || !rest.every((word) => HARMLESS.test(word))) return false;
  return real === runtime && isSameLauncher(realFile(script), ownScript);
}

/** An installation has two launchers side by side: configs that earlier versions wrote name `sub.mjs`. */
export function isSameLauncher(one: string | undefined, other: string | undefined): boolean {
  return withoutKind(one) === withoutKind(other);
}

function withoutKind(path: string | undefined): string | undefined {
  return path?.replace(/([\\/]sub)\.[cm]js$/, '$1');
}

/** As the system finds a bare name; a part that is not absolute is looked up nowhere. */
function foundInPath(name: string, path = ''): string | undefined {
  if (/[\\/]/.test(name)) return undefined;
  for (const folder of path.split(delimiter).slice(0, PATH_PARTS_MAX)) {
    // A relative folder depends on where the client is started.
    if (!isAbsolute(folder)) return undefined;
    const file = join(folder, name);
    if (isExecutable(file)) return realFile(file);
  }
  return undefined;
}
