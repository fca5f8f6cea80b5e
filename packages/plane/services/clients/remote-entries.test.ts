import { describe, expect, test } from 'vitest';
import { loginIn } from './own-login.ts';
import { clientOf } from './registry.ts';
import { headerVariable, REMOTE_KEYS, withoutShim } from './remote-entries.ts';
import type { ClientId, ConfigFile, Format, ReadConfig, ShimCall } from './types.ts';

const CALL: ShimCall = { program: ['/usr/bin/node', '/opt/sub/bin/sub.mjs'], flags: [] };
const URL = 'https://mcp.example.com/mcp';
const SHIM = ['/opt/sub/bin/sub.mjs', 'shim', '--server-name', 'far', '--url', URL];

function read(client: ClientId, text: string, format: Format = 'jsonc'): ReadConfig {
  const file: ConfigFile = { client, scope: 'user', path: '/x/mcp.json', format };
  const config = clientOf(client).read(file, text);
  if (config.kind === 'failure') throw new Error(config.message);
  return config;
}

function governed(client: ClientId, text: string, format: Format = 'jsonc'): string {
  const config = read(client, text, format);
  return clientOf(client).plan(config, config.entries, CALL).text;
}

function entryOf(client: ClientId, server: object, key: string): unknown {
  const text = governed(client, JSON.stringify({ [key]: { far: server } }));
  const data = JSON.parse(text) as { [key: string]: { far: unknown } };
  return data[key]?.far;
}

describe('a server with an address starts a shim in its place', () => {
  test('for Claude Code: its type, and references stay for the client to expand', () => {
    const server = {
      type: 'http',
      url: URL,
      headers: { Authorization: 'Bearer ${TOKEN:-none}', 'X-Region': 'eu' },
      timeout: 5,
    };
    expect(entryOf('claude-code', server, 'mcpServers')).toEqual({
      type: 'stdio',
      command: '/usr/bin/node',
      args: [
        ...SHIM,
        ...['--header-env', 'Authorization=MCP_HEADER_AUTHORIZATION'],
        ...['--header-env', 'X-Region=MCP_HEADER_X_REGION'],
      ],
      env: { MCP_HEADER_AUTHORIZATION: 'Bearer ${TOKEN:-none}', MCP_HEADER_X_REGION: 'eu' },
      timeout: 5,
    });
  });

  test.each([
    ['claude-code', { type: 'sse', url: URL }, 'mcpServers', { type: 'stdio' }],
    ['cursor', { url: URL }, 'mcpServers', {}],
    ['vscode', { type: 'sse', url: URL, dev: {} }, 'servers', { type: 'stdio', dev: {} }],
    ['windsurf', { serverUrl: URL, disabledTools: ['a'] }, 'mcpServers', { disabledTools: ['a'] }],
    ['zed', { url: URL, enabled: true, timeout: 9 }, 'context_servers', { timeout: 9 }],
    ['custom', { httpUrl: URL }, 'mcpServers', {}],
  ] as const)('for %s, %j', (client, server, key, rest) => {
    const sse = 'type' in server ? ['--transport', 'sse'] : [];
    expect(entryOf(client, server, key)).toMatchObject({
      ...rest,
      command: '/usr/bin/node',
      args: [...SHIM, ...sse],
    });
    expect(JSON.stringify(entryOf(client, server, key))).not.toMatch(/"(?:url|serverUrl|httpUrl)"/);
  });

  test('for Codex, which hands a command only the variables that its entry names', () => {
    const text = `[mcp_servers.far]
url = "${URL}" # the one
bearer_token_env_var = "TOKEN"
startup_timeout_sec = 20.5

[mcp_servers.far.http_headers]
"X-Region" = "eu"

[mcp_servers.far.env_http_headers]
X-Key = "KEY"

[mcp_servers.far.tools.delete]
approval_mode = "prompt"

[[other]]
a = 1
`;
    expect(governed('codex', text, 'toml')).toBe(`[mcp_servers.far]
command = "/usr/bin/node"
args = ["/opt/sub/bin/sub.mjs", "shim", "--server-name", "far", "--url", "${URL}", "--header-env", "X-Region=MCP_HEADER_X_REGION", "--header-env", "X-Key=KEY", "--bearer-env", "TOKEN"]
env = { MCP_HEADER_X_REGION = "eu" }
env_vars = ["KEY", "TOKEN", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS"]
startup_timeout_sec = 20.5

[mcp_servers.far.tools.delete]
approval_mode = "prompt"

[[other]]
a = 1
`);
  });

  test('without headers that its transport writes itself, and without empty ones', () => {
    const headers = { Accept: 'text/event-stream', 'content-type': 'application/json', 'X-A': '' };
    expect(entryOf('cursor', { url: URL, headers }, 'mcpServers')).toEqual({
      command: '/usr/bin/node',
      args: SHIM,
    });
  });

  test('in the lines of the file, where it has lines', () => {
    const text = `{\n  "servers": {\n    "far": {\n      "url": "${URL}",\n      "gallery": true\n    }\n  }\n}`;
    expect(governed('vscode', text)).toBe(
      `{\n  "servers": {\n    "far": {\n      "command": "/usr/bin/node",\n      "args": ${JSON.stringify(SHIM).replaceAll(',', ', ')},\n      "gallery": true\n    }\n  }\n}`,
    );
  });
});

