// The encrypted store of secrets: `vault.db` in the home. Reading takes no lock: the file is
// replaced in one step. Values come out by functions alone, so that no dump of a result shows one.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { removeDrafts, takeLock, writePrivateFile } from '../../../os/index.ts';
import { readSecretBytes } from '../secret-file.ts';
import { type Keys, wipe } from './cipher.ts';
import { fault, isVaultFault, unwritable, type VaultFault } from './fault.ts';
import {
  damaged,
  ENTRIES_MAX,
  type Entry,
  FILE_BYTES_MAX,
  type Header,
  isGenuine,
  isSecretName,
  openEntry,
  type Protection,
  parseFile,
  renderFile,
  sealEntry,
  VALUE_BYTES_MAX,
} from './format.ts';
import { forget, type KeyOptions, newKey, unlock } from './keys.ts';

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
  readonly value: (name: string) => string | VaultFault | undefined;
  /** Wipes the keys; nothing can be read afterwards. */
  readonly close: () => void;
}

/** What was changed, and whether the store was made for it. */
export interface Changed {
  readonly kind: 'changed';
  readonly protection: Protection;
  readonly isNew: boolean;
  /** What has not worked besides. */
  readonly warning?: string;
}

interface Open {
  readonly header: Header;
  readonly entries: readonly Entry[];
  readonly keys: Keys;
}

function vaultPath(home: string): string {
  return join(home, 'vault.db');
}

/** Opens the store for reading. Undefined when there is none. */
export async function openVault(options: KeyOptions): Promise<Vault | VaultFault | undefined> {
  const open = await readOpen(options);
  if (open === undefined || isVaultFault(open)) return open;
  const { header, entries, keys } = open;
  const values = new Map(entries.map((entry) => [entry.name, entry]));
  return {
    kind: 'vault',
    path: vaultPath(options.home),
    protection: header.protection,
    secrets: entries.map(({ name, addedAt, rotatedAt }) => ({ name, addedAt, rotatedAt })),
    value: (name) => {
      const entry = values.get(name);
      return entry && (openEntry(entry, open) ?? damaged('one of its entries does not open'));
    },
    close: () => wipe(keys),
  };
}

