// Who holds the other end of a loopback connection. Linux tells it in /proc; other systems do not.
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import type { System } from './system.ts';

/** Both ends of a connection, as a socket has them. */
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
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
const MAPPED = '0000000000000000FFFF0000';
const LOOPBACK_6 = '::1';
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
  const wanted = [` ${from} ${to} `, ` ${MAPPED}${from} ${MAPPED}${to} `];
  let isTold = false;
  for (let reads = 0; reads < READS_MAX; reads++) {
    for (const table of TABLES) {
      const text = system.readFile(table);
      isTold ||= text !== undefined;
      const row = text?.split('\n').find((line) => wanted.some((ends) => line.includes(ends)));
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
  if (ownId === undefined) return false;
  const peer = peerSocket(connection, system);
  return peer !== undefined && peer.uid !== ownId && peer.uid !== 0;
}

/** Whether no process holds the other end any more. */
export function isLetGo({ inode }: PeerSocket): boolean {
  return inode === NO_INODE;
}

/** An address of IPv4, or the loopback of IPv6, and a port as the tables have them: as numbers of this machine. */
function endHex(address = '', port = 0): string {
  const [zeros, quad] = address === LOOPBACK_6 ? ['0'.repeat(24), '0.0.0.1'] : ['', address];
  const bytes = quad.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  const ordered = endianness() === 'LE' ? bytes.toReversed() : bytes;
  return `${zeros}${ordered.join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
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

/**
 * The process that has a socket open. Where none shows it, those of its user that let nobody look: one of them has it.
 */
export function socketHolders({ uid, inode }: PeerSocket, system: System): readonly number[] {
  const hidden: number[] = [];
  // Whoever asks has mostly just begun.
  for (const pid of system.pids?.().toReversed() ?? []) {
    const holds = holdsSocket(pid, inode, system);
    if (holds === true) return [pid];
    if (holds === undefined) hidden.push(pid);
  }
  return hidden.filter((pid) => userOf(pid, system) === uid);
}

/** The user id that a process has for files and sockets; also of one that lets nobody look. */
function userOf(pid: number, system: System): number {
  const status = system.readFile(`/proc/${pid}/status`) ?? '';
  return Number(/^Uid:(?:\s+\d+){3}\s+(\d+)$/m.exec(status)?.[1]);
}
