import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { addSecret, openVault, removeSecret, type VaultOptions } from '@subluminal/plane/vault';
import { expect, onTestFinished, test } from 'vitest';
import { readLogin } from './login.ts';
import { forgetLogin, openLogin, saveLogin } from './login-key.ts';

const LOGIN = {
  gatewayUrl: 'https://gateway.test',
  apiKey: 'sk-sub-key-of-this-machine',
  keyId: 'k',
  userId: 'ada',
  teamId: 'platform',
};

function homeOptions(): VaultOptions {
  const home = mkdtempSync(join(tmpdir(), 'sub-login-key-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { home, keychain: null, nowMs: () => Date.now(), scryptN: 16_384 };
}

const fileOf = ({ home }: VaultOptions) => readFileSync(join(home, 'gateway-login.json'), 'utf8');

async function namesIn(options: VaultOptions): Promise<readonly string[]> {
  const vault = await openVault(options);
  if (vault === undefined || isFailure(vault)) throw new Error('no store');
  vault.close();
  return vault.secrets.map(({ name }) => name);
}

test('a key is in the file of the login where there is no store of secrets', async () => {
  const options = homeOptions();
  expect(await openLogin(options)).toBeUndefined();
  expect(await saveLogin(options, LOGIN)).toBe('file');
  expect(await openLogin(options)).toEqual(LOGIN);
  expect(await forgetLogin(options)).toBeUndefined();
  expect(await openLogin(options)).toBeUndefined();
});

test('a key is in the store of secrets where there is one, and goes with the login', async () => {
  const options = homeOptions();
  await addSecret(options, { name: 'other', value: 'of a server', protect: 'file' });
  expect(await saveLogin(options, LOGIN)).toBe('vault');
  expect(fileOf(options)).not.toContain(LOGIN.apiKey);
  expect(readLogin(options.home)).toMatchObject({ userId: 'ada', apiKey: undefined });
  expect(await openLogin(options)).toEqual(LOGIN);
  const next = { ...LOGIN, apiKey: 'sk-sub-another-key-of-it' };
  expect(await saveLogin(options, next)).toBe('vault');
  expect(await openLogin(options)).toEqual(next);
  expect(await namesIn(options)).toEqual(['other', 'sub_gateway_key']);
  expect(await forgetLogin(options)).toBeUndefined();
  expect(await namesIn(options)).toEqual(['other']);
});

test('a store that wants a passphrase does not hold it: a proxy could ask nobody', async () => {
  const options = homeOptions();
  const passphrase = () => Promise.resolve('correct horse battery');
  const typed = { ...options, askPassphrase: passphrase };
  await addSecret(typed, { name: 'other', value: 'of a server', protect: 'passphrase' });
  expect(await saveLogin(options, LOGIN)).toBe('file');
  const passphraseFile = join(options.home, 'passphrase');
  writeFileSync(passphraseFile, 'correct horse battery\n', { mode: 0o600 });
  expect(await saveLogin({ ...options, passphraseFile }, LOGIN)).toBe('vault');
});

test('a login whose key is gone says what to do', async () => {
  const options = homeOptions();
  await addSecret(options, { name: 'other', value: 'of a server', protect: 'file' });
  await saveLogin(options, LOGIN);
  await removeSecret(options, 'sub_gateway_key');
  expect(await openLogin(options)).toMatchObject({
    code: 'SUB_GATEWAY_LOGIN',
    fix: 'Run `sub logout --force`, and log in again.',
  });
  rmSync(join(options.home, 'vault.db'));
  expect(await openLogin(options)).toMatchObject({ code: 'SUB_GATEWAY_LOGIN' });
});
