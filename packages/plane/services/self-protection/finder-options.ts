// What is protected from the calls of a server, and where the names in them start.
import { join } from 'node:path';
import {
  type Config,
  type HomePaths,
  PROJECT_POLICY_NAMES,
  projectFolders,
  userHome,
} from '../../stores/config/index.ts';

export interface FinderOptions {
  readonly paths: HomePaths;
  readonly config: Config;
  /** The policies in force. */
  readonly policies: readonly string[];
  /** Where a policy would be found if it were there. */
  readonly policyPlaces: readonly string[];
  readonly userHome: string;
  /** The environment of the server. */
  readonly env: { readonly [name: string]: string | undefined };
  /** The folder that the server works in. */
  readonly cwd: string;
  /** The command line of the server: relative names may start in the folders that it names. */
  readonly command: readonly string[];
  readonly now: () => number;
  /** Settings of the client that could switch its hooks off. */
  readonly clientSettings?: readonly string[];
}

interface GovernedServer extends Pick<FinderOptions, 'env' | 'cwd'> {
  readonly command: string;
  readonly args: readonly string[];
}

export function finderOptions(
  server: GovernedServer,
  inForce: Pick<FinderOptions, 'config' | 'paths' | 'policies'>,
): FinderOptions {
  const { config, paths, policies } = inForce;
  const { env, cwd, command, args } = server;
  const home = userHome(env);
  return {
    paths,
    config,
    policies,
    policyPlaces: policyPlaces(projectFolders({ cwd, userHome: home }), policies, paths.policy),
    userHome: home,
    env: { ...env, PWD: cwd },
    cwd,
    command: [command, ...args],
    now: Date.now,
  };
}

/** Where a policy would be found before the one in force; none where that one was named. */
function policyPlaces(
  folders: readonly string[],
  policies: readonly string[],
  ownPolicy: string,
): readonly string[] {
  const last = folders.findLastIndex((folder) => {
    return PROJECT_POLICY_NAMES.some((name) => policies.includes(join(folder, name)));
  });
  const isNamed = last === -1 && policies.some((path) => path !== ownPolicy);
  if (isNamed) return [];
  const searched = last === -1 ? folders : folders.slice(0, last + 1);
  return searched.flatMap((folder) => [join(folder, 'policy.yaml'), join(folder, '.subluminal')]);
}
