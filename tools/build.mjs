// Builds the command: packages/cli/main.ts and packages/cli/shim.ts → packages/cli/dist, where sub.js
// and shim.js name the scripts to begin with.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { context } from 'esbuild';
import { bundle, ENTRIES, OUT, SETTINGS } from './build/bundle.mjs';
import { precompile } from './build/precompile.mjs';
import { buildHash, dropStamp, writeStamp } from './setup/fresh.mjs';
import { ROOT } from './setup/paths.mjs';
import { explainUnwritable } from './setup/unwritable.mjs';

const { values } = parseArgs({ options: { watch: { type: 'boolean' } } });
const missing = Object.values(ENTRIES).find((path) => !existsSync(path));

explainUnwritable('build');
// Until setup says otherwise, nobody vouches for what is about to be written.
dropStamp('build');

if (missing !== undefined) {
  process.stderr.write(
    `build: ${relative(ROOT, missing)} is missing, there is nothing to bundle.\n`,
  );
  process.exitCode = 1;
} else if (values.watch) {
  const watcher = await context({
    ...SETTINGS,
    entryPoints: ENTRIES,
    plugins: [...SETTINGS.plugins, { name: 'rebuild', setup: onChange }],
  });
  // Signals may come to this process alone, and esbuild's own would keep it waiting.
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
    process.once(signal, () => process.exit(code));
  }
  await watcher.watch();
} else {
  process.exitCode = await buildOnce();
}

/** The watch only says that something has changed. */
function onChange(hooks) {
  let hash = '';
  hooks.onStart(() => {
    dropStamp('build');
    hash = buildHash();
  });
  hooks.onEnd(async () => {
    const code = await buildOnce();
    // The stamp that setup writes, so that the next `npm start` builds nothing again. What changed
    // while it was built may or may not be in the build: then there is no stamp.
    if (code === 0 && buildHash() === hash) writeStamp('build', hash);
  });
}

/** Prints one line, or the errors; a failed build leaves the last good one in place. */
async function buildOnce() {
  const startMs = performance.now();
  const { errors, warnings, files } = await bundle();
  for (const { text, location } of [...errors, ...warnings]) {
    const place = location ? `${location.file}:${location.line}:${location.column + 1}: ` : '';
    process.stderr.write(`${place}${text}\n`);
  }
  if (errors.length > 0) {
    process.stderr.write(`build: failed with ${errors.length} error(s)\n`);
    return 1;
  }
  const bytes = install(files);
  await precompile();
  const shownPath = relative(ROOT, OUT);
  const shownMs = Math.round(performance.now() - startMs);
  const shownKb = Math.round(bytes / 1024);
  process.stdout.write(
    `build: ${shownPath}, ${files.length} files, ${shownKb} KB, ${shownMs} ms\n`,
  );
  return 0;
}

/** Scripts have their hash in the name, so they land beside the old; the pointers switch over. */
function install(files) {
  const pointersLast = files.toSorted((left, right) => depth(right.path) - depth(left.path));
  let bytes = 0;
  for (const { path, contents } of pointersLast) {
    const next = `${path}.${process.pid}.next`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(next, contents);
    renameSync(next, path);
    bytes += contents.length;
  }
  const current = new Set(files.map(({ path }) => path));
  for (const name of Object.keys(ENTRIES)) dropOld(join(OUT, name), current);
  return bytes;
}

function depth(path) {
  return relative(OUT, path).split(/[\\/]/).length;
}

function dropOld(folder, current) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const isCurrent = current.has(file.replace(/\.cache$/, ''));
    if (!isCurrent && statSync(file).isFile()) rmSync(file, { force: true });
  }
}
