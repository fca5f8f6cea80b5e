// The key of the store in a file of its owner, where there is no keychain and no passphrase. It
// may hold several keys: while one replaces another both are there, so that no moment is without
// the right one. A key that no store here needs may belong to a copy, so it stays.
import { join } from 'node:path';
import { writePrivateFile } from '../../../os/index.ts';
import { readSecretFile } from '../secret-file.ts';
import { deriveKeys, type Keys } from './cipher.ts';
import { fault, type VaultFault } from './fault.ts';

interface KeyLine {
  readonly id: string;
  readonly key: string;
}

const LINE = /^subluminal-vault-key-1 ([0-9a-f]{32}) ([A-Za-z0-9+/]{43}=)$/;
const KEYS_MAX = 16;

function keyFilePath(home: string): string {
  return join(home, 'vault.key');
}

export function keyFromFile(home: string, keyId: string): Keys | VaultFault {
  const lines = readLines(home);
  if ('kind' in lines) return lines;
  const found = lines.find(({ id }) => id === keyId);
  if (found === undefined) {
    const message = `${keyFilePath(home)} has no key for this store of secrets.`;
    return fault('SUB_VAULT_KEY', message, 'Put the key file back that belongs to vault.db.');
  }
  const keys = deriveKeys(Buffer.from(found.key, 'base64'));
  if (keys.id === keyId) return keys;
  const message = `a key in ${keyFilePath(home)} is damaged.`;
  return fault('SUB_VAULT_KEY', message, 'Put the key file back that belongs to vault.db.');
}

/** Throws what the system says when it cannot be written. */
export function addToFile(home: string, id: string, master: Buffer): VaultFault | undefined {
  const lines = readLines(home);
  if ('kind' in lines) return lines;
  if (lines.length >= KEYS_MAX) {
    const message = `${keyFilePath(home)} holds ${lines.length} keys.`;
    return fault('SUB_VAULT_KEY', message, 'Move it away together with vault.db, and start anew.');
  }
  writeLines(home, [...lines, { id, key: master.toString('base64') }]);
  return undefined;
}

export function removeFromFile(home: string, keyId: string): VaultFault | undefined {
  const lines = readLines(home);
  if ('kind' in lines) return lines;
  writeLines(
    home,
    lines.filter(({ id }) => id !== keyId),
  );
  return undefined;
}

/** None when there is no file. */
function readLines(home: string): readonly KeyLine[] | VaultFault {
  const path = keyFilePath(home);
  const read = readSecretFile(path);
  if (!read.ok) {
    return read.isMissing ? [] : fault('SUB_VAULT_KEY', `${read.message}.`, read.fix);
  }
  const lines = read.value === '' ? [] : read.value.split('\n');
  const keys = lines.flatMap((line): readonly KeyLine[] => {
    const [, id, key] = LINE.exec(line) ?? [];
    return id === undefined || key === undefined ? [] : [{ id, key }];
  });
  if (keys.length === lines.length && keys.length <= KEYS_MAX) return keys;
  const message = `${path} is not a key file of ours.`;
  return fault('SUB_VAULT_KEY', message, 'Put the key file back that belongs to vault.db.');
}

function writeLines(home: string, lines: readonly KeyLine[]): void {
  const text = lines.map(({ id, key }) => `subluminal-vault-key-1 ${id} ${key}\n`).join('');
  writePrivateFile(keyFilePath(home), text);
}
