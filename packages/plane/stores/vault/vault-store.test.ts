// The store on real files: what is in it, what protects it, and what the next process makes of one
// that was killed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { type Failure, isFailure } from '@subluminal/contracts';
import { build } from 'esbuild';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
} from 'vitest';
import { memoryKeychain } from './testing/memory-keychain.ts';
import type { Step, Task } from './testing/writer.ts';
import { type Protection, SCRYPT_N_MIN } from './vault-format.ts';
import {
  addSecret,
  addSecrets,
  forgetVaultKey,
  openVault,
  putSecret,
  removeSecret,
  rotateKey,
  rotateSecret,
  secretNames,
  type VaultOptions,
} from './vault-store.ts';

const PASSPHRASE = 'correct horse battery';
const VALUE = 'tok-5f0c1d9e7a33b2';

let home: string;
let clockMs: number;
let keychain: ReturnType<typeof memoryKeychain>;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-store-'));
  clockMs = Date.parse('2026-11-16T05:00:00Z');
  keychain = memoryKeychain();
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const file = (name = 'vault.db') => join(home, name);

function options(more: Partial<VaultOptions> = {}): VaultOptions {
  const nowMs = () => {
    clockMs += 60_000;
    return clockMs;
  };
  return { home, nowMs, keychain: null, scryptN: SCRYPT_N_MIN, ...more };
}

/** Everything that there is, by name. */
async function read(
  more: Partial<VaultOptions> = {},
): Promise<{ readonly [name: string]: unknown } | Failure | undefined> {
  const vault = await openVault(options(more));
  if (vault === undefined || isFailure(vault)) return vault;
  const values = vault.secrets.map(({ name }) => [name, vault.value(name)] as const);
  vault.close();
  return Object.fromEntries(values);
}

const add = (name: string, value = VALUE, more: Partial<VaultOptions> = {}) =>
  addSecret(options(more), { name, value });

