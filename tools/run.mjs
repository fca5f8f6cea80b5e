// Runs a TypeScript file of tools/, bench/ or test/: Node 20 reads no TypeScript by itself. The bundle
// goes into node_modules, because only there does it find the packages that it imports.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ROOT } from './paths.mjs';

/** `import.meta` means the source file, not its bundle. */
const sourcePlaces = {
  name: 'source-places',
  setup(hooks) {
    hooks.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const contents = text
        .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(path).href))
        .replaceAll(/\bimport\.meta\.dirname\b/g, JSON.stringify(resolve(path, '..')))
        .replaceAll(/\bimport\.meta\.filename\b/g, JSON.stringify(path));
      return { contents, loader: 'ts' };
    });
    // Our own packages are bundled from source, all others stay outside.
    hooks.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@subluminal/')
        ? undefined
        : { path, external: true },
    );
  },
};

const [script, ...args] = process.argv.slice(2);
if (script === undefined) {
  process.stderr.write('Usage: node tools/run.mjs FILE.ts ARGS…\n');
  process.exit(2);
}
const cache = join(ROOT, 'node_modules', '.cache', 'subluminal');
mkdirSync(cache, { recursive: true });
const outdir = mkdtempSync(join(cache, 'run-'));
process.on('exit', () => rmSync(outdir, { recursive: true, force: true }));
const built = await build({
  entryPoints: { main: resolve(script) },
  outdir,
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  splitting: true,
  sourcemap: 'linked',
  sourcesContent: false,
  outExtension: { '.js': '.mjs' },
  plugins: [sourcePlaces],
}).catch(() => undefined);
if (built === undefined) process.exit(1);
process.argv = [process.execPath, resolve(script), ...args];
process.setSourceMapsEnabled(true);
await import(pathToFileURL(join(outdir, 'main.mjs')).href);
