import type { ConfiguredRepo, GatewayConfig } from './types.ts';

/** The repository that has this remote, as `repoAddress` writes it. */
export function repoByRemote(
  { identity }: GatewayConfig,
  address: string,
): ConfiguredRepo | undefined {
  for (const repo of identity.repos.values()) if (repo.remotes.includes(address)) return repo;
  return undefined;
}