async function readOpen(options: KeyOptions): Promise<Open | VaultFault | undefined> {
  const path = vaultPath(options.home);
  const read = readSecretBytes(path, FILE_BYTES_MAX);
  if (!read.ok) {
    return read.isMissing ? undefined : fault('SUB_VAULT_DAMAGED', `${read.message}.`, read.fix);
  }
  const file = parseFile(read.bytes);
  if (isVaultFault(file)) return file;
  const keys = await unlock(file.header, options);
  if (isVaultFault(keys)) return keys;
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

/** Stores a secret under a new name, and makes the store when there is none. */
export function addSecret(options: VaultOptions, secret: NewSecret): Promise<Changed | VaultFault> {
  return addSecrets(options, [secret]);
}

/** All of them, in one step, or none. */
export async function addSecrets(
  options: VaultOptions,
  secrets: readonly NewSecret[],
): Promise<Changed | VaultFault> {
  const wrong = secrets.map(unfit).find((one) => one !== undefined);
  if (wrong !== undefined) return wrong;
  return locked(options, async () => {
    const old = await readOpen(options);
    if (isVaultFault(old)) return old;
    const names = new Set(old?.entries.map(({ name }) => name));
    for (const { name } of secrets) {
      if (names.has(name)) return known(name);
      names.add(name);
    }
    if (names.size > ENTRIES_MAX) {
      const message = `the store holds ${old?.entries.length ?? 0} secrets; it has room for ${ENTRIES_MAX}.`;
      return fault('SUB_SECRET_UNUSABLE', message, 'Remove some that nobody uses.');
    }
    const protect = secrets.find((one) => one.protect !== undefined)?.protect;
    const open = old ?? (await newStore(options, protect));
    if (isVaultFault(open)) return open;
    const entries = secrets.map(({ name, value }) =>
      sealEntry({ name, addedAt: timeOf(options), rotatedAt: null }, value, open),
    );
    return written(options, { ...open, entries: [...open.entries, ...entries] }, old === undefined);
  });
}

async function newStore(
  options: VaultOptions,
  protect: Protection | undefined,
): Promise<Open | VaultFault> {
  const made = await newKey(protect, options);
  if (isVaultFault(made)) return made;
  const storeId = randomBytes(16).toString('hex');
  return { header: { ...made.part, storeId, generation: 0 }, entries: [], keys: made.keys };
}

/** Gives a secret a new value; the old one is gone. */
export async function rotateSecret(
  options: VaultOptions,
  { name, value }: Omit<NewSecret, 'protect'>,
): Promise<Changed | VaultFault> {
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

export async function removeSecret(
  options: VaultOptions,
  name: string,
): Promise<Changed | VaultFault> {
  return changed(options, name, ({ entries }) => entries.filter((entry) => entry.name !== name));
}

/** Encrypts everything anew, under a key that was never used. */
export async function rotateKey(
  options: VaultOptions,
  protect: Protection | undefined,
): Promise<Changed | VaultFault> {
  return lockedIfThere(options, async () => {
    const old = await readOpen(options);
    if (isVaultFault(old)) return old;
    if (old === undefined) return noStore();
    const made = await newKey(protect ?? old.header.protection, options);
    if (isVaultFault(made)) return made;
    const header = { ...old.header, ...made.part };
    const entries: Entry[] = [];
    for (const entry of old.entries) {
      const value = openEntry(entry, old);
      if (value === undefined) return damaged('one of its entries does not open');
      entries.push(sealEntry(entry, value, { header, keys: made.keys }));
    }
    const done = written(options, { header, entries, keys: made.keys }, false);
    if (isVaultFault(done) || (await forget(old.header, options))) return done;
    return { ...done, warning: 'the old key could not be removed; nothing needs it any more' };
  });
}

function changed(
  options: VaultOptions,
  name: string,
  change: (open: Open) => readonly Entry[],
): Promise<Changed | VaultFault> {
  return lockedIfThere(options, async () => {
    const open = await readOpen(options);
    if (isVaultFault(open)) return open;
    if (open === undefined) return noStore();
    if (!open.entries.some((entry) => entry.name === name)) return unknown(name);
    return written(options, { ...open, entries: change(open) }, false);
  });
}

/** Where there is nothing to change, nothing is made, not even a lock. */
async function lockedIfThere(
  options: VaultOptions,
  work: () => Promise<Changed | VaultFault>,
): Promise<Changed | VaultFault> {
  return existsSync(vaultPath(options.home)) ? locked(options, work) : noStore();
}

async function locked(
  options: VaultOptions,
  work: () => Promise<Changed | VaultFault>,
): Promise<Changed | VaultFault> {
  const { home, waitMs } = options;
  const folder = join(home, 'run');
  try {
    const lock = await takeLock({ folder, name: 'vault' }, waitMs);
    if (lock.kind === 'held') return busy(lock.pid);
    try {
      for (const name of ['vault.db', 'vault.key']) removeDrafts(join(home, name));
      return await work();
    } finally {
      lock.release();
    }
  } catch (cause) {
    return unwritable(vaultPath(home), cause);
  }
}

function busy(pid: number): VaultFault {
  const message = `another process (${pid}) is changing the store of secrets.`;
  return fault('SUB_VAULT_BUSY', message, 'Wait for it to end, and do it again.');
}

function written({ home }: VaultOptions, open: Open, isNew: boolean): Changed | VaultFault {
  const header = { ...open.header, generation: open.header.generation + 1 };
  const bytes = renderFile(header, open.entries, open.keys);
  if (bytes.length > FILE_BYTES_MAX) {
    const message = `the store of secrets would have more than ${FILE_BYTES_MAX} bytes.`;
    return fault('SUB_SECRET_UNUSABLE', message, 'Remove some secrets, or store smaller ones.');
  }
  // What we could not read again must not replace what we can.
  const again = parseFile(bytes);
  if (isVaultFault(again) || !isGenuine(again, open.keys))
    throw new Error('the store is not sound');
  writePrivateFile(vaultPath(home), bytes);
  wipe(open.keys);
  return { kind: 'changed', protection: header.protection, isNew };
}

function timeOf({ nowMs }: VaultOptions): string {
  return new Date(nowMs()).toISOString();
}

function unfit({ name, value }: NewSecret): VaultFault | undefined {
  if (!isSecretName(name)) {
    const fix = 'Write letters, digits, `_`, `-` and `.`, at most 128, no dot or dash first.';
    return fault('SUB_SECRET_UNUSABLE', 'that is no name of a secret.', fix);
  }
  const message = `the value of \`${name}\``;
  if (value.trim() === '') {
    return fault('SUB_SECRET_UNUSABLE', `${message} is empty.`, 'Give a value.');
  }
  if (value.includes('\0')) {
    return fault('SUB_SECRET_UNUSABLE', `${message} holds a NUL byte.`, 'Give text.');
  }
  if (Buffer.byteLength(value) <= VALUE_BYTES_MAX) return undefined;
  return fault(
    'SUB_SECRET_UNUSABLE',
    `${message} is too long.`,
    `Give at most ${VALUE_BYTES_MAX} bytes.`,
  );
}

function known(name: string): VaultFault {
  const fix = `Run \`sub secrets rotate ${name}\` to give it a new value.`;
  return fault('SUB_SECRET_EXISTS', `the store has a secret \`${name}\` already.`, fix);
}

function unknown(name: string): VaultFault {
  const fix = 'Run `sub secrets list` to see the names.';
  return fault('SUB_SECRET_UNKNOWN', `the store has no secret \`${name}\`.`, fix);
}

function noStore(): VaultFault {
  const fix = 'Run `sub secrets add NAME` to store the first one.';
  return fault('SUB_SECRET_UNKNOWN', 'there is no store of secrets yet.', fix);
}
