// Secrets from the store, the keychain and services, as a server gets them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SecretBinding } from '../config/index.ts';
import { formatSecretFailure, type ResolveOptions, resolveBindings } from './resolve-bindings.ts';
import { getJson } from './secret-service.ts';
import { memoryKeychain } from './testing/memory-keychain.ts';
import { connect, hashicorp, ITEM_ID, type Stand, stand, VAULT_ID } from './testing/service.ts';
import { addSecret } from './vault-store.ts';

/** A program of the system, not of a package. */
const OPENSSL = 'openssl';
const TOKEN = 'hvs.made-up-0815';
const VALUE = 'tok-5f0c1d9e7a33b2';

let home: string;
let open: Stand[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-far-'));
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  rmSync(home, { recursive: true, force: true });
});

async function standing(...args: Parameters<typeof stand>): Promise<Stand> {
  const one = await stand(...args);
  open.push(one);
  return one;
}

function resolve(secretRef: string, more: Partial<ResolveOptions & SecretBinding> = {}) {
  const { source = 'vault', redact = true, ...options } = more;
  const binding: SecretBinding = { injectAs: 'TOKEN', secretRef, source, redact };
  return resolveBindings({
    serverName: 'github',
    servers: new Map([['github', { secretBindings: [binding] }]]),
    env: {},
    home,
    userHome: join(home, 'user'),
    keychain: null,
    ...options,
  });
}

type Resolved = Awaited<ReturnType<typeof resolve>>;

function told({ problems }: Resolved): string {
  return problems.map(formatSecretFailure).join('\n');
}

/** Nothing of what is secret may be in what is told or dumped. */
function silent(resolved: Resolved): void {
  const dump = told(resolved) + JSON.stringify(resolved) + inspect(resolved, { depth: 9 });
  for (const secret of [VALUE, TOKEN]) expect(dump).not.toContain(secret);
}

describe('a secret of the store', () => {
  it('reaches the server, and the redactor', async () => {
    const options = { home, nowMs: Date.now, keychain: null };
    await addSecret(options, { name: 'github_token', value: VALUE });
    const resolved = await resolve('github_token');
    expect(resolved.serverEnv()).toEqual({ TOKEN: VALUE });
    expect(resolved.secretValues()).toEqual([{ name: 'github_token', value: VALUE }]);
    expect(resolved.injected).toMatchObject([{ source: 'vault', success: true }]);
    silent(resolved);
  });

  it('is missing where there is none, and where there is no store', async () => {
    expect(told(await resolve('other'))).toContain('`sub secrets add other`');
    await addSecret({ home, nowMs: Date.now, keychain: null }, { name: 'one', value: VALUE });
    expect((await resolve('other')).problems).toMatchObject([{ code: 'SUB_SECRET_MISSING' }]);
  });

  it('is not guessed where the store cannot be opened', async () => {
    await addSecret({ home, nowMs: Date.now, keychain: null }, { name: 'one', value: VALUE });
    rmSync(join(home, 'vault.key'));
    const resolved = await resolve('one', { env: { TOKEN: 'placeholder' } });
    expect(resolved.problems).toMatchObject([{ code: 'SUB_SECRET_UNUSABLE' }]);
    expect(resolved.serverEnv()).toEqual({});
  });

  it('needs the passphrase in a file, because nobody can type it', async () => {
    const passphraseFile = join(home, 'passphrase');
    writeFileSync(passphraseFile, 'correct horse battery', { mode: 0o600 });
    const options = { home, nowMs: Date.now, keychain: null, passphraseFile };
    await addSecret(options, { name: 'one', value: VALUE });
    expect(told(await resolve('one'))).toContain('SUB_VAULT_PASSPHRASE_FILE');
    const resolved = await resolve('one', { settings: { passphraseFile } });
    expect(resolved.serverEnv()).toEqual({ TOKEN: VALUE });
  });
});

describe('a secret of the keychain', () => {
  it('is found by service and account', async () => {
    const keychain = memoryKeychain();
    keychain.stored.set('github.com/ada/work', VALUE);
    const found = await resolve('github.com/ada/work', { source: 'keychain', keychain });
    expect(found.serverEnv()).toEqual({ TOKEN: VALUE });
    const none = await resolve('github.com/bob', { source: 'keychain', keychain });
    expect(none.problems).toMatchObject([{ code: 'SUB_SECRET_MISSING' }]);
  });

  it('is told where there is no keychain, or it fails', async () => {
    const without = await resolve('a/b', { source: 'keychain' });
    expect(told(without)).toContain('@napi-rs/keyring');
    const broken = { ...memoryKeychain(), get: () => Promise.reject(new Error(VALUE)) };
    const failed = await resolve('a/b', { source: 'keychain', keychain: broken });
    expect(told(failed)).toContain('does not answer');
    silent(failed);
  });
});

