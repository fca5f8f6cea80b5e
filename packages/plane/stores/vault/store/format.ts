// The file of the store: a line with its version, a line about its key, a line for each entry, and
// a line that authenticates all bytes before it. Names and times are readable, values are not; no
// entry can be changed, removed, added, or put back to an older state within the file.
import { timingSafeEqual } from 'node:crypto';
import {
  type Kdf,
  type Keys,
  macOf,
  NONCE_BYTES,
  SALT_BYTES,
  type Sealed,
  seal,
  TAG_BYTES,
  unseal,
} from './cipher.ts';
import { fault, type VaultFault } from './fault.ts';

export type Protection = (typeof PROTECTIONS)[number];

export interface Header {
  readonly protection: Protection;
  readonly keyId: string;
  readonly storeId: string;
  /** Only where the key comes from a passphrase. */
  readonly kdf: Kdf | null;
  /** How often the file was written. */
  readonly generation: number;
}

export interface Entry extends Sealed {
  readonly name: string;
  readonly addedAt: string;
  readonly rotatedAt: string | null;
}

export interface Parsed {
  readonly kind: 'parsed';
  readonly header: Header;
  readonly entries: readonly Entry[];
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
export function parseFile(bytes: Buffer): Parsed | VaultFault {
  const first = bytes.subarray(0, bytes.indexOf('\n') + 1).toString('latin1');
  const [, version] = /^subluminal-vault (\d{1,6})\n$/.exec(first) ?? [];
  if (version === undefined) return damaged('its first line is not ours');
  if (Number(version) > VERSION) {
    const message = `the store of secrets has version ${version}; this \`sub\` reads ${VERSION}.`;
    return fault('SUB_VAULT_NEWER', message, 'Use the `sub` that wrote it. The file is unchanged.');
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

export function damaged(what: string): VaultFault {
  const fix = 'Put a copy back that is whole; nothing was changed by this command.';
  return fault('SUB_VAULT_DAMAGED', `the store of secrets is damaged (${what}).`, fix);
}

/** Whether every byte is as the holder of the key has written it. */
export function isGenuine({ body, mac }: Parsed, keys: Keys): boolean {
  return timingSafeEqual(macOf(body, keys), mac);
}

export function renderFile(header: Header, entries: readonly Entry[], keys: Keys): Buffer {
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

type Facts = Omit<Entry, keyof Sealed>;

/** What an entry is bound to: its value opens in its own place alone. */
function bound({ storeId, keyId }: Header, { name, addedAt, rotatedAt }: Facts): string {
  return JSON.stringify([MAGIC, VERSION, storeId, keyId, name, addedAt, rotatedAt]);
}

interface Opening {
  readonly header: Header;
  readonly keys: Keys;
}

export function sealEntry(facts: Facts, value: string, { header, keys }: Opening): Entry {
  return { ...facts, ...seal(value, keys, bound(header, facts)) };
}

export function openEntry(entry: Entry, { header, keys }: Opening): string | undefined {
  return unseal(entry, keys, bound(header, entry));
}

function parsed(line: string): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function readHeader(line: { readonly [key: string]: unknown }): Header | undefined {
  const { key_id: keyId, store_id: storeId, generation } = line;
  const protection = PROTECTIONS.find((one) => one === line['protection']);
  const kdf = readKdf(line['kdf']);
  if (protection === undefined || kdf === undefined) return undefined;
  if ((protection === 'passphrase') !== (kdf !== null)) return undefined;
  if (typeof keyId !== 'string' || !ID.test(keyId)) return undefined;
  if (typeof storeId !== 'string' || !ID.test(storeId)) return undefined;
  if (typeof generation !== 'number' || !Number.isSafeInteger(generation)) return undefined;
  return { protection, keyId, storeId, kdf, generation };
}

/** Its bounds are checked before anything is computed: the file could ask for any amount of work. */
function readKdf(value: unknown): Kdf | null | undefined {
  if (value === null) return null;
  const { name, n, r, p, salt } = parsed(JSON.stringify(value ?? {}));
  const bytes = bytesOf(salt);
  if (name !== 'scrypt' || bytes?.length !== SALT_BYTES) return undefined;
  if (typeof n !== 'number' || n < SCRYPT_N_MIN || n > SCRYPT_N_MAX) return undefined;
  if (!Number.isInteger(Math.log2(n)) || !isCount(r, SCRYPT_R_MAX)) return undefined;
  return isCount(p, SCRYPT_P_MAX) ? { n, r, p, salt: bytes } : undefined;
}

function isCount(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max;
}

function readEntry(line: { readonly [key: string]: unknown }): Entry | undefined {
  const { name, added_at: addedAt, rotated_at: rotatedAt } = line;
  const [nonce, data] = [bytesOf(line['nonce']), bytesOf(line['data'])];
  if (typeof name !== 'string' || !isSecretName(name)) return undefined;
  if (typeof addedAt !== 'string' || !TIME.test(addedAt)) return undefined;
  if (rotatedAt !== null && (typeof rotatedAt !== 'string' || !TIME.test(rotatedAt))) {
    return undefined;
  }
  if (nonce?.length !== NONCE_BYTES || data === undefined) return undefined;
  if (data.length <= TAG_BYTES || data.length > VALUE_BYTES_MAX + TAG_BYTES) return undefined;
  return { name, addedAt, rotatedAt, nonce, data };
}

function bytesOf(text: unknown): Buffer | undefined {
  return typeof text === 'string' ? Buffer.from(text, 'base64') : undefined;
}