describe('a secret', () => {
  it('is added, read, rotated and removed', async () => {
    expect(await add('one')).toMatchObject({ kind: 'changed', isNew: true, protection: 'file' });
    expect(await add('two', 'second value')).toMatchObject({ kind: 'changed', isNew: false });
    expect(await read()).toEqual({ one: VALUE, two: 'second value' });
    await rotateSecret(options(), { name: 'one', value: 'a new value' });
    expect(await read()).toEqual({ one: 'a new value', two: 'second value' });
    const vault = await openVault(options());
    if (vault?.kind !== 'vault') throw new Error('not opened');
    expect(vault.secrets).toEqual([
      { name: 'one', addedAt: '2026-11-16T05:01:00.000Z', rotatedAt: '2026-11-16T05:03:00.000Z' },
      { name: 'two', addedAt: '2026-11-16T05:02:00.000Z', rotatedAt: null },
    ]);
    await removeSecret(options(), 'one');
    expect(await read()).toEqual({ two: 'second value' });
  });

  it('is stored by `putSecret` whether it is there or not, and its name is read without a key', async () => {
    expect(secretNames(home)).toEqual([]);
    expect(await putSecret(options(), { name: 'one', value: VALUE })).toMatchObject({
      isNew: true,
    });
    await add('two', VALUE);
    expect(await putSecret(options(), { name: 'one', value: 'new' })).toMatchObject({
      isNew: false,
    });
    expect(secretNames(home)).toEqual(['two', 'one']);
    const vault = await openVault(options());
    if (vault === undefined || isFailure(vault)) throw new Error('it does not open');
    expect([vault.value('one'), vault.value('two')]).toEqual(['new', VALUE]);
    expect(vault.secrets.find(({ name }) => name === 'one')?.rotatedAt).not.toBeNull();
  });

  it('is never added twice, and never rotated or removed where there is none', async () => {
    expect(await removeSecret(options(), 'one')).toMatchObject({ code: 'SUB_SECRET_UNKNOWN' });
    expect(await rotateKey(options(), 'file')).toMatchObject({ code: 'SUB_SECRET_UNKNOWN' });
    expect(readdirSync(home)).toEqual([]);
    await add('one');
    const before = readFileSync(file());
    expect(await add('one', 'another')).toMatchObject({ code: 'SUB_SECRET_EXISTS' });
    const other = { name: 'two', value: VALUE };
    expect(await rotateSecret(options(), other)).toMatchObject({ code: 'SUB_SECRET_UNKNOWN' });
    expect(await removeSecret(options(), 'two')).toMatchObject({ code: 'SUB_SECRET_UNKNOWN' });
    expect(readFileSync(file())).toEqual(before);
  });

  it('is added together with others, or none of them is', async () => {
    const [one, two] = ['one', 'two'].map((name) => ({ name, value: `${VALUE}-${name}` }));
    if (one === undefined || two === undefined) throw new Error('there are two');
    expect(await addSecrets(options(), [one, two])).toMatchObject({ kind: 'changed', isNew: true });
    const both = { one: one.value, two: two.value };
    expect(await read()).toEqual(both);
    const known = [{ name: 'three', value: VALUE }, two];
    expect(await addSecrets(options(), known)).toMatchObject({ code: 'SUB_SECRET_EXISTS' });
    const twice = [
      { name: 'four', value: VALUE },
      { name: 'four', value: VALUE },
    ];
    expect(await addSecrets(options(), twice)).toMatchObject({ code: 'SUB_SECRET_EXISTS' });
    const unfit = [
      { name: 'five', value: VALUE },
      { name: 'six', value: '' },
    ];
    expect(await addSecrets(options(), unfit)).toMatchObject({ code: 'SUB_SECRET_UNUSABLE' });
    expect(await read()).toEqual(both);
  });

  it.each([
    ['an empty value', 'one', ' \n'],
    ['a NUL', 'one', 'a\0b'],
    ['a value too long', 'one', 'é'.repeat(32_769)],
    ['a name with a slash', 'a/b', VALUE],
    ['a name upwards', '..', VALUE],
    ['no name', '', VALUE],
    ['a name too long', 'n'.repeat(129), VALUE],
  ])('is refused with %s, and not repeated', async (_, name, value) => {
    const refused = await add(name, value);
    expect(refused).toMatchObject({ code: 'SUB_SECRET_UNUSABLE' });
    expect(JSON.stringify(refused)).not.toContain(VALUE);
    expect(readdirSync(home)).toEqual([]);
  });

  it('shows in no dump of an open store, and not after it was closed', async () => {
    await add('one');
    const vault = await openVault(options());
    if (vault?.kind !== 'vault') throw new Error('not opened');
    const dump = JSON.stringify(vault) + inspect(vault, { depth: 9, showHidden: true });
    expect(dump).not.toContain(VALUE);
    vault.close();
    expect(vault.value('one')).toMatchObject({ code: 'SUB_VAULT_DAMAGED' });
  });

  it('is in no byte that is written, in no encoding, but encrypted', async () => {
    await add('one');
    await rotateSecret(options(), { name: 'one', value: `${VALUE}-2` });
    await rotateKey(options(), undefined);
    const all = readdirSync(home, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => readFileSync(join(one.parentPath, one.name)).toString('latin1'))
      .join('\n');
    const bytes = Buffer.from(VALUE);
    const shapes = [VALUE, bytes.toString('hex'), bytes.toString('base64').slice(0, 20)];
    for (const shape of shapes) expect(all).not.toContain(shape);
  });
});

describe('the files', () => {
  it('are for their owner alone, and nothing else is left', async () => {
    await add('one');
    await add('two');
    expect(readdirSync(home).toSorted()).toEqual(['run', 'vault.db', 'vault.key']);
    expect(readdirSync(file('run'))).toEqual([]);
    for (const name of ['vault.db', 'vault.key']) {
      expect(statSync(file(name)).mode & 0o7777).toBe(0o600);
    }
  });

  it.each(['vault.db', 'vault.key'])('are refused when others may read %s', async (name) => {
    await add('one');
    chmodSync(file(name), 0o640);
    const refused = await read();
    expect(refused).toMatchObject({ kind: 'failure', fix: `Run: chmod 600 ${file(name)}` });
    chmodSync(file(name), 0o600);
    expect(await read()).toEqual({ one: VALUE });
  });

  it('are no links', async () => {
    await add('one');
    const kept = mkdtempSync(join(tmpdir(), 'sub-kept-'));
    writeFileSync(join(kept, 'db'), readFileSync(file()), { mode: 0o600 });
    rmSync(file());
    symlinkSync(join(kept, 'db'), file());
    expect(JSON.stringify(await read())).toContain('is a symbolic link');
    rmSync(kept, { recursive: true });
  });

  it('lose nothing to a folder that cannot be written', async () => {
    await add('one');
    rmSync(file('run'), { recursive: true });
    writeFileSync(file('run'), 'a file in the place of the folder');
    expect(await add('two')).toMatchObject({ code: 'SUB_FILE_WRITE' });
    expect(await read()).toEqual({ one: VALUE });
  });
});

