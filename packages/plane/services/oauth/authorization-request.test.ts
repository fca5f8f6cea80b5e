// What comes back from the browser: by the tables of RFC 9207 and of the MCP specification.
import { isFailure } from '@subluminal/contracts';
import { expect, it } from 'vitest';
import {
  authorizationRequest,
  type PendingLogin,
  readAuthorizationResponse,
} from './authorization-request.ts';
import type { AuthorizationServer } from './types.ts';

const ISSUER = 'https://auth.example.com';

function pending(sendsIssuer = true): PendingLogin {
  const server: AuthorizationServer = {
    issuer: ISSUER,
    authorizationEndpoint: `${ISSUER}/authorize?tenant=a`,
    tokenEndpoint: `${ISSUER}/token`,
    registrationEndpoint: undefined,
    revocationEndpoint: undefined,
    scopesSupported: [],
    authMethods: undefined,
    sendsIssuer,
    takesMetadataDocuments: false,
    isAssumed: false,
  };
  return authorizationRequest({
    server,
    clientId: 'c',
    redirectUri: 'http://127.0.0.1:1/callback',
    resource: 'https://mcp.example.com/mcp',
    scopes: ['a', 'offline_access'],
  });
}

it('the request holds all that protects it', () => {
  const { url, state, verifier } = pending();
  const { origin, searchParams } = new URL(url);
  expect(origin).toBe(ISSUER);
  expect(Object.fromEntries(searchParams)).toEqual({
    tenant: 'a',
    response_type: 'code',
    client_id: 'c',
    redirect_uri: 'http://127.0.0.1:1/callback',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/) as unknown,
    code_challenge_method: 'S256',
    state,
    resource: 'https://mcp.example.com/mcp',
    scope: 'a offline_access',
    prompt: 'consent',
  });
  expect(verifier).toMatch(/^[\w-]{43}$/);
  expect(pending().state).not.toBe(state);
});

const FOREIGN = 'comes from another authorization server';
it.each([
  ['true', 'present', true, `&iss=${encodeURIComponent(ISSUER)}`, undefined],
  ['true', 'absent', true, '', 'has not said that it is from it'],
  ['false', 'present', false, `&iss=${encodeURIComponent(ISSUER)}`, undefined],
  ['false', 'absent', false, '', undefined],
  ['true', 'another', true, '&iss=https%3A%2F%2Fevil.example', FOREIGN],
  ['false', 'another', false, '&iss=https%3A%2F%2Fevil.example', FOREIGN],
  ['false', 'the same with a slash', false, `&iss=${ISSUER}/`, FOREIGN],
  ['false', 'the same in capitals', false, `&iss=${ISSUER.toUpperCase()}`, FOREIGN],
  ['true', 'two', true, `&iss=${ISSUER}&iss=https%3A%2F%2Fevil.example`, FOREIGN],
  ['false', 'empty', false, '&iss=', FOREIGN],
])('iss supported %s, and it is %s', (_supported, _iss, sendsIssuer, iss, problem) => {
  const login = pending(sendsIssuer);
  const params = new URLSearchParams(`code=xyz&state=${login.state}${iss}`);
  const read = readAuthorizationResponse(login, params);
  const message = isFailure(read) ? read.message : `code ${read.code}`;
  expect(message).toContain(problem ?? 'code xyz');
});

it('an error of another issuer is not shown', () => {
  const login = pending();
  const params = new URLSearchParams({ state: login.state, iss: 'https://evil.example' });
  params.set('error', 'call +1-555');
  const read = readAuthorizationResponse(login, params);
  expect(read).toMatchObject({ code: 'SUB_AUTH_RESPONSE' });
  expect(JSON.stringify(read)).not.toContain('555');
});

it('an error of the right one is shown harmless', () => {
  const login = pending();
  const params = new URLSearchParams({ state: login.state, iss: ISSUER, error: 'no\u001b[2J' });
  expect(readAuthorizationResponse(login, params)).toMatchObject({
    code: 'SUB_AUTH_REFUSED',
    message: `${ISSUER} has declined the login: no\\u{1b}[2J.`,
  });
});

it.each([
  ['no state', 'code=xyz'],
  ['another state', 'code=xyz&state=other'],
  ['no code', 'state=STATE'],
  ['two codes', 'state=STATE&code=a&code=b'],
  ['two states', 'state=STATE&state=STATE&code=a'],
])('an answer with %s is not used', (_what, query) => {
  const login = pending(false);
  const params = new URLSearchParams(query.replaceAll('STATE', login.state));
  expect(readAuthorizationResponse(login, params)).toMatchObject({ code: 'SUB_AUTH_RESPONSE' });
});
