// Whether everything that had reached the sockets was read. The kernel cannot be asked how much it
// holds; but what it holds is handed out with each turn of the event loop.
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

export interface Readable {
  readonly bytesRead: number;
  readonly isPaused: boolean;
}

/** Two turns: connections that wait are accepted in one, and read from in the next. */
const TURNS = 2;
/** More than the kernel holds for one connection: who sends without end has sent it all before. */
const KERNEL_BYTES_MAX = 8 * 1024 * 1024;
/** One that waits for room may wait for long: for a disk that is full. */
const PAUSED_MS = 5;

/** Resolves when what was readable from all of them at the call has been read. */
export async function allRead(peers: () => Iterable<Readable>): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  const open = new Map<Readable, { from: number; last: number; quiet: number }>();
  for (const peer of peers()) {
    open.set(peer, { from: peer.bytesRead, last: peer.bytesRead, quiet: 0 });
  }
  while (open.size > 0) {
    const isHeldUp = [...open.keys()].every(({ isPaused }) => isPaused);
    await (isHeldUp ? pause(PAUSED_MS) : nextTurn());
    for (const [peer, seen] of open) {
      const isQuiet = peer.bytesRead === seen.last && !peer.isPaused;
      seen.quiet = isQuiet ? seen.quiet + 1 : 0;
      seen.last = peer.bytesRead;
      if (seen.quiet >= TURNS || peer.bytesRead - seen.from > KERNEL_BYTES_MAX) open.delete(peer);
    }
  }
}