describe('a secret of HashiCorp Vault', () => {
  const REF = 'vault://secret/team/app#token';
  const answer = hashicorp(TOKEN, '/v1/secret/data/team/app', { token: VALUE, port: 5432 });

  it('is a field of the newest version, and the token stays with us', async () => {
    const { address, asked } = await standing(answer);
    const env = { VAULT_ADDR: address, VAULT_TOKEN: TOKEN, VAULT_NAMESPACE: 'team', LANG: 'C' };
    const resolved = await resolve(REF, { env });
    expect(resolved.serverEnv()).toEqual({
      TOKEN: VALUE,
      LANG: 'C',
      VAULT_ADDR: address,
      VAULT_NAMESPACE: 'team',
    });
    expect(asked).toMatchObject([{ url: '/v1/secret/data/team/app' }]);
    expect(asked[0]?.headers).toMatchObject({
      'x-vault-token': TOKEN,
      'x-vault-request': 'true',
      'x-vault-namespace': 'team',
    });
    // Also where the secret itself need not be redacted.
    const shown = await resolve(REF, { env, redact: false });
    expect(shown.secretValues()).toEqual([{ name: REF, value: TOKEN }]);
    silent(resolved);
  });

  it('goes to no address of a variable with a token that a file keeps', async () => {
    const { address, asked } = await standing(answer);
    mkdirSync(join(home, 'user'));
    const tokenFile = join(home, 'user', '.vault-token');
    writeFileSync(tokenFile, TOKEN, { mode: 0o600 });
    const env = { VAULT_ADDR: address };
    const kept = await resolve(REF, { env });
    expect(told(kept)).toContain('vault_addr');
    const settings = { vault: { tokenFile } };
    const named = await resolve(REF, { env, settings });
    expect(told(named)).toContain('vault_addr');
    expect(asked).toEqual([]);
    silent(kept);
  });

  it('goes by no proxy, whatever the environment says', async () => {
    const proxy = await standing(() => ({ status: 200, json: {} }));
    const { address, asked } = await standing(answer);
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'];
    const before = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) process.env[name] = proxy.address;
    try {
      const env = { VAULT_ADDR: address, VAULT_TOKEN: TOKEN, HTTP_PROXY: proxy.address };
      await resolve(REF, { env });
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
    expect([asked.length, proxy.asked.length]).toEqual([1, 0]);
  });

  it('is reached by the settings before the variables', async () => {
    const { address } = await standing(answer);
    const tokenFile = join(home, 'token');
    writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
    const env = { VAULT_ADDR: 'https://elsewhere.invalid', VAULT_TOKEN: 'of-the-agent' };
    const resolved = await resolve(REF, { env, settings: { vault: { address, tokenFile } } });
    expect(resolved.serverEnv()).toMatchObject({ TOKEN: VALUE });
    expect(resolved.serverEnv()).not.toHaveProperty('VAULT_TOKEN');
  });

  it('may be in a mount of several parts', async () => {
    const deep = hashicorp(TOKEN, '/v1/team/kv/data/a%20b', { token: VALUE });
    const env = { VAULT_ADDR: (await standing(deep)).address, VAULT_TOKEN: TOKEN };
    const resolved = await resolve('vault://team%2Fkv/a%20b#token', { env });
    expect(resolved.serverEnv()).toMatchObject({ TOKEN: VALUE });
  });

  it.each([
    ['no such path', 'vault://secret/other#token', TOKEN, 'SUB_SECRET_MISSING'],
    ['a deleted version', 'vault://secret/deleted#token', TOKEN, 'SUB_SECRET_MISSING'],
    ['no such field', 'vault://secret/team/app#other', TOKEN, 'SUB_SECRET_MISSING'],
    ['a field of the language', 'vault://secret/team/app#constructor', TOKEN, 'SUB_SECRET_MISSING'],
    ['a field that is no text', 'vault://secret/team/app#port', TOKEN, 'SUB_SECRET_UNUSABLE'],
    ['a wrong token', REF, 'another', 'SUB_SECRET_UNUSABLE'],
    ['a token of two lines', REF, 'a\r\nx-more: b', 'SUB_SECRET_UNUSABLE'],
    ['no token', REF, '', 'SUB_SECRET_UNUSABLE'],
  ])('is told: %s', async (_, ref, token, code) => {
    const { address } = await standing(answer);
    const resolved = await resolve(ref, { env: { VAULT_ADDR: address, VAULT_TOKEN: token } });
    expect(resolved.problems).toMatchObject([{ code }]);
    silent(resolved);
  });
});

