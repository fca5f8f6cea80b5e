// No empty shells: a folder or a file exists when it has something to say.
import type { FileText, Finding, Source } from '../source.ts';

const CODE = /\.tsx?$/;

/** A package of the workspace holds code besides its own description. */
export function emptyPackages(files: readonly FileText[]): readonly Finding[] {
  const manifests = files.filter(({ path }) => /^packages\/[^/]+\/package\.json$/.test(path));
  return manifests.flatMap(({ path }) => {
    const folder = path.slice(0, -'package.json'.length);
    const filled = files.some(
      (file) =>
        file.path.startsWith(folder) && CODE.test(file.path) && !/\.test\.tsx?$/.test(file.path),
    );
    return filled ? [] : [{ path, line: 1, rule: 'content', message: 'the package has no code' }];
  });
}

export function emptyFile({ path, isCode, tokens }: Source): readonly Finding[] {
  if (!isCode || tokens.length > 0) return [];
  return [{ path, line: 1, rule: 'content', message: 'the file has no code' }];
}
