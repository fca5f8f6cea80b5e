import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatConfigFailure } from './config-failure.ts';
import { loadConfig } from './load.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sub-servers-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function load(text: string) {
  writeFileSync(join(dir, 'config.toml'), text);
  return loadConfig({ env: { SUB_HOME: dir, HOME: '/users/ada' }, cwd: '/job' });
}

async function servers(text: string) {
  const result = await load(text);
  if (!result.ok) throw new Error(result.problems.map(formatConfigFailure).join('\n'));
  return result.servers;
}

async function problems(text: string): Promise<string[]> {
  const result = await load(text);
  if (result.ok) throw new Error('expected problems');
  return result.problems.map((problem) => formatConfigFailure(problem).replaceAll(`${dir}/`, ''));
}

const OAUTH = '[servers.x.oauth]\nclient_id = "c"\nauthorization_server = "https://a.b"\n';
const HEAD = '[[servers.github.secret_bindings]]\n';

/** A good binding, some of its lines replaced; '' leaves one out. */
function binding(lines: { readonly [key: string]: string } = {}): string {
  const all = { inject_as: '"TOKEN"', secret_ref: '"my_token"', source: '"env"', ...lines };
  const kept = Object.entries(all).filter(([, value]) => value !== '');
  return HEAD + kept.map(([key, value]) => `${key} = ${value}\n`).join('');
}

describe('secret bindings', () => {
  it('are read by server, in order', async () => {
    const found = await servers(`
      profile = "development"
      [[servers.github.secret_bindings]]
      inject_as = "GITHUB_TOKEN"
      secret_ref = "github_token"
      source = "env"
      [[servers.github.secret_bindings]]
      inject_as = "KEY"
      secret_ref = "~/keys/app.pem"
      source = "file"
      redact = false
      [servers."my files"]
    `);
    expect([...found]).toEqual([
      [
        'github',
        {
          secretBindings: [
            { injectAs: 'GITHUB_TOKEN', secretRef: 'github_token', source: 'env', redact: true },
            { injectAs: 'KEY', secretRef: '~/keys/app.pem', source: 'file', redact: false },
          ],
        },
      ],
      ['my files', { secretBindings: [] }],
    ]);
  });

  it('are none without a file and without the table', async () => {
    expect((await servers('')).size).toBe(0);
    const without = await loadConfig({ env: { SUB_HOME: join(dir, 'none') }, cwd: '/job' });
    expect(without.ok && without.servers.size).toBe(0);
  });

  it('belong to servers of any name, those of the language too', async () => {
    const found = await servers(
      '[servers.constructor]\n[[servers.__proto__.secret_bindings]]\n' +
        'inject_as = "A"\nsecret_ref = "b"\nsource = "file"\n',
    );
    expect([...found.keys()]).toEqual(['constructor', '__proto__']);
    expect(found.get('__proto__')?.secretBindings).toHaveLength(1);
    expect(found.get('toString')).toBeUndefined();
  });

  it.each(['github_token', 'npm-token', 'app.key', '$SUB_HOME/x', '/etc/token', '~/a b/token'])(
    'may refer to a file as %s',
    async (ref) => {
      const found = await servers(binding({ secret_ref: `"${ref}"`, source: '"file"' }));
      expect(found.get('github')?.secretBindings).toMatchObject([{ secretRef: ref }]);
    },
  );
});

describe('a reference as a URL', () => {
  it.each([
    ['env://MY_TOKEN', 'env', 'MY_TOKEN'],
    ['file:///etc/token', 'file', '/etc/token'],
    ['file://~/a b/token', 'file', '~/a b/token'],
    ['file://github_token', 'file', 'github_token'],
    ['keychain://github.com/ada', 'keychain', 'github.com/ada'],
    ['sub://github_token', 'vault', 'github_token'],
    ['vault://secret/team/app#password', 'vault', 'vault://secret/team/app#password'],
    ['op://Team/GitHub bot/credential', 'vault', 'op://Team/GitHub bot/credential'],
    ['op://Team/GitHub/api/token', 'vault', 'op://Team/GitHub/api/token'],
  ])('%s says the source itself', async (ref, source, secretRef) => {
    for (const written of ['', `"${source}"`]) {
      const found = await servers(binding({ secret_ref: `"${ref}"`, source: written }));
      expect(found.get('github')?.secretBindings).toEqual([
        { injectAs: 'TOKEN', secretRef, source, redact: true },
      ]);
    }
  });

  it.each([
    ['vault', 'github_token'],
    ['keychain', 'service/account'],
  ])('is not needed where the source is %s', async (source, ref) => {
    const found = await servers(binding({ secret_ref: `"${ref}"`, source: `"${source}"` }));
    expect(found.get('github')?.secretBindings).toMatchObject([{ source, secretRef: ref }]);
  });
});

