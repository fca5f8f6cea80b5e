// Real processes for tests: a program given as text, bundled with the sources beside it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Imports of the program are relative to the folder of the sink. */
export async function bundleProgram(dir: string, contents: string): Promise<string> {
  const resolveDir = fileURLToPath(new URL('..', import.meta.url));
  const result = await build({
    stdin: { contents, resolveDir, loader: 'js' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
  });
  const path = join(dir, 'program.mjs');
  writeFileSync(path, result.outputFiles[0]?.contents ?? '');
  return path;
}
