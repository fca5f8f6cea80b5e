// Where the key of the store comes from: the keychain of the system, a passphrase, or a file.

import { join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { writePrivateFile } from '../../os/index.ts';
import { type Keychain, loadKeychain } from './keychain.ts';
import { readSecretFile } from './secret-file.ts';
import {
  deriveKeys,
  type Kdf,
  KEY_BYTES,
  newKdf,
  newMaster,
  type Protection,
  stretch,
  type VaultHeader,
  type VaultKeys,
} from './vault-format.ts';

/** To open a store, for a new one, or to offer one: an empty answer chooses a key file then. */
export type Purpose = 'open' | 'new' | 'offer';

export interface KeyOptions {
  /** `$SUB_HOME`. */
  readonly home: string;
  /** A file with the passphrase, of mode 0600. */
  readonly passphraseFile?: string | null;
  /** Asks a person; absent where there is nobody. Undefined when they gave up. */
  readonly askPassphrase?: (purpose: Purpose) => Promise<string | undefined>;
  /** Null for none; else that of the system. */
  readonly keychain?: Keychain | null;
  /** What guessing a passphrase costs; only tests lower it. */
  readonly scryptN?: number;
}

type KeyPart = Pick<VaultHeader, 'protection' | 'keyId' | 'kdf'>;

/** A new key, kept where it belongs before anything is encrypted under it. */
interface NewKey {
  readonly kind: 'key';
  readonly part: KeyPart;
  readonly keys: VaultKeys;
}

const SERVICE = 'subluminal';
const PASSPHRASE_LENGTH_MIN = 8;
const PASSPHRASE_LENGTH_MAX = 1_024;

function keychainOf({ keychain }: KeyOptions): Keychain | undefined {
  return keychain === undefined ? loadKeychain() : (keychain ?? undefined);
}

function accountOf(keyId: string): string {
  return `vault-${keyId}`;
}

/** The keys that a store was written with. */
export async function unlock(
  { protection, keyId, kdf }: KeyPart,
  options: KeyOptions,
): Promise<VaultKeys | Failure> {
  if (protection === 'file') return keyFromFile(options.home, keyId);
  const isKept = protection === 'keychain' || kdf === null;
  const keys = await (isKept ? fromKeychain(keyId, options) : fromPassphrase(kdf, options));
  if (isFailure(keys) || keys.id === keyId) return keys;
  return protection === 'keychain'
    ? failure('SUB_VAULT_KEY', 'the keychain has another key.', 'Put the right one back into it.')
    : failure('SUB_VAULT_KEY', 'the passphrase is wrong.', 'Try again; nothing was changed.');
}

async function fromKeychain(keyId: string, options: KeyOptions): Promise<VaultKeys | Failure> {
  const message = 'the key of the store is in the keychain of this system, which does not give it.';
  const fix = 'Unlock the keychain, and run this where your desktop session is.';
  const text = await keychainOf(options)
    ?.get(SERVICE, accountOf(keyId))
    .catch(() => undefined);
  const master = Buffer.from(text ?? '', 'base64');
  return master.length === KEY_BYTES ? deriveKeys(master) : failure('SUB_VAULT_KEY', message, fix);
}

async function fromPassphrase(kdf: Kdf, options: KeyOptions): Promise<VaultKeys | Failure> {
  const passphrase = await passphraseOf('open', options);
  return isFailure(passphrase) ? passphrase : deriveKeys(await stretch(passphrase, kdf));
}

/** From the file, else from the person. */
async function passphraseOf(
  purpose: Purpose,
  { passphraseFile, askPassphrase }: KeyOptions,
): Promise<string | Failure> {
  if (!passphraseFile) return (await askPassphrase?.(purpose)) ?? noPassphrase();
  const read = readSecretFile(passphraseFile);
  if (!isFailure(read)) return read;
  return failure('SUB_VAULT_KEY', `the passphrase: ${read.message}`, read.fix);
}

function noPassphrase(): Failure {
  const fix =
    'Run it on a terminal, or write the passphrase into a file of mode 0600 and set SUB_VAULT_PASSPHRASE_FILE to its path.';
  return failure('SUB_VAULT_KEY', 'the store of secrets needs its passphrase.', fix);
}

/** Without a wish: a passphrase file that is set, the keychain, a passphrase that is typed, a file. */
export async function newKey(
  wish: Protection | undefined,
  options: KeyOptions,
): Promise<NewKey | Failure> {
  const { passphraseFile, askPassphrase, home } = options;
  if (wish === 'passphrase' || (wish === undefined && passphraseFile)) {
    const passphrase = await passphraseOf('new', options);
    return isFailure(passphrase) ? passphrase : stretched(passphrase, options);
  }
  if (wish !== 'file') {
    const kept = await intoKeychain(options);
    if (kept !== undefined) return kept;
    if (wish === 'keychain') {
      const fix = 'Choose `--protect passphrase` or `--protect file`.';
      return failure('SUB_VAULT_KEY', 'there is no keychain here that keeps a key for good.', fix);
    }
    const passphrase = await askPassphrase?.('offer');
    if (passphrase === undefined && askPassphrase !== undefined) return noPassphrase();
    if (passphrase) return stretched(passphrase, options);
  }
  const { keys, key } = random();
  return addToFile(home, keys.id, key) ?? newKeyOf('file', keys);
}

async function stretched(passphrase: string, { scryptN }: KeyOptions): Promise<NewKey | Failure> {
  const { length } = passphrase.trim();
  if (length < PASSPHRASE_LENGTH_MIN || passphrase.length > PASSPHRASE_LENGTH_MAX) {
    const fix = `Choose ${PASSPHRASE_LENGTH_MIN} to ${PASSPHRASE_LENGTH_MAX} characters.`;
    return failure('SUB_VAULT_KEY', 'the passphrase is too short or too long.', fix);
  }
  const kdf = newKdf(scryptN);
  const keys = deriveKeys(await stretch(passphrase, kdf));
  return newKeyOf('passphrase', keys, kdf);
}

function newKeyOf(protection: Protection, keys: VaultKeys, kdf: Kdf | null = null): NewKey {
  return { kind: 'key', part: { protection, keyId: keys.id, kdf }, keys };
}

/** New keys, and the master that they come from as it is kept. */
function random(): { readonly keys: VaultKeys; readonly key: string } {
  const master = newMaster();
  const key = master.toString('base64');
  return { keys: deriveKeys(master), key };
}

/** Undefined when it cannot be relied on. */
async function intoKeychain(options: KeyOptions): Promise<NewKey | undefined> {
  const keychain = keychainOf(options);
  if (keychain === undefined) return undefined;
  const { keys, key } = random();
  const account = accountOf(keys.id);
  try {
    await keychain.set(SERVICE, account, key);
    const isKept = (await keychain.get(SERVICE, account)) === key;
    if (isKept && (await keychain.lasts(SERVICE, account))) return newKeyOf('keychain', keys);
  } catch {
    // As good as none.
  }
  await keychain.remove(SERVICE, account).catch(() => undefined);
  return undefined;
}

/** Forgets a key that no store needs any more. Whether it is gone. */
export async function forget(
  { protection, keyId }: KeyPart,
  options: KeyOptions,
): Promise<boolean> {
  if (protection === 'passphrase') return true;
  try {
    if (protection === 'file') return removeFromFile(options.home, keyId) === undefined;
    const keychain = keychainOf(options);
    await keychain?.remove(SERVICE, accountOf(keyId));
    return keychain !== undefined;
  } catch {
    return false;
  }
}

// The key of the store in a file of its owner, where there is no keychain and no passphrase. It
// may hold several keys: while one replaces another both are there, so that no moment is without
// the right one. A key that no store here needs may belong to a copy, so it stays.

interface KeyLine {
  readonly id: string;
  readonly key: string;
}

const LINE = /^subluminal-vault-key-1 ([0-9a-f]{32}) ([A-Za-z0-9+/]{43}=)$/;
const KEYS_MAX = 16;

function keyFilePath(home: string): string {
  return join(home, 'vault.key');
}

function keyFromFile(home: string, keyId: string): VaultKeys | Failure {
  const lines = readLines(home);
  if (isFailure(lines)) return lines;
  const found = lines.find(({ id }) => id === keyId);
  if (found === undefined) {
    return wrongKeyFile(`${keyFilePath(home)} has no key for this store of secrets.`);
  }
  const keys = deriveKeys(Buffer.from(found.key, 'base64'));
  return keys.id === keyId ? keys : wrongKeyFile(`a key in ${keyFilePath(home)} is damaged.`);
}

/** Throws what the system says when it cannot be written. */
function addToFile(home: string, id: string, key: string): Failure | undefined {
  const lines = readLines(home);
  if (isFailure(lines)) return lines;
  if (lines.length >= KEYS_MAX) {
    const message = `${keyFilePath(home)} holds ${lines.length} keys.`;
    const fix = 'Move it away together with vault.db, and start anew.';
    return failure('SUB_VAULT_KEY', message, fix);
  }
  return writeLines(home, [...lines, { id, key }]);
}

function removeFromFile(home: string, keyId: string): Failure | undefined {
  const lines = readLines(home);
  if (isFailure(lines)) return lines;
  const others = lines.filter(({ id }) => id !== keyId);
  return writeLines(home, others);
}

/** None when there is no file. */
function readLines(home: string): readonly KeyLine[] | Failure {
  const path = keyFilePath(home);
  const read = readSecretFile(path);
  if (isFailure(read)) {
    return read.code === 'SUB_SECRET_MISSING' ? [] : { ...read, code: 'SUB_VAULT_KEY' };
  }
  const lines = read === '' ? [] : read.split('\n');
  const keys = lines.flatMap((line): readonly KeyLine[] => {
    const [, id, key] = LINE.exec(line) ?? [];
    return id === undefined || key === undefined ? [] : [{ id, key }];
  });
  if (keys.length === lines.length && keys.length <= KEYS_MAX) return keys;
  return wrongKeyFile(`${path} is not a key file of ours.`);
}

function wrongKeyFile(message: string): Failure {
  return failure('SUB_VAULT_KEY', message, 'Put the key file back that belongs to vault.db.');
}

function writeLines(home: string, lines: readonly KeyLine[]): undefined {
  const text = lines.map(({ id, key }) => `subluminal-vault-key-1 ${id} ${key}\n`).join('');
  writePrivateFile(keyFilePath(home), text);
}