test.each([
  `${URL}?api_key=abc`,
  `${URL}?x=\${env:KEY}`,
  `${URL}/s/Zk3kd92mQx71bT0aPq4w/mcp`,
  `${URL}/0b9f2c4e-7d1a-4a57-9a3e-2f6d8c1b7e90`,
])('the address %s stands in a variable, and not in the arguments', (url) => {
  expect(entryOf('cursor', { url, headers: { A: 'b' } }, 'mcpServers')).toEqual({
    command: '/usr/bin/node',
    args: [...SHIM.slice(0, -2), '--url-env', 'MCP_URL', '--header-env', 'A=MCP_HEADER_A'],
    env: { MCP_URL: url, MCP_HEADER_A: 'b' },
  });
});

test.each([
  [{}, ['--redirect-uri=http://localhost/callback']],
  [
    { clientId: '-x y', callbackPort: 8080, scopes: 'read  write' },
    ['--client-id=-x y', '--redirect-uri=http://localhost:8080/callback', '--scope=read write'],
  ],
])('how Claude Code logs in, %j, stands in the options of the shim', (oauth, flags) => {
  const entry = entryOf('claude-code', { type: 'http', url: URL, oauth, timeout: 5 }, 'mcpServers');
  expect(entry).toEqual({
    type: 'stdio',
    command: '/usr/bin/node',
    args: [...SHIM, ...flags],
    timeout: 5,
  });
});

test('what stands in the options of a shim is taken as far as it is sound', () => {
  const flags = ['--client-id', 'x', '--redirect-uri=https://evil.example/callback', '--scope=a b'];
  expect(loginIn(flags)).toEqual({ clientId: 'x', scopes: ['a', 'b'] });
});

