#!/usr/bin/env node
// The launcher, which npm links at install time, before anything is built. It is no module, because Node starts
// those 5 ms later, and a client waits for each of its servers and hooks.
// It requires nothing by name: that would load parts of Node which a shim does without.

// With it Node would open a debugger on a port without a password, in a process that decides.
process.on('SIGUSR1', () => {});

const { getBuiltinModule } = process;
const { closeSync, existsSync, fstatSync, openSync, readSync, realpathSync } =
  getBuiltinModule('node:fs');

// The one thing that a shim wants of `performance`, for which Node would load a dozen modules.
const CLOCK = {
  now() {
    const [seconds, nanos] = process.hrtime();
    return seconds * 1_000 + nanos / 1e6;
  },
};

/** What a shim needs of Node: with other flags, V8 takes no notice of the compiled form that Node brings along. */
const OF_NODE = [
  'node:vm',
  'node:crypto',
  'node:child_process',
  'node:timers/promises',
  'node:util',
  'node:os',
];

const SCRATCH_BYTES = 2_097_152;
let scratch;

// A shim starts with every server, a hook with every call: they have entries of their own that load little.
const [first, ...rest] = process.argv.slice(2);
const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
const small = (first === 'shim' || first === 'hook') && !own.some(isHelp) ? first : undefined;
// Not where a link to it stands: what lies beside that is not ours.
const here = realpathSync(__filename);
const entry = `${here.slice(0, -'bin/sub.cjs'.length)}dist/${small ?? 'sub'}.js`;
if (!existsSync(entry)) {
  process.stderr.write('sub: not built yet. Run `npm run build` in the checkout.\n');
  process.exit(small === 'hook' ? 2 : 70);
}
if (small === 'shim') keepYoungSmall();
try {
  run(entry, small === undefined ? performance : CLOCK);
} catch (cause) {
  if (small !== 'hook') throw cause;
  // With any other code a client would go on.
  process.stderr.write(`sub: this installation is broken (${String(cause)}); install it again.\n`);
  process.exit(2);
}

function isHelp(word) {
  return word === '--help' || word === '-h';
}

/** Runs the scripts that the pointer names; those that were compiled ahead start at once. */
function run(pointer, clock) {
  const { Script } = getBuiltinModule('node:vm');
  const folder = pointer.slice(0, -'.js'.length);
  const loaded = new Map();
  const brought = new Map();
  const load = (id) => {
    if (!id.startsWith('./')) return getBuiltinModule(id) ?? installed(id);
    const known = loaded.get(id);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(id, module);
    if (!brought.has(id)) bring(id, compile(folder + id.slice(1), Script).runInThisContext());
    brought.get(id)(module.exports, load, module, clock);
    return module.exports;
  };
  // A file holds one script, or several by their names.
  const bring = (id, found) => {
    const scripts = typeof found === 'function' ? { [id]: found } : found;
    for (const name of Object.keys(scripts)) brought.set(name, scripts[name]);
  };
  load(textOf(pointer).split('\n', 1)[0]);
}

/** A package that stays where it is installed. */
function installed(id) {
  return getBuiltinModule('node:module').createRequire(here)(id);
}

/**
 * What survives the start would make V8 double the room for what is young, for good. A shim that has
 * much to do lets it grow later. While the room is small, helpers cost more than they clear away.
 * It was tried with Node 20; another V8 may not know the flags.
 */
function keepYoungSmall() {
  if (!process.versions.v8.startsWith('11.')) return;
  for (const id of OF_NODE) getBuiltinModule(id);
  getBuiltinModule('node:v8').setFlagsFromString(
    '--semi-space-growth-factor=1 --no-parallel-scavenge',
  );
}

/** The build writes plain ASCII. What V8 can't use of the compiled form, it compiles again. */
function compile(filename, Script) {
  const text = textOf(filename);
  return new Script(text, { filename, cachedData: compiledOf(`${filename}.cache`) });
}

/** Whoever may not read it does without. */
function compiledOf(path) {
  try {
    return existsSync(path) ? bytesOf(path) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(path) {
  return bytesOf(path).latin1Slice();
}

/**
 * All files are read into one piece of memory: else each would keep its own until it is collected. It is held
 * weakly, so that it goes when all is loaded; what nobody writes to takes no memory.
 */
function scratchOf(size) {
  const known = scratch?.deref();
  if (known !== undefined && known.length >= size) return known;
  const bytes = Buffer.allocUnsafeSlow(Math.max(size, SCRATCH_BYTES));
  scratch = new WeakRef(bytes);
  return bytes;
}

function bytesOf(path) {
  const fd = openSync(path);
  try {
    const { size } = fstatSync(fd);
    const bytes = scratchOf(size);
    let length = 0;
    for (let count = -1; count !== 0 && length < size; length += count) {
      count = readSync(fd, bytes, length, size - length);
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}
