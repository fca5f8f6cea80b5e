import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PageSessions } from './page-sessions.ts';

const SECRET = 's'.repeat(43);
const WISH = { maxAgeMs: 60_000, isSecure: false };
const TEXT = '{"role":"owner"}';

function sessions(options: Partial<ConstructorParameters<typeof PageSessions>[0]> = {}) {
  return new PageSessions({ cookieName: 'sub_session_1', secret: SECRET, ...options });
}

/** What a browser would send back. */
function cookieOf(setCookie: string): string {
  return setCookie.split(';', 1)[0] ?? '';
}

/** The cookie with one character of its box changed. */
function bent(cookie: string, at: number): string {
  const start = cookie.indexOf('=') + 1 + at;
  const other = cookie[start] === 'A' ? 'B' : 'A';
  return cookie.slice(0, start) + other + cookie.slice(start + 1);
}

describe('a session of a page', () => {
  it('is known by the cookie and the page token together, in any process with the secret', () => {
    const { pageToken, setCookie } = sessions().begin(TEXT, WISH);
    expect(pageToken).toMatch(/^[\w-]{43}$/);
    expect(setCookie).toMatch(
      /^sub_session_1=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=60$/,
    );
    expect(setCookie).not.toContain(pageToken);
    expect(sessions().read(cookieOf(setCookie), pageToken)).toBe(TEXT);
    expect(sessions().read(`a=b;  ${cookieOf(setCookie)} ; c=d`, pageToken)).toBe(TEXT);
  });

  it('is nothing by either half alone, nor by halves of two sessions', () => {
    const one = sessions().begin(TEXT, WISH);
    const other = sessions().begin(TEXT, WISH);
    expect(sessions().read(cookieOf(one.setCookie), undefined)).toBeUndefined();
    expect(sessions().read(cookieOf(one.setCookie), '')).toBeUndefined();
    expect(sessions().read(undefined, one.pageToken)).toBeUndefined();
    expect(sessions().read('sub_session_1=', one.pageToken)).toBeUndefined();
    expect(sessions().read(cookieOf(one.setCookie), other.pageToken)).toBeUndefined();
    expect(sessions().read(cookieOf(one.setCookie), `${one.pageToken} `)).toBeUndefined();
  });

  it('is nothing with another secret, or under the name of another server', () => {
    const { pageToken, setCookie } = sessions().begin(TEXT, WISH);
    const cookie = cookieOf(setCookie);
    expect(sessions({ secret: `${SECRET}x` }).read(cookie, pageToken)).toBeUndefined();
    const other = sessions({ cookieName: 'sub_session_2' });
    expect(other.read(cookie, pageToken)).toBeUndefined();
    expect(other.read(cookie.replace('_1=', '_2='), pageToken)).toBeUndefined();
  });

  it('is nothing when a single character was changed, cut off or added', () => {
    const { pageToken, setCookie } = sessions().begin(TEXT, WISH);
    const cookie = cookieOf(setCookie);
    const length = cookie.length - cookie.indexOf('=') - 1;
    for (let at = 0; at < length - 1; at++) {
      expect(sessions().read(bent(cookie, at), pageToken)).toBeUndefined();
    }
    for (const wrong of [cookie.slice(0, -4), `${cookie}AAAA`, `${cookie}=`, `${cookie}!`]) {
      expect(sessions().read(wrong, pageToken)).toBeUndefined();
    }
  });

  it('survives cookies of the same name that another server of the host has set', () => {
    const { pageToken, setCookie } = sessions().begin(TEXT, WISH);
    const foreign = `sub_session_1=${randomBytes(60).toString('base64url')}; sub_session_1=x`;
    expect(sessions().read(`${foreign}; ${cookieOf(setCookie)}`, pageToken)).toBe(TEXT);
  });

  it('ends in a browser by an empty cookie', () => {
    expect(sessions().end({ isSecure: true })).toBe(
      'sub_session_1=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0; Secure',
    );
  });

  it('is Secure where the page came by TLS', () => {
    expect(sessions().begin(TEXT, { ...WISH, isSecure: true }).setCookie).toMatch(/; Secure$/);
  });

  it('does not hold what no browser would keep', () => {
    expect(() => sessions().begin('x'.repeat(2_049), WISH)).toThrow('too much');
    const { pageToken, setCookie } = sessions().begin('x'.repeat(2_048), WISH);
    expect(setCookie.length).toBeLessThan(4_096);
    expect(sessions().read(cookieOf(setCookie), pageToken)).toHaveLength(2_048);
  });
});