describe('what cannot be opened', () => {
  it.each([
    ['damaged', (bytes: Buffer) => bytes.fill('!', 300, 301), 'SUB_VAULT_DAMAGED'],
    ['cut', (bytes: Buffer) => bytes.subarray(0, -1), 'SUB_VAULT_DAMAGED'],
    ['empty', () => Buffer.alloc(0), 'SUB_VAULT_DAMAGED'],
    ['newer', (bytes: Buffer) => bytes.fill('2', 17, 18), 'SUB_VAULT_NEWER'],
  ])('is told and left alone: a file that is %s', async (_, change, code) => {
    await add('one');
    writeFileSync(file(), change(readFileSync(file())));
    const before = readFileSync(file());
    expect(await read()).toMatchObject({ code });
    for (const changed of [
      add('two'),
      rotateSecret(options(), { name: 'one', value: 'new value' }),
      removeSecret(options(), 'one'),
      rotateKey(options(), undefined),
    ]) {
      expect(await changed).toMatchObject({ code });
    }
    expect(readFileSync(file())).toEqual(before);
  });

  it('is told when the key file is missing, damaged, or of another store', async () => {
    await add('one');
    const key = readFileSync(file('vault.key'), 'utf8');
    const other = key.replace(/ [0-9a-f]{32} /, ` ${'0'.repeat(32)} `);
    for (const wrong of ['', 'no key\n', other, key.replace(/ (\S)(\S+)\n/, ' $2$1\n')]) {
      writeFileSync(file('vault.key'), wrong);
      expect(await read()).toMatchObject({ code: 'SUB_VAULT_KEY' });
      expect(await add('two')).toMatchObject({ code: 'SUB_VAULT_KEY' });
    }
    rmSync(file('vault.key'));
    expect(await read()).toMatchObject({ code: 'SUB_VAULT_KEY' });
    writeFileSync(file('vault.key'), key, { mode: 0o600 });
    expect(await read()).toEqual({ one: VALUE });
  });

  it('keeps its key when it was moved away and another was made', async () => {
    await add('one');
    const moved = readFileSync(file());
    rmSync(file());
    await add('two');
    expect(await read()).toEqual({ two: VALUE });
    writeFileSync(file(), moved);
    expect(await read()).toEqual({ one: VALUE });
  });
});

describe('a passphrase', () => {
  const asks = (given: string | undefined): Partial<VaultOptions> => ({
    askPassphrase: () => Promise.resolve(given),
  });

  it('opens the store from a file of mode 0600, or typed', async () => {
    const passphraseFile = file('passphrase');
    writeFileSync(passphraseFile, `${PASSPHRASE}\n`, { mode: 0o600 });
    const made = await add('one', VALUE, { passphraseFile, keychain });
    expect(made).toMatchObject({ protection: 'passphrase' });
    expect(readdirSync(home)).not.toContain('vault.key');
    expect(keychain.stored.size).toBe(0);
    expect(await read({ passphraseFile })).toEqual({ one: VALUE });
    expect(await read(asks(PASSPHRASE))).toEqual({ one: VALUE });
    chmodSync(passphraseFile, 0o644);
    expect(await read({ passphraseFile })).toMatchObject({ code: 'SUB_VAULT_KEY' });
  });

  it('that is wrong, missing or not given changes nothing', async () => {
    await add('one', VALUE, asks(PASSPHRASE));
    const before = readFileSync(file());
    for (const more of [asks('another passphrase'), asks(''), asks(undefined), {}]) {
      expect(await read(more)).toMatchObject({ code: 'SUB_VAULT_KEY' });
      expect(await add('two', VALUE, more)).toMatchObject({ code: 'SUB_VAULT_KEY' });
    }
    expect(readFileSync(file())).toEqual(before);
    expect(JSON.stringify(await read(asks('another passphrase')))).not.toContain('another pass');
  });

  it('that is too short is not taken', async () => {
    expect(await add('one', VALUE, asks('short'))).toMatchObject({ code: 'SUB_VAULT_KEY' });
    expect(readdirSync(home)).toEqual(['run']);
  });

  it('that is left empty when it is offered chooses a key file', async () => {
    expect(await add('one', VALUE, asks(''))).toMatchObject({ protection: 'file' });
  });
});