describe('a service', () => {
  const REF = 'vault://secret/team/app#token';
  const ask = (address: string) =>
    resolve(REF, { env: { VAULT_ADDR: address, VAULT_TOKEN: TOKEN } });

  it.each([
    ['http://vault.example:8200', 'not https'],
    ['http://127.0.0.1.example', 'not https'],
    ['ftp://127.0.0.1', 'no http(s) URL'],
    [`https://user:${VALUE}@vault.example`, 'more than a host'],
    [VALUE, 'no http(s) URL'],
    ['', 'no setting says where'],
  ])('gets no token at %s', async (address, words) => {
    const resolved = await ask(address);
    expect(told(resolved)).toContain(words);
    silent(resolved);
  });

  it.each([
    ['a redirect', { status: 302, json: {} }, 'status 302'],
    ['a sealed vault', { status: 503, json: { errors: ['Vault is sealed'] } }, 'sealed'],
    ['words of its own', { status: 500, json: { errors: [VALUE, TOKEN] } }, 'status 500'],
    ['no secret', { status: 200, json: [1] }, 'something else'],
    ['data that is null', { status: 200, json: { data: null } }, 'something else'],
    ['no JSON', { status: 200, json: undefined }, 'status 200, but not with JSON'],
    ['too much', { status: 200, json: 'x'.repeat(4_194_305) }, 'larger than'],
  ])('that answers with %s gives nothing away', async (_, reply, words) => {
    const { address, asked } = await standing(() => reply);
    const resolved = await ask(address);
    expect(told(resolved)).toContain(words);
    expect(asked).toHaveLength(1);
    silent(resolved);
  });

  it('that does not answer is not waited for longer than it may take', async () => {
    const { address, asked } = await standing(() => undefined);
    const headers = { 'x-vault-token': TOKEN };
    const service = { title: 'Vault', base: new URL(address) };
    const wanted = { path: ['v1', 'a'], headers, timeoutMs: 20 };
    expect(await getJson(service, wanted)).toMatchObject({
      kind: 'failure',
      message: 'Vault: no answer within 20 ms.',
    });
    expect(asked.length).toBeLessThanOrEqual(1);
  });

  it('that is not there is told', async () => {
    const { address, close } = await stand(() => undefined);
    await close();
    expect(told(await ask(address))).toContain('ECONNREFUSED');
  });

  it('with a certificate that nobody trusts gets no token, whatever the environment says', async () => {
    const subject = ['-subj', '/CN=localhost', '-days', '1', '-nodes', '-newkey', 'rsa:2048'];
    const out = ['-keyout', join(home, 'k'), '-out', join(home, 'c')];
    execFileSync(OPENSSL, ['req', '-x509', ...subject, ...out], { stdio: 'ignore' });
    const key = readFileSync(join(home, 'k'));
    const secure = createServer({ key, cert: readFileSync(join(home, 'c')) });
    const { address, asked } = await standing(() => ({ status: 200, json: {} }), secure);
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const resolved = await ask(address.replace('http:', 'https:'));
      expect(told(resolved)).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
    expect(asked).toEqual([]);
  });
});

describe('a secret of 1Password', () => {
  const fields = [
    { id: 'username', type: 'STRING', purpose: 'USERNAME', label: 'username', value: 'bot' },
    { id: 'credential', type: 'CONCEALED', label: 'credential', value: VALUE },
    { id: 'empty', type: 'CONCEALED', label: 'empty' },
    { id: 'k1', type: 'CONCEALED', label: 'key', value: 'of no section' },
    {
      id: 'k2',
      type: 'CONCEALED',
      label: 'key',
      value: VALUE,
      section: { id: 'add', label: 'api' },
    },
  ];
  const ask = async (ref: string, token = TOKEN) => {
    const { address } = await standing(connect(TOKEN, fields));
    return resolve(ref, { env: { OP_CONNECT_HOST: address, OP_CONNECT_TOKEN: token } });
  };

  it.each([
    ['names', 'op://Team/GitHub "bot"/credential'],
    ['ids', `op://${VAULT_ID}/${ITEM_ID}/credential`],
    ['a section', `op://Team/${ITEM_ID}/api/key`],
    ['the id of a field', `op://Team/${ITEM_ID}/k2`],
  ])('is found by %s, and the token stays with us', async (_, ref) => {
    const resolved = await ask(ref);
    expect(resolved.serverEnv()).toMatchObject({ TOKEN: VALUE });
    expect(resolved.serverEnv()).not.toHaveProperty('OP_CONNECT_TOKEN');
    silent(resolved);
  });

  it.each([
    ['no such vault', 'op://Other/x/credential', 'no such vault'],
    ['no such item', 'op://Team/Other/credential', 'no such item'],
    ['two items of one name', 'op://Team/Twins/credential', 'several of that item'],
    ['two fields of one name', `op://Team/${ITEM_ID}/key`, 'several such fields'],
    ['an empty field', `op://Team/${ITEM_ID}/empty`, 'no such field'],
    ['no such field', `op://Team/${ITEM_ID}/other`, 'no such field'],
  ])('is told: %s', async (_, ref, words) => {
    const resolved = await ask(ref);
    expect(told(resolved)).toContain(words);
    silent(resolved);
  });

  it('is not given to a wrong token', async () => {
    expect(told(await ask('op://Team/Twins/key', 'another'))).toContain('to this token');
  });
});
