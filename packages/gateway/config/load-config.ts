// The configuration folder of a gateway → a configuration, or everything that is wrong with it.
import {
  type ConfigFileForm,
  type Failure,
  GATEWAY_CONFIG_FILES,
  isFailure,
} from '@subluminal/contracts';
import type { Problem } from '@subluminal/core/source';
import { readTurnPolicy, type TurnPolicyResult } from '@subluminal/core/turn-policy';
import { sha256 } from '@subluminal/plane/crypto';
import {
  budgetsOf,
  endpointsOf,
  poolsOf,
  reposOf,
  settingsOf,
  webhooksOf,
} from './build-config.ts';
import { checkIdentity } from './check-identity.ts';
import { checkPools } from './check-pools.ts';
import {
  reportPlainSecrets,
  reportUnresolved,
  secretUses,
  withoutSecrets,
} from './check-secrets.ts';
import { checkServer, checkWebhooks } from './check-server.ts';
import {
  broken,
  type ConfigFile,
  type ConfigFiles,
  readConfigFile,
  readConfigText,
} from './config-file.ts';
import {
  CONFIG_FILES,
  type ConfigFileKey,
  type ConfigFolder,
  readConfigFolder,
} from './config-folder.ts';
import { resolveAll, type SecretPlaces } from './secret-refs.ts';
import type { GatewayConfig } from './types.ts';
import { pricesOf } from './written-prices.ts';

export interface LoadConfigOptions {
  readonly places: SecretPlaces;
  /**
   * `start` refuses what a running gateway can't do with: a secret that is not there, a file that others can
   * change. `check` only warns, since it may run on another machine.
   */
  readonly use: 'start' | 'check';
}

export type LoadedGatewayConfig =
  /** `problems` are warnings. */
  | {
      readonly ok: true;
      readonly config: GatewayConfig;
      readonly problems: readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads, checks and builds the configuration; a failure when there is no such folder. */
export async function loadGatewayConfig(
  dir: string,
  { places, use }: LoadConfigOptions,
): Promise<LoadedGatewayConfig | Failure> {
  const level = use === 'start' ? 'error' : 'warning';
  const folder = readConfigFolder(dir, level);
  if (isFailure(folder)) return folder;
  const files = readFiles(folder);
  const policyFile = readPolicyText(folder);
  const all = [...allFiles(files), policyFile];
  for (const file of all) reportPlainSecrets(file, file.report);
  checkServer(files, level);
  checkPools(files);
  checkIdentity(files);
  checkWebhooks(files);
  const uses = secretUses(files);
  const { secrets, failed } = await resolveAll(
    uses.map(({ ref }) => ref),
    places,
  );
  reportUnresolved(uses, failed, level);
  const compiled = compilePolicy(folder, files);
  const problems = withoutSecrets([
    ...folder.problems,
    ...all.flatMap((file) => file.problems()),
    ...(compiled.ok ? [] : compiled.problems),
  ]);
  const config = buildConfig(folder, files);
  const isBroken = problems.some((problem) => problem.level === 'error');
  if (config === undefined || isBroken || !compiled.ok) return { ok: false, problems };
  return { ok: true, config: { ...config, policy: compiled.policy, secrets }, problems };
}

function readFiles({ bytes, unread }: ConfigFolder): ConfigFiles {
  const forms = GATEWAY_CONFIG_FILES;
  const read = <T>(key: ConfigFileKey, form: ConfigFileForm<T>): ConfigFile<T> => {
    const name = CONFIG_FILES[key];
    return unread.has(name) ? broken(name, []) : readConfigFile({ name, bytes: bytes(key) }, form);
  };
  return {
    gateway: read('gateway', forms.gateway),
    pools: read('pools', forms.pools),
    budgets: read('budgets', forms.budgets),
    pricing: read('pricing', forms.pricing),
    webhooks: read('webhooks', forms.webhooks),
    users: read('users', forms.users),
    teams: read('teams', forms.teams),
    repos: read('repos', forms.repos),
  };
}

/** The policy as text; what is wrong with it says its compiler. */
function readPolicyText({ bytes }: ConfigFolder): ConfigFile<unknown> {
  const name = CONFIG_FILES.policy;
  return readConfigText({ name, bytes: bytes('policy') ?? new Uint8Array() });
}

function compilePolicy({ bytes }: ConfigFolder, { pools }: ConfigFiles): TurnPolicyResult {
  const content = bytes('policy');
  if (content === undefined) return { ok: false, problems: [] };
  const { value = { provider_endpoints: {}, pools: {}, version: 1 } } = pools;
  const compiled = readTurnPolicy(
    { file: CONFIG_FILES.policy, bytes: content },
    { pools: new Set(Object.keys(value.pools)), endpoints: endpointsOf(value), sha256 },
  );
  if (compiled.ok || pools.value !== undefined) return compiled;
  // Which pools there are is not known then.
  const isOwn = ({ code }: Problem) => code !== 'SUB_GATEWAY_REFERENCE';
  return { ok: false, problems: compiled.problems.filter(isOwn) };
}

/** In the order that their problems are shown. */
function allFiles(files: ConfigFiles): readonly ConfigFile<unknown>[] {
  const { gateway, pools, budgets, pricing, webhooks, users, teams, repos } = files;
  return [gateway, pools, budgets, pricing, webhooks, users, teams, repos];
}

/** Undefined when a file is broken. */
function buildConfig(
  folder: ConfigFolder,
  files: ConfigFiles,
): Omit<GatewayConfig, 'policy' | 'secrets'> | undefined {
  const { gateway, pools, budgets, pricing, webhooks, users, teams, repos } = files;
  if (!gateway.value || !pools.value || !budgets.value || !pricing.value) return undefined;
  if (!webhooks.value || !users.value || !teams.value || !repos.value) return undefined;
  const policy = folder.bytes('policy') ?? new Uint8Array();
  return {
    version: folder.version,
    settings: settingsOf(gateway.value),
    endpoints: endpointsOf(pools.value),
    pools: poolsOf(pools.value),
    prices: pricesOf(pricing.value),
    budgets: budgetsOf(budgets.value),
    webhooks: webhooksOf(webhooks.value),
    identity: {
      users: new Map(
        users.value.users.map(({ user_id, team_id, email = null }) => [
          user_id,
          { userId: user_id, teamId: team_id, email },
        ]),
      ),
      teams: new Map(
        teams.value.teams.map(({ team_id, name = team_id }) => [
          team_id,
          { teamId: team_id, name },
        ]),
      ),
      repos: reposOf(repos.value),
    },
    policySource: { file: CONFIG_FILES.policy, text: new TextDecoder().decode(policy) },
  };
}