describe('the client of an authorization server', () => {
  it('is read beside the secrets', async () => {
    const found = await servers(
      '[servers.x.oauth]\nclient_id = "c"\nclient_secret = "sub://c_secret"\nscopes = ["a", "b"]\n' +
        'authorization_server = "https://sso.example.com/t1"\nredirect_uri = "http://localhost/cb"\n',
    );
    expect(found.get('x')).toEqual({
      secretBindings: [],
      oauth: {
        clientId: 'c',
        clientSecret: { source: 'vault', secretRef: 'c_secret' },
        authorizationServer: 'https://sso.example.com/t1',
        scopes: ['a', 'b'],
        redirectUri: 'http://localhost/cb',
      },
    });
  });
});

describe('says where and how to mend', () => {
  const second = `${binding()}${binding({ inject_as: '"token"' })}`;
  it.each([
    ['an unknown key', `${binding()}redakt = true`, '5:1', 'Did you mean `redact`?'],
    ['a value in the file', `${binding()}value = "hunter2!"`, '5:1', 'unknown key `value`'],
    ['an unknown key of a server', '[servers.x]\nsecrets = 1', '2:1', '`secret_bindings`'],
    ['a misspelt table', '[[server.x.secret_bindings]]\na = 1', '1:3', 'mean `servers`?'],
    ['servers that are none', 'servers = 1', '1:1', '`servers` is not a table'],
    ['a server that is none', 'servers.x = 1', '1:1', '`servers.x` is not a table'],
    ['a server without a name', '[servers.""]', '1:2', 'no name of a server'],
    ['a name with a control character', '[servers."a\\u001bb"]', '1:1', 'no name of a server'],
    ['a name too long', `[servers.${'x'.repeat(257)}]`, '1:2', 'no name of a server'],
    ['an unknown key of a client', '[servers.x.oauth]\nclient = "c"', '2:1', '`client_id`'],
    ['a secret in the file', `${OAUTH}client_secret = "hunter2!"`, '4:1', 'no reference'],
    ['a secret for anybody', '[servers.x.oauth]\nclient_secret = "env://C"', '2:1', 'needs'],
    ['two clients', `${OAUTH}client_metadata_url = "https://a.b/c"`, '4:1', 'two clients'],
    ['a document without path', `${OAUTH}client_metadata_url = "https://a.b"`, '4:1', 'a path'],
    ['a redirect elsewhere', `${OAUTH}redirect_uri = "http://a.b/c"`, '4:1', 'of this machine'],
    ['a scope that is none', `${OAUTH}scopes = ["a b"]`, '4:1', 'scopes'],
    ['an issuer that is none', '[servers.x.oauth]\nauthorization_server = "x"', '2:1', 'address'],
    ['a table instead of a list', '[servers.x.secret_bindings]', '1:2', 'not a list'],
    ['a binding that is none', 'servers.x.secret_bindings = [1]', '1:1', 'not a table'],
    ['no name for the server', binding({ inject_as: '' }), '1:3', 'no `inject_as`'],
    ['no reference', binding({ secret_ref: '' }), '1:3', 'no `secret_ref`'],
    ['no source', binding({ source: '' }), '1:3', 'no `source`'],
    ['a name that is none', binding({ inject_as: '"A=B"' }), '2:1', 'no name of a variable'],
    ['a name with a NUL', binding({ inject_as: '"A\\u0000"' }), '2:1', 'no name of a variable'],
    ['a long name', binding({ inject_as: `"${'A'.repeat(129)}"` }), '2:1', 'no name of a'],
    ['a misspelt source', binding({ source: '"fil"' }), '4:1', 'Did you mean `file`?'],
    ['a source of a wrong type', binding({ source: '1' }), '4:1', 'expected `env`, `file`,'],
    ['a keychain without account', binding({ source: '"keychain"' }), '3:1', 'no service and'],
    ['a scheme of another source', binding({ secret_ref: '"sub://x"' }), '4:1', 'is not what'],
    [
      'an unknown scheme',
      binding({ secret_ref: '"aws://x"', source: '' }),
      '3:1',
      'no known scheme',
    ],
    [
      'a scheme of the language',
      binding({ secret_ref: '"constructor://x"', source: '' }),
      '3:1',
      'known',
    ],
    [
      'a reserved variable',
      binding({ secret_ref: '"env://PATH"', source: '' }),
      '3:1',
      'server runs',
    ],
    ['no field', binding({ secret_ref: '"vault://kv/app"', source: '' }), '3:1', 'HashiCorp'],
    [
      'a path upwards',
      binding({ secret_ref: '"vault://kv/../x#y"', source: '' }),
      '3:1',
      'HashiCorp',
    ],
    ['no item', binding({ secret_ref: '"op://vault/item"', source: '' }), '3:1', '1Password'],
    ['redact of a wrong type', `${binding()}redact = "no"`, '5:1', 'neither true nor false'],
    ['a reference with a sign', binding({ secret_ref: '"a-b"' }), '3:1', 'no name of a variable'],
    ['a reference upwards', binding({ secret_ref: '"../x"', source: '"file"' }), '3:1', 'no path'],
    ['a hidden file', binding({ secret_ref: '".x"', source: '"file"' }), '3:1', 'no path'],
    ['a relative path', binding({ secret_ref: '"a/b"', source: '"file"' }), '3:1', 'no path'],
    ['a reserved reference', binding({ secret_ref: '"path"' }), '3:1', 'how the server runs'],
    ['the same name twice', second, '6:1', 'stands twice'],
  ])('%s', async (_, text, place, words) => {
    const found = await problems(text);
    expect(found).toEqual([expect.stringContaining(words)]);
    expect(found[0]?.slice(0, `config.toml:${place}:`.length)).toBe(`config.toml:${place}:`);
  });

  it.each([
    'PATH',
    'Path',
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'NODE_OPTIONS',
    'PYTHONPATH',
    'BASH_ENV',
    'JAVA_TOOL_OPTIONS',
    'HOME',
    'GIT_SSH_COMMAND',
    'SUB_RUN_ID',
    'SUB_ANYTHING',
  ])('%s, which no secret may be injected as', async (name) => {
    expect(await problems(binding({ inject_as: `"${name}"` }))).toEqual([
      expect.stringContaining('it holds no secret'),
    ]);
  });

  it.each(['NODE_AUTH_TOKEN', 'PYTHON_TOKEN', 'SUBSTACK_KEY', 'LDAP_PASSWORD', 'GIT_TOKEN'])(
    'nothing about %s',
    async (name) => {
      expect((await servers(binding({ inject_as: `"${name}"` }))).size).toBe(1);
    },
  );

  it('too many bindings', async () => {
    const many = Array.from({ length: 65 }, (_, at) => binding({ inject_as: `"T${at}"` }));
    expect(await problems(many.join(''))).toEqual([expect.stringContaining('at most 64')]);
  });

  it('too many servers', async () => {
    const many = Array.from({ length: 257 }, (_, at) => `[servers.s${at}]\n`);
    expect(await problems(many.join(''))).toEqual([expect.stringContaining('at most 256')]);
  });
});

