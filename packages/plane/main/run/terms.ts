// What a shim was told of its run, held against what the hub of the run says. The environment and the
// files that tell of a run can be changed by whoever has the rights of the user; the memory of its
// host is harder to reach.
import type { Config } from '../../config/index.ts';
import type { RunTerms } from '../../hub/client/index.ts';
import { COPY_HASH_NAME, COPY_NAME } from '../wrap/told-names.ts';

interface Told {
  readonly env: { readonly [name: string]: string | undefined };
  readonly flags: { readonly [flag: string]: string | undefined };
  readonly config: Pick<Config, 'profile' | 'policy.reload'>;
}

const FIX = 'What tells of this run was changed meanwhile: end the agent and start it again.';

/** Why the server must not start; undefined when the shim works as the run does. */
function unlikeRun(terms: RunTerms, { env, flags, config }: Told): string | undefined {
  const { profile, policy_hash: hash, policy_reload: reload } = terms;
  // An older hub says nothing of it.
  if (profile !== 'production') return undefined;
  // What an entry says itself is its own; but `sub wrap` writes these into all of them.
  const isOwn = (flag: string): boolean => flags[flag] !== undefined && flags['wrap'] === undefined;
  if (config.profile !== profile && !isOwn('profile')) {
    return `the run is in production, but this server would be in ${config.profile}. ${FIX}`;
  }
  if (hash === undefined || isOwn('policy')) return undefined;
  if (!env[COPY_NAME] || env[COPY_HASH_NAME] !== hash) {
    return `this server would have another policy than the run began with. ${FIX} [SUB_SNAPSHOT_HASH]`;
  }
  const ownReload = config['policy.reload'];
  if (reload === undefined || ownReload === reload) return undefined;
  return `the run has policy.reload = "${reload}", but this server would have "${ownReload}". ${FIX}`;
}

export { unlikeRun };
