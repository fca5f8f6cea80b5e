// Runs a TypeScript script of tools/, bench/ or test/: bundles it and imports the bundle, in this
// process. Node 20 reads no TypeScript by itself.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { CACHE, ROOT } from './setup/paths.mjs';
import { isUnwritable, SENTENCE } from './setup/unwritable.mjs';

const RUN = join(CACHE, 'run');
const KEPT_MS = 24 * 60 * 60_000;

/** Packages of the registry stay outside; those of the workspace are bundled from source. */
const externals = {
  name: 'externals',
  setup(hooks) {
    hooks.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@subluminal/')
        ? undefined
        : { path, external: true },
    );
  },
};

/** `import.meta.url` means the source file, not the bundle in the cache. */
const sourcePlaces = {
  name: 'source-places',
  setup(hooks) {
    hooks.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!text.includes('import.meta.')) return undefined;
      const contents = text
        .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(path).href))
        .replaceAll(/\bimport\.meta\.dirname\b/g, JSON.stringify(dirname(path)))
        .replaceAll(/\bimport\.meta\.filename\b/g, JSON.stringify(path));
      return { contents, loader: 'ts' };
    });
  },
};

const [script, ...args] = process.argv.slice(2);
if (script === undefined || !existsSync(script)) {
  const why = script === undefined ? 'no script named' : `${script} does not exist`;
  process.stderr.write(`run: ${why}. Usage: node tools/run.mjs FILE.ts ARGS…\n`);
  process.exitCode = 2;
} else {
  const file = resolve(script);
  const entry = await bundle(file).catch(untoldUnwritable);
  if (entry === undefined) {
    process.exitCode = 1;
  } else {
    process.argv = [process.execPath, file, ...args];
    process.setSourceMapsEnabled(true);
    await import(pathToFileURL(entry).href);
  }
}

/** The bundle goes into the checkout, because only there does it find its packages. */
function untoldUnwritable(cause) {
  if (!isUnwritable(cause)) throw cause;
  process.stderr.write(`run: ${SENTENCE} (${cause.code} at ${cause.path ?? ROOT})\n`);
  return undefined;
}

/** The bundle's entry, in a folder named after its content: runs at the same time share it. */
async function bundle(file) {
  const name = relative(ROOT, file)
    .replace(/\.[a-z]+$/, '')
    .replaceAll(/[^a-zA-Z0-9]+/g, '-');
  const outdir = join(RUN, name);
  const result = await build({
    entryPoints: { main: file },
    outdir,
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    splitting: true,
    sourcemap: 'inline',
    outExtension: { '.js': '.mjs' },
    plugins: [externals, sourcePlaces],
  }).catch(() => undefined);
  if (result === undefined) return undefined;
  const hash = createHash('sha256');
  for (const { contents } of result.outputFiles) hash.update(contents);
  const folder = `${outdir}-${hash.digest('hex').slice(0, 16)}`;
  if (!existsSync(folder)) await writeFolder({ folder, outdir, files: result.outputFiles });
  dropOld(folder);
  return join(folder, 'main.mjs');
}

async function writeFolder({ folder, outdir, files }) {
  const next = `${folder}.${process.pid}.next`;
  for (const { path, contents } of files) {
    const target = join(next, relative(outdir, path));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, contents);
  }
  // When another run was quicker, its folder holds the same.
  await rename(next, folder).catch(() => rmSync(next, { recursive: true, force: true }));
}

function dropOld(current) {
  for (const name of readdirSync(RUN)) {
    const folder = join(RUN, name);
    const ageMs = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (folder !== current && ageMs > KEPT_MS) rmSync(folder, { recursive: true, force: true });
  }
}
