// Where the browser comes back to: one path of a loopback address, answered once, for a short time.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Failure, failure } from '@subluminal/contracts';
import { listenOnLoopback } from '../../os/index.ts';

export interface RedirectListener {
  readonly kind: 'listener';
  readonly redirectUri: string;
  /** The parameters of the first answer that `isOurs`. A failure when none has come in time. */
  readonly answer: (
    isOurs: (params: URLSearchParams) => boolean,
    signal: AbortSignal,
  ) => Promise<URLSearchParams | Failure>;
  readonly close: () => void;
}

const CALLBACK = 'http://127.0.0.1/callback';
const REQUESTS_MAX = 100;
const REQUEST_MS = 10_000;
const HEADERS_BYTES_MAX = 16_384;
const URL_LENGTH_MAX = 12_000;
const PAGE = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Subluminal</title><p>${text}</p>\n`;
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

type AnswerTaker = (params: URLSearchParams) => 'taken' | 'foreign';

/** `wanted`: an http address of this machine; without a port, any free one. Undefined where its port is taken. */
export async function openRedirect(wanted = CALLBACK): Promise<RedirectListener | undefined> {
  const { hostname, port, pathname } = new URL(wanted);
  let waiting: AnswerTaker = () => 'foreign';
  let hosts: ReadonlySet<string> = new Set();
  let countdown = REQUESTS_MAX;
  const server = createServer(
    { maxHeaderSize: HEADERS_BYTES_MAX, requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
    (request, response) => {
      countdown -= 1;
      if (countdown < 0) request.socket.destroy();
      else respond({ request, response }, { pathname, hosts, waiting });
    },
  );
  server.maxConnections = 16;
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  const listening = await listenOnLoopback(server, { host, port: Number(port) });
  if (listening.kind === 'failed') return undefined;
  const { port: bound } = new URL(listening.url);
  hosts = new Set([`${hostname}:${bound}`]);
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return {
    kind: 'listener',
    redirectUri: `http://${hostname}:${bound}${pathname}`,
    answer: (isOurs, signal) =>
      new Promise((resolve) => {
        const late = (): void => resolve(tooLate());
        if (signal.aborted) return late();
        signal.addEventListener('abort', late, { once: true });
        waiting = (params) => {
          if (!isOurs(params)) return 'foreign';
          waiting = () => 'foreign';
          signal.removeEventListener('abort', late);
          resolve(params);
          return 'taken';
        };
      }),
    close,
  };
}

interface RedirectRules {
  readonly pathname: string;
  readonly hosts: ReadonlySet<string>;
  readonly waiting: AnswerTaker;
}

/** The page says nothing of what came: it may have been sent by anybody. */
function respond(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  { pathname, hosts, waiting }: RedirectRules,
): void {
  const { method, url = '', headers } = request;
  const say = (status: number, text: string): void => {
    response.writeHead(status, HEADERS);
    response.end(PAGE(text));
  };
  // A page whose name was made to point to this machine sends its own name here.
  if (!hosts.has(headers.host?.toLowerCase() ?? '')) return say(403, 'Wrong host.');
  const at = url.indexOf('?');
  if (method !== 'GET' || at === -1 || url.slice(0, at) !== pathname) return say(404, 'Not found.');
  if (url.length > URL_LENGTH_MAX) return say(414, 'Too long.');
  if (waiting(new URLSearchParams(url.slice(at + 1))) === 'foreign') {
    return say(400, 'This is not the answer to a login that Subluminal waits for.');
  }
  say(200, 'Subluminal has the answer. Close this page, and go back to the terminal.');
}

function tooLate(): Failure {
  const message = 'nobody has finished the login in the browser in time.';
  const fix =
    'Run it again; --no-browser is for machines without a browser, --timeout for more time.';
  return failure('SUB_AUTH_RESPONSE', message, fix);
}
