// Where a server may send us, depending on where it is itself.
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { openOAuthHttp } from './oauth-http.ts';
import { canonicalUrl, guardFor } from './url-guard.ts';

const PUBLIC = 'https://mcp.example.com/mcp';
const LOCAL = 'http://127.0.0.1:3000/mcp';
const INSIDE = 'https://mcp.internal/mcp';

it.each([
  [PUBLIC, 'https://auth.example.com/token', undefined],
  [PUBLIC, 'http://auth.example.com/token', 'does not begin with https'],
  [PUBLIC, 'http://127.0.0.1/token', 'does not begin with https'],
  [PUBLIC, 'https://127.0.0.1/token', 'is in a private network'],
  [PUBLIC, 'https://2130706433/token', 'is in a private network'],
  [PUBLIC, 'https://0x7f.1/token', 'is in a private network'],
  [PUBLIC, 'https://[::1]/token', 'is in a private network'],
  [PUBLIC, 'https://[::ffff:127.0.0.1]/token', 'is in a private network'],
  [PUBLIC, 'https://[64:ff9b::7f00:1]/token', 'is in a private network'],
  [PUBLIC, 'https://10.1.2.3/token', 'is in a private network'],
  [PUBLIC, 'https://169.254.169.254/latest/meta-data', 'is in a private network'],
  [PUBLIC, 'https://[fe80::1]/token', 'is in a private network'],
  [PUBLIC, 'https://[fd00:ec2::254]/token', 'is in a private network'],
  [PUBLIC, 'https://ada:pw@auth.example.com/', 'holds a user or a password'],
  [PUBLIC, 'https://auth.example.com/#x', 'has a fragment'],
  [PUBLIC, 'file:///etc/passwd', 'does not begin with https'],
  [PUBLIC, 'javascript:alert(1)', 'does not begin with https'],
  [PUBLIC, 'nonsense', 'is not a URL'],
  [PUBLIC, `https://auth.example.com/${'x'.repeat(3_000)}`, 'is not a URL'],
  [LOCAL, 'http://127.0.0.1:4000/token', undefined],
  [LOCAL, 'http://localhost:4000/token', undefined],
  [LOCAL, 'http://auth.example.com/token', 'does not begin with https'],
  [LOCAL, 'https://169.254.169.254/', 'is in a private network'],
  [INSIDE, 'https://10.1.2.3/token', undefined],
  [INSIDE, 'https://127.0.0.1/token', 'is in a private network'],
  [INSIDE, 'https://100.100.100.200/', 'is in a private network'],
])('a server at %s may name %s: %s', (server, url, problem) => {
  expect(guardFor(server, {}).problem(url)).toBe(problem);
});

it('an authorization server that the user has named may be in a private network', () => {
  const guard = guardFor(PUBLIC, { authorizationServer: 'https://10.1.2.3/sso' });
  expect(guard.problem('https://10.1.2.3/sso/token')).toBeUndefined();
  expect(guard.problem('https://10.1.2.4/sso/token')).toBe('is in a private network');
  expect(guard.isAllowed('10.1.2.3', 'auth.example.com')).toBe(false);
});

it('a name is checked where the connection is made', async () => {
  const server = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  // A public name that leads to this machine; the server itself is on another one.
  const guard = { ...guardFor(PUBLIC, {}), problem: () => undefined };
  const http = openOAuthHttp({ guard, resolve: async () => ['127.0.0.1'] });
  onTestFinished(() => http.close());
  expect(await http.get(`http://rebound.example.com:${port}/`)).toEqual({
    kind: 'refused',
    message: 'leads to a private network',
  });
});

it.each([
  ['HTTPS://MCP.Example.com', 'https://mcp.example.com'],
  ['https://mcp.example.com/', 'https://mcp.example.com'],
  ['https://mcp.example.com:443/mcp#part', 'https://mcp.example.com/mcp'],
  ['https://mcp.example.com/mcp?tenant=a', 'https://mcp.example.com/mcp?tenant=a'],
  ['https://mcp.example.com/mcp/', 'https://mcp.example.com/mcp/'],
])('the canonical form of %s is %s', (url, expected) => {
  expect(canonicalUrl(url)).toBe(expected);
});
