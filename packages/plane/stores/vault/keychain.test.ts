// The keychain of the system is not there where tests run: what stands in for its package is a
// package too, found and loaded in the same way.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadKeychain } from './keychain.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-keychain-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** With a Secret Service, `find` sees what is stored; without, it fails and the kernel keeps it. */
function install(find: string): string {
  const place = join(folder, 'node_modules', '@napi-rs', 'keyring');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{"main":"index.cjs"}');
  const code = `
    const stored = new Map();
    class AsyncEntry {
      constructor(service, account) { this.at = service + '/' + account; this.account = account; }
      async getPassword() { return stored.get(this.at)?.password ?? null; }
      async setPassword(password) { stored.set(this.at, { account: this.account, password }); }
      async deletePassword() { return stored.delete(this.at); }
    }
    module.exports = { AsyncEntry, findCredentialsAsync: async () => { ${find} } };`;
  writeFileSync(join(place, 'index.cjs'), code);
  const from = join(folder, 'program.mjs');
  writeFileSync(from, '');
  return from;
}

const SERVICE = 'return [...stored.values()];';
const NONE = "throw new Error('no result found');";

describe('the keychain of the system', () => {
  it('is none where its package is not installed, or is another', () => {
    const from = join(folder, 'program.mjs');
    expect(loadKeychain({ from })).toBeUndefined();
    writeFileSync(from, '');
    expect(loadKeychain({ from })).toBeUndefined();
    install(SERVICE);
    writeFileSync(join(folder, 'node_modules/@napi-rs/keyring/index.cjs'), 'module.exports = 1');
    expect(loadKeychain({ from })).toBeUndefined();
  });

  it('keeps, gives and forgets', async () => {
    const keychain = loadKeychain({ from: install(SERVICE), platform: 'linux' });
    expect(await keychain?.get('a', 'b')).toBeUndefined();
    await keychain?.set('a', 'b', 'value');
    expect(await keychain?.get('a', 'b')).toBe('value');
    expect(await keychain?.lasts('a', 'b')).toBe(true);
    expect(await keychain?.lasts('a', 'c')).toBe(false);
    await keychain?.remove('a', 'b');
    expect(await keychain?.get('a', 'b')).toBeUndefined();
  });

  it('does not last on Linux without a service that keeps it', async () => {
    const keychain = loadKeychain({ from: install(NONE), platform: 'linux' });
    await keychain?.set('a', 'b', 'value');
    expect(await keychain?.get('a', 'b')).toBe('value');
    await expect(keychain?.lasts('a', 'b')).rejects.toThrow('no result found');
  });

  it('lasts elsewhere when it gives back what was stored', async () => {
    const keychain = loadKeychain({ from: install(NONE), platform: 'darwin' });
    await keychain?.set('a', 'b', 'value');
    expect(await keychain?.lasts('a', 'b')).toBe(true);
  });

  it('that does not answer is not waited for', async () => {
    const from = install('return new Promise(() => {});');
    const keychain = loadKeychain({ from, platform: 'linux', timeoutMs: 10 });
    await expect(keychain?.lasts('a', 'b')).rejects.toThrow('does not answer');
  });
});
