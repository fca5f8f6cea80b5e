import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureKeyFile, homeSeal, readKeyFile } from './home-key.ts';
import { createKeyPair } from './keys.ts';

let home = '';
const path = () => join(home, 'ledger.key');
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-home-key-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe('the key of a home', () => {
  it('is made for its owner alone, once', () => {
    const first = ensureKeyFile(path());
    const pem = readFileSync(path(), 'utf8');
    const second = ensureKeyFile(path());
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(readFileSync(path(), 'utf8')).toBe(pem);
    if (isFailure(first) || isFailure(second)) throw new Error('no key');
    expect(second.keyId).toBe(first.keyId);
  });

  it('signs what it then holds for its own, and nothing else', () => {
    const signed = homeSeal(home).sign('text');
    if (isFailure(signed)) throw new Error(signed.message);
    const seal = homeSeal(home);
    expect(seal.check('text', signed)).toBe(true);
    expect(seal.check('other', signed)).toBe(false);
    writeFileSync(path(), createKeyPair().privatePem);
    expect(homeSeal(home).check('text', signed)).toBe(false);
  });

  it('is not made by looking', () => {
    const signature = { keyId: '0'.repeat(16), value: '' };
    expect(homeSeal(home).check('text', signature)).toMatchObject({ kind: 'failure' });
    expect(readKeyFile(path())).toBeUndefined();
  });

  it('is not made anew beside a ledger that was signed with one', () => {
    writeFileSync(join(home, 'ledger.head'), '{}');
    expect(homeSeal(home).sign('text')).toMatchObject({ kind: 'failure', code: 'SUB_FILE_READ' });
    expect(readKeyFile(path())).toBeUndefined();
  });

  it.each([
    ['a link', () => symlinkSync(join(home, 'elsewhere'), path())],
    ['no key', () => writeFileSync(path(), 'nonsense', { mode: 0o600 })],
    ['endless', () => symlinkSync('/dev/zero', path())],
    ['too long', () => writeFileSync(path(), 'A'.repeat(100_000), { mode: 0o600 })],
    [
      'written by anybody',
      () => {
        writeFileSync(path(), createKeyPair().privatePem);
        chmodSync(path(), 0o666);
      },
    ],
  ])('is not taken from a file that is %s', (_, make) => {
    make();
    expect(readKeyFile(path())).toMatchObject({ kind: 'failure' });
    expect(ensureKeyFile(path())).toMatchObject({ kind: 'failure' });
  });

  it.skipIf(process.platform === 'win32')('does not wait for a pipe', () => {
    expect(spawnSync('sh', ['-c', 'mkfifo "$0"', path()]).status).toBe(0);
    expect(readKeyFile(path())).toMatchObject({ kind: 'failure' });
  });
});
