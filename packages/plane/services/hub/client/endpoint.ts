// Where a hub is: on a socket of this machine, or on a port of it.
import { isAbsolute } from 'node:path';
import { visible } from '@subluminal/core/visible';

export type Target =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly token: string };

type ReadEndpoint =
  | { readonly ok: true; readonly target: Target }
  | { readonly ok: false; readonly message: string };

const UNIX = 'unix:';
const LOOPBACK = '127.0.0.1';
/** Exactly this form: a user, a path or a name that resolves elsewhere has no place in it. */
const HTTP = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d{1,5})\/?$/;
const TOKEN = /^[\x21-\x7e]{1,512}$/;
const SHOWN_LENGTH_MAX = 120;

/** Calls and their arguments leave this machine for nobody, whatever the environment says. */
export function readEndpoint(endpoint: string, token: string | undefined): ReadEndpoint {
  if (endpoint.startsWith(UNIX)) {
    const socketPath = endpoint.slice(UNIX.length);
    if (isAbsolute(socketPath) && !socketPath.includes('\u0000')) {
      return { ok: true, target: { socketPath } };
    }
    return refused(`A socket is named by its absolute path, not by \`${shown(endpoint)}\`.`);
  }
  const port = Number(HTTP.exec(endpoint)?.[1] ?? 0);
  if (port < 1 || port > 65_535) {
    return refused(
      `The address of a hub is \`unix:/path\` or \`http://${LOOPBACK}:PORT\`, not \`${shown(endpoint)}\`.`,
    );
  }
  if (token === undefined) return refused(`The hub at ${shown(endpoint)} needs a token.`);
  // The token itself is never shown.
  if (!TOKEN.test(token)) return refused('The token of the hub has characters that no token has.');
  return { ok: true, target: { host: LOOPBACK, port, token } };
}

/** What stands between `//` and `@` may be a password. */
function shown(endpoint: string): string {
  return visible(endpoint.replace(/\/\/[^/]*@/, '//…@'), SHOWN_LENGTH_MAX);
}

function refused(message: string): ReadEndpoint {
  return { ok: false, message };
}
