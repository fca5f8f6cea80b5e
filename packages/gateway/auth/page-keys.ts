// Keys that came by the page: the cookie of a browser holds the key, sealed, and only the token that the page keeps
// opens it. What is found is looked up like any other key: a session ends when its key is revoked.
import type { IncomingMessage } from 'node:http';
import { PAGE_TOKEN_HEADER, parsePageKey } from '@subluminal/contracts';
import { type NewPageSession, PageSessions } from '@subluminal/plane/crypto';
import { parseJson } from '@subluminal/plane/os';
import { type AddressRules, isSecureRequest } from './client-address.ts';

export interface PageKeysOptions {
  /** The same for all gateways of a database, so that each knows the sessions of the others. */
  readonly secret: string;
  readonly addresses: AddressRules;
  readonly nowMs: () => number;
}

export interface PageKey {
  readonly apiKey: string;
  readonly expiresMs: number;
}

const SESSION_MS = 7 * 24 * 3_600_000;
const PORT = /:(\d{1,5})$/;

export class PageKeys {
  readonly #options: PageKeysOptions;

  constructor(options: PageKeysOptions) {
    this.#options = options;
  }

  begin(request: IncomingMessage, apiKey: string): NewPageSession {
    const { addresses, nowMs } = this.#options;
    const sealed = JSON.stringify({ api_key: apiKey, expires_at_ms: nowMs() + SESSION_MS });
    const isSecure = isSecureRequest(request, addresses);
    return this.#sessions(request).begin(sealed, { maxAgeMs: SESSION_MS, isSecure });
  }

  /** The key of a request that shows both halves of a session. */
  read(request: IncomingMessage): PageKey | undefined {
    const { cookie, 'sec-fetch-site': site = 'same-origin' } = request.headers;
    if (site !== 'same-origin') return undefined;
    const pageToken = request.headersDistinct[PAGE_TOKEN_HEADER]?.join();
    const sealed = this.#sessions(request).read(cookie, pageToken);
    const held = sealed === undefined ? undefined : parsePageKey(parseJson(sealed));
    if (held?.ok !== true) return undefined;
    const { api_key: apiKey, expires_at_ms: expiresMs } = held.value;
    return expiresMs > this.#options.nowMs() ? { apiKey, expiresMs } : undefined;
  }

  /** The value of a `Set-Cookie` header that ends the session in this browser. */
  end(request: IncomingMessage): string {
    const isSecure = isSecureRequest(request, this.#options.addresses);
    return this.#sessions(request).end({ isSecure });
  }

  /** A browser keeps one cookie of a name for all ports: gateways on one host would log each other out. */
  #sessions({ headers }: IncomingMessage): PageSessions {
    const port = PORT.exec(headers.host ?? '')?.[1] ?? 'default';
    return new PageSessions({ cookieName: `sub_gateway_${port}`, secret: this.#options.secret });
  }
}

/** Whether a request shows the half of a session that the page keeps. */
export function hasPageToken({ headers }: IncomingMessage): boolean {
  return headers[PAGE_TOKEN_HEADER] !== undefined;
}
