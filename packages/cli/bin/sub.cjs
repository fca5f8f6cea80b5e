#!/usr/bin/env node
// A second launcher, which hooks are started by: a client waits for each of them, and Node starts a module
// 5 ms later than this. Whatever else it is asked for, the launcher beside it does.

// With it Node would open a debugger on a port without a password, in a process that decides.
process.on('SIGUSR1', () => {});

const { getBuiltinModule } = process;
const [first, ...rest] = process.argv.slice(2);
const isHelp = rest.some((word) => word === '--help' || word === '-h');
if (first === 'hook' && !isHelp) startHook(`${__dirname}/../dist/hook`);
else void import('./sub.mjs');

/** Runs the scripts that the pointer beside the folder names. A hook that cannot start must not look like a yes. */
function startHook(folder) {
  const { existsSync, readFileSync } = getBuiltinModule('node:fs');
  const { Script } = getBuiltinModule('node:vm');
  const loaded = new Map();
  const load = (id) => {
    if (!id.startsWith('./')) return getBuiltinModule(id) ?? installed(id);
    const known = loaded.get(id);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(id, module);
    const filename = folder + id.slice(1);
    const cache = `${filename}.cache`;
    const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
    const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
    script.runInThisContext()(module.exports, load, module, performance);
    return module.exports;
  };
  try {
    load(readFileSync(`${folder}.js`, 'latin1').split('\n', 1)[0]);
  } catch (cause) {
    process.stderr.write(
      `sub: this installation is broken (${String(cause)}); install it again.\n`,
    );
    process.exit(2);
  }
}

/** A package that stays where it is installed. */
function installed(id) {
  return getBuiltinModule('node:module').createRequire(__filename)(id);
}
