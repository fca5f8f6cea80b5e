// What a run prints while its agent has the terminal.
import { write } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const STDOUT = 1;
/** Until a pipe that was full is tried again. */
const FULL_MS = 20;

/**
 * False when the reader is gone. Not by `process.stdout`: the agent shares it and may have made it
 * blocking, and a reader that is slow must not hold up the hub.
 */
export async function print(bytes: Uint8Array): Promise<boolean> {
  for (let rest = bytes; rest.length > 0; ) {
    const written = await writeSome(rest);
    if (written === 'gone') return false;
    if (written === 0) await pause(FULL_MS);
    rest = rest.subarray(written);
  }
  return true;
}

function writeSome(bytes: Uint8Array): Promise<number | 'gone'> {
  return new Promise((answer) => {
    write(STDOUT, bytes, (cause, written) => {
      if (cause === null) answer(written);
      else answer(cause.code === 'EAGAIN' ? 0 : 'gone');
    });
  });
}

/** A reader that goes away ends the printing, not the agent. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => undefined);
  }
}
