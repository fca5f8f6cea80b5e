// The secrets that the table [approvals] of config.toml names.
import {
  type ApprovalSettings,
  approvalRefs,
  type Config,
  type Env,
  type HomePaths,
  readSecretRef,
  secretSettings,
  userHome,
} from '../../stores/config/index.ts';
import { resolveBindings } from '../../stores/vault/index.ts';

interface Place {
  readonly config: Config;
  readonly paths: Pick<HomePaths, 'home'>;
  readonly env: Env;
}

export interface ChannelSecrets {
  /** By the keys of the settings, like `slack.token`. */
  value(key: string): string | undefined;
  /** What could not be had, and why. */
  readonly problems: ReadonlyMap<string, string>;
}

const NAME = 'approvals';

/** Fetches what the channels need, from where servers get their secrets. */
export async function fetchSecrets(
  settings: ApprovalSettings,
  place: Place,
): Promise<ChannelSecrets> {
  const { config, paths, env } = place;
  const bindings = [...approvalRefs(settings)].flatMap(([injectAs, ref]) => {
    const read = readSecretRef(ref, undefined);
    if (!read.ok) return [];
    return [{ injectAs, source: read.source, secretRef: read.secretRef, redact: true }];
  });
  const resolved = await resolveBindings({
    serverName: NAME,
    servers: new Map([[NAME, { secretBindings: bindings }]]),
    env,
    home: paths.home,
    userHome: userHome(env),
    settings: secretSettings(config),
  });
  const values = resolved.serverEnv();
  const keys = new Set(bindings.map(({ injectAs }) => injectAs));
  return {
    value: (key) => (keys.has(key) ? values[key]?.trim() : undefined),
    problems: new Map(resolved.problems.map(({ injectAs, message }) => [injectAs, message])),
  };
}
