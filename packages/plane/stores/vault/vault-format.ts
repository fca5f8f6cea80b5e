// The file of the store: a line with its version, a line about its key, a line for each entry, and
// a line that authenticates all bytes before it. Names and times are readable, values are not; no
// entry can be changed, removed, added, or put back to an older state within the file.

import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { type Failure, failure, isObject } from '@subluminal/contracts';
import { attempt, parseJson } from '../../os/index.ts';

export type Protection = (typeof PROTECTIONS)[number];

export interface VaultHeader {
  readonly protection: Protection;
  readonly keyId: string;
  readonly storeId: string;
  /** Only where the key comes from a passphrase. */
  readonly kdf: Kdf | null;
  /** How often the file was written. */
  readonly generation: number;
}

export interface VaultEntry {
  readonly name: string;
  readonly addedAt: string;
  readonly rotatedAt: string | null;
  readonly nonce: Buffer;
  /** The ciphertext and its tag. */
  readonly data: Buffer;
}

export interface ParsedVault {
  readonly kind: 'parsed';
  readonly header: VaultHeader;
  readonly entries: readonly VaultEntry[];
  readonly body: Buffer;
  readonly mac: Buffer;
}

export const PROTECTIONS = ['keychain', 'passphrase', 'file'] as const;
const MAGIC = 'subluminal-vault ';
const VERSION = 1;
const MAC_LINE = /^mac ([0-9a-f]{64})\n$/;
const MAC_LINE_BYTES = 69;
export const FILE_BYTES_MAX = 16_777_216;
export const ENTRIES_MAX = 1_024;
export const VALUE_BYTES_MAX = 65_536;
const NAME_LENGTH_MAX = 128;
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ID = /^[0-9a-f]{32}$/;
/** Below, guessing is cheap; above, opening is a burden of its own. */
export const SCRYPT_N_MIN = 16_384;
const SCRYPT_N_MAX = 1_048_576;
const SCRYPT_R_MAX = 16;
const SCRYPT_P_MAX = 4;

export function isSecretName(name: string): boolean {
  return name.length <= NAME_LENGTH_MAX && NAME.test(name);
}

/** Reads the form alone; nothing of it is to be trusted before `isGenuine`. */
export function parseVault(bytes: Buffer): ParsedVault | Failure {
  const first = bytes.subarray(0, bytes.indexOf('\n') + 1).toString('latin1');
  const [, version] = /^subluminal-vault (\d{1,6})\n$/.exec(first) ?? [];
  if (version === undefined) return damaged('its first line is not ours');
  if (Number(version) > VERSION) {
    const message = `the store of secrets has version ${version}; this \`sub\` reads ${VERSION}.`;
    const fix = 'Use the `sub` that wrote it. The file is unchanged.';
    return failure('SUB_VAULT_NEWER', message, fix);
  }
  if (first !== `${MAGIC}${VERSION}\n`) return damaged('its first line is not ours');
  const bodyBytes = bytes.length - MAC_LINE_BYTES;
  const [, mac] = MAC_LINE.exec(bytes.subarray(Math.max(0, bodyBytes)).toString('latin1')) ?? [];
  if (mac === undefined) return damaged('its end is missing');
  const body = bytes.subarray(0, bodyBytes);
  const lines = body.toString('utf8').split('\n');
  // Behind the last line break there is nothing.
  const [, about = '', ...rest] = lines.slice(0, -1);
  const header = readHeader(parsed(about));
  if (header === undefined || lines.at(-1) !== '') return damaged('what it says of its key');
  const entries = rest.map((line) => readEntry(parsed(line)));
  if (!entries.every((entry) => entry !== undefined) || entries.length > ENTRIES_MAX) {
    return damaged('one of its entries is not ours');
  }
  return { kind: 'parsed', header, entries, body, mac: Buffer.from(mac, 'hex') };
}

export function damaged(what: string): Failure {
  const fix = 'Put a copy back that is whole; nothing was changed by this command.';
  return failure('SUB_VAULT_DAMAGED', `the store of secrets is damaged (${what}).`, fix);
}

/** Whether every byte is as the holder of the key has written it. */
export function isGenuine({ body, mac }: ParsedVault, keys: VaultKeys): boolean {
  return timingSafeEqual(macOf(body, keys), mac);
}

export function renderVault(
  header: VaultHeader,
  entries: readonly VaultEntry[],
  keys: VaultKeys,
): Buffer {
  const { protection, keyId, storeId, kdf, generation } = header;
  const about = {
    protection,
    key_id: keyId,
    store_id: storeId,
    kdf: kdf && { name: 'scrypt', n: kdf.n, r: kdf.r, p: kdf.p, salt: kdf.salt.toString('base64') },
    generation,
  };
  const lines = entries.map(({ name, addedAt, rotatedAt, nonce, data }) => ({
    name,
    added_at: addedAt,
    rotated_at: rotatedAt,
    nonce: nonce.toString('base64'),
    data: data.toString('base64'),
  }));
  const text = [about, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
  const body = Buffer.from(`${MAGIC}${VERSION}\n${text}`);
  return Buffer.concat([body, Buffer.from(`mac ${macOf(body, keys).toString('hex')}\n`)]);
}

type EntryFacts = Pick<VaultEntry, 'name' | 'addedAt' | 'rotatedAt'>;

interface Opening {
  readonly header: VaultHeader;
  readonly keys: VaultKeys;
}

/** What an entry is bound to: its value opens in its own place alone. */
function entryBinding({ header }: Opening, { name, addedAt, rotatedAt }: EntryFacts): Buffer {
  const { storeId, keyId } = header;
  return Buffer.from(JSON.stringify([MAGIC, VERSION, storeId, keyId, name, addedAt, rotatedAt]));
}

export function sealEntry(facts: EntryFacts, value: string, opening: Opening): VaultEntry {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, opening.keys.entries, nonce);
  cipher.setAAD(entryBinding(opening, facts));
  const plain = Buffer.from(value);
  const data = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  plain.fill(0);
  return { ...facts, nonce, data };
}

