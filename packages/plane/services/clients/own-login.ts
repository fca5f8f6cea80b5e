// How an entry tells its client to log in. A shim logs in nowhere: what can be taken over stands in the options of the
// shim, where `sub auth login` finds it; for all else a person is told what to type.
import { isObject } from '@subluminal/contracts';
import { shellWord, visible } from '@subluminal/core/visible';
import {
  isClientId,
  isRedirectUri,
  isScope,
  type OAuthSettings,
} from '../../stores/config/index.ts';
import { flagIn } from './shim-command.ts';

/** The part of the settings of a login that an entry may have. */
export type OwnLogin = Pick<OAuthSettings, 'clientId' | 'redirectUri' | 'scopes'>;

/** Reads the block of a client; undefined when something in it would be lost. */
export type ReadLogin = (block: unknown) => OwnLogin | undefined;

/** `oauth` of Claude Code, whose browser comes back to `http://localhost:PORT/callback`. */
export const readClaudeLogin: ReadLogin = (block) => {
  if (!isObject(block)) return undefined;
  const { clientId, callbackPort: port = '', scopes = '', ...others } = block;
  if (Object.keys(others).length > 0) return undefined;
  if (clientId !== undefined && !(typeof clientId === 'string' && isClientId(clientId))) {
    return undefined;
  }
  const isPort =
    port === '' || (Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536);
  if (!isPort || typeof scopes !== 'string') return undefined;
  const list = scopes.split(' ').filter((scope) => scope !== '');
  if (!list.every(isScope)) return undefined;
  return {
    ...(clientId !== undefined && { clientId }),
    redirectUri: `http://localhost${port === '' ? '' : `:${Number(port)}`}/callback`,
    ...(list.length > 0 && { scopes: list }),
  };
};

/** In one word each: a value may look like an option. */
export function loginFlags({ clientId, redirectUri, scopes }: OwnLogin): readonly string[] {
  return [
    ...(clientId === undefined ? [] : [`--client-id=${clientId}`]),
    ...(redirectUri === undefined ? [] : [`--redirect-uri=${redirectUri}`]),
    ...(scopes === undefined ? [] : [`--scope=${scopes.join(' ')}`]),
  ];
}

/** What stands in the options of a shim, as far as it is sound: anybody may have written them. */
export function loginIn(flags: readonly string[]): OwnLogin {
  const clientId = flagIn(flags, 'client-id');
  const redirectUri = flagIn(flags, 'redirect-uri');
  const scopes =
    flagIn(flags, 'scope')
      ?.split(' ')
      .filter((scope) => scope !== '') ?? [];
  return {
    ...(clientId !== undefined && isClientId(clientId) && { clientId }),
    ...(redirectUri !== undefined && isRedirectUri(redirectUri) && { redirectUri }),
    ...(scopes.length > 0 && scopes.every(isScope) && { scopes }),
  };
}

const NAME_SHOWN_MAX = 128;

/** What a person types in place of a block that is not taken over. Ids are shown, secrets never. */
export function loginByHand(name: string, block: unknown): string {
  const given = isObject(block) ? block : {};
  const ids = [given['clientId'], given['client_id'], given['CLIENT_ID']];
  const id = ids.find((one) => typeof one === 'string' && isClientId(one));
  const hasSecret = ['clientSecret', 'client_secret', 'CLIENT_SECRET'].some((key) => key in given);
  const table = /^[A-Za-z0-9_-]+$/.test(name)
    ? name
    : JSON.stringify(visible(name, NAME_SHOWN_MAX));
  const lines = [
    ...(id === undefined ? [] : [`client_id = ${JSON.stringify(id)}`]),
    ...(hasSecret ? [`client_secret = "sub://NAME" (of \`sub secrets add NAME\`)`] : []),
    ...(hasSecret ? ['authorization_server = "https://…"'] : []),
  ];
  const written =
    lines.length === 0
      ? ''
      : `, write ${lines.join(', ')} under [servers.${table}.oauth] of config.toml, let the client have the redirect URI http://127.0.0.1/callback`;
  return `tells the client how to log in, which a shim does not: take it out${written}, import again, and run \`sub auth login ${shellWord(name)}\``;
}
