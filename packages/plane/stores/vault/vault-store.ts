// The encrypted store of secrets: `vault.db` in the home. Reading takes no lock: the file is
// replaced in one step. Values come out by functions alone, so that no dump of a result shows one.

import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { attempt, changeFiles, writePrivateFile } from '../../os/index.ts';
import { readSecretBytes, unusableSecret } from './secret-file.ts';
import {
  damaged,
  ENTRIES_MAX,
  FILE_BYTES_MAX,
  isGenuine,
  isSecretName,
  openEntry,
  type Protection,
  parseVault,
  renderVault,
  sealEntry,
  VALUE_BYTES_MAX,
  type VaultEntry,
  type VaultHeader,
  type VaultKeys,
  wipe,
} from './vault-format.ts';
import { forget, type KeyOptions, newKey, unlock } from './vault-key.ts';

export interface VaultOptions extends KeyOptions {
  /** How long to wait for another process that changes the store. */
  readonly waitMs?: number;
  readonly nowMs: () => number;
}

export interface SecretInfo {
  readonly name: string;
  readonly addedAt: string;
  readonly rotatedAt: string | null;
}

export interface Vault {
  readonly kind: 'vault';
  readonly path: string;
  readonly protection: Protection;
  readonly secrets: readonly SecretInfo[];
  /** Undefined when there is none of that name. */
  readonly value: (name: string) => string | Failure | undefined;
  /** Wipes the keys; nothing can be read afterwards. */
  readonly close: () => void;
}

/** What was changed, and whether the store was made for it. */
export interface VaultChange {
  readonly kind: 'changed';
  readonly protection: Protection;
  readonly isNew: boolean;
  /** What has not worked besides. */
  readonly warning?: string;
}

interface OpenStore {
  readonly header: VaultHeader;
  readonly entries: readonly VaultEntry[];
  readonly keys: VaultKeys;
}

function vaultPath(home: string): string {
  return join(home, 'vault.db');
}

/** Opens the store for reading. Undefined when there is none. */
export async function openVault(options: KeyOptions): Promise<Vault | Failure | undefined> {
  const open = await readOpen(options);
  if (open === undefined || isFailure(open)) return open;
  const { header, entries, keys } = open;
  const values = new Map(entries.map((entry) => [entry.name, entry]));
  return {
    kind: 'vault',
    path: vaultPath(options.home),
    protection: header.protection,
    secrets: entries.map(infoOf),
    value: (name) => {
      const entry = values.get(name);
      return entry && (openEntry(entry, open) ?? damaged('one of its entries does not open'));
    },
    close: () => wipe(keys),
  };
}

/**
 * The names in the store, which no key protects: they say whether it is worth opening. None where there is no
 * store that can be read.
 */
export function secretNames(home: string): readonly string[] {
  const listed = listSecrets(home);
  return isFailure(listed) ? [] : (listed?.secrets.map(({ name }) => name) ?? []);
}

/** What the file says without its key, and so unchecked. Undefined when there is no store. */
export function listSecrets(
  home: string,
): Pick<Vault, 'protection' | 'secrets'> | Failure | undefined {
  const bytes = readSecretBytes(vaultPath(home), FILE_BYTES_MAX);
  if (isFailure(bytes)) return bytes.code === 'SUB_SECRET_MISSING' ? undefined : bytes;
  const file = parseVault(bytes);
  if (isFailure(file)) return file;
  return { protection: file.header.protection, secrets: file.entries.map(infoOf) };
}

function infoOf({ name, addedAt, rotatedAt }: VaultEntry): SecretInfo {
  return { name, addedAt, rotatedAt };
}

