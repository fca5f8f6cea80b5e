// Other copies of a config that hold a secret which has moved: names them, and offers to remove them.
import {
  findCopies,
  type ImportFile,
  type ImportOptions,
  removeCopy,
} from '@subluminal/plane/clients/setup';
import { orThrow } from '../input/command.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmlessLine, plural } from '../terminal/text.ts';
import type { SecretMoveOptions } from './move-secrets.ts';

export interface CopyRemovalOptions extends SecretMoveOptions {
  readonly 'remove-copies': boolean;
}

/** A copy, and whether it is gone. */
export interface NamedCopy {
  readonly path: string;
  readonly removed: boolean;
}

/** Throws its failure. `--yes` is an answer to another question: it removes nothing. */
export async function offerCopies(
  files: readonly ImportFile[],
  wish: ImportOptions,
  how: CopyRemovalOptions,
): Promise<readonly NamedCopy[]> {
  const { paths, isWhole } = findCopies(files, wish);
  const { io } = how;
  if (!isWhole) warn(io, 'there are more files of editors and backups than were looked through.');
  if (paths.length === 0) return [];
  const which = paths.length === 1 ? 'another copy' : `${paths.length} other copies`;
  warn(io, `the secrets that move also stand in plain text in ${which}:`);
  for (const path of paths) io.err.write(harmlessLine(`  ${path}`));
  if (!(await isRemovalWanted(paths, how))) {
    return paths.map((path) => ({ path, removed: false }));
  }
  return paths.map((path) => {
    const why = removeCopy(path);
    if (why !== undefined) warn(io, `${path} cannot be removed (${why}).`);
    return { path, removed: why === undefined };
  });
}

async function isRemovalWanted(
  paths: readonly string[],
  how: CopyRemovalOptions,
): Promise<boolean> {
  const { io } = how;
  if (how['dry-run']) return false;
  if (how['remove-copies']) return true;
  if (!how.yes && io.stdinIsTerminal && io.err.isTerminal) {
    return orThrow(await how.asks.ask(`Remove ${plural(paths.length, 'file')} for good?`));
  }
  warn(io, 'remove them (--remove-copies does it with the move), or replace these secrets.');
  return false;
}
