// The process on the other side of a loopback connection: whose it is, and where it works. Linux tells it in
// /proc; other systems do not, and then nothing is known.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { attempt, processInfo } from '@subluminal/plane/os';
import { type RunEnv, runOfProcess } from '@subluminal/plane/runs/agent-file';

export interface PeerProcess {
  /** The user of the connection; undefined where the system does not tell. */
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
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
const ESTABLISHED = '01';
const PROCESSES_MAX = 20_000;

interface PeerSocket {
  readonly uid: number;
  readonly inode: string;
}

/** Who is at the other end of this connection. Never throws. */
export function peerProcess({ remotePort, localPort }: Socket, home: string): PeerProcess {
  if (process.platform !== 'linux' || remotePort === undefined || localPort === undefined) {
    return UNKNOWN;
  }
  const socket = peerSocket(remotePort, localPort);
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

/** The row of the table of connections that has our two ports, seen from the other side. */
function peerSocket(ownPort: number, toPort: number): PeerSocket | undefined {
  const [from, to] = [portHex(ownPort), portHex(toPort)];
  for (const table of TABLES) {
    const text = attempt(() => readFileSync(table, 'latin1')) ?? '';
    for (const line of text.split('\n')) {
      const [, local = '', remote = '', state, , , , uid, , inode = ''] = line.trim().split(/\s+/);
      if (state !== ESTABLISHED || !local.endsWith(from) || !remote.endsWith(to)) continue;
      return { uid: Number(uid), inode };
    }
  }
  return undefined;
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