/** Undefined when the value was changed, or belongs to something else. */
export function openEntry(entry: VaultEntry, opening: Opening): string | undefined {
  const { nonce, data } = entry;
  const { entries } = opening.keys;
  const decipher = createDecipheriv(CIPHER, entries, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(entryBinding(opening, entry));
  decipher.setAuthTag(data.subarray(-TAG_BYTES));
  return attempt(() => {
    const plain = Buffer.concat([decipher.update(data.subarray(0, -TAG_BYTES)), decipher.final()]);
    const value = plain.toString('utf8');
    plain.fill(0);
    return value;
  });
}

function parsed(line: string): { readonly [key: string]: unknown } {
  const value = parseJson(line);
  return isObject(value) ? value : {};
}

function readHeader(line: { readonly [key: string]: unknown }): VaultHeader | undefined {
  const { key_id: keyId, store_id: storeId, generation } = line;
  const protection = PROTECTIONS.find((one) => one === line['protection']);
  const kdf = readKdf(line['kdf']);
  if (protection === undefined || kdf === undefined) return undefined;
  if ((protection === 'passphrase') !== (kdf !== null)) return undefined;
  if (!matches(ID, keyId) || !matches(ID, storeId)) return undefined;
  if (typeof generation !== 'number' || !Number.isSafeInteger(generation)) return undefined;
  return { protection, keyId, storeId, kdf, generation };
}

/** Its bounds are checked before anything is computed: the file could ask for any amount of work. */
function readKdf(value: unknown): Kdf | null | undefined {
  if (value === null) return null;
  if (!isObject(value)) return undefined;
  const { name, n, r, p, salt } = value;
  const bytes = bytesOf(salt);
  if (name !== 'scrypt' || bytes?.length !== SALT_BYTES) return undefined;
  if (typeof n !== 'number' || n < SCRYPT_N_MIN || n > SCRYPT_N_MAX) return undefined;
  if (!Number.isInteger(Math.log2(n)) || !isCount(r, SCRYPT_R_MAX)) return undefined;
  return isCount(p, SCRYPT_P_MAX) ? { n, r, p, salt: bytes } : undefined;
}

function isCount(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max;
}

function readEntry(line: { readonly [key: string]: unknown }): VaultEntry | undefined {
  const { name, added_at: addedAt, rotated_at: rotatedAt } = line;
  const [nonce, data] = [bytesOf(line['nonce']), bytesOf(line['data'])];
  if (typeof name !== 'string' || !isSecretName(name)) return undefined;
  if (!matches(TIME, addedAt) || !(rotatedAt === null || matches(TIME, rotatedAt)))
    return undefined;
  if (nonce?.length !== NONCE_BYTES || data === undefined) return undefined;
  if (data.length <= TAG_BYTES || data.length > VALUE_BYTES_MAX + TAG_BYTES) return undefined;
  return { name, addedAt, rotatedAt, nonce, data };
}

function matches(form: RegExp, value: unknown): value is string {
  return typeof value === 'string' && form.test(value);
}

function bytesOf(text: unknown): Buffer | undefined {
  return typeof text === 'string' ? Buffer.from(text, 'base64') : undefined;
}

/**
 * One random or stretched master key gives two keys, for the entries and for the file as a whole, and
 * an id that tells a wrong key from a damaged file.
 */
export interface VaultKeys {
  readonly id: string;
  readonly entries: Buffer;
  readonly file: Buffer;
}

export interface Kdf {
  /** The cost of scrypt: a power of two. */
  readonly n: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
}

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SALT_BYTES = 16;
const SCRYPT_N = 131_072;
const SCRYPT_R = 8;
const SCRYPT_P = 1;
const CIPHER = 'aes-256-gcm';
const PURPOSE = 'subluminal vault 1: ';

export function newMaster(): Buffer {
  return randomBytes(KEY_BYTES);
}

export function newKdf(n = SCRYPT_N): Kdf {
  return { n, r: SCRYPT_R, p: SCRYPT_P, salt: randomBytes(SALT_BYTES) };
}

/** Wipes the master: what is made from it is all that is needed. */
export function deriveKeys(master: Buffer): VaultKeys {
  const part = (name: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), PURPOSE + name, bytes));
  const id = part('id', KEY_BYTES / 2).toString('hex');
  const keys = { id, entries: part('entries', KEY_BYTES), file: part('file', KEY_BYTES) };
  master.fill(0);
  return keys;
}

/** The memory of these buffers; copies that the engine may have made are beyond our reach. */
export function wipe({ entries, file }: VaultKeys): void {
  entries.fill(0);
  file.fill(0);
}

export function stretch(passphrase: string, { n, r, p, salt }: Kdf): Promise<Buffer> {
  // Twice what scrypt needs by its definition: Node counts more than that.
  const options = { N: n, r, p, maxmem: 256 * n * r };
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, options, (cause, key) => {
      if (cause === null) resolve(key);
      else reject(cause);
    });
  });
}

function macOf(body: Uint8Array, { file }: VaultKeys): Buffer {
  return createHmac('sha256', file).update(body).digest();
}