describe('a keychain', () => {
  it('is used first, and has the only key', async () => {
    expect(await add('one', VALUE, { keychain })).toMatchObject({ protection: 'keychain' });
    expect(readdirSync(home)).not.toContain('vault.key');
    expect(await read({ keychain })).toEqual({ one: VALUE });
    expect(await read()).toMatchObject({ code: 'SUB_VAULT_KEY' });
    expect(await read({ keychain: memoryKeychain() })).toMatchObject({ code: 'SUB_VAULT_KEY' });
  });

  it('forgets the key of a store that is about to go', async () => {
    expect(await forgetVaultKey(options({ keychain }))).toBe(true);
    await add('one', VALUE, { keychain });
    expect(await forgetVaultKey(options({ keychain: null }))).toBe(false);
    expect(keychain.stored.size).toBe(1);
    expect(await forgetVaultKey(options({ keychain }))).toBe(true);
    expect(keychain.stored.size).toBe(0);
  });

  it.each([
    ['damaged', () => writeFileSync(file(), 'no store')],
    ['unreadable', () => chmodSync(file(), 0o644)],
  ])('may still have the key of a store that is %s', async (_what, damage) => {
    await add('one', VALUE, { keychain });
    damage();
    expect(await forgetVaultKey(options({ keychain }))).toBe(false);
    expect(keychain.stored.size).toBe(1);
  });

  it('that would forget the key is not used, and keeps nothing', async () => {
    const forgetful = memoryKeychain(false);
    expect(await add('one', VALUE, { keychain: forgetful })).toMatchObject({ protection: 'file' });
    expect(forgetful.stored.size).toBe(0);
  });

  it('that fails is not used', async () => {
    const broken = { ...memoryKeychain(), set: () => Promise.reject(new Error('denied')) };
    expect(await add('one', VALUE, { keychain: broken })).toMatchObject({ protection: 'file' });
    const wish = { name: 'two', value: VALUE, protect: 'keychain' } as const;
    rmSync(file());
    const refused = await addSecret(options({ keychain: broken }), wish);
    expect(refused).toMatchObject({ code: 'SUB_VAULT_KEY' });
  });
});

describe('a new key', () => {
  const kinds: readonly Protection[] = ['file', 'passphrase', 'keychain'];
  const pairs = kinds.flatMap((from) => kinds.map((to) => [from, to] as const));

  it.each(pairs)('from %s to %s: values stay, the old key opens nothing', async (from, to) => {
    const fresh = 'a newer passphrase';
    const chosen = from === 'passphrase' ? [PASSPHRASE, fresh] : [fresh];
    const askPassphrase = (purpose: string) =>
      Promise.resolve(purpose === 'open' ? PASSPHRASE : chosen.shift());
    const all = options({ keychain, askPassphrase });
    await addSecret(all, { name: 'one', value: VALUE, protect: from });
    await addSecret(all, { name: 'two', value: 'second value' });
    const [copy, oldKeys] = [readFileSync(file()), new Map(keychain.stored)];
    expect(await rotateKey(all, to)).toMatchObject({ kind: 'changed', protection: to });
    const newer = { keychain, askPassphrase: () => Promise.resolve(fresh) };
    expect(await read(newer)).toEqual({ one: VALUE, two: 'second value' });
    for (const account of oldKeys.keys()) expect(keychain.stored.has(account)).toBe(false);
    writeFileSync(file(), copy);
    expect(await read(newer)).toMatchObject({ code: 'SUB_VAULT_KEY' });
  });
});

