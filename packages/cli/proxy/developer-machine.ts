// This machine as the gateway sees it: its settings, its id, and the login that its user has.
import { userInfo } from 'node:os';
import { type Failure, isFailure, type Producer } from '@subluminal/contracts';
import {
  GatewayClient,
  type GatewayLogin,
  machineIdOf,
  notLoggedIn,
  openGatewayLink,
  openLogin,
} from '@subluminal/gateway/proxy';
import type { Config } from '@subluminal/plane/config';
import { identify } from '@subluminal/plane/identity';
import { ensurePrivateFolder } from '@subluminal/plane/os';
import type { VaultOptions } from '@subluminal/plane/vault';
import { uuidv7 } from 'uuidv7';
import { orThrow } from '../input/command.ts';
import { type LoadedConfig, loadOwnConfig } from '../input/own-config.ts';
import manifest from '../package.json' with { type: 'json' };

export interface DeveloperMachine
  extends Pick<LoadedConfig, 'config' | 'paths' | 'prices' | 'approvals'> {
  readonly producer: Producer;
  readonly machineId: string;
  readonly version: string;
}

/** Throws its failure. */
export async function developerMachine(
  flags: { readonly [flag: string]: string | undefined } = {},
  file?: string,
): Promise<DeveloperMachine> {
  const { config, paths, prices, approvals } = await loadOwnConfig(flags, file);
  for (const folder of [paths.home, paths.run, paths.spool]) orThrow(ensurePrivateFolder(folder));
  // Sessions have runs of their own; without one here, this process would take part in that of its agent.
  const env = { ...process.env, SUB_RUN_ID: uuidv7() };
  const { profile } = config;
  const { producer } = identify({ env, cwd: process.cwd(), paths, nowMs: Date.now(), profile });
  const { version } = manifest;
  const machineId = machineIdOf(producer);
  return { config, paths, prices, approvals, producer, machineId, version };
}

/** Throws its failure, also where nobody has logged in. */
export async function requireLogin(machine: DeveloperMachine): Promise<GatewayLogin> {
  return orThrow((await openLogin(vaultOf(machine))) ?? notLoggedIn());
}

/** The store of secrets, without a person who could be asked for its passphrase. */
export function vaultOf({
  config,
  paths,
}: {
  readonly config: Config;
  readonly paths: DeveloperMachine['paths'];
}): VaultOptions {
  const passphraseFile = config['secrets.passphrase_file'];
  return { home: paths.home, passphraseFile, nowMs: () => Date.now() };
}

/** Asks the gateway, and closes the connection. */
export async function withGateway<T>(
  { config, version }: DeveloperMachine,
  { gatewayUrl, apiKey }: Pick<GatewayLogin, 'gatewayUrl'> & Partial<GatewayLogin>,
  work: (client: GatewayClient) => Promise<T>,
): Promise<T | Failure> {
  const upstream = openGatewayLink(config, gatewayUrl);
  if (isFailure(upstream)) return upstream;
  const key = apiKey === undefined ? {} : { apiKey };
  try {
    return await work(new GatewayClient({ gatewayUrl, upstream, version, ...key }));
  } finally {
    await upstream.close();
  }
}

export function localUser(): string {
  return userInfo().username;
}
