// What `sub auth` works with: the store of secrets, the way to authorization servers, and the server that is meant.
import { failure, isFailure } from '@subluminal/contracts';
import { type OAuthSettings, secretSettings, userHome } from '@subluminal/plane/config';
import { guardFor, type LoginParts, openOAuthHttp, readGrants } from '@subluminal/plane/oauth';
import { remoteNamed } from '@subluminal/plane/probe';
import { proxyOf } from '@subluminal/plane/upstream';
import { openSecretSources } from '@subluminal/plane/vault';
import { badUsage, type Outcome, orThrow } from '../input/command.ts';
import { loadOwnConfig } from '../input/own-config.ts';
import { type SecretsHome, withSecrets } from '../secrets/secrets-home.ts';
import type { Io } from '../terminal/io.ts';

export interface ServerChoice {
  readonly server: string;
  readonly url?: string | undefined;
  /** A config of `sub serve` that names the server. */
  readonly config?: string | undefined;
}

/** A server, and what talks to its authorization server. */
export interface AuthTarget {
  readonly server: string;
  readonly url: string;
  readonly settings: OAuthSettings;
  readonly parts: LoginParts;
  readonly home: SecretsHome;
}

/** Runs `work` for one server, and leaves no connection open. */
export function withTarget(
  io: Io,
  choice: ServerChoice & { readonly clientId?: string | undefined },
  work: (target: AuthTarget) => Promise<Outcome>,
): Promise<Outcome> {
  return withSecrets(io, async (home) => {
    const { server, clientId } = choice;
    const { config } = await loadOwnConfig();
    const { url, login } = await addressOf(choice, home);
    const settings = settingsFor(home.servers.get(server)?.oauth ?? login, clientId);
    const { env } = process;
    const http = openOAuthHttp({ guard: guardFor(url, settings), proxy: proxyOf(env) });
    const places = { env, home: home.home, userHome: userHome(env) };
    const secrets = openSecretSources({ ...places, settings: secretSettings(config) });
    try {
      return await work({
        server,
        url,
        settings,
        parts: { http, vault: home.options, secrets },
        home,
      });
    } finally {
      await http.close();
      await secrets.close();
    }
  });
}

/** Another client than the configured one has none of its secret. */
function settingsFor(
  { clientSecret, clientId, clientMetadataUrl, ...others }: OAuthSettings,
  wanted: string | undefined,
): OAuthSettings {
  if (wanted !== undefined && wanted !== clientId) return { ...others, clientId: wanted };
  return {
    ...others,
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
  };
}

interface Addressed {
  readonly url: string;
  /** What the entry of a client says, where config.toml says nothing. */
  readonly login: OAuthSettings;
}

/** What the user gave, else what a config says, else where somebody of that name is logged in. Throws its failure. */
async function addressOf(choice: ServerChoice, home: SecretsHome): Promise<Addressed> {
  const { server, url, config } = choice;
  if (url !== undefined) return { url: checkedAddress(url, '--url'), login: {} };
  if (config !== undefined) {
    return { url: checkedAddress(await servedAddress(server, config), config), login: {} };
  }
  const found = remoteNamed({ server, place: { env: process.env, project: process.cwd() } });
  if (!isFailure(found)) {
    return { ...found, url: checkedAddress(found.url, `the entry of \`${server}\``) };
  }
  if (found.code !== 'SUB_SERVER_UNKNOWN') return orThrow(found);
  const grants = orThrow(await readGrants(home.options)).filter((one) => one.server === server);
  const [first, ...others] = new Set(grants.map((one) => one.url));
  return first === undefined || others.length > 0 ? orThrow(found) : { url: first, login: {} };
}

function checkedAddress(url: string, where: string): string {
  if (URL.canParse(url) && /^https?:/i.test(url)) return url;
  return orThrow(badUsage(`${where} has no http address.`, 'Write it as https://HOST/PATH.'));
}

async function servedAddress(server: string, file: string): Promise<string> {
  const { loadServeConfig } = await import('@subluminal/plane/serve/config');
  const loaded = orThrow(loadServeConfig(file));
  const [problem] = loaded.problems;
  if (!loaded.ok) {
    const { code, message, fix } = problem ?? { code: 'SUB_SERVE_SYNTAX', message: '', fix: '' };
    return orThrow(failure(code, `${file}: ${message}`, fix ?? ''));
  }
  const entry = loaded.config.servers.get(server);
  if (entry?.kind === 'remote') return entry.url;
  const message = `${file} has no remote server \`${server}\`.`;
  return orThrow(failure('SUB_SERVER_UNKNOWN', message, 'Name one that it has, or give --url.'));
}
