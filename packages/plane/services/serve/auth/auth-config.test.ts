import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAs, SERVE_AUTH, withDefaults } from '@subluminal/contracts';
import { readSource, type SourceFinding, valueOf } from '@subluminal/core/source';
import { expect, test } from 'vitest';
import { type AuthConfig, type AuthSurroundings, readAuthConfig } from './auth-config.ts';

const DIGEST = 'ab'.repeat(32);

function read(
  yaml: string,
  around: Partial<AuthSurroundings> = {},
): { readonly config: AuthConfig; readonly found: readonly string[] } {
  const source = readSource({ file: 'serve.yaml', bytes: Buffer.from(yaml) });
  if (!source.ok) throw new Error(JSON.stringify(source.problems));
  const parsed = parseAs(SERVE_AUTH, withDefaults(SERVE_AUTH, valueOf(source.tree)));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.mismatches));
  const findings: SourceFinding[] = [];
  const config = readAuthConfig(parsed.value, {
    file: '/etc/serve.yaml',
    isLoopback: true,
    publicUrl: 'https://mcp.example.com/',
    servers: ['github', 'files'],
    ...around,
    report: (finding) => findings.push(finding),
  });
  return { config, found: findings.map(({ path, message }) => `${path.join('.')}: ${message}`) };
}

test('a section with keys and issuers is read whole', () => {
  const { config, found } = read(`
keys:
  - {name: ci, sha256: ${DIGEST}, servers: [github]}
jwt:
  - {issuer: 'https://login.example.com/realm', access: [{scopes: ['mcp:use'], groups: [dev]}]}
`);
  expect(found).toEqual([]);
  expect(config).toEqual({
    isOpen: false,
    keys: [{ name: 'ci', sha256: DIGEST, servers: ['github'] }],
    issuers: [
      {
        issuer: 'https://login.example.com/realm',
        groups_claim: 'groups',
        access: [{ scopes: ['mcp:use'], groups: ['dev'] }],
      },
    ],
    publicUrl: 'https://mcp.example.com',
    servers: ['github', 'files'],
  });
});

test.each([
  ['{}', {}, 'auth: `auth` lets nobody in'],
  ['none: false', {}, 'auth: `auth` lets nobody in'],
  [
    'none: true',
    { isLoopback: false },
    'auth.none: `none: true` would let everyone in who reaches the address',
  ],
  [
    `{none: true, keys: [{name: ci, sha256: ${DIGEST}}]}`,
    {},
    'auth.none: `none: true` makes the keys and issuers beside it meaningless',
  ],
  [
    `jwt: [{issuer: 'https://a.example'}]`,
    { publicUrl: undefined },
    'auth.jwt: `jwt` needs `public_url`: it is the audience of tokens',
  ],
  [
    `keys: [{name: ci, sha256: ${DIGEST}, servers: [gitlab]}]`,
    {},
    'auth.keys.0.servers.0: there is no server `gitlab`',
  ],
  [`keys: [{name: "a b", sha256: ${DIGEST}}]`, {}, 'auth.keys.0.name: `a b` is no name of a key'],
  [
    `jwt: [{issuer: 'https://a.example', access: [{scopes: ['a b']}]}]`,
    {},
    'auth.jwt.0.access.0.scopes.0: `a b` is no scope',
  ],
  [
    `jwt: [{issuer: 'https://a.example'}, {issuer: 'https://a.example'}]`,
    {},
    'auth.jwt.1.issuer: the issuer `https://a.example` is there twice',
  ],
])('the section %s with %j is refused', (yaml, around, message) => {
  expect(read(yaml, around).found).toEqual([message]);
});

test.each([
  'http://login.example.com',
  'https://user:pw@login.example.com',
  'https://login.example.com?tenant=1',
  'https://login.example.com#a',
  'ftp://login.example.com',
  'login.example.com',
  'http://127.0.0.1.example.com',
])('the issuer %s is refused', (issuer) => {
  const { found } = read(`jwt: [{issuer: ${JSON.stringify(issuer)}}]`);
  expect(found).toEqual([expect.stringMatching(/^auth\.jwt\.0\.issuer: .*https URL/)]);
});

test.each(['http://127.0.0.1:8080', 'http://localhost:1', 'http://[::1]:1/realm'])(
  'the issuer %s on this machine may use http',
  (issuer) => {
    expect(read(`jwt: [{issuer: '${issuer}'}]`).found).toEqual([]);
  },
);

test('the key of two people is refused, and a name that two keys have', () => {
  const { found } = read(`
keys:
  - {name: ci, sha256: ${DIGEST}}
  - {name: ci, sha256: ${DIGEST}}
`);
  expect(found).toEqual([
    'auth.keys.1.name: the name `ci` is there twice',
    expect.stringMatching(/^auth\.keys\.1\.sha256: the key `abab.* is there twice$/),
  ]);
});

function keysFile(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'serve-keys-'));
  writeFileSync(join(folder, 'keys.yaml'), content, { mode: 0o600 });
  return folder;
}

test('keys of a file beside the configuration are read', () => {
  const folder = keysFile(`keys: [{name: laptop, sha256: ${DIGEST}}]`);
  const { config, found } = read('keys_file: keys.yaml', { file: join(folder, 'serve.yaml') });
  expect(found).toEqual([]);
  expect(config.keys).toEqual([{ name: 'laptop', sha256: DIGEST }]);
});

test('a file of keys that others can write is refused', () => {
  const folder = keysFile('keys: []');
  chmodSync(join(folder, 'keys.yaml'), 0o666);
  const { config, found } = read('keys_file: keys.yaml', { file: join(folder, 'serve.yaml') });
  expect(found).toEqual([expect.stringMatching(/^auth\.keys_file: .*keys\.yaml/)]);
  expect(config.keys).toEqual([]);
});

test.each([
  ['keys: [{name: a, sha256: short}]', /keys\.yaml:1:26: error: expected a SHA-256/],
  ['keys: {', /keys\.yaml:1:\d+: error: /],
  ['key: []', /unknown field `key`; did you mean `keys`\?/],
  [`keys: [{name: a, sha256: ${DIGEST}, servers: [x]}]`, /there is no server `x`/],
])('a file of keys with %s is refused', (content, message) => {
  const folder = keysFile(content);
  const { found } = read('keys_file: keys.yaml', { file: join(folder, 'serve.yaml') });
  expect(found).toEqual([expect.stringMatching(message)]);
});

test('a file of keys that is not there is named', () => {
  const { found } = read('keys_file: nowhere.yaml', { file: join(tmpdir(), 'serve.yaml') });
  expect(found).toEqual([
    expect.stringMatching(/^auth\.keys_file: .*nowhere\.yaml` does not exist/),
  ]);
});
