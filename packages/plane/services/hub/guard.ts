// Who may speak to a hub at all.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Visible ASCII only, so that it is one header value; long enough not to be guessed. */
const TOKEN = /^[\x21-\x7e]{32,512}$/;

type Admitted =
  | { readonly ok: true }
  | { readonly ok: false; readonly status: 401 | 403; readonly message: string };

export type Guard = (request: IncomingMessage) => Admitted;

export function isToken(token: string): boolean {
  return TOKEN.test(token);
}

/** On a Unix socket the file system has admitted already; only pages of a browser are kept out. */
export function unixGuard(): Guard {
  return (request) => originProblem(request) ?? { ok: true };
}

/** On a port: the right name, no page of a browser, and the token. */
export function tcpGuard(token: string, port: () => number): Guard {
  const expected = digest(`Bearer ${token}`);
  let hosts: ReadonlySet<string> | undefined;
  return (request) => {
    hosts ??= new Set([`127.0.0.1:${port()}`, `localhost:${port()}`]);
    // A page whose name was made to point to this machine sends its own name here.
    const { host = '', authorization = '' } = request.headers;
    if (!hosts.has(host.toLowerCase())) return refused(403, 'the Host is not this hub');
    const problem = originProblem(request);
    if (problem !== undefined) return problem;
    if (timingSafeEqual(digest(authorization), expected)) return { ok: true };
    return refused(401, 'the token is missing or wrong');
  };
}

function originProblem({ headers }: IncomingMessage): Admitted | undefined {
  const isPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  return isPage ? refused(403, 'a hub does not speak to web pages') : undefined;
}

/** Of one length for any text: comparing takes the same time, and tells not even the length. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function refused(status: 401 | 403, message: string): Admitted {
  return { ok: false, status, message };
}
