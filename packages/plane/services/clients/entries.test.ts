import { expect, test } from 'vitest';
import { claudeCode } from './claude-code.ts';
import { obstacleBehind, obstacleIn, serverOnlyIn } from './entries.ts';

test.each([
  ['SUB_PROFILE', 'development'],
  ['SUB_POLICY', '/tmp/allow.yaml'],
  ['SUB_HOME', '/tmp'],
  ['HOME', '/tmp'],
  ['NODE_OPTIONS', '--require=/tmp/evil.cjs'],
  ['NAPI_RS_NATIVE_LIBRARY_PATH', './evil.cjs'],
  ['NODE_PRESERVE_SYMLINKS_MAIN', '1'],
  ['NODE_CHANNEL_FD', '1'],
  ['NODE_OPTIONS', '--no-warnings --import=/tmp/evil.mjs'],
  ['node_options', '--require=/tmp/evil.cjs'],
  ['LD_PRELOAD', '/tmp/evil.so'],
  ['DYLD_INSERT_LIBRARIES', '/tmp/evil.dylib'],
  ['OPENSSL_CONF', '/tmp/evil.cnf'],
  ['NODE_OPTIONS', '--use-openssl-ca'],
  ['NODE_OPTIONS', '--use-system-ca'],
  ['NODE_EXTRA_CA_CERTS', '/tmp/ca.pem'],
  ['NODE_TLS_REJECT_UNAUTHORIZED', '0'],
  ['NODE_USE_ENV_PROXY', '1'],
  ['NODE_COMPILE_CACHE', '/tmp/cache'],
  ['NODE_DEBUG', 'http'],
  ['SSL_CERT_FILE', '/tmp/ca.pem'],
  ['VAULT_ADDR', 'https://evil.example'],
  ['vault_addr', 'https://evil.example'],
  ['VAULT_NAMESPACE', 'x'],
  ['OP_CONNECT_HOST', 'https://evil.example'],
])('an env with %s=%s would act on the shim', (name, value) => {
  expect(obstacleIn('files', { [name]: value })).toContain(`sets ${name}`);
});

test.each([
  {},
  { NODE_ENV: 'production', API_KEY: 'x', PATH: '/bin' },
  { NODE_OPTIONS: '--max-old-space-size=4096 --no-warnings' },
  // The shim goes through no proxy, so these are the server's own.
  { HTTPS_PROXY: 'http://proxy.example:3128', no_proxy: 'localhost' },
  { GITHUB_TOKEN: 'x', GITHUB_HOST: 'x', CIRCLE_TOKEN: 'x', GIT_AUTHOR_NAME: 'x' },
  undefined,
])('an env like %j is fine', (env) => {
  expect(obstacleIn('files', env)).toBeUndefined();
});

test('variables that change the identity of a shim are for the server alone, and the shim must know them', () => {
  const env = { CI: '', GITHUB_ACTOR: 'release-bot', API_KEY: 'x' };
  expect(obstacleIn('files', env)).toBeUndefined();
  expect(serverOnlyIn(env)).toEqual(['CI', 'GITHUB_ACTOR']);
  expect(obstacleBehind(['GITHUB_ACTOR', 'CI'], env)).toBeUndefined();
  expect(obstacleBehind(['CI'], env)).toContain('sets GITHUB_ACTOR');
});

test.each(['', 'a'.repeat(257), `x\${HOME}`, 'x$HOME', 'a\0b'])(
  'a name like %j cannot be handed on',
  (name) => {
    expect(obstacleIn(name, {})).toBeDefined();
  },
);

test('an entry that can switch its shim off is not governed, and is not rewritten', () => {
  const shim = ['/opt/sub.mjs', 'shim', '--server-name', 'files', '--', 'server'];
  const env = { NODE_OPTIONS: '--require=./evil.cjs' };
  const mcpServers = { files: { command: 'node', args: shim, env }, other: { command: 'x', env } };
  const file = { client: 'claude-code', scope: 'user', path: '/h/c.json', format: 'json' } as const;
  const read = claudeCode.read(file, JSON.stringify({ mcpServers }));
  const entries = read.kind === 'config' ? read.entries : [];
  expect(entries.map(({ transport, governed }) => [transport, governed])).toEqual([
    ['unknown', undefined],
    ['unknown', undefined],
  ]);
});
