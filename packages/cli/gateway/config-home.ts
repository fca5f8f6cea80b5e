// Where the commands of the gateway find secrets and their database on this machine.

import type { SecretPlaces } from '@subluminal/gateway/config';
import { homePaths, secretSettings, userHome } from '@subluminal/plane/config';
import { loadOwnConfig } from '../input/own-config.ts';

export async function secretPlaces(): Promise<SecretPlaces> {
  const { env } = process;
  const { config } = await loadOwnConfig();
  return {
    env,
    home: homePaths(env).home,
    userHome: userHome(env),
    settings: secretSettings(config),
  };
}
