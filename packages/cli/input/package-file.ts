// Files that come with the product beside its code: the demo, and the starter policies.
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';

/** The path of a file by its names from the top of the package. */
export function packageFile(...names: readonly string[]): string | Failure {
  // npm links the command from another folder.
  const script = realpathSync(process.argv[1] ?? '');
  const path = join(script, '..', '..', '..', '..', ...names);
  if (existsSync(path)) return path;
  return failure(
    'SUB_FILE_READ',
    `A file of the package is missing: ${path}.`,
    'Install it again.',
  );
}

/** Where the reference of the commands is, for a person to open. */
export function cliReference(): string {
  const path = packageFile('docs', 'reference', 'cli.md');
  return isFailure(path) ? 'docs/reference/cli.md' : path;
}
