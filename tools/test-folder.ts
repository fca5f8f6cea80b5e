// Where the tests keep their files: in memory, where the machine has room there. What is tested syncs its writes, and
// the tests would wait for the disk for half of their time.
import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';

const MEMORY = '/dev/shm';
const FREE_BYTES_MIN = 4 * 1024 ** 3;

let folder: string | undefined;

/** `TMPDIR` wins where it is set. */
export function setup(): void {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return;
  // A short name: the path of a Unix socket may have 107 characters.
  folder = mkdtempSync(`${MEMORY}/s`);
  // As /tmp has it: some tests are about other users.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
}

export function teardown(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === MEMORY);
    return bavail * bsize >= FREE_BYTES_MIN && mount !== undefined && !mount.includes('noexec');
  } catch {
    return false;
  }
}
