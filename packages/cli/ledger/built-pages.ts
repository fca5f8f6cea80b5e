// The page as it was built, beside the command.
import { isFailure } from '@subluminal/contracts';
import { hasPages } from '@subluminal/plane/api/pages';
import { packageFile } from '../input/package-file.ts';

/** Its folder; undefined where it was not built. */
export function builtPages(): string | undefined {
  const folder = packageFile('packages', 'web', 'dist');
  return !isFailure(folder) && hasPages(folder) ? folder : undefined;
}
