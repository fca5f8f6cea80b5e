// The configuration in force. A changed folder is read, checked and put in force at once and as a whole; a broken one
// changes nothing. A turn keeps the configuration that it began with.
import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import type { Problem } from '@subluminal/core/source';
import { watchFiles } from '@subluminal/plane/os';
import { atStart } from './config-file.ts';
import { CONFIG_FILES, readConfigFolder } from './config-folder.ts';
import { type LoadedGatewayConfig, loadGatewayConfig } from './load-config.ts';
import type { SecretPlaces } from './secret-refs.ts';
import type { GatewayConfig, GatewaySettings } from './types.ts';

export interface LiveConfigOptions {
  readonly dir: string;
  readonly places: SecretPlaces;
  /** Called when another configuration is in force. */
  readonly changed: (change: ConfigChange) => void;
  /** Called when the folder is broken and the old configuration stays. Called once for each state of the folder. */
  readonly rejected: (problems: readonly Problem[]) => void;
  readonly everyMs?: number;
}

export interface ConfigChange {
  readonly kind: 'changed';
  readonly config: GatewayConfig;
  readonly warnings: readonly Problem[];
  /** Settings that differ now but hold only from the next start on. */
  readonly afterRestart: readonly string[];
}

export type ReloadResult =
  | ConfigChange
  /** The same files; secrets were fetched again. */
  | { readonly kind: 'unchanged'; readonly config: GatewayConfig }
  | { readonly kind: 'rejected'; readonly problems: readonly Problem[] };

export interface LiveGatewayConfig {
  readonly kind: 'live';
  /** What new turns go by. */
  readonly current: () => GatewayConfig;
  /** What the first load warned about. */
  readonly warnings: readonly Problem[];
  /** Reads the folder now. */
  readonly reload: () => Promise<ReloadResult>;
  readonly stop: () => void;
}

const LOOK_EVERY_MS = 1_000;
/** A folder that changes while it is read is read again, so often. */
const READS_MAX = 5;

/** Loads the folder and follows it. What is wrong at the start is returned, and nothing is followed. */
export async function openLiveConfig(
  options: LiveConfigOptions,
): Promise<LiveGatewayConfig | Extract<LoadedGatewayConfig, { readonly ok: false }> | Failure> {
  const { dir, everyMs = LOOK_EVERY_MS } = options;
  const { loaded: first, ...read } = await loadSettled(options);
  if (isFailure(first) || !first.ok) return first;
  let { config } = first;
  let seen = read.version;
  const load = async (): Promise<ReloadResult> => {
    const { loaded, version } = await loadSettled(options);
    seen = version;
    if (isFailure(loaded)) return rejectedBy([folderProblem(loaded, dir)], options);
    if (!loaded.ok) return rejectedBy(loaded.problems, options);
    const isSame = loaded.config.version === config.version;
    const { kept, afterRestart } = keepFixed(loaded.config, config.settings);
    config = kept;
    if (isSame) return { kind: 'unchanged', config };
    const change = { kind: 'changed', config, warnings: loaded.problems, afterRestart } as const;
    options.changed(change);
    return change;
  };
  // One after the other: what was read last is what is in force.
  let last: Promise<unknown> = Promise.resolve();
  const reload = (): Promise<ReloadResult> => {
    const next = last.then(load);
    last = next.catch(() => undefined);
    return next;
  };
  const paths = Object.values(CONFIG_FILES).map((name) => join(dir, name));
  const look = async (): Promise<void> => {
    if (versionOf(dir) !== seen) await reload();
  };
  const watched = watchFiles({ paths, everyMs, read: look });
  const { problems: warnings } = first;
  return { kind: 'live', current: () => config, warnings, reload, stop: () => watched.stop() };
}

/** Empty for a folder that cannot be read. */
function versionOf(dir: string): string {
  const folder = readConfigFolder(dir, 'warning');
  return isFailure(folder) ? '' : folder.version;
}

interface SettledLoad {
  readonly loaded: LoadedGatewayConfig | Failure;
  /** The version of the folder before it was loaded: a later change is seen as one. */
  readonly version: string;
}

/** Reads until nothing has changed meanwhile: half of a checkout is no configuration. */
async function loadSettled({ dir, places }: LiveConfigOptions): Promise<SettledLoad> {
  for (let reads = 1; ; reads++) {
    const version = versionOf(dir);
    const loaded = await loadGatewayConfig(dir, { places, use: 'start' });
    if (reads === READS_MAX || versionOf(dir) === version) return { loaded, version };
  }
}

function rejectedBy(problems: readonly Problem[], { rejected }: LiveConfigOptions): ReloadResult {
  rejected(problems);
  return { kind: 'rejected', problems };
}

function folderProblem({ code, message, fix }: Failure, dir: string): Problem {
  return atStart({ code, path: [], message, fix }, dir);
}

/** What a server is built with and keeps until it starts again, and its names in gateway.yaml. */
const FIXED = [
  ['tenantId', 'tenant_id'],
  ['listen', 'listen'],
  ['tls', 'tls'],
  ['ipAllowlist', 'ip_allowlist'],
  ['trustedProxies', 'trusted_proxies'],
  ['limits', 'limits'],
  ['database', 'database'],
  ['retention', 'retention'],
  ['telemetry', 'telemetry'],
] as const;

function keepFixed(
  config: GatewayConfig,
  running: GatewaySettings,
): { readonly kept: GatewayConfig; readonly afterRestart: readonly string[] } {
  const { approvals, bindings, clients } = config.settings;
  const settings = { ...running, approvals, bindings, clients };
  const differs = FIXED.filter(
    ([name]) => JSON.stringify(settings[name]) !== JSON.stringify(config.settings[name]),
  );
  return { kept: { ...config, settings }, afterRestart: differs.map(([, name]) => name) };
}
