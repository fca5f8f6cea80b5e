// Finds the policy of a governed server, as far as it is known before the server runs.

import type { ServerView, StatusFile } from '@subluminal/plane/clients/setup';
import { type Env, loadConfig, userHome } from '@subluminal/plane/config';
import { type PolicySources, policySources } from '@subluminal/plane/policy';

export type HeldPolicy =
  /** Named by the entry or the configuration, or found from the project of the entry. */
  | {
      readonly source: 'entry' | 'setting' | 'project';
      readonly path: string | null;
      readonly found?: PolicySources;
    }
  /** Found from wherever the client starts the server; from here it would be this one. */
  | {
      readonly source: 'start';
      readonly path: null;
      readonly here: string | null;
      readonly found?: PolicySources;
    };

export type PolicyOf = (server: ServerView, file: Pick<StatusFile, 'project'>) => HeldPolicy;

interface Looking {
  readonly env: Env;
  readonly project: string;
  readonly paths: { readonly home: string };
}

export async function policyFinder({ env, project, paths }: Looking): Promise<PolicyOf> {
  const loaded = await loadConfig({ env, flags: {}, cwd: project });
  const set = loaded.ok ? loaded.config['policy.path'] : null;
  const isForAll = loaded.ok && loaded.origins['policy.path'] === 'file';
  const foundFrom = (cwd: string): Found => {
    const place = { cwd, home: paths.home, userHome: userHome(env) };
    const found = policySources({ ...place, named: null, trusts: false });
    return { path: found.sources[0]?.path ?? null, found };
  };
  return (server, file) => {
    if (server.policy !== undefined) return { source: 'entry', path: server.policy };
    if (set !== null && isForAll) return { source: 'setting', path: set };
    // A variable of this terminal: clients rarely hand it on.
    if (set !== null) return { source: 'start', path: null, here: set };
    const folder = server.project ?? file.project;
    if (folder !== undefined) return { source: 'project', ...foundFrom(folder) };
    const { path: here, found } = foundFrom(project);
    return { source: 'start', path: null, here, found };
  };
}

interface Found {
  readonly path: string | null;
  readonly found: PolicySources;
}

/** `faultHere` says what is wrong with the policy that is found from here. */
export function policyWords(held: HeldPolicy, faultHere?: string): string {
  if (held.source === 'start') {
    const here = faultHere ?? (held.here === null ? undefined : pathWords(held.here, held));
    return `policy found where it runs (from here: ${here ?? 'none, so calls are only recorded'})`;
  }
  return held.path === null
    ? `no policy: calls are only recorded${ignoredWords(held)}`
    : `policy ${pathWords(held.path, held)}`;
}

/** The path of a policy, and whether another tightens it. */
function pathWords(path: string, { found }: HeldPolicy): string {
  const [first, second] = found?.sources ?? [];
  if (second !== undefined) return `${path}, tightened by ${second.path}, which is not trusted`;
  // Without a policy of the user, one that is not trusted holds as it is.
  return first?.role === 'trusted' ? `${path}, which is trusted` : path;
}

function ignoredWords({ found }: HeldPolicy): string {
  const ignored = found?.ignored;
  return ignored === undefined ? '' : ` (${ignored.path} is not used: ${ignored.why})`;
}