it('reads anything, or says what is wrong with it', async () => {
  const word = fc.constantFrom(
    ...[
      '[servers.x]',
      '[[servers.x.secret_bindings]]',
      'servers',
      '.',
      'inject_as',
      '=',
      '\n',
      '\n',
    ],
    ...[
      'secret_ref',
      'source',
      'redact',
      '"A"',
      '"env"',
      '"file"',
      'true',
      '1',
      '{',
      '}',
      '[',
      ']',
    ],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 30 }), async (words) => {
      const result = await load(words.join(' '));
      const told = result.ok ? [] : result.problems;
      expect(result.ok || told.every(({ where, fix }) => where !== '' && fix !== '')).toBe(true);
    }),
    { numRuns: 200 },
  );
});

describe('a secret that stands where its name should', () => {
  const token = ['ghp', '_', 'x7Kq2mN9pR4sT6vW8yZ1bC3dF5gH7jL9qX2a'].join('');
  it.each([
    ['a known format', token, '"env"'],
    ['a known format in a file', token, '"file"'],
    ['a password', 'correct horse/battery!', '"file"'],
  ])('is refused and not repeated: %s', async (_, secret, source) => {
    const found = await problems(binding({ secret_ref: `"${secret}"`, source }));
    expect(found).toHaveLength(1);
    expect(found.join('\n')).toContain('`secret_ref`');
    expect(found.join('\n')).not.toContain(secret);
  });

  it('is not repeated from any other key', async () => {
    const found = await problems(`${binding({ source: '' })}password = "${token}"`);
    expect(found.join('\n')).not.toContain(token);
  });
});

