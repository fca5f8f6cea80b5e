// Bundles the command: packages/cli/main.ts → packages/cli/dist/sub.js, one chunk per command, and
// packages/cli/shim.ts → chunks that packages/cli/bin/sub.mjs runs as scripts, with their compiled
// form beside them; packages/cli/dist/shim.js names the first.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { build, context, transform } from 'esbuild';
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

const RUN_ONCE_MS = 10_000;
const POLICY = join(ROOT, 'examples', 'policies', 'starter.yaml');
const REQUESTS = [
  ['initialize', { protocolVersion: '2025-06-18', capabilities: {} }],
  ['tools/list', {}],
  ['tools/call', { name: 'read_file', arguments: { path: 'a.txt' } }],
  ['tools/call', { name: 'create_file', arguments: { path: 'a.txt', text: 'Hello.' } }],
  ['tools/call', { name: 'shell_run', arguments: {} }],
].map(([method, params], id) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);

/** Answers every request. */
const ECHO = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line);
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }));
});`;

/** As packages/cli/bin/sub.mjs loads the scripts, and with their compiled form written at the end. */
const KEEP = `
// V8 takes a compiled form only where its flags are the same.
if (/^11\\./.test(process.versions.v8)) require('node:v8').setFlagsFromString('--semi-space-growth-factor=1');
const fs = require('node:fs');
const { Script } = require('node:vm');
const pointer = process.argv.splice(1, 1, 'sub')[0];
const folder = require('node:path').join(pointer, '..', '${CHUNKS}');
const scripts = new Map();
const loaded = new Map();
function load(id) {
  if (!id.startsWith('./')) return require(id);
  if (loaded.has(id)) return loaded.get(id).exports;
  const file = require('node:path').join(folder, id);
  const script = new Script(fs.readFileSync(file, 'latin1'), { filename: file });
  const module = { exports: {} };
  loaded.set(id, module);
  scripts.set(file, script);
  script.runInThisContext()(module.exports, load, module, performance);
  return module.exports;
}
process.on('exit', () => {
  for (const [file, script] of scripts) {
    const next = file + '.' + process.pid + '.next';
    fs.writeFileSync(next, script.createCachedData());
    fs.renameSync(next, file + '.cache');
  }
});
load(fs.readFileSync(pointer, 'latin1').split('\\n', 1)[0]);
`;

const IMPORTED = /^import\s+\{([^}]*)\}\s+from\s+'((?:@subluminal\/|\.)[^']*)';/gm;
const LISTED = /^export\s+\{([^}]*)\}\s+from\s+'(\.[^']*)';/gm;

const OPTIONS = { watch: { type: 'boolean' }, entry: { type: 'string' }, out: { type: 'string' } };
const { values } = parseArgs({ options: OPTIONS });
const entry = values.entry ?? DEFAULT_ENTRY;
const outdir = values.out ?? DEFAULT_OUT;

const settings = {
  entryPoints: { sub: entry },
  outdir,
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  // They find their binaries beside themselves, so they stay where they are installed.
  external: ['@cedar-policy/cedar-wasm', '@napi-rs/keyring', '@photostructure/sqlite'],
  target: 'node20.19',
  splitting: true,
  chunkNames: `${CHUNKS}/[name]-[hash]`,
  banner: { js: BANNER },
  legalComments: 'none',
  logLevel: 'silent',
  // Every command loads what it needs at each start: the less, the better.
  plugins: [withoutSideEffects, directImports].map((setup) => ({ name: setup.name, setup })),
};

/** A shim starts with every server of every agent: its code is small, and apart from all other. */
const shimSettings = {
  ...settings,
  entryPoints: { shim: SHIM_ENTRY },
  entryNames: `${CHUNKS}/[name]-[hash]`,
  banner: {},
  metafile: true,
  // Names stay readable: they are what a stack trace shows.
  minifyWhitespace: true,
  minifySyntax: true,
};

const stamped = outdir === DEFAULT_OUT && entry === DEFAULT_ENTRY;

explainUnwritable('build');
// Until setup says otherwise, nobody vouches for what is about to be written.
if (outdir === DEFAULT_OUT) dropStamp('build');

if (!existsSync(entry)) {
  process.stderr.write(`build: ${relative(ROOT, entry)} is missing, there is nothing to bundle.\n`);
  process.exitCode = 1;
} else if (values.watch) {
  const watcher = await context({
    ...settings,
    // What only the shim is made of is watched too.
    entryPoints: { ...settings.entryPoints, ...(entry === DEFAULT_ENTRY && { shim: SHIM_ENTRY }) },
    plugins: [...settings.plugins, { name: 'report', setup: onRebuild }],
  });
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
    return await finish(result, startMs);
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
  hooks.onEnd(async (result) => {
    const code = await finish(result, startMs);
    // The stamp that setup writes, so that the next `npm start` builds nothing again. What changed
    // while it was built may or may not be in the build: then there is no stamp.
    if (stamped && code === 0 && buildHash() === hash) writeStamp('build', hash);
  });
}

/** Prints one line, or the errors; a failed build leaves the last good one in place. */
async function finish(result, startMs) {
  const shim = await buildShim(result);
  for (const { text, location } of [...shim.errors, ...shim.warnings]) {
    const place = location ? `${location.file}:${location.line}:${location.column + 1}: ` : '';
    process.stderr.write(`${place}${text}\n`);
  }
  if (shim.errors.length > 0) {
    process.stderr.write(`build: failed with ${shim.errors.length} error(s)\n`);
    return 1;
  }
  const bytes = install(shim.outputFiles);
  await precompile();
  const shownPath = relative(ROOT, join(outdir, 'sub.js'));
  const shownMs = Math.round(performance.now() - startMs);
  const shownKb = Math.round(bytes / 1024);
  process.stdout.write(
    `build: ${shownPath} and ${shim.outputFiles.length - 1} chunks, ${shownKb} KB, ${shownMs} ms\n`,
  );
  return 0;
}

/** The files of the command, and with them those of the shim. */
async function buildShim(result) {
  if (entry !== DEFAULT_ENTRY || result.errors.length > 0) return result;
  const shim = await build(shimSettings).catch((cause) => {
    if (!Array.isArray(cause.errors)) throw cause;
    return { outputFiles: [], ...cause };
  });
  const scripts = await Promise.all(shim.outputFiles.map(asScript));
  const pointer = { path: join(outdir, 'shim.js'), contents: pointerText(shim.metafile?.outputs) };
  return {
    errors: shim.errors,
    warnings: [...result.warnings, ...shim.warnings],
    outputFiles: [
      ...result.outputFiles.filter(({ path }) => path !== pointer.path),
      ...scripts,
      pointer,
    ],
  };
}

/** The script to begin with, and for whoever wonders, the sources that are loaded with it. */
function pointerText(outputs = {}) {
  const first = Object.keys(outputs).find(
    (path) => outputs[path].entryPoint !== undefined && basename(path).startsWith('shim-'),
  );
  const paths = new Set(first === undefined ? [] : [first]);
  for (const path of paths) {
    for (const { path: other, kind } of outputs[path].imports) {
      if (kind === 'import-statement' && outputs[other] !== undefined) paths.add(other);
    }
  }
  const sources = [...paths].flatMap((path) => Object.keys(outputs[path].inputs)).toSorted();
  return `./${basename(first ?? '')}\n${sources.map((path) => `// ${path}\n`).join('')}`;
}

/** A module as the text of a function, which can be compiled ahead; a module cannot. */
async function asScript({ path, text }) {
  const { code } = await transform(text, {
    format: 'cjs',
    target: settings.target,
    // Scripts load each other by `require` alone, also what is loaded only when it is needed.
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
  });
  return { path, contents: `(function(exports,require,module,performance){${inAscii(code)}})` };
}

/** The launcher reads bytes as characters. What esbuild leaves as it is stands in expressions. */
function inAscii(code) {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Our own sources do nothing when they are imported: what is not used can be left out. */
function withoutSideEffects(hooks) {
  hooks.onResolve({ filter: /^(?:@subluminal\/|\.)/ }, async (wanted) => {
    if (wanted.kind === 'entry-point' || wanted.pluginData === 'pure') return undefined;
    const { path, kind, importer, resolveDir } = wanted;
    if (importer.includes('node_modules')) return undefined;
    const found = await hooks.resolve(path, { kind, importer, resolveDir, pluginData: 'pure' });
    const isOurs = !found.path.includes('node_modules');
    return isOurs && found.errors.length === 0 ? { ...found, sideEffects: false } : found;
  });
}

/**
 * Takes what an index lists from where it is written: else everything that an index names would be
 * loaded together.
 */
function directImports(hooks) {
  const indexes = new Map();
  hooks.onLoad({ filter: /[\\/]packages[\\/].*\.ts$/ }, async ({ path }) => {
    const text = await readFile(path, 'utf8');
    const resolveDir = dirname(path);
    let contents = text;
    for (const [statement, list, from] of text.matchAll(IMPORTED)) {
      const wanted = { kind: 'import-statement', importer: path, resolveDir };
      const known = from.startsWith('.') && { path: join(resolveDir, from) };
      const { path: file } = known || (await hooks.resolve(from, wanted));
      if (basename(file) !== 'index.ts') continue;
      if (!indexes.has(file)) indexes.set(file, listed(await readFile(file, 'utf8'), file));
      const direct = namesIn(list).map((one) => importOf(one, indexes.get(file)) ?? { one, from });
      // One line stays one line: places in messages still hold.
      const lines = direct.map(
        (each) => `import { ${each.one} } from ${JSON.stringify(each.from)};`,
      );
      contents = contents.replace(
        statement,
        () => lines.join(' ') + '\n'.repeat(linesIn(statement)),
      );
    }
    return { contents, loader: 'ts' };
  });
}

/** What an index takes from where, by the names it gives. */
function listed(text, index) {
  const found = new Map();
  for (const [, list, from] of text.matchAll(LISTED)) {
    for (const one of namesIn(list)) {
      const [name, as = name] = one.split(/\s+as\s+/);
      found.set(as, { name, from: join(dirname(index), from) });
    }
  }
  return found;
}

function importOf(one, index) {
  const [name, as = name] = one.split(/\s+as\s+/);
  const source = index.get(name);
  return source && { one: `${source.name} as ${as}`, from: source.from };
}

/** The names in braces; types are gone before anything runs. */
function namesIn(list) {
  const names = list.split(',').map((one) => one.trim());
  return names.filter((one) => one !== '' && !one.startsWith('type '));
}

function linesIn(text) {
  return text.split('\n').length - 1;
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
    const isCurrent = current.has(name.replace(/\.cache$/, ''));
    if (!isCurrent && statSync(file).isFile()) rmSync(file, { force: true });
  }
}

/**
 * Runs the shim once and keeps what V8 has compiled meanwhile, so that it starts without compiling.
 * Another version of V8 takes no notice of it, and without it a shim only starts more slowly.
 */
async function precompile() {
  if (entry !== DEFAULT_ENTRY) return;
  const home = mkdtempSync(join(tmpdir(), 'sub-build-'));
  const ledger = createServer((socket) => {
    let lines = -1;
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        lines += String(chunk).split('\n').length - 1;
        socket.write(`{"ack":${lines}}\n`);
      });
  });
  mkdirSync(join(home, 'sub', 'run'), { recursive: true, mode: 0o700 });
  try {
    await new Promise((resolve) => {
      ledger.once('error', resolve).listen(join(home, 'sub', 'run', 'ledger.sock'), resolve);
    });
    await runOnce(home);
  } finally {
    ledger.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** What it answers is of no interest, nor how it ends. */
function runOnce(home) {
  const { PATH } = process.env;
  const policy = existsSync(POLICY) ? ['--policy', POLICY] : [];
  const server = ['--', process.execPath, '-e', ECHO];
  const args = ['-e', KEEP, join(outdir, 'shim.js'), 'shim', '--server-name', 'a', ...policy];
  const child = spawn(process.execPath, [...args, ...server], {
    cwd: home,
    env: { PATH, HOME: home, SUB_HOME: join(home, 'sub') },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: RUN_ONCE_MS,
    killSignal: 'SIGKILL',
  });
  let answers = 0;
  child.stdin.on('error', () => {});
  child.stdin.write(REQUESTS.join(''));
  child.stdout.on('data', (chunk) => {
    answers += String(chunk).split('\n').length - 1;
    if (answers >= REQUESTS.length) child.stdin.end();
  });
  return new Promise((resolve) => {
    child.on('error', resolve).on('close', resolve);
  });
}
