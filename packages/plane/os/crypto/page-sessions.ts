// Sessions of a page in a browser, in two halves: a sealed cookie, and a page token without which nobody can open it.
// Browsers send a cookie to every port of its host, so any other server on this machine may get it; the page keeps the
// token by itself. Nothing is kept here: several processes with the same secret know each other's sessions.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { attempt } from '../system-error.ts';

export interface PageSessionsOptions {
  readonly cookieName: string;
  /** Whoever knows it and a page token can make sessions. May be empty where what is sealed is a credential itself. */
  readonly secret: string;
}

export interface NewPageSession {
  readonly pageToken: string;
  /** The value of a `Set-Cookie` header. */
  readonly setCookie: string;
}

interface CookieWish {
  readonly maxAgeMs: number;
  /** The page came by TLS. */
  readonly isSecure: boolean;
}

const TOKEN_BYTES = 32;
/** 32 bytes in base64url, in the one spelling that has no stray bits. */
const PAGE_TOKEN = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^[A-Za-z0-9_-]{40,4000}$/;
const TEXT_BYTES_MAX = 2_048;
/** Another server of this host may have set cookies of the same name. */
const COOKIES_MAX = 8;

export class PageSessions {
  readonly #options: PageSessionsOptions;

  constructor(options: PageSessionsOptions) {
    this.#options = options;
  }

  /** A session that holds this text, which is not to be empty. */
  begin(text: string, { maxAgeMs, isSecure }: CookieWish): NewPageSession {
    const bytes = Buffer.from(text, 'utf8');
    if (bytes.length > TEXT_BYTES_MAX) throw new Error('a session holds too much for a cookie');
    const pageToken = randomBytes(TOKEN_BYTES).toString('base64url');
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key(pageToken), nonce);
    const box = [nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
    const sealed = Buffer.concat(box).toString('base64url');
    return { pageToken, setCookie: this.#cookie(sealed, { maxAgeMs, isSecure }) };
  }

  /** What the session holds; undefined unless both halves are ours and belong together. */
  read(cookieHeader: string | undefined, pageToken: string | undefined): string | undefined {
    if (pageToken === undefined || !PAGE_TOKEN.test(pageToken)) return undefined;
    const cookies = cookieValues(cookieHeader, this.#options.cookieName);
    if (cookies.length === 0) return undefined;
    const key = this.#key(pageToken);
    for (const sealed of cookies) {
      const text = attempt(() => opened(sealed, key));
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /** The value of a `Set-Cookie` header that ends the session in this browser. */
  end({ isSecure }: Pick<CookieWish, 'isSecure'>): string {
    return this.#cookie('', { maxAgeMs: 0, isSecure });
  }

  /** The name is part of the key: a box of one server is none of another with the same secret. */
  #key(pageToken: string): Buffer {
    const { secret, cookieName } = this.#options;
    const purpose = `subluminal page session 1 ${cookieName}`;
    return Buffer.from(hkdfSync('sha256', pageToken, secret, purpose, KEY_BYTES));
  }

  #cookie(value: string, { maxAgeMs, isSecure }: CookieWish): string {
    const parts = [
      `${this.#options.cookieName}=${value}`,
      'Path=/',
      'HttpOnly',
      'SameSite=Strict',
      `Max-Age=${Math.floor(maxAgeMs / 1_000)}`,
    ];
    return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
  }
}

function opened(sealed: string, key: Buffer): string | undefined {
  if (!SEALED.test(sealed)) return undefined;
  const box = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv(CIPHER, key, box.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(box.subarray(-TAG_BYTES));
  const text = decipher.update(box.subarray(NONCE_BYTES, -TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}

function cookieValues(header: string | undefined, name: string): readonly string[] {
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .slice(0, COOKIES_MAX)
    .map((pair) => pair.slice(name.length + 1));
}
