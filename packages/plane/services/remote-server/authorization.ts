// Who calls a server that is reached by an address: the login of this home, or of one of its callers.
import type { SecretValue } from '@subluminal/core/scan';
import { proxyOf } from '../../os/upstream/index.ts';
import { type LoadResult, secretSettings, userHome } from '../../stores/config/index.ts';
import { openSecretSources } from '../../stores/vault/index.ts';
import { authorizationFor } from '../oauth/index.ts';
import type { Authorization } from '../transports/http/types.ts';

export type LoadedServers = Pick<
  Extract<LoadResult, { readonly ok: true }>,
  'config' | 'paths' | 'servers'
>;

export interface AuthorizationSurroundings {
  readonly loaded: LoadedServers;
  readonly env: { readonly [name: string]: string | undefined };
  /** Hears every token that is used, so that it can be redacted. */
  readonly onToken: (token: SecretValue) => void;
  readonly warn: (text: string) => void;
}

interface CalledServer {
  readonly server: string;
  readonly url: string;
  /** Without one, the user of this home. */
  readonly principal?: string;
  /** By `sub serve`. */
  readonly isServed?: boolean;
}

export function serverAuthorization(
  called: CalledServer,
  { loaded, env, onToken, warn }: AuthorizationSurroundings,
): Authorization {
  const { config, paths, servers } = loaded;
  const { home } = paths;
  const settings = servers.get(called.server)?.oauth;
  return authorizationFor({
    ...called,
    vault: { home, passphraseFile: config['secrets.passphrase_file'], nowMs: Date.now },
    ...(settings !== undefined && { settings }),
    secrets: openSecretSources({
      env,
      home,
      userHome: userHome(env),
      settings: secretSettings(config),
    }),
    proxy: proxyOf(env),
    onToken,
    warn,
  });
}
