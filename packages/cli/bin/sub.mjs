#!/usr/bin/env node
// A committed launcher: npm links it at install time, before anything is built. It imports nothing
// by name: that would load parts of Node which a shim does without.

// With it Node would open a debugger on a port without a password, in a process that decides.
process.on('SIGUSR1', () => {});

const { getBuiltinModule } = process;
const { existsSync, readFileSync } = getBuiltinModule('node:fs');
const { fileURLToPath } = getBuiltinModule('node:url');

// The one thing that a shim wants of `performance`, for which Node would load a dozen modules.
const CLOCK = {
  now() {
    const [seconds, nanos] = process.hrtime();
    return seconds * 1_000 + nanos / 1e6;
  },
};

// A shim starts with every server of every agent: it has an entry of its own that loads little.
const [first, ...rest] = process.argv.slice(2);
const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
const shim = first === 'shim' && !own.some((word) => word === '--help' || word === '-h');
const entry = new URL(shim ? '../dist/shim.js' : '../dist/sub.js', import.meta.url);
if (!existsSync(fileURLToPath(entry))) {
  process.stderr.write('sub: not built yet. Run `npm run build` in the checkout.\n');
  process.exit(70);
}
if (shim) runShim(fileURLToPath(entry));
else await import(entry.href);

/** Runs the scripts of the shim; those that were compiled ahead start at once. */
function runShim(pointer) {
  const { Script } = getBuiltinModule('node:vm');
  const folder = fileURLToPath(new URL('../dist/chunks/', import.meta.url));
  const loaded = new Map();
  const load = (id) => {
    if (!id.startsWith('./')) return getBuiltinModule(id);
    const known = loaded.get(id);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(id, module);
    compile(folder + id.slice(2), Script).runInThisContext()(module.exports, load, module, CLOCK);
    return module.exports;
  };
  load(readFileSync(pointer, 'latin1').split('\n', 1)[0]);
}

/** The build writes plain ASCII. What V8 can't use of the compiled form, it compiles again. */
function compile(filename, Script) {
  const cache = `${filename}.cache`;
  const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
  return new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
}