let folder: string;
let program: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-writer-'));
  program = join(folder, 'writer.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./testing/writer.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function writer({ rotates = '', adds = [], killAt = '' }: Partial<Task>) {
  const child = spawn(process.execPath, [program, home, rotates, killAt, ...adds], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

describe('several processes', () => {
  it('add at once, and no secret is lost', async () => {
    const names = [0, 1, 2].map((who) => Array.from({ length: 8 }, (_, at) => `s${who}-${at}`));
    const said = names.map((adds) => text(writer({ adds }).stdout));
    const lines = (await Promise.all(said)).join('').trim().split('\n');
    expect(lines.filter((line) => !line.startsWith('changed '))).toEqual([]);
    const kept = await read();
    expect(Object.keys(kept ?? {}).toSorted()).toEqual(names.flat().toSorted());
    expect(readdirSync(file('run'))).toEqual([]);
  });

  it.each([1, 5, 13])('killed after %i changes: the store is whole', async (count) => {
    await add('one');
    const child = writer({ rotates: 'one' });
    const closed = once(child, 'close');
    let last = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      last = Number(line.split(' ')[1]);
      if (last === count) child.kill('SIGKILL');
    }
    await closed;
    const kept = { one: undefined, ...(await read()) };
    // What was told was done; one more may have been done untold.
    expect([last, last + 1]).toContain(Number(String(kept.one).split(' ')[1]));
    expect(await add('two')).toMatchObject({ kind: 'changed' });
    expect(readdirSync(home).toSorted()).toEqual(['run', 'vault.db', 'vault.key']);
    expect(readdirSync(file('run'))).toEqual([]);
  });

  const steps: readonly (readonly [Step, 'old' | 'new'])[] = [
    ['openSync', 'old'],
    ['writeFileSync', 'old'],
    ['fsyncSync', 'old'],
    ['closeSync', 'old'],
    ['renameSync', 'new'],
  ];
  it.each(steps)('killed after %s of the draft: the store is whole and %s', async (killAt, age) => {
    await add('one');
    const child = writer({ rotates: 'one', killAt });
    const [said] = await Promise.all([text(child.stdout), once(child, 'close')]);
    expect(child.signalCode).toBe('SIGKILL');
    expect(said).toBe('');
    const kept = { one: '', ...(await read()) };
    expect(kept.one).toBe(age === 'old' ? VALUE : `${'x'.repeat(20_000)} 1`);
    expect(await add('two')).toMatchObject({ kind: 'changed' });
    expect(readdirSync(home).toSorted()).toEqual(['run', 'vault.db', 'vault.key']);
    expect(readdirSync(file('run'))).toEqual([]);
  });

  it('read while another writes, and see no part of it', async () => {
    await add('one');
    const child = writer({ rotates: 'one' });
    const closed = once(child, 'close');
    await once(child.stdout, 'data');
    for (let reads = 0; reads < 200; reads++) {
      expect(Object.keys((await read()) ?? {})).toEqual(['one']);
    }
    child.kill('SIGKILL');
    await closed;
  });

  it('wait for one that lives, not for one that is dead or another of its number', async () => {
    mkdirSync(file('run'));
    const id = '01234567-89ab-cdef-0123-456789abcdef';
    writeFileSync(join(home, 'run', `vault.${id}.${process.pid}.1.lock`), '');
    writeFileSync(join(home, 'run', `vault.${id}.4194999.1.lock`), '');
    expect(await add('one', VALUE, { waitMs: 0 })).toMatchObject({ kind: 'changed' });
    expect(readdirSync(file('run'))).toEqual([]);
    writeFileSync(join(home, 'run', `vault.${id}.${process.pid}.unknown.lock`), '');
    expect(await add('two', VALUE, { waitMs: 0 })).toMatchObject({ code: 'SUB_VAULT_BUSY' });
    expect(await read()).toEqual({ one: VALUE });
  });
});
