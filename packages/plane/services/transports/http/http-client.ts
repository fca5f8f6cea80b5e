// Requests to one server: with its headers, authorized, and redirected at most within its origin.
import type { OutgoingHttpHeaders } from 'node:http';
import { type Failure, isFailure } from '@subluminal/contracts';
import {
  isFault,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamFault,
} from '../../../os/upstream/index.ts';
import type { Authorization } from './types.ts';

export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface HttpClientOptions {
  readonly upstream: Upstream;
  /** Sent with each request. */
  readonly headers: HeaderList;
  readonly authorization: Authorization | undefined;
}

export type HttpCall = Omit<UpstreamCall, 'headers'> & { readonly headers: OutgoingHttpHeaders };

const REDIRECTS_MAX = 3;
/** One for a token that is missing or too old, and one for a scope that the new one lacks. */
const CHALLENGES_MAX = 2;

export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #fixed: OutgoingHttpHeaders;
  /** The user's settings give the header `Authorization`. */
  readonly hasToken: boolean;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#fixed = Object.fromEntries(options.headers);
    this.hasToken = options.headers.some(([name]) => name.toLowerCase() === 'authorization');
  }

  /** An answer of any status, or why there is none. A failure says what the user must do. */
  send(call: HttpCall): Promise<UpstreamAnswer | UpstreamFault | Failure> {
    const { authorization } = this.#options;
    if (authorization === undefined || this.hasToken) return this.#follow(call, undefined);
    return this.#authorized(call, authorization);
  }

  async #authorized(
    call: HttpCall,
    authorization: Authorization,
  ): Promise<UpstreamAnswer | UpstreamFault | Failure> {
    for (let challenges = 0; ; challenges++) {
      const header = await authorization.header();
      if (isFailure(header)) return header;
      const answer = await this.#follow(call, header);
      if (isFault(answer) || !isChallenge(answer) || challenges === CHALLENGES_MAX) return answer;
      const { status, headers } = answer;
      const wwwAuthenticate = headers['www-authenticate'];
      const isAgain = isRepeatable(call);
      if (isAgain) answer.body.destroy();
      const then = await authorization.challenged({ status, wwwAuthenticate, refused: header });
      // The bytes of a large message are gone: its sender must send it again, and the new token is there then.
      if (!isAgain && then === 'retry') return answer;
      if (isFailure(then)) {
        answer.body.destroy();
        return then;
      }
    }
  }

  async #follow(
    call: HttpCall,
    authorization: string | undefined,
  ): Promise<UpstreamAnswer | UpstreamFault> {
    const headers = {
      ...this.#fixed,
      ...call.headers,
      ...(authorization !== undefined && { authorization }),
    };
    let { url } = call;
    for (let hops = 0; ; hops++) {
      const answer = await this.#options.upstream.call({ ...call, url, headers });
      if (isFault(answer)) return answer;
      const next = hops < REDIRECTS_MAX && isRepeatable(call) ? redirect(answer, url) : undefined;
      if (next === undefined) return answer;
      answer.body.destroy();
      url = next;
    }
  }
}

type Challenge = UpstreamAnswer & { readonly status: 401 | 403 };

/** A refusal for other reasons than authorization names no scheme. */
function isChallenge(answer: UpstreamAnswer): answer is Challenge {
  const { status, headers } = answer;
  return status === 401 || (status === 403 && headers['www-authenticate'] !== undefined);
}

/** Whether the body is still there after it was sent. */
export function isRepeatable({ body }: Pick<HttpCall, 'body'>): boolean {
  return body === undefined || Array.isArray(body);
}

/** Where an answer redirects to, within the origin; method and body stay. */
function redirect({ status, headers }: UpstreamAnswer, from: string): string | undefined {
  const { location } = headers;
  if ((status !== 307 && status !== 308) || location === undefined) return undefined;
  if (!URL.canParse(location, from)) return undefined;
  const to = new URL(location, from);
  return to.origin === new URL(from).origin ? to.href : undefined;
}
