// The process on the other side of a loopback connection: whose it is, and where it works. Linux tells it in
// /proc; other systems do not, and then nothing is known.
import {
  attempt,
  type ConnectionEnds,
  holdsSocket,
  peerSocket,
  processInfo,
  type System,
  thisSystem,
} from '@subluminal/plane/os';
import { type RunEnv, runOfProcess } from '@subluminal/plane/runs/agent-file';

export interface PeerProcess {
  /** The user of the connection; undefined where the system does not tell, -1 where nobody holds it any more. */
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
const PROCESSES_MAX = 20_000;

/** Who is at the other end of this connection. Never throws. */
export function peerProcess(connection: ConnectionEnds, home: string): PeerProcess {
  const system = thisSystem();
  if (system.platform !== 'linux') return UNKNOWN;
  const socket = peerSocket(connection, system);
  if (socket === undefined) return UNKNOWN;
  const { uid } = socket;
  // The files of other users' processes are closed to us.
  const pid = uid === process.getuid?.() ? ownerOf(socket.inode, system) : undefined;
  if (pid === undefined) return { ...UNKNOWN, uid };
  const cwd = system.link?.(`/proc/${pid}/cwd`);
  const places = { HOME: process.env['HOME'], SUB_HOME: home };
  const hostRun = attempt(() => runOfProcess(pid, places));
  return { uid, pid, start: processInfo(pid, system)?.start, cwd, hostRun };
}

/** The newest processes first: an agent that connects was started lately. */
function ownerOf(inode: string, system: System): number | undefined {
  const pids = system.pids?.() ?? [];
  return pids
    .toSorted((a, b) => b - a)
    .slice(0, PROCESSES_MAX)
    .find((pid) => holdsSocket(pid, inode, system) === true);
}
