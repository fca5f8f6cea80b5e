// Where a hub is: on a socket of this machine, or on a port of it.
import { isAbsolute } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';

export type Target =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly token: string };

const UNIX = 'unix:';
const LOOPBACK = '127.0.0.1';
/** Exactly this form: a user, a path or a name that resolves elsewhere has no place in it. */
const HTTP = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d{1,5})\/?$/;
const TOKEN = /^[\x21-\x7e]{1,512}$/;
const SHOWN_LENGTH_MAX = 120;

/** Calls and their arguments never leave this machine, whatever the environment says. */
export function readEndpoint(endpoint: string, token: string | undefined): Target | Failure {
  // The part between `//` and `@` may be a password.
  const shown = visible(endpoint.replace(/\/\/[^/]*@/, '//…@'), SHOWN_LENGTH_MAX);
  if (endpoint.startsWith(UNIX)) {
    const socketPath = endpoint.slice(UNIX.length);
    if (isAbsolute(socketPath) && !socketPath.includes('\u0000')) return { socketPath };
    return refused(`A socket is named by its absolute path, not by \`${shown}\`.`);
  }
  const port = Number(HTTP.exec(endpoint)?.[1] ?? 0);
  if (port < 1 || port > 65_535) {
    return refused(
      `The address of a hub is \`unix:/path\` or \`http://${LOOPBACK}:PORT\`, not \`${shown}\`.`,
    );
  }
  if (token === undefined) return refused(`The hub at ${shown} needs a token.`);
  // The token itself is never shown.
  if (!TOKEN.test(token)) return refused('The token of the hub has characters that no token has.');
  return { host: LOOPBACK, port, token };
}

function refused(message: string): Failure {
  return failure('SUB_HUB_ENDPOINT', message, 'Give the address and the token of the hub.');
}
