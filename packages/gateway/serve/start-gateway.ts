// The gateway: configuration, store, the way of turns, API, webhooks and metrics, as one process.
import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import { formatProblem, type Problem } from '@subluminal/core/source';
import { ensureKeyFile } from '@subluminal/plane/crypto';
import { ensurePrivateFolder } from '@subluminal/plane/os';
import {
  databaseAddress,
  type GatewayConfig,
  openLiveConfig,
  type SecretPlaces,
} from '../config/index.ts';
import { GatewayMetrics } from '../metrics/index.ts';
import { openGatewayStore } from '../store/open/index.ts';
import { Gateway } from './gateway.ts';

export interface GatewayOptions {
  /** The folder of the configuration. */
  readonly dir: string;
  /** Where the gateway keeps its key and the setup token. */
  readonly home: string;
  readonly places: SecretPlaces;
  readonly version: string;
  /** `postgres://…` or the path of a SQLite file, instead of what the configuration says. */
  readonly database?: string;
  readonly listen?: { readonly host?: string; readonly port?: number };
  /** The folder with the built page; without it, none is served. */
  readonly pages?: string;
  /** One line for the people who run it. */
  readonly log: (line: string) => void;
}

export interface RunningGateway {
  readonly kind: 'running';
  readonly url: string;
  /** Takes no more turns, waits for those under way, and leaves nothing behind. */
  close(): Promise<void>;
}

/** What stopped the start: problems of the configuration, or anything else. */
export type GatewayStart =
  | RunningGateway
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  | Failure;

export async function startGateway(options: GatewayOptions): Promise<GatewayStart> {
  const { dir, home, places, log } = options;
  const folder = ensurePrivateFolder(home);
  if (folder !== undefined) return folder;
  const key = ensureKeyFile(join(home, 'gateway.key'));
  if (isFailure(key)) return key;
  let tellRejected: (problems: number) => void = () => {};
  let scraperTokens: () => readonly string[] = () => [];
  const metrics = new GatewayMetrics({
    isProcessMeasured: true,
    scraperTokens: () => scraperTokens(),
  });
  const live = await openLiveConfig({
    dir,
    places,
    changed: ({ config, afterRestart }) => {
      metrics.reloaded('accepted');
      log(`The configuration ${config.version} is in force.`);
      if (afterRestart.length > 0) log(`Only after a restart: ${afterRestart.join(', ')}.`);
    },
    rejected: (problems) => {
      metrics.reloaded('rejected');
      log('The changed configuration is broken, and the old one stays.');
      for (const problem of problems) if (problem.level === 'error') log(formatProblem(problem));
      tellRejected(problems.length);
    },
  });
  if (isFailure(live)) return live;
  if ('ok' in live) return { kind: 'invalid', problems: live.problems };
  scraperTokens = () => metricsTokens(live.current());
  for (const warning of live.warnings) log(formatProblem(warning));
  const database = options.database ?? databaseAddress(live.current(), places.home);
  if (database === undefined) throw new Error('the start has resolved its references');
  const store = await openGatewayStore({
    database,
    retention: live.current().settings.retention,
  });
  const gateway = new Gateway({ ...options, live, store, metrics, key });
  tellRejected = (problems) => gateway.emit('config_rejected', { problems });
  return gateway.start();
}

/** The token of the scraper, where the configuration has one. */
function metricsTokens({ settings, secrets }: GatewayConfig): readonly string[] {
  const { metricsTokenRef } = settings.telemetry;
  const token = metricsTokenRef === null ? undefined : secrets.get(metricsTokenRef);
  return token === undefined ? [] : [token];
}
