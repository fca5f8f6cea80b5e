import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createRedactor } from '@subluminal/core/scan';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SecretBinding } from '../config/index.ts';
import {
  formatSecretFailure,
  type ResolveOptions,
  resolveBindings,
  type SecretFailure,
} from './resolve-bindings.ts';

/** A program of the system, not of a package. */
const MKFIFO = 'mkfifo';
const TOKEN = 'tok-5f0c1d9e7a';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sub-vault-'));
  mkdirSync(join(dir, 'secrets'), { mode: 0o700 });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function bound(binding: Partial<SecretBinding> = {}): SecretBinding {
  return { injectAs: 'TOKEN', secretRef: 'my_token', source: 'env', redact: true, ...binding };
}

function resolve(bindings: readonly SecretBinding[], options: Partial<ResolveOptions> = {}) {
  return resolveBindings({
    serverName: 'github',
    servers: new Map([['github', { secretBindings: bindings }]]),
    env: {},
    home: dir,
    userHome: join(dir, 'user'),
    ...options,
  });
}

function secretFile(content: string | Uint8Array, mode = 0o600): string {
  const path = join(dir, 'secrets', 'my_token');
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

function told(problems: readonly SecretFailure[]): string {
  return problems.map(formatSecretFailure).join('\n');
}

const fromFile = (secretRef = 'my_token') => resolve([bound({ source: 'file', secretRef })]);

describe('a secret of the environment', () => {
  it('reaches the server under its new name, and under that alone', async () => {
    const env = { MY_TOKEN: TOKEN, PATH: '/bin' };
    const { serverEnv, injected, problems } = await resolve([bound({ secretRef: 'MY_TOKEN' })], {
      env,
    });
    expect(serverEnv()).toEqual({ TOKEN, PATH: '/bin' });
    expect(problems).toEqual([]);
    expect(injected).toEqual([
      {
        inject_as: 'TOKEN',
        secret_ref: 'MY_TOKEN',
        source: 'env',
        success: true,
        server_name: 'github',
      },
    ]);
  });

  it('stays where it is when the names are the same', async () => {
    const { serverEnv } = await resolve([bound({ injectAs: 'MY_TOKEN', secretRef: 'MY_TOKEN' })], {
      env: { MY_TOKEN: TOKEN },
    });
    expect(serverEnv()).toEqual({ MY_TOKEN: TOKEN });
  });

  it('is found in upper case, after the name as it is written', async () => {
    const upper = await resolve([bound()], { env: { MY_TOKEN: TOKEN } });
    expect(upper.serverEnv()).toEqual({ TOKEN });
    const both = await resolve([bound()], { env: { my_token: TOKEN, MY_TOKEN: 'another-one' } });
    expect(both.serverEnv()).toEqual({ TOKEN });
    expect(both.secretValues().map(({ value }) => value)).toEqual([TOKEN, 'another-one']);
  });

  it('is missing when it is not set, and when it is empty', async () => {
    for (const env of [{}, { MY_TOKEN: '' }]) {
      const { injected, problems, serverEnv } = await resolve([bound()], { env });
      expect(injected).toMatchObject([{ success: false }]);
      expect(problems.map(formatSecretFailure)).toEqual([
        'secret `my_token` for TOKEN: error: neither my_token nor MY_TOKEN is set. Set it where ' +
          'the agent starts the shim, or bind the secret from a file. [SUB_SECRET_MISSING]',
      ]);
      expect(serverEnv()).toEqual({});
    }
  });

  it('leaves no placeholder of the agent behind when it is missing', async () => {
    const { serverEnv } = await resolve([bound()], { env: { TOKEN: 'placeholder', LANG: 'C' } });
    expect(serverEnv()).toEqual({ LANG: 'C' });
  });

  it('does not reach a server that it is not bound to, and is redacted there', async () => {
    const servers = new Map([['github', { secretBindings: [bound()] }]]);
    const env = { MY_TOKEN: TOKEN, LANG: 'C' };
    const files = await resolve([], { serverName: 'files', servers, env });
    expect(files.serverEnv()).toEqual({ LANG: 'C' });
    expect(files.injected).toEqual([]);
    expect(files.secretValues()).toEqual([{ name: 'my_token', value: TOKEN }]);
  });
});

describe('a secret in a file', () => {
  it.each([0o600, 0o400])('is read when only its owner may read it: %o', async (mode) => {
    secretFile(`${TOKEN}\n`, mode);
    expect((await fromFile()).serverEnv()).toEqual({ TOKEN });
  });

  it.each([
    ['one newline at its end', `${TOKEN}\n\n`, `${TOKEN}\n`],
    ['a newline of Windows', `${TOKEN}\r\n`, TOKEN],
    ['nothing else', ` ${TOKEN}\nsecond line `, ` ${TOKEN}\nsecond line `],
  ])('loses %s', async (_, content, value) => {
    secretFile(content);
    expect((await fromFile()).serverEnv()).toEqual({ TOKEN: value });
  });

  it('is found by a path, by ~ and by $SUB_HOME', async () => {
    const path = secretFile(TOKEN);
    expect((await fromFile(path)).serverEnv()).toEqual({ TOKEN });
    expect((await fromFile('$SUB_HOME/secrets/my_token')).serverEnv()).toEqual({ TOKEN });
    mkdirSync(join(dir, 'user'));
    writeFileSync(join(dir, 'user', 't'), TOKEN, { mode: 0o600 });
    expect((await fromFile('~/t')).serverEnv()).toEqual({ TOKEN });
  });

  it.each([0o640, 0o604, 0o660, 0o700, 0o4600])('is refused with mode %o', async (mode) => {
    const path = secretFile(TOKEN, mode);
    const { problems, injected } = await fromFile();
    expect(injected).toMatchObject([{ success: false }]);
    expect(problems).toMatchObject([
      { code: 'SUB_SECRET_UNUSABLE', fix: `Run: chmod 600 ${path}` },
    ]);
  });

  it.runIf(process.getuid?.() === 0)('is refused when it belongs to another user', async () => {
    chownSync(secretFile(TOKEN), 12_345, 12_345);
    expect(told((await fromFile()).problems)).toContain('belongs to another user');
  });

  it.each([
    ['too large', 'x'.repeat(65_537), 'larger than 65536 bytes'],
    ['with a NUL', `${TOKEN}\0x`, 'NUL byte'],
    ['no UTF-8', Uint8Array.of(0x66, 0xff, 0x66, 0x66, 0x66), 'not valid UTF-8'],
    ['empty', '\n', 'it is empty'],
    ['too short to be redacted', 'abc\n', 'too short to be redacted'],
  ])('is refused when it is %s', async (_, content, words) => {
    secretFile(content);
    const { problems, serverEnv } = await fromFile();
    expect(told(problems)).toContain(words);
    expect(told(problems)).toContain('SUB_SECRET_UNUSABLE');
    expect(serverEnv()).toEqual({});
  });

  it('of the largest size is read', async () => {
    secretFile('x'.repeat(65_536));
    expect((await fromFile()).problems).toEqual([]);
  });

  it('is refused when it is a link, a folder or a pipe, without waiting', async () => {
    const target = secretFile(TOKEN);
    symlinkSync(target, join(dir, 'secrets', 'link'));
    execFileSync(MKFIFO, ['-m', '600', join(dir, 'secrets', 'pipe')]);
    expect(told((await fromFile('link')).problems)).toContain('symbolic link');
    const secrets = join(dir, 'secrets');
    expect(told((await fromFile(secrets)).problems)).toContain('is a directory');
    expect(told((await fromFile(join(secrets, 'pipe'))).problems)).toContain('not a regular file');
  });

  it('is missing when there is none', async () => {
    expect((await fromFile('nothing')).problems).toMatchObject([
      { code: 'SUB_SECRET_MISSING', message: `${join(dir, 'secrets', 'nothing')} does not exist.` },
    ]);
  });
});

describe('a value', () => {
  it('is given to the redactor unless its binding says no', async () => {
    const short = bound({ injectAs: 'PIN', secretRef: 'PIN_CODE', redact: false });
    const { secretValues, serverEnv } = await resolve([bound(), short], {
      env: { MY_TOKEN: TOKEN, PIN_CODE: '12' },
    });
    expect(serverEnv()).toEqual({ TOKEN, PIN: '12' });
    expect(secretValues()).toEqual([{ name: 'my_token', value: TOKEN }]);
  });

  it('is never one that the redactor cannot look for', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string(), { maxLength: 200 }), async (texts) => {
        const env = Object.fromEntries(texts.map((text, index) => [`S${index}`, text]));
        const bindings = texts.map((_, index) =>
          bound({ injectAs: `I${index}`, secretRef: `S${index}` }),
        );
        const { secretValues } = await resolve(bindings, { env });
        expect(createRedactor({ values: secretValues() }).refused).toEqual([]);
      }),
    );
  });

  it('shows in no dump and in no message', async () => {
    secretFile(TOKEN, 0o644);
    const wide = bound({ source: 'file' });
    const short = bound({ injectAs: 'B', secretRef: 'SHORT' });
    const good = bound({ injectAs: 'C', secretRef: 'GOOD' });
    const resolved = await resolve([wide, short, good], {
      env: { SHORT: 'q7z', GOOD: `${TOKEN}-good` },
    });
    const dump = [
      JSON.stringify(resolved),
      inspect(resolved, { depth: 9, showHidden: true }),
      told(resolved.problems),
    ].join('\n');
    expect(resolved.problems).toHaveLength(2);
    expect(dump).not.toContain(TOKEN);
    expect(dump).not.toContain('q7z');
  });
});

describe('a secret that is bound to an address', () => {
  const env = { MY_TOKEN: TOKEN };
  const remote = bound({ url: 'https://mcp.example.com/mcp' });

  it('is given to the server at this address', async () => {
    const { serverEnv, problems } = await resolve([remote], {
      env,
      url: 'https://MCP.example.com:443/mcp',
    });
    expect([serverEnv(), problems]).toEqual([{ TOKEN }, []]);
  });

  it.each([
    ['another address', { url: 'https://mcp.example.com/other' }],
    ['another origin', { url: 'https://mcp.example.com.evil.example/mcp' }],
    ['a command', { command: ['node', 'server.js'] }],
  ])('is not given to a server with %s', async (_, started) => {
    const { serverEnv, problems } = await resolve([remote], { env, ...started });
    expect(serverEnv()).toEqual({});
    expect(told(problems)).toContain('bound to another address');
  });

  it('is another one than that of a command, which no address gets', async () => {
    const local = bound({ command: ['node'] });
    const { serverEnv } = await resolve([local], { env, url: 'https://mcp.example.com/mcp' });
    expect(serverEnv()).toEqual({});
  });
});
