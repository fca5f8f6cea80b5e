// Who holds the other end of a loopback connection. Linux tells it in /proc; other systems do not.
import { isIPv4, type Socket } from 'node:net';
import { endianness } from 'node:os';
import type { System } from './system.ts';

/** Both ends of a connection by IPv4, as a socket has them. */
export type ConnectionEnds = Pick<
  Socket,
  'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'
>;

export interface PeerSocket {
  /** -1 when nobody holds it any more. */
  readonly uid: number;
  readonly inode: string;
}

/** A connection by IPv4 stands in the second one when its socket is for both kinds of addresses. */
const TABLES = [
  ['/proc/net/tcp', ''],
  ['/proc/net/tcp6', '0000000000000000FFFF0000'],
] as const;
const NO_INODE = '0';
const NOBODY: PeerSocket = { uid: -1, inode: NO_INODE };
/** A table that changes while it is read may lack a row. */
const READS_MAX = 2;

/**
 * The row of the table of connections that has our two ends, seen from the other side, in any state: a client may
 * have closed its half. Undefined where there is no table.
 */
export function peerSocket(connection: ConnectionEnds, system: System): PeerSocket | undefined {
  const { remoteAddress, remotePort, localAddress, localPort } = connection;
  const from = endHex(remoteAddress, remotePort);
  const to = endHex(localAddress, localPort);
  let isTold = false;
  for (let reads = 0; reads < READS_MAX; reads++) {
    for (const [table, prefix] of TABLES) {
      const text = system.readFile(table);
      isTold ||= text !== undefined;
      const row = text
        ?.split('\n')
        .find((line) => line.includes(` ${prefix}${from} ${prefix}${to} `));
      // `sl local remote st queues timer retransmits uid timeout inode`
      const [, , , , , , , uid, , inode = NO_INODE] = row?.trim().split(/\s+/) ?? [];
      // The system gives what no process holds to its first user.
      if (inode !== NO_INODE) return { uid: Number(uid), inode };
    }
  }
  return isTold ? NOBODY : undefined;
}

/**
 * Whether somebody else holds the other end. Not the first user, who may do everything anyway, and in whose name relays
 * of the system work. False where the system does not tell.
 */
export function isOtherUsers(connection: ConnectionEnds, system: System): boolean {
  const ownId = process.getuid?.();
  if (ownId === undefined || !isIPv4(connection.remoteAddress ?? '')) return false;
  const peer = peerSocket(connection, system);
  return peer !== undefined && peer.uid !== ownId && peer.uid !== 0;
}

/** An address of IPv4 and a port as the tables have them: as numbers of this machine. */
function endHex(address = '', port = 0): string {
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  const ordered = endianness() === 'LE' ? bytes.toReversed() : bytes;
  return `${ordered.join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

/** Whether a process has this socket open; undefined when it lets nobody look. */
export function holdsSocket(pid: number, inode: string, system: System): boolean | undefined {
  const folder = `/proc/${pid}/fd`;
  const link = `socket:[${inode}]`;
  // The youngest are the last.
  return system
    .names?.(folder)
    ?.toReversed()
    .some((name) => system.link?.(`${folder}/${name}`) === link);
}
