// Makes a checkout ready: `npm ci` when node_modules is older than the lockfile, then the build when it
// is older than the sources. `--build` always builds.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `setup: Node ${process.versions.node} is too old. Install 20.19 or newer.\n`,
  );
  process.exit(1);
}

const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json');
const BUILT = join(ROOT, 'packages', 'cli', 'dist', 'sub.js');

if (changedMs(INSTALLED) < changedMs(join(ROOT, 'package-lock.json'))) {
  run('npm ci', process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', '--loglevel=error']);
  // npm keeps the record as it is when nothing was missing.
  utimesSync(INSTALLED, new Date(), new Date());
}
if (process.argv.includes('--build') || changedMs(BUILT) < Math.max(...sources().map(changedMs))) {
  run('the build', process.execPath, [join(ROOT, 'tools', 'build.mjs')]);
}

function changedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * Everything that goes into the build. Folders count too: a file that was removed changes its folder. Not so
 * those of the packages themselves, in which the first check of types makes a `dist`.
 */
function sources() {
  const folder = join(ROOT, 'packages');
  const inside = readdirSync(folder, { recursive: true }).filter(
    (path) => !/(?:^|[\\/])(?:dist|node_modules)(?:[\\/]|$)|\.test\.ts$|^[^\\/]+$/.test(path),
  );
  const tools = ['build.mjs', 'bundle.mjs', 'precompile.mjs'].map((name) =>
    join(ROOT, 'tools', name),
  );
  return [INSTALLED, ...tools, ...inside.map((path) => join(folder, path))];
}

function run(name, file, args) {
  process.stderr.write(`setup: ${name} …\n`);
  const { status, error } = spawnSync(file, args, {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: file.endsWith('.cmd'),
  });
  if (status === 0 && existsSync(INSTALLED)) return;
  process.stderr.write(`setup: ${name} failed${error ? `: ${error.message}` : ''}\n`);
  process.exit(status || 1);
}
