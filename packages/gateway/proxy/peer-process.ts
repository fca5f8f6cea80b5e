// The process on the other side of a loopback connection: whose it is, and where it works. Linux tells it in
// /proc; other systems do not, and then nothing is known.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import { attempt, processInfo } from '@subluminal/plane/os';
import { type RunEnv, runOfProcess } from '@subluminal/plane/runs/agent-file';

export interface PeerProcess {
  /** The user of the connection; undefined where the system does not tell, `NOBODY` where nobody holds it any more. */
  readonly uid: number | undefined;
  readonly pid: number | undefined;
  /** Differs between two processes that had the same pid. */
  readonly start: string | undefined;
  /** The folder that it works in. */
  readonly cwd: string | undefined;
  /** The variables of the run that it was started in. */
  readonly hostRun: RunEnv | undefined;
}

const UNKNOWN: PeerProcess = {
  uid: undefined,
  pid: undefined,
  start: undefined,
  cwd: undefined,
  hostRun: undefined,
};
const NOBODY = -1;
/** A connection by IPv4 stands in the second one when its socket is for both kinds of addresses. */
const TABLES = [
  ['/proc/net/tcp', ''],
  ['/proc/net/tcp6', '0000000000000000FFFF0000'],
] as const;
const NO_INODE = '0';
/** A table that changes while it is read may lack a row. */
const READS_MAX = 2;
const PROCESSES_MAX = 20_000;

interface PeerSocket {
  readonly uid: number;
  readonly inode: string;
}

type ConnectionEnds = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** Who is at the other end of this connection. Never throws. */
export function peerProcess(connection: ConnectionEnds, home: string): PeerProcess {
  if (process.platform !== 'linux') return UNKNOWN;
  const socket = peerSocket(connection);
  if (socket === undefined) return UNKNOWN;
  const { uid } = socket;
  // The files of other users' processes are closed to us.
  const pid = uid === process.getuid?.() ? ownerOf(socket.inode) : undefined;
  if (pid === undefined) return { ...UNKNOWN, uid };
  const cwd = attempt(() => readlinkSync(`/proc/${pid}/cwd`));
  const places = { HOME: process.env['HOME'], SUB_HOME: home };
  const hostRun = attempt(() => runOfProcess(pid, places));
  return { uid, pid, start: processInfo(pid)?.start, cwd, hostRun };
}

/**
 * The row of the table of connections that has our two ends, seen from the other side, in any state: a client may
 * have closed its half. Undefined where there is no table.
 */
function peerSocket(connection: ConnectionEnds): PeerSocket | undefined {
  const { remoteAddress, remotePort, localAddress, localPort } = connection;
  const from = endHex(remoteAddress, remotePort);
  const to = endHex(localAddress, localPort);
  let isTold = false;
  for (let reads = 0; reads < READS_MAX; reads++) {
    for (const [table, prefix] of TABLES) {
      const text = attempt(() => readFileSync(table, 'latin1'));
      isTold ||= text !== undefined;
      const row = text
        ?.split('\n')
        .find((line) => line.includes(` ${prefix}${from} ${prefix}${to} `));
      const [, , , , , , , uid, , inode = NO_INODE] = row?.trim().split(/\s+/) ?? [];
      // The system gives what no process holds to its first user.
      if (inode !== NO_INODE) return { uid: Number(uid), inode };
    }
  }
  return isTold ? { uid: NOBODY, inode: NO_INODE } : undefined;
}

/** An address of IPv4 and a port as the tables have them: as numbers of this machine. */
function endHex(address = '', port = 0): string {
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  const ordered = endianness() === 'LE' ? bytes.toReversed() : bytes;
  return `${ordered.join('').toUpperCase()}${portHex(port)}`;
}

function portHex(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The newest processes first: an agent that connects was started lately. */
function ownerOf(inode: string): number | undefined {
  const names = attempt(() => readdirSync('/proc')) ?? [];
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const wanted = `socket:[${inode}]`;
  return pids
    .toSorted((a, b) => b - a)
    .slice(0, PROCESSES_MAX)
    .find((pid) => holdsFile(pid, wanted));
}

function holdsFile(pid: number, wanted: string): boolean {
  const folder = `/proc/${pid}/fd`;
  const files = attempt(() => readdirSync(folder)) ?? [];
  return files.some((file) => attempt(() => readlinkSync(`${folder}/${file}`)) === wanted);
}
