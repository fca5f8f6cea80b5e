// From sources to the files of packages/cli/dist: one script for each command and for what several
// share, and apart from them those of the shim and of hooks. They are scripts because V8 keeps the compiled form of
// a script, but not that of a module; packages/cli/bin/sub.cjs runs them.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { build, transform } from 'esbuild';
import { ROOT } from './paths.mjs';

export const OUT = join(ROOT, 'packages', 'cli', 'dist');
/** A shim starts with every server, a hook with every call: their code is small, and apart from all other. */
export const ENTRIES = {
  sub: join(ROOT, 'packages', 'cli', 'entry', 'main.ts'),
  shim: join(ROOT, 'packages', 'cli', 'entry', 'shim.ts'),
  hook: join(ROOT, 'packages', 'cli', 'entry', 'hook.ts'),
};

const IMPORTED = /^import\s+\{([^}]*)\}\s+from\s+'((?:@subluminal\/|\.)[^']*)';/gm;
const LISTED = /^export\s+\{([^}]*)\}\s+from\s+'(\.[^']*)';/gm;

export const SETTINGS = {
  outdir: OUT,
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  metafile: true,
  format: 'esm',
  platform: 'node',
  // jsonc-parser loads its files by a `require` of its own in the form that `main` names.
  mainFields: ['module', 'main'],
  // They find their binaries beside themselves, so they stay where they are installed.
  external: ['@cedar-policy/cedar-wasm', '@napi-rs/keyring', '@photostructure/sqlite'],
  target: 'node20.19',
  splitting: true,
  legalComments: 'none',
  logLevel: 'silent',
  // Names stay readable: they are what a stack trace shows.
  minifyWhitespace: true,
  minifySyntax: true,
  // What one build has kept on the disk, another one must not believe.
  define: { SUB_BUILD: JSON.stringify(sourcesHash()) },
  // Whoever starts loads what it needs: the less, the better.
  plugins: [withoutSideEffects, directImports].map((setup) => ({ name: setup.name, setup })),
};

/** The agent and the MCP server of `sub demo`, with the packages that an installation lacks. */
const DEMO = {
  entryPoints: {
    agent: join(ROOT, 'examples', 'demo', 'agent.mjs'),
    'server-filesystem': '@modelcontextprotocol/server-filesystem/dist/index.js',
  },
  outdir: join(OUT, 'demo'),
  outExtension: { '.js': '.mjs' },
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  metafile: true,
  format: 'esm',
  platform: 'node',
  target: SETTINGS.target,
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'silent',
  // CommonJS packages in a module call `require`, which modules lack.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
};

/** The thread of sandboxed tools, with QuickJS, whose WebAssembly lies beside it. */
const SANDBOX = {
  ...DEMO,
  entryPoints: [join(ROOT, 'packages', 'steward', 'sandbox', 'sandbox-worker.mjs')],
  outdir: join(OUT, 'sandbox'),
};
const QUICKJS = join('node_modules', '@jitl', 'quickjs-wasmfile-release-sync', 'dist');

/** All files with their contents, the paths of their sources from the root, and what esbuild has to say. */
export async function bundle() {
  const [demo, sandbox, ...own] = await Promise.all([
    build(DEMO),
    build(SANDBOX),
    ...Object.keys(ENTRIES).map(bundleOf),
  ]);
  const wasm = 'emscripten-module.wasm';
  const quickjs = {
    path: join(SANDBOX.outdir, wasm),
    contents: await readFile(join(ROOT, QUICKJS, wasm)),
  };
  return {
    errors: own.flatMap(({ errors }) => errors),
    warnings: own.flatMap(({ warnings }) => warnings),
    files: [
      ...own.flatMap(({ files }) => files),
      ...demo.outputFiles,
      ...sandbox.outputFiles,
      quickjs,
    ],
    inputs: [...own, demo, sandbox].flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {})),
  };
}

/** Of everything that a policy is compiled by. */
function sourcesHash() {
  const hash = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json')));
  for (const name of ['contracts', 'core', 'plane']) {
    const folder = join(ROOT, 'packages', name);
    const paths = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.ts'));
    for (const path of paths.toSorted()) hash.update(path).update(readFileSync(join(folder, path)));
  }
  return hash.digest('hex');
}

