// Which policy holds for a governed server, as far as that can be told before it runs.
import { type Env, findPolicy, loadConfig, userHome } from '@subluminal/plane/config';
import type { ServerView, StatusFile } from '@subluminal/plane/main/adopt';

type HeldPolicy =
  /** Named by the entry or the configuration, or found from the project of the entry. */
  | { readonly source: 'entry' | 'setting' | 'project'; readonly path: string | null }
  /** Found from wherever the client starts the server; from here it would be this one. */
  | { readonly source: 'start'; readonly path: null; readonly here: string | null };

type PolicyOf = (server: ServerView, file: Pick<StatusFile, 'project'>) => HeldPolicy;

interface Looking {
  readonly env: Env;
  readonly project: string;
  readonly paths: { readonly home: string };
}

async function policyFinder({ env, project, paths }: Looking): Promise<PolicyOf> {
  const loaded = await loadConfig({ env, flags: {}, cwd: project });
  const set = loaded.ok ? loaded.config['policy.path'] : null;
  const isForAll = loaded.ok && loaded.origins['policy.path'] === 'file';
  const foundFrom = (cwd: string): string | null => {
    const found = findPolicy({ cwd, home: paths.home, userHome: userHome(env) });
    return found.kind === 'found' ? found.path : null;
  };
  return (server, file) => {
    if (server.policy !== undefined) return { source: 'entry', path: server.policy };
    if (set !== null && isForAll) return { source: 'setting', path: set };
    // A variable of this terminal: clients rarely hand it on.
    if (set !== null) return { source: 'start', path: null, here: set };
    const folder = server.project ?? file.project;
    if (folder !== undefined) return { source: 'project', path: foundFrom(folder) };
    return { source: 'start', path: null, here: foundFrom(project) };
  };
}

/** With what is wrong with the one that is found from here, if anything is. */
function policyWords(held: HeldPolicy, faultHere?: string): string {
  if (held.source === 'start') {
    const here = faultHere ?? held.here ?? 'none, so everything passes';
    return `policy found where it runs (from here: ${here})`;
  }
  return held.path === null ? 'no policy: everything passes' : `policy ${held.path}`;
}

export type { HeldPolicy, PolicyOf };
export { policyFinder, policyWords };
