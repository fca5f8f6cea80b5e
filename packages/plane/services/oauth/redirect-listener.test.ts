// What the loopback address answers while a login waits: once, to one request, whoever else asks.
import { request } from 'node:http';
import { isFailure } from '@subluminal/contracts';
import { expect, it, onTestFinished } from 'vitest';
import { openRedirect } from './redirect-listener.ts';

async function opened(wanted?: string) {
  const listener = await openRedirect(wanted);
  if (listener === undefined) throw new Error('it does not listen');
  onTestFinished(() => listener.close());
  return listener;
}

const isOurs = (params: URLSearchParams): boolean => params.get('state') === 'right';

/** The status of a request with a Host of its own. */
function statusWithHost(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

it('waits for the right answer through wrong ones, and takes one', async () => {
  const { redirectUri, answer } = await opened();
  expect(redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const answered = answer(isOurs, AbortSignal.timeout(20_000));
  const right = `${redirectUri}?code=1&state=right`;
  expect((await fetch(redirectUri)).status).toBe(404);
  expect((await fetch(right, { method: 'POST' })).status).toBe(404);
  expect((await fetch(right.replace('/callback', '/callback/'))).status).toBe(404);
  expect((await fetch(right.replace('/callback', '/other'))).status).toBe(404);
  expect((await fetch(`${redirectUri}?code=1&state=wrong`)).status).toBe(400);
  const { port } = new URL(redirectUri);
  expect(await statusWithHost(right, `evil.example:${port}`)).toBe(403);
  expect(await statusWithHost(right, 'localhost')).toBe(403);
  const page = await fetch(right);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(await page.text()).not.toContain('right');
  expect((await fetch(right)).status).toBe(400);
  const params = await answered;
  expect(isFailure(params) ? params : Object.fromEntries(params)).toEqual({
    code: '1',
    state: 'right',
  });
});

it('gives up in time', async () => {
  const { answer } = await opened();
  expect(await answer(isOurs, AbortSignal.timeout(10))).toMatchObject({
    code: 'SUB_AUTH_RESPONSE',
  });
  expect(await answer(isOurs, AbortSignal.abort())).toMatchObject({ code: 'SUB_AUTH_RESPONSE' });
});

it('answers nobody after so many requests', async () => {
  const { redirectUri } = await opened();
  for (let count = 0; count < 100; count++) await (await fetch(redirectUri)).text();
  await expect(fetch(redirectUri)).rejects.toThrow('fetch failed');
});

it('listens on a port that was named, unless it is taken', async () => {
  const { redirectUri, close } = await opened('http://localhost/cb');
  expect(redirectUri).toMatch(/^http:\/\/localhost:\d+\/cb$/);
  expect(await openRedirect(redirectUri)).toBeUndefined();
  close();
  expect((await opened(redirectUri)).redirectUri).toBe(redirectUri);
});