/** Changes when the store is written; empty where there is none that can be looked at. */
export function vaultState(home: string): string {
  const stats = attempt(() => statSync(vaultPath(home)));
  return stats === undefined ? '' : `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
}

/**
 * Forgets a key that is kept outside of the home, of a store that is about to go. False when a key may be
 * left there: it could not be removed, or the store, which cannot be read, may have one.
 */
export async function forgetVaultKey(options: KeyOptions): Promise<boolean> {
  const bytes = readSecretBytes(vaultPath(options.home), FILE_BYTES_MAX);
  if (isFailure(bytes)) return bytes.code === 'SUB_SECRET_MISSING';
  const file = parseVault(bytes);
  if (isFailure(file)) return false;
  return file.header.protection !== 'keychain' || forget(file.header, options);
}

async function readOpen(options: KeyOptions): Promise<OpenStore | Failure | undefined> {
  const bytes = readSecretBytes(vaultPath(options.home), FILE_BYTES_MAX);
  if (isFailure(bytes)) {
    return bytes.code === 'SUB_SECRET_MISSING'
      ? undefined
      : { ...bytes, code: 'SUB_VAULT_DAMAGED' };
  }
  const file = parseVault(bytes);
  if (isFailure(file)) return file;
  const keys = await unlock(file.header, options);
  if (isFailure(keys)) return keys;
  if (isGenuine(file, keys)) return { header: file.header, entries: file.entries, keys };
  wipe(keys);
  return damaged('it is not what was written');
}

interface NewSecret {
  readonly name: string;
  readonly value: string;
  /** How a store that has to be made is protected; without it, the best that there is. */
  readonly protect?: Protection;
}

type Changing = Promise<VaultChange | Failure>;

/** Stores a secret under a new name, and makes the store when there is none. */
export function addSecret(options: VaultOptions, secret: NewSecret): Changing {
  return addSecrets(options, [secret]);
}

/** All of them, in one step, or none. */
export function addSecrets(options: VaultOptions, secrets: readonly NewSecret[]): Changing {
  return storeSecrets(options, secrets, (name) => known(name));
}

/** Stores a secret, whether there is one of its name or not. */
export function putSecret(options: VaultOptions, secret: NewSecret): Changing {
  return storeSecrets(options, [secret], () => undefined);
}

async function storeSecrets(
  options: VaultOptions,
  secrets: readonly NewSecret[],
  onKnown: (name: string) => Failure | undefined,
): Changing {
  const wrong = secrets.map(unfit).find((one) => one !== undefined);
  if (wrong !== undefined) return wrong;
  return locked(options, async () => {
    const old = await readOpen(options);
    if (isFailure(old)) return old;
    const replaced = new Map<string, VaultEntry>();
    const names = new Set(old?.entries.map(({ name }) => name));
    for (const { name } of secrets) {
      const refused = names.has(name) ? onKnown(name) : undefined;
      if (refused !== undefined) return refused;
      const before = old?.entries.find((entry) => entry.name === name);
      if (before !== undefined) replaced.set(name, before);
      names.add(name);
    }
    if (names.size > ENTRIES_MAX) {
      const message = `the store holds ${old?.entries.length ?? 0} secrets; it has room for ${ENTRIES_MAX}.`;
      return unusableSecret(message, 'Remove some that nobody uses.');
    }
    const protect = secrets.find((one) => one.protect !== undefined)?.protect;
    const open = old ?? (await newStore(options, protect));
    if (isFailure(open)) return open;
    const time = timeOf(options);
    const entries = secrets.map(({ name, value }) => {
      const addedAt = replaced.get(name)?.addedAt;
      const times = { addedAt: addedAt ?? time, rotatedAt: addedAt === undefined ? null : time };
      return sealEntry({ name, ...times }, value, open);
    });
    const others = open.entries.filter(({ name }) => !replaced.has(name));
    return written(options, { ...open, entries: [...others, ...entries] }, old === undefined);
  });
}

async function newStore(
  options: VaultOptions,
  protect: Protection | undefined,
): Promise<OpenStore | Failure> {
  const made = await newKey(protect, options);
  if (isFailure(made)) return made;
  const storeId = randomBytes(16).toString('hex');
  return { header: { ...made.part, storeId, generation: 0 }, entries: [], keys: made.keys };
}

/** Gives a secret a new value; the old one is gone. */
export async function rotateSecret(
  options: VaultOptions,
  { name, value }: Omit<NewSecret, 'protect'>,
): Changing {
  const wrong = unfit({ name, value });
  if (wrong !== undefined) return wrong;
  return changed(options, name, (open) =>
    open.entries.map((entry) => {
      if (entry.name !== name) return entry;
      const { addedAt } = entry;
      return sealEntry({ name, addedAt, rotatedAt: timeOf(options) }, value, open);
    }),
  );
}

export function removeSecret(options: VaultOptions, name: string): Changing {
  return changed(options, name, ({ entries }) => entries.filter((entry) => entry.name !== name));
}

function changed(
  options: VaultOptions,
  name: string,
  change: (open: OpenStore) => readonly VaultEntry[],
): Changing {
  return changeExisting(options, async (open) => {
    if (!open.entries.some((entry) => entry.name === name)) return unknown(name);
    return written(options, { ...open, entries: change(open) }, false);
  });
}

/** Encrypts everything anew, under a key that was never used. */
export function rotateKey(options: VaultOptions, protect: Protection | undefined): Changing {
  return changeExisting(options, async (old) => {
    const made = await newKey(protect ?? old.header.protection, options);
    if (isFailure(made)) return made;
    const next = { header: { ...old.header, ...made.part }, keys: made.keys };
    const entries: VaultEntry[] = [];
    for (const entry of old.entries) {
      const value = openEntry(entry, old);
      if (value === undefined) return damaged('one of its entries does not open');
      entries.push(sealEntry(entry, value, next));
    }
    const done = written(options, { ...next, entries }, false);
    if (isFailure(done) || (await forget(old.header, options))) return done;
    return { ...done, warning: 'the old key could not be removed; nothing needs it any more' };
  });
}

/** Where there is nothing to change, nothing is made, not even a lock. */
async function changeExisting(
  options: VaultOptions,
  work: (open: OpenStore) => Changing,
): Changing {
  if (!existsSync(vaultPath(options.home))) return noStore();
  return locked(options, async () => {
    const open = (await readOpen(options)) ?? noStore();
    return isFailure(open) ? open : work(open);
  });
}

async function locked({ home, waitMs }: VaultOptions, work: () => Changing): Changing {
  const files = ['vault.db', 'vault.key'] as const;
  const lock = { home, name: 'vault', files, what: 'the store of secrets' };
  return changeFiles({ ...lock, busyCode: 'SUB_VAULT_BUSY', waitMs }, work);
}

function written({ home }: VaultOptions, open: OpenStore, isNew: boolean): VaultChange | Failure {
  const header = { ...open.header, generation: open.header.generation + 1 };
  const bytes = renderVault(header, open.entries, open.keys);
  if (bytes.length > FILE_BYTES_MAX) {
    const message = `the store of secrets would have more than ${FILE_BYTES_MAX} bytes.`;
    return unusableSecret(message, 'Remove some secrets, or store smaller ones.');
  }
  // What we could not read again must not replace what we can.
  const again = parseVault(bytes);
  if (isFailure(again) || !isGenuine(again, open.keys))
    throw new Error('the store cannot be read back');
  writePrivateFile(vaultPath(home), bytes);
  wipe(open.keys);
  return { kind: 'changed', protection: header.protection, isNew };
}

function timeOf({ nowMs }: VaultOptions): string {
  return new Date(nowMs()).toISOString();
}

function unfit({ name, value }: NewSecret): Failure | undefined {
  const about = `the value of \`${name}\``;
  if (!isSecretName(name)) {
    const fix = 'Write letters, digits, `_`, `-` and `.`, at most 128, no dot or dash first.';
    return unusableSecret('that is no name of a secret.', fix);
  }
  if (value.trim() === '') return unusableSecret(`${about} is empty.`, 'Give a value.');
  if (value.includes('\0')) return unusableSecret(`${about} holds a NUL byte.`, 'Give text.');
  if (Buffer.byteLength(value) <= VALUE_BYTES_MAX) return undefined;
  return unusableSecret(`${about} is too long.`, `Give at most ${VALUE_BYTES_MAX} bytes.`);
}

function known(name: string): Failure {
  const fix = `Run \`sub secrets rotate ${name}\` to give it a new value.`;
  return failure('SUB_SECRET_EXISTS', `the store has a secret \`${name}\` already.`, fix);
}

function unknown(name: string): Failure {
  const fix = 'Run `sub secrets list` to see the names.';
  return failure('SUB_SECRET_UNKNOWN', `the store has no secret \`${name}\`.`, fix);
}

function noStore(): Failure {
  const fix = 'Run `sub secrets add NAME` to store the first one.';
  return failure('SUB_SECRET_UNKNOWN', 'there is no store of secrets yet.', fix);
}
