// Which process holds the other end of a connection on this machine. Linux tells; elsewhere nobody is asked.
import type { System } from './system.ts';

/** Of a connection on this machine, as a socket has them. */
export interface ConnectionPorts {
  readonly remotePort?: number | undefined;
  readonly localPort?: number | undefined;
}

/** The inode of the socket at the other end; undefined when the system does not show it. */
export function peerInode(
  { remotePort, localPort }: ConnectionPorts,
  system: System,
): string | undefined {
  if (remotePort === undefined || localPort === undefined) return undefined;
  const ends = `:${hexPort(remotePort)} [0-9A-F]{8,32}:${hexPort(localPort)} `;
  // `sl local remote st queues timer retransmits uid timeout inode`
  const line = new RegExp(`^ *\\d+: [0-9A-F]{8,32}${ends}(?:\\S+ +){6}(\\d+) `, 'm');
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const inode = line.exec(system.readFile(table) ?? '')?.[1];
    if (inode !== undefined) return inode;
  }
  return undefined;
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
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