describe('the command that a secret is bound to', () => {
  it('is a list of words', async () => {
    const read = await servers(binding({ command: '["npx", "-y", "server"]' }));
    expect(read.get('github')?.secretBindings).toMatchObject([
      { injectAs: 'TOKEN', command: ['npx', '-y', 'server'] },
    ]);
  });

  it.each(['"npx"', '[]', '[1]', `["${'x'.repeat(4_097)}"]`, '[["x"]]'])(
    'is nothing else: %s',
    async (command) => {
      expect(await problems(binding({ command }))).toEqual([
        expect.stringContaining('`command` is not a list of words'),
      ]);
    },
  );

  it('is read with its program and its files', async () => {
    const read = await servers(
      binding({ command: '["node", "x.js"]', program: '"/usr/bin/node"', files: '["/me/x.js"]' }),
    );
    expect(read.get('github')?.secretBindings).toMatchObject([
      { program: '/usr/bin/node', files: ['/me/x.js'] },
    ]);
  });

  it.each([
    ['program', { command: '["node"]', program: '"node"' }],
    ['program', { command: '["node"]', program: '1' }],
    ['files', { command: '["node"]', files: '["x.js"]' }],
    ['files', { command: '["node"]', files: '"/x.js"' }],
    ['program', { program: '"/usr/bin/node"' }],
    ['files', { files: '["/x.js"]' }],
  ])('has a wrong `%s` in %j', async (key, lines) => {
    expect(await problems(binding(lines))).toEqual([expect.stringContaining(`\`${key}\``)]);
  });

  it('lets one variable have a value for each command, and no two for one', async () => {
    const [npx, docker] = ['["npx"]', '["docker"]'].map((command) => binding({ command }));
    expect((await servers(`${npx}${docker}`)).get('github')?.secretBindings).toHaveLength(2);
    for (const text of [`${npx}${npx}`, `${npx}${binding()}`, `${binding()}${npx}`]) {
      expect(await problems(text)).toEqual([expect.stringContaining('stands twice')]);
    }
  });
});

describe('the address that a secret is bound to', () => {
  it('is read as it is written', async () => {
    const read = await servers(binding({ url: '"https://mcp.example.com/mcp"' }));
    expect(read.get('github')?.secretBindings).toMatchObject([
      { url: 'https://mcp.example.com/mcp' },
    ]);
  });

  it.each(['"mcp.example.com"', '"file:///etc/passwd"', '1'])(
    'is refused when it is %s',
    async (url) => {
      expect(await problems(binding({ url }))).toEqual([
        expect.stringContaining('`url` is no address'),
      ]);
    },
  );

  it('does not stand beside a command', async () => {
    const both = binding({ url: '"https://mcp.example.com"', command: '["npx"]' });
    expect(await problems(both)).toEqual([
      expect.stringContaining('`command` stands beside `url`'),
    ]);
  });
});