async function bundleOf(name) {
  // A folder for each: they share no script, because V8 is set otherwise in a shim.
  const names = `${name}/[name]-[hash]`;
  const entryPoints = { [name]: ENTRIES[name] };
  const options = { ...SETTINGS, entryPoints, entryNames: names, chunkNames: names };
  const built = await build(options).catch((cause) => {
    if (!Array.isArray(cause.errors)) throw cause;
    return { outputFiles: [], ...cause };
  });
  const { errors, warnings, outputFiles, metafile } = built;
  const scripts = await Promise.all(outputFiles.map(asScript));
  const files = withPacks(scripts, metafile?.outputs ?? {});
  const pointer = { path: join(OUT, `${name}.js`), contents: pointerText(name, metafile?.outputs) };
  return { errors, warnings, metafile, files: [...files, pointer] };
}

/** The script to begin with, and for whoever wonders, the sources that are loaded with it. */
function pointerText(name, outputs = {}) {
  const first = Object.keys(outputs).find(
    (path) => outputs[path].entryPoint !== undefined && basename(path).startsWith(`${name}-`),
  );
  const paths = first === undefined ? [] : withImports([first], outputs);
  const sources = paths.flatMap((path) => Object.keys(outputs[path].inputs)).toSorted();
  return `./${basename(first ?? '')}\n${sources.map((path) => `// ${path}\n`).join('')}`;
}

/** What every shim loads in one go, after its first script: the imports of these. */
const LOADED_TOGETHER = [
  'packages/plane/apps/run-started-shim.ts',
  'packages/plane/services/governor/gates.ts',
  'packages/plane/stores/policy/open-compiled.ts',
];

/**
 * Two scripts of a shim bring along what they import: each file costs a fifth of a millisecond, and there would
 * be a hundred. The files stay for whoever loads one of them alone.
 */
function withPacks(scripts, outputs) {
  const own = (source) => Object.keys(outputs).find((path) => outputs[path].entryPoint === source);
  const first = own('packages/cli/entry/shim.ts');
  if (first === undefined) return scripts;
  const early = withImports([first], outputs);
  const later = LOADED_TOGETHER.map(own);
  const late = withImports(later, outputs).filter((path) => !early.includes(path));
  const packs = new Map([
    [join(ROOT, first), early],
    [join(ROOT, later[0]), late],
  ]);
  const texts = new Map(scripts.map(({ path, contents }) => [path, contents]));
  return scripts.map(({ path, contents }) => {
    const members = packs.get(path)?.map((one) => {
      return `${JSON.stringify(`./${basename(one)}`)}:${texts.get(join(ROOT, one))}`;
    });
    return { path, contents: members === undefined ? contents : `({${members.join(',')}})` };
  });
}

/** These outputs, and all that is loaded with them. */
function withImports(outputPaths, outputs) {
  const paths = new Set(outputPaths);
  for (const path of paths) {
    for (const { path: other, kind } of outputs[path].imports) {
      if (kind === 'import-statement' && outputs[other] !== undefined) paths.add(other);
    }
  }
  return [...paths];
}

/** A module as the text of a function, which can be compiled ahead. */
async function asScript({ path, text }) {
  const { code } = await transform(text, {
    format: 'cjs',
    target: SETTINGS.target,
    // Scripts load each other by `require` alone, also what is loaded only when it is needed.
    supported: { 'dynamic-import': false },
    minifyWhitespace: true,
  });
  const script = withPlainExports(code);
  return { path, contents: `(function(exports,require,module,performance){${inAscii(script)}})` };
}

const GETTERS =
  /var stdin_exports=\{\};__export\(stdin_exports,\{([^}]*)\}\);module\.exports=__toCommonJS\(stdin_exports\);/;

/**
 * What a script exports, as values at its end (esbuild makes two functions for each name, called at each use), marked as
 * a module for its default export. There are no circles: a script that imports another is wanted by fewer entries.
 */
function withPlainExports(code) {
  const [statements, names = ''] = GETTERS.exec(code) ?? [];
  if (statements === undefined) return code;
  return `${code.replace(statements, '')}module.exports={__esModule:true,${names.replaceAll(':()=>', ':')}};`;
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
      const kept = lines.join(' ') + '\n'.repeat(linesIn(statement));
      contents = contents.replace(statement, () => kept);
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
