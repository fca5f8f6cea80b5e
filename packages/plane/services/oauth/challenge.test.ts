// Headers `WWW-Authenticate` as servers write them, the examples of the specifications among them.
import { expect, it } from 'vitest';
import { bearerChallenge } from './challenge.ts';

const URL = 'https://mcp.example.com/.well-known/oauth-protected-resource';

it.each([
  ['nothing', undefined, undefined],
  ['another scheme', 'Basic realm="x"', undefined],
  ['no parameters', 'Bearer', {}],
  ['the metadata of the resource', `Bearer resource_metadata="${URL}"`, { resourceMetadata: URL }],
  [
    'an example of the specification',
    `Bearer error="insufficient_scope",\n     scope="files:write",\n  resource_metadata="${URL}",\n error_description="File write permission required for this operation"`,
    { resourceMetadata: URL, scopes: ['files:write'], error: 'insufficient_scope' },
  ],
  ['names in any case', `bEARER Resource_Metadata="${URL}"`, { resourceMetadata: URL }],
  [
    'plain tokens',
    'Bearer error=invalid_token, scope=a',
    { error: 'invalid_token', scopes: ['a'] },
  ],
  ['spaces around the sign', 'Bearer error = "invalid_token"', { error: 'invalid_token' }],
  [
    'quoted signs',
    String.raw`Bearer error="a\"b, c=d", scope="x"`,
    { error: 'a"b, c=d', scopes: ['x'] },
  ],
  [
    'another challenge before it',
    'Negotiate abc==, Basic realm="a, b", Bearer scope="x y"',
    { scopes: ['x', 'y'] },
  ],
  [
    'another challenge behind it',
    'Bearer scope="x", Basic realm="b", scope="no"',
    { scopes: ['x'] },
  ],
  [
    'a parameter twice, of which the first counts',
    'Bearer scope="x", scope="y"',
    { scopes: ['x'] },
  ],
  ['scopes that are none, left out', 'Bearer scope="a  b\u0007 a"', { scopes: ['a'] }],
  ['an empty list of scopes', 'Bearer scope=""', { scopes: [] }],
  ['what is no header at all', '"""""', undefined],
] as const)('reads %s', (_what, header, expected) => {
  const none = { resourceMetadata: undefined, scopes: undefined, error: undefined };
  expect(bearerChallenge(header)).toEqual(expected && { ...none, ...expected });
});

it('reads a long hostile header in a moment', () => {
  const hostile = `Bearer ${'a="\\'.repeat(100_000)}`;
  expect(bearerChallenge(hostile)).toBeDefined();
  expect(bearerChallenge('a '.repeat(100_000))).toBeUndefined();
  expect(bearerChallenge(`Bearer ${'x=y,'.repeat(100_000)}`)).toBeDefined();
});
