// Our own stdin and stdout. Pipes and sockets are opened as bare sockets, which spares the start-up
// cost of `process.stdin` and `process.stdout`; for files and terminals those two know the details.
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

export interface AgentEnds {
  readonly input: Readable;
  readonly output: Writable;
}

/** The agent's side of the session. To be called once in a process. */
export function openAgentEnds(): AgentEnds {
  return {
    input: isPipe(0) ? new Socket({ fd: 0, readable: true, writable: false }) : process.stdin,
    output: isPipe(1) ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout,
  };
}

function isPipe(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}
