import { expect, it } from 'vitest';
import type { OAuthHttp } from './oauth-http.ts';
import { refreshTokens } from './token-endpoint.ts';

/** An authorization server that answers with these tokens. */
function answering(tokens: object): OAuthHttp {
  const json = { access_token: 'a', token_type: 'Bearer', ...tokens };
  const answer = { kind: 'answer', status: 200, headers: {}, json } as const;
  const ask = () => Promise.resolve(answer);
  const guard = { problem: () => undefined, isAllowed: () => true };
  return { get: ask, post: ask, remove: ask, guard, close: () => Promise.resolve() };
}

it.each([
  [3_600, 3_600_000],
  ['3600', 3_600_000],
  // It would be renewed with each request.
  [0, 2_000],
  [0.001, 2_000],
  [1e300, 10 * 365 * 86_400_000],
  [-1, undefined],
  ['soon', undefined],
])('a token with %j seconds to live is renewed in time', async (expires_in, expiresInMs) => {
  const at = { tokenEndpoint: 'https://auth.example.com/token', resource: 'https://a.example' };
  const client = { kind: 'ready', id: 'c', auth: 'none', origin: 'configured' } as const;
  const by = { client, refreshToken: 'r' };
  expect(await refreshTokens(answering({ expires_in }), at, by)).toMatchObject({ expiresInMs });
});
