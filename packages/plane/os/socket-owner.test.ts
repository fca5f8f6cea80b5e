// The other end of a connection, in tables as Linux writes them.
import { endianness } from 'node:os';
import { expect, test } from 'vitest';
import { isOtherUsers, peerSocket } from './socket-owner.ts';
import { thisSystem } from './system.ts';

const OURS = endianness() === 'LE' ? '0100007F' : '7F000001';
const OURS_6 = `${'0'.repeat(24)}${endianness() === 'LE' ? '01000000' : '00000001'}`;
const MAPPED = '0000000000000000FFFF0000';
const ENDS = {
  remoteAddress: '127.0.0.1',
  remotePort: 40_000,
  localAddress: '127.0.0.1',
  localPort: 80,
};

function row(inode: number, address = OURS): string {
  const rest = '01 00000000:00000000 00:00000000 00000000  1000        0';
  return `   0: ${address}:9C40 ${address}:0050 ${rest} ${inode} 1 x\n`;
}

/** Each reading of a table takes the next of its texts; the last one stays. */
function peerIn(tables: { readonly [name: string]: readonly string[] }) {
  const reads = new Map<string, number>();
  const readFile = (path: string): string | undefined => {
    const name = path.replace('/proc/net/', '');
    const at = reads.get(name) ?? 0;
    reads.set(name, at + 1);
    return tables[name]?.[at] ?? tables[name]?.at(-1);
  };
  return peerSocket(ENDS, { ...thisSystem(), readFile });
}

test.each<[string, Parameters<typeof peerIn>[0], object]>([
  ['by IPv4', { tcp: [row(7)] }, { uid: 1000, inode: '7' }],
  ['by a socket for both', { tcp: [''], tcp6: [row(8, MAPPED + OURS)] }, { inode: '8' }],
  ['in the second reading', { tcp: ['', row(9)] }, { inode: '9' }],
  [
    'behind one that nobody holds',
    { tcp: [row(0)], tcp6: [row(6, MAPPED + OURS)] },
    { inode: '6' },
  ],
  ['which nobody holds', { tcp: [row(0)] }, { uid: -1 }],
  ['from our own side', { tcp: [row(7).replace(':9C40', ':0050')] }, { uid: -1 }],
  ['with other addresses', { tcp: [row(7, OURS.replace('01', '02'))] }, { uid: -1 }],
])('a connection %s has this peer', (_, tables, peer) => {
  expect(peerIn(tables)).toMatchObject(peer);
});

test('where there are no tables, nothing is known', () => {
  expect(peerIn({})).toBeUndefined();
});

test('somebody else is a user with another id, unless it is the first or nobody tells', () => {
  const isForeign = (uid: number | undefined, ends = ENDS) => {
    const text = uid === undefined ? undefined : row(7).replace('  1000 ', `  ${uid} `);
    const tables = { '/proc/net/tcp': text, '/proc/net/tcp6': text?.replaceAll(OURS, OURS_6) };
    const readFile = (path: string) => tables[path as keyof typeof tables];
    return isOtherUsers(ends, { ...thisSystem(), readFile });
  };
  const own = process.getuid?.() ?? 0;
  expect(isForeign(own)).toBe(false);
  expect(isForeign(0)).toBe(false);
  expect(isForeign(own + 1)).toBe(true);
  expect(isForeign(undefined)).toBe(false);
  const ends6 = { ...ENDS, remoteAddress: '::1', localAddress: '::1' };
  expect([isForeign(own + 1, ends6), isForeign(own, ends6)]).toEqual([true, false]);
  // Whoever has let go of the connection wants no answer.
  expect(isForeign(own, { ...ENDS, remotePort: 40_001 })).toBe(true);
});
