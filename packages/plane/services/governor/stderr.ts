// Lines on stderr that never keep a call waiting: who reads there may not read at all.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Writes one line; false when there was no room for it. */
export type WriteLine = (line: string) => boolean;

const STDERR = '/proc/self/fd/2';
const WRITE = constants.O_WRONLY | constants.O_NONBLOCK;

/** Opened with the first line: most shims never have one. */
export function lazyStderr(): WriteLine {
  let write: WriteLine | undefined;
  return (line) => {
    write ??= openStderr();
    return write(line);
  };
}

/**
 * The same pipe, opened anew: a descriptor of our own may be told not to wait, while the server,
 * which has the old one too, never notices. All else is written to as it is; a socket, which
 * cannot be opened, then waits until somebody reads.
 */
function openStderr(): WriteLine {
  const fd = reopened();
  if (fd === undefined) return (line) => process.stderr.write(`${line}\n`);
  let isCut = false;
  return (line) => {
    try {
      const bytes = Buffer.from(isCut ? `\n${line}\n` : `${line}\n`);
      isCut = writeSync(fd, bytes) < bytes.length;
      return !isCut;
    } catch {
      return false;
    }
  };
}

function reopened(): number | undefined {
  try {
    // A file has a place where it goes on, and that is not to be shared.
    return fstatSync(2).isFIFO() ? openSync(STDERR, WRITE) : undefined;
  } catch {
    return undefined;
  }
}
