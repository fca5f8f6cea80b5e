// Whether an output would replace one of the files it is made from.
import { fstatSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { type Failure, failure } from '@subluminal/contracts';
import { STDIO } from './read-file.ts';

interface InputFile {
  readonly path: string;
  /** What it is to the command: "the bundle", "the key". */
  readonly role: string;
}

interface Place {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly path: string;
}

const STDIN_FD = 0;

/** A failure when the output is one of the inputs, by whatever name, link or redirection. */
export async function overwritesInput(
  out: string,
  inputs: readonly InputFile[],
): Promise<Failure | undefined> {
  const target = await placeOf(out);
  if (target === undefined) return undefined;
  for (const { path, role } of inputs) {
    const place = path === STDIO ? stdinPlace() : await placeOf(path);
    if (place === undefined || !isSame(place, target)) continue;
    const also = path === out ? '' : `, which is ${path === STDIO ? 'standard input' : path}`;
    const message = `--out ${out} would overwrite ${role}${also}.`;
    return failure('SUB_USAGE', message, 'Name another file; nothing was written.');
  }
  return undefined;
}

/** Where a path leads; undefined when nothing is there, so that nothing can be lost. */
async function placeOf(path: string): Promise<Place | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return { dev, ino, path: await realpath(path) };
  } catch {
    return undefined;
  }
}

function stdinPlace(): Place | undefined {
  try {
    const stats = fstatSync(STDIN_FD, { bigint: true });
    return stats.isFile() ? { dev: stats.dev, ino: stats.ino, path: '' } : undefined;
  } catch {
    return undefined;
  }
}

/** Hard links share the inode; some file systems have none, and there the path tells. */
function isSame(left: Place, right: Place): boolean {
  if (left.path === right.path) return true;
  return left.ino !== 0n && left.ino === right.ino && left.dev === right.dev;
}
