// What tsdav sends its requests by. The password goes to the configured origin and nowhere else, whatever a
// server's answers point to; redirects are not followed; answers are bounded.
import {
  isFault,
  readAnswerBody,
  type Upstream,
  type UpstreamCall,
  type UpstreamMethod,
} from '@subluminal/plane/upstream';

const BODY_BYTES_MAX = 8 * 1024 * 1024;
const METHODS: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE', 'PROPFIND', 'REPORT']);
const WITHOUT_BODY = new Set([204, 205, 304]);

export interface DavLogin {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface DavFetch {
  readonly fetch: typeof fetch;
  /** The first thing that went wrong: tsdav does not tell of everything. */
  trouble(): string | undefined;
}

class DavTrouble extends Error {
  override readonly name = 'DavTrouble';
}

export function davFetch(upstream: Upstream, login: DavLogin): DavFetch {
  const { origin } = new URL(login.url);
  const basic = Buffer.from(`${login.user}:${login.password}`).toString('base64');
  let trouble: string | undefined;
  const fail = (text: string): never => {
    trouble ??= text;
    throw new DavTrouble(text);
  };
  const send = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) return fail('The calendar server points to another server.');
    const { body, method = 'GET' } = init;
    if (!isMethod(method)) return fail('The calendar was to be asked in an unknown way.');
    const call: UpstreamCall = {
      method,
      url: url.href,
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        authorization: `Basic ${basic}`,
      },
      ...(typeof body === 'string' && { body: [Buffer.from(body)] }),
      timeoutMs: login.timeoutMs,
      signal: login.signal,
    };
    const answer = await upstream.call(call);
    if (isFault(answer)) return fail(`The calendar server: ${answer.message}`);
    const { status } = answer;
    const bytes = await readAnswerBody(answer.body, BODY_BYTES_MAX);
    if (isFault(bytes)) return fail(`The calendar server: ${bytes.message}`);
    if (status === 401 || status === 403) trouble ??= 'The calendar server refuses the login.';
    else if (status >= 500) trouble ??= `The calendar server fails with status ${status}.`;
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (typeof value === 'string') headers.set(name, value);
    }
    return new Response(WITHOUT_BODY.has(status) ? null : bytes, { status, headers });
  };
  return { fetch: send, trouble: () => trouble };
}

function isMethod(method: string): method is UpstreamMethod {
  return METHODS.has(method);
}
