// Builds the command: the entries of packages/cli/entry → packages/cli/dist, where sub.js, shim.js and
// hook.js name the scripts to begin with; and the page: packages/web → packages/web/dist. `--watch` builds again
// on every change.
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { context } from 'esbuild';
import { build as buildPage } from 'vite';
import { bundle, ENTRIES, OUT, SETTINGS } from './bundle.mjs';
import { ROOT } from './paths.mjs';
import { precompile } from './precompile.mjs';

if (process.argv.includes('--watch')) {
  const rebuild = { name: 'rebuild', setup: (hooks) => hooks.onEnd(() => void buildOnce()) };
  const plugins = [...SETTINGS.plugins, rebuild];
  const watcher = await context({ ...SETTINGS, entryPoints: ENTRIES, plugins });
  await watcher.watch();
} else {
  process.exitCode = await buildOnce();
}

/** Prints one line, or the errors; a failed build leaves the last good one in place. */
async function buildOnce() {
  const startMs = performance.now();
  const { errors, warnings, files } = await bundle();
  for (const { text, location } of [...errors, ...warnings]) {
    const place = location ? `${location.file}:${location.line}:${location.column + 1}: ` : '';
    process.stderr.write(`${place}${text}\n`);
  }
  if (errors.length > 0) return 1;
  await buildPage({ configFile: join(ROOT, 'packages', 'web', 'vite.config.ts') });
  const bytes = install(files);
  await precompile();
  const tookMs = Math.round(performance.now() - startMs);
  const size = `${files.length} files, ${Math.round(bytes / 1024)} KB`;
  process.stdout.write(`build: ${relative(ROOT, OUT)}, ${size}, ${tookMs} ms\n`);
  return 0;
}

/** Scripts have their hash in the name, so they land beside the old; the pointers switch over. */
function install(files) {
  const isPointer = ({ path }) => dirname(path) === OUT;
  let bytes = 0;
  for (const { path, contents } of files.toSorted((one, two) => isPointer(one) - isPointer(two))) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.${process.pid}.next`, contents);
    renameSync(`${path}.${process.pid}.next`, path);
    bytes += contents.length;
  }
  const current = new Set(files.map(({ path }) => path));
  for (const name of Object.keys(ENTRIES)) dropOld(join(OUT, name), current);
  return bytes;
}

function dropOld(folder, current) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const isCurrent = current.has(file.replace(/\.cache$/, ''));
    if (!isCurrent && statSync(file).isFile()) rmSync(file, { force: true });
  }
}
