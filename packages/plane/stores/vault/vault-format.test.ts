import { isFailure } from '@subluminal/contracts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  deriveKeys,
  isGenuine,
  isSecretName,
  newKdf,
  newMaster,
  openEntry,
  parseVault,
  renderVault,
  sealEntry,
  type VaultEntry,
  type VaultHeader,
  type VaultKeys,
} from './vault-format.ts';

const TIME = '2026-11-16T05:46:32.157Z';

function headerFor(keys: VaultKeys): VaultHeader {
  return { protection: 'file', keyId: keys.id, storeId: 'ab'.repeat(16), kdf: null, generation: 1 };
}

function made(values: { readonly [name: string]: string }) {
  const keys = deriveKeys(newMaster());
  const header = headerFor(keys);
  const entries = Object.entries(values).map(([name, value]) =>
    sealEntry({ name, addedAt: TIME, rotatedAt: null }, value, { header, keys }),
  );
  return { keys, header, entries, bytes: renderVault(header, entries, keys) };
}

/** The entries, if every byte is believed. */
function believed(bytes: Buffer, keys: VaultKeys): readonly VaultEntry[] | undefined {
  const file = parseVault(bytes);
  return isFailure(file) || !isGenuine(file, keys) ? undefined : file.entries;
}

describe('the file of the store', () => {
  it('gives back what was put in, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string({ minLength: 1 }).filter(isSecretName),
          fc.string({ unit: 'grapheme', minLength: 1 }),
          { noNullPrototype: true },
        ),
        (values) => {
          const { keys, header, bytes } = made(values);
          const entries = believed(bytes, keys) ?? [];
          const read = entries.map((entry) => [entry.name, openEntry(entry, { header, keys })]);
          expect(read).toEqual(Object.entries(values));
        },
      ),
    );
  });

  it('is not believed with any one byte changed, in whatever way', () => {
    const { keys, bytes } = made({ a: 'first value', b: 'second value' });
    expect(believed(bytes, keys)).toHaveLength(2);
    const flips = [0x01, 0x02, 0x20, 0x80, 0xff];
    const accepted = [...bytes.keys()].flatMap((at) =>
      flips.filter((flip) => {
        const other = Buffer.from(bytes);
        other[at] = (other[at] ?? 0) ^ flip;
        return believed(other, keys) !== undefined;
      }),
    );
    expect(accepted).toEqual([]);
  });

  it('is not believed with any bytes cut out or put in', () => {
    const { keys, bytes } = made({ a: 'first value', b: 'second value' });
    const place = fc.nat(bytes.length - 1);
    fc.assert(
      fc.property(place, fc.integer({ min: 1, max: 400 }), fc.uint8Array(), (at, length, put) => {
        const other = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + length)]);
        expect(believed(other, keys) === undefined || other.equals(bytes)).toBe(true);
      }),
    );
    for (let length = 0; length < bytes.length; length++) {
      expect(believed(bytes.subarray(0, length), keys)).toBeUndefined();
    }
  });

  it('is not believed without one of its entries, with one twice, or in another order', () => {
    const { keys, bytes } = made({ a: 'first value', b: 'second value', c: 'third value' });
    const [magic, about, a, b, c, mac] = bytes.toString().split('\n');
    const orders = [[a, b], [b, c], [a, a, b, c], [b, a, c], []];
    for (const order of orders) {
      const text = `${[magic, about, ...order, mac].join('\n')}\n`;
      expect(believed(Buffer.from(text), keys)).toBeUndefined();
    }
  });

  it('is not believed with an entry of an earlier state of itself', () => {
    const before = made({ a: 'old value' });
    const { keys, header } = before;
    const facts = { name: 'a', addedAt: TIME, rotatedAt: TIME };
    const now = sealEntry(facts, 'new value', { header, keys });
    const after = renderVault({ ...header, generation: 2 }, [now], keys)
      .toString()
      .split('\n');
    after[2] = before.bytes.toString().split('\n')[2] ?? '';
    expect(believed(Buffer.from(after.join('\n')), keys)).toBeUndefined();
  });

  it('is not believed under another key', () => {
    const { bytes } = made({ a: 'first value' });
    expect(believed(bytes, deriveKeys(newMaster()))).toBeUndefined();
  });

  it('uses no nonce twice, and shows no value', () => {
    const { entries, bytes } = made({ a: 'the same value', b: 'the same value' });
    const [first, second] = entries;
    expect(first?.nonce.equals(second?.nonce ?? Buffer.alloc(12))).toBe(false);
    expect(first?.data.equals(second?.data ?? Buffer.alloc(0))).toBe(false);
    for (const shape of ['the same value', Buffer.from('the same value').toString('base64')]) {
      expect(bytes.toString()).not.toContain(shape);
    }
  });
});

describe('an entry', () => {
  it('opens in its own place alone', () => {
    const { keys, header, entries } = made({ a: 'first value' });
    const [entry] = entries;
    if (entry === undefined) throw new Error('no entry');
    const opening = { header, keys };
    expect(openEntry(entry, opening)).toBe('first value');
    expect(openEntry({ ...entry, name: 'b' }, opening)).toBeUndefined();
    expect(openEntry({ ...entry, rotatedAt: TIME }, opening)).toBeUndefined();
    const elsewhere = { header: { ...header, storeId: 'cd'.repeat(16) }, keys };
    expect(openEntry(entry, elsewhere)).toBeUndefined();
  });
});

describe('what a file says of its key', () => {
  const about = (kdf: object, protection = 'passphrase') => {
    const line = { protection, key_id: 'ab'.repeat(16), store_id: 'cd'.repeat(16), kdf };
    const text = `subluminal-vault 1\n${JSON.stringify({ ...line, generation: 1 })}\n`;
    return parseVault(Buffer.from(`${text}mac ${'0'.repeat(64)}\n`));
  };
  const kdf = { name: 'scrypt', ...newKdf(), salt: newKdf().salt.toString('base64') };

  it('is read when it asks for a bearable amount of work', () => {
    expect(about(kdf)).toMatchObject({ kind: 'parsed', header: { kdf: { n: 131_072 } } });
  });

  it.each([
    ['too much work', { n: 2 ** 30 }],
    ['too little work', { n: 2 }],
    ['no power of two', { n: 131_071 }],
    ['too much memory', { r: 4_096 }],
    ['too many rounds', { p: 1_000_000 }],
    ['another function', { name: 'md5' }],
    ['a short salt', { salt: 'AAAA' }],
    ['a number that is none', { n: '131072' }],
  ])('is refused before anything is computed: %s', (_, wrong) => {
    expect(about({ ...kdf, ...wrong })).toMatchObject({ code: 'SUB_VAULT_DAMAGED' });
  });

  it('is refused where a key file would have a salt', () => {
    expect(about(kdf, 'file')).toMatchObject({ code: 'SUB_VAULT_DAMAGED' });
  });

  it('of a newer version is told as such', () => {
    const file = parseVault(Buffer.from('subluminal-vault 2\nsomething else'));
    expect(file).toMatchObject({ code: 'SUB_VAULT_NEWER' });
  });

  it('is damaged where it is any other text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(parseVault(Buffer.from(bytes))).toMatchObject({ code: 'SUB_VAULT_DAMAGED' });
      }),
    );
  });
});
