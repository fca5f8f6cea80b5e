// Bundles the command: packages/cli/main.ts → packages/cli/dist/sub.js, one chunk per command, and
// packages/cli/shim.ts → packages/cli/dist/shim.js, which loads little.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { build, context } from 'esbuild';
import { buildHash, dropStamp, writeStamp } from './setup/fresh.mjs';
import { ROOT } from './setup/paths.mjs';
import { explainUnwritable } from './setup/unwritable.mjs';

const DEFAULT_ENTRY = join(ROOT, 'packages', 'cli', 'main.ts');
const DEFAULT_OUT = join(ROOT, 'packages', 'cli', 'dist');
const SHIM_ENTRY = join(ROOT, 'packages', 'cli', 'shim.ts');
const CHUNKS = 'chunks';

// CommonJS packages in the bundle call require() for Node's own modules, which ESM lacks.
const BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  'const require = __createRequire(import.meta.url);',
].join('\n');

const OPTIONS = { watch: { type: 'boolean' }, entry: { type: 'string' }, out: { type: 'string' } };
const { values } = parseArgs({ options: OPTIONS });
const entry = values.entry ?? DEFAULT_ENTRY;
const outdir = values.out ?? DEFAULT_OUT;

const settings = {
  entryPoints: entry === DEFAULT_ENTRY ? { sub: entry, shim: SHIM_ENTRY } : { sub: entry },
  outdir,
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  // It finds its prebuilt binary beside itself, so it stays where it is installed.
  external: ['@photostructure/sqlite'],
  target: 'node20.19',
  splitting: true,
  chunkNames: `${CHUNKS}/[name]-[hash]`,
  banner: { js: BANNER },
  legalComments: 'none',
  logLevel: 'silent',
};

const stamped = outdir === DEFAULT_OUT && entry === DEFAULT_ENTRY;

explainUnwritable('build');
// Until setup says otherwise, nobody vouches for what is about to be written.
if (outdir === DEFAULT_OUT) dropStamp('build');

if (!existsSync(entry)) {
  process.stderr.write(`build: ${relative(ROOT, entry)} is missing, there is nothing to bundle.\n`);
  process.exitCode = 1;
} else if (values.watch) {
  const watcher = await context({ ...settings, plugins: [{ name: 'report', setup: onRebuild }] });
  // Signals may come to this process alone, and esbuild's own would keep it waiting.
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
    process.once(signal, () => process.exit(code));
  }
  await watcher.watch();
} else {
  process.exitCode = await buildOnce();
}

async function buildOnce() {
  const startMs = performance.now();
  try {
    const result = await build(settings);
    return finish(result, startMs);
  } catch (cause) {
    if (!Array.isArray(cause.errors)) throw cause;
    return finish(cause, startMs);
  }
}

function onRebuild(hooks) {
  let startMs = 0;
  let hash = '';
  hooks.onStart(() => {
    startMs = performance.now();
    if (!stamped) return;
    dropStamp('build');
    hash = buildHash();
  });
  hooks.onEnd((result) => {
    const code = finish(result, startMs);
    // The stamp that setup writes, so that the next `npm start` builds nothing again. What changed
    // while it was built may or may not be in the build: then there is no stamp.
    if (stamped && code === 0 && buildHash() === hash) writeStamp('build', hash);
  });
}

/** Prints one line, or the errors; a failed build leaves the last good one in place. */
function finish(result, startMs) {
  for (const { text, location } of [...result.errors, ...result.warnings]) {
    const place = location ? `${location.file}:${location.line}:${location.column + 1}: ` : '';
    process.stderr.write(`${place}${text}\n`);
  }
  if (result.errors.length > 0) {
    process.stderr.write(`build: failed with ${result.errors.length} error(s)\n`);
    return 1;
  }
  const bytes = install(result.outputFiles);
  const shownPath = relative(ROOT, join(outdir, 'sub.js'));
  const shownMs = Math.round(performance.now() - startMs);
  const shownKb = Math.round(bytes / 1024);
  process.stdout.write(
    `build: ${shownPath} and ${result.outputFiles.length - 1} chunks, ${shownKb} KB, ${shownMs} ms\n`,
  );
  return 0;
}

/** Chunks have their hash in the name, so they land beside the old; the entry switches over. */
function install(files) {
  mkdirSync(join(outdir, CHUNKS), { recursive: true });
  const entryFirst = files.toSorted((left, right) => depth(right.path) - depth(left.path));
  let bytes = 0;
  for (const { path, contents } of entryFirst) {
    const target = join(outdir, relative(outdir, path));
    const next = `${target}.${process.pid}.next`;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(next, contents);
    renameSync(next, target);
    bytes += contents.length;
  }
  dropOldChunks(new Set(files.map(({ path }) => basename(path))));
  return bytes;
}

function depth(path) {
  return relative(outdir, path).split(/[\\/]/).length;
}

function dropOldChunks(current) {
  for (const name of readdirSync(join(outdir, CHUNKS))) {
    const file = join(outdir, CHUNKS, name);
    if (!current.has(name) && statSync(file).isFile()) rmSync(file, { force: true });
  }
}