describe('an entry with an address is left alone, and says why', () => {
  test.each([
    [
      'claude-code',
      {
        type: 'http',
        url: URL,
        oauth: { clientId: 'x', authServerMetadataUrl: 'https://a.example' },
      },
      'its `oauth` tells the client how to log in, which a shim does not: take it out, write client_id = "x" under [servers.far.oauth]',
    ],
    ['claude-code', { type: 'http', url: URL, oauth: { callbackPort: 0 } }, 'its `oauth` tells'],
    ['claude-code', { type: 'http', url: URL, oauth: { scopes: 'a\nb' } }, 'its `oauth` tells'],
    ['vscode', { type: 'http', url: URL, oauth: { clientId: 'x' } }, 'its `oauth` tells'],
    ['claude-code', { type: 'http', url: URL, headersHelper: '/bin/x' }, 'its `headersHelper`'],
    ['claude-code', { type: 'ws', url: 'wss://x' }, 'by a WebSocket'],
    ['claude-code', { type: 'http' }, 'no address'],
    ['claude-desktop', { url: URL }, 'Claude Desktop reads no address'],
    [
      'cursor',
      { url: URL, auth: { CLIENT_ID: 'x', CLIENT_SECRET: 'y' } },
      'client_id = "x", client_secret = "sub://NAME" (of `sub secrets add NAME`), authorization_server = "https://…" under',
    ],
    ['vscode', { type: 'http', url: 'unix:///tmp/x.sock' }, 'not http or https'],
    ['windsurf', { serverUrl: URL, url: 'https://other.example' }, 'two addresses'],
    ['cursor', { url: 'https://ann:pw@mcp.example.com' }, 'a user name or a password'],
    ['cursor', { url: URL, headers: { A: 1 } }, 'not all texts'],
    ['cursor', { url: URL, headers: { 'A B': 'x' } }, 'HTTP does not allow'],
    ['cursor', { url: URL, headers: { a: 'x', A: 'y' } }, 'stands there twice'],
  ] as const)('%s, %j', (client, server, why) => {
    const key = client === 'vscode' ? 'servers' : 'mcpServers';
    const text = JSON.stringify({ [key]: { far: server } });
    const [entry] = read(client, text).entries;
    expect(entry).toMatchObject({ transport: 'remote' });
    expect(entry?.obstacle).toContain(why);
    expect(entry?.remote).toBeUndefined();
    expect(governed(client, text)).toBe(text);
  });

  test.each([
    ['oauth = { client_id = "x" }', 'its `oauth` tells'],
    ['bearer_token = "x"', 'is refused by Codex itself'],
    ['env_http_headers = { A = "not a name" }', 'no name of a variable'],
  ])('Codex, %j', (line, why) => {
    const text = `[mcp_servers.far]\nurl = "${URL}"\n${line}\n`;
    expect(read('codex', text, 'toml').entries[0]?.obstacle).toContain(why);
    expect(governed('codex', text, 'toml')).toBe(text);
  });

  test('whose parts stand in several places of the file', () => {
    const text = `[mcp_servers]\nfar.url = "${URL}"\nnear.command = "x"\nfar.http_headers = { A = "b" }\n`;
    expect(read('codex', text, 'toml').entries[0]?.obstacle).toContain('several places');
  });

  test.each([`${URL}?project=abc&read_only=true`, 'https://mcp.example.com/v1/sse', '${BASE}/mcp'])(
    'but not for an address like %s',
    (url) => {
      const text = JSON.stringify({ mcpServers: { far: { url } } });
      expect(read('claude-code', text).entries[0]?.remote).toMatchObject({ url });
      expect(governed('claude-code', text)).toContain(`"--url","${url}"`);
    },
  );
});

test('nothing of a header is kept but its name', () => {
  const headers = { Authorization: 'Bearer hunter2' };
  const config = read('cursor', JSON.stringify({ mcpServers: { far: { url: URL, headers } } }));
  expect(JSON.stringify(config.entries)).not.toContain('hunter2');
});

test('an address in a variable comes back from there', () => {
  const { url } = withoutShim(['--url-env', 'MCP_URL'], { MCP_URL: URL }, REMOTE_KEYS);
  expect(url).toBe(URL);
});

test('two headers never share a variable', () => {
  expect(['X-A', 'X_A', 'X--A'].map(headerVariable)).toEqual([
    'MCP_HEADER_X_A',
    'MCP_HEADER_X_A_585F41',
    'MCP_HEADER_X__A_582D2D41',
  ]);
});

test('an entry without a record is written as its client would write it', () => {
  const flags = ['--url', URL, '--header-env', 'A=V', '--header-env=B=W', '--header', 'C: d'];
  const { beside } = withoutShim(
    [...flags, '--bearer-env', 'T'],
    { V: 'a' },
    clientOf('codex').remoteKeys,
  );
  expect(Object.fromEntries(beside)).toEqual({
    http_headers: { A: 'a', C: 'd' },
    env_http_headers: { B: 'W' },
    bearer_token_env_var: 'T',
  });
});
