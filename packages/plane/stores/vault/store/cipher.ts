// Keys and ciphers of the store. One random or stretched master key gives two: one for the entries,
// one for the file as a whole, and an id by which a wrong key is told from a damaged file.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  scrypt,
} from 'node:crypto';

export interface Keys {
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

export interface Sealed {
  readonly nonce: Buffer;
  /** The ciphertext and its tag. */
  readonly data: Buffer;
}

export const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
export const SALT_BYTES = 16;
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
export function deriveKeys(master: Buffer): Keys {
  const part = (name: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), PURPOSE + name, bytes));
  const id = part('id', KEY_BYTES / 2).toString('hex');
  const keys = { id, entries: part('entries', KEY_BYTES), file: part('file', KEY_BYTES) };
  master.fill(0);
  return keys;
}

/** The memory of these buffers; copies that the engine may have made are beyond our reach. */
export function wipe({ entries, file }: Keys): void {
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

/** Encrypts one value; `bound` is what it belongs to, and opens with that alone. */
export function seal(value: string, { entries }: Keys, bound: string): Sealed {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, entries, nonce);
  cipher.setAAD(Buffer.from(bound));
  const plain = Buffer.from(value);
  const data = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  plain.fill(0);
  return { nonce, data };
}

/** Undefined when the value was changed, or belongs to something else. */
export function unseal(
  { nonce, data }: Sealed,
  { entries }: Keys,
  bound: string,
): string | undefined {
  const decipher = createDecipheriv(CIPHER, entries, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(data.subarray(data.length - TAG_BYTES));
  try {
    const plain = Buffer.concat([
      decipher.update(data.subarray(0, data.length - TAG_BYTES)),
      decipher.final(),
    ]);
    const value = plain.toString('utf8');
    plain.fill(0);
    return value;
  } catch {
    return undefined;
  }
}

export function macOf(body: Uint8Array, { file }: Keys): Buffer {
  return createHmac('sha256', file).update(body).digest();
}
